package client

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// shown is how many objects are listed before somebody is asked about them.
const shown = 20

// send previews, confirms and sends the command, and shows what became of it.
func (c *call) send(ctx context.Context) error {
	if err := c.common(); err != nil {
		return err
	}
	if c.is("preview") {
		_, err := c.look(ctx, c.Stdout.Write)
		return err
	}
	if _, recurring := c.body["ranges"]; recurring {
		if err := c.showTimes(ctx); err != nil {
			return err
		}
	}
	a, err := c.api.ask(ctx, http.MethodPost, "/commands", c.body)
	// What matches may change between the question and the command.
	for range 3 {
		if err != nil || a.status != http.StatusConflict {
			break
		}
		if a, err = c.confirmed(ctx, a); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if a.status != http.StatusAccepted {
		return c.problem(a)
	}
	return c.accepted(a)
}

// common adds what every command may have.
func (c *call) common() error {
	c.body["command"] = c.cmd.api
	c.body["author"] = first(c.text("author"), c.User)
	for _, name := range []string{"comment", "group", "filter", "kind", "scope"} {
		if _, set := c.body[name]; !set && c.text(name) != "" {
			c.body[name] = c.text(name)
		}
	}
	if c.has("confirm") {
		n, err := strconv.ParseUint(c.text("confirm"), 10, 31)
		if err != nil {
			return usagef("-confirm: %q is no number of objects; write the one that -preview shows", c.text("confirm"))
		}
		c.body["confirm"] = n
	}
	return nil
}

// confirmed answers the API's question whether so many objects are meant.
func (c *call) confirmed(ctx context.Context, a answer) (answer, error) {
	var p problem
	if json.Unmarshal(a.body, &p) != nil || p.Total == nil || c.has("confirm") {
		return a, c.problem(a)
	}
	if !c.is("yes") {
		if !c.Terminal {
			return a, &fault{Failed, fmt.Sprintf("this touches %d objects; look at them with -preview, then write -confirm %d, or -yes", *p.Total, *p.Total)}
		}
		if _, err := c.look(ctx, c.Stderr.Write); err != nil {
			return a, err
		}
		if !c.agreed(fmt.Sprintf("This touches %d objects. Go on?", *p.Total)) {
			return a, &fault{Failed, "nothing was done"}
		}
	}
	c.body["confirm"] = *p.Total
	return c.api.ask(ctx, http.MethodPost, "/commands", c.body)
}

// agreed asks on the terminal; only y and yes mean yes.
func (c *call) agreed(question string) bool {
	fmt.Fprint(c.Stderr, question+" [y/N] ")
	line, _ := bufio.NewReader(c.Stdin).ReadString('\n')
	line = strings.ToLower(strings.TrimSpace(line))
	return line == "y" || line == "yes"
}

// ahead asks what the command would do.
func (c *call) ahead(ctx context.Context) (p preview, raw []byte, err error) {
	body := map[string]any{"preview": true}
	for k, v := range c.body {
		if k != "confirm" {
			body[k] = v
		}
	}
	a, err := c.api.ask(ctx, http.MethodPost, "/commands", body)
	if err != nil {
		return p, nil, err
	}
	if a.status != http.StatusOK {
		return p, nil, c.problem(a)
	}
	if err := json.Unmarshal(a.body, &p); err != nil {
		return p, nil, fmt.Errorf("read the preview: %w", err)
	}
	return p, a.body, nil
}

// look shows what the command would touch.
func (c *call) look(ctx context.Context, write func([]byte) (int, error)) (preview, error) {
	p, raw, err := c.ahead(ctx)
	if err != nil {
		return p, err
	}
	if c.text("o") == "json" {
		_, err = write(raw)
	} else {
		var b strings.Builder
		times(&b, p.Occurrences, c.text("timezone"))
		for i, o := range p.Items {
			if i == shown && c.Terminal {
				break
			}
			fmt.Fprintln(&b, c.subject(o.Object))
		}
		if c.note != "" {
			fmt.Fprintln(&b, c.note)
		}
		if p.Note != "" {
			fmt.Fprintln(&b, p.Note)
		}
		fmt.Fprintf(&b, "%s would be touched, nothing was done.\n", plural(p.Total, "object"))
		_, err = write([]byte(b.String()))
	}
	if err == nil && p.Total == 0 {
		err = &fault{Nobody, ""}
	}
	return p, err
}

// showTimes shows when a recurring downtime would begin, and asks.
func (c *call) showTimes(ctx context.Context) error {
	p, _, err := c.ahead(ctx)
	if err != nil {
		return err
	}
	var b strings.Builder
	times(&b, p.Occurrences, c.text("timezone"))
	if c.text("o") != "json" || c.Terminal {
		fmt.Fprint(c.Stderr, b.String())
	}
	if len(p.Occurrences) == 0 {
		return &fault{Failed, "it would never begin; nothing was done"}
	}
	if c.Terminal && !c.is("yes") && !c.agreed("Schedule it?") {
		return &fault{Failed, "nothing was done"}
	}
	return nil
}

// accepted shows what became of the command.
func (c *call) accepted(a answer) error {
	var r accepted
	if err := json.Unmarshal(a.body, &r); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	failed := r.Failed
	for _, o := range r.Results {
		if failed == 0 && o.Outcome != "done" && o.Outcome != "submitted" {
			failed++
		}
	}
	if c.text("o") == "json" {
		if _, err := c.Stdout.Write(a.body); err != nil {
			return err
		}
	} else if err := c.results(&r); err != nil {
		return err
	}
	switch {
	case failed > 0:
		return &fault{Failed, ""}
	case r.Total == 0 && r.Results != nil:
		return &fault{Nobody, "nothing matched"}
	}
	return nil
}

// subject is what an outcome is about: an object, or what the command names
// instead of objects.
func (c *call) subject(object string) string {
	text := func(name string) string { s, _ := c.body[name].(string); return s }
	switch {
	case object != "":
		return object
	case text("contact") != "":
		return "contact " + text("contact")
	case text("group") != "":
		return "group " + text("group")
	case text("filter") != "":
		return "all that match " + text("filter")
	case text("object") != "" && text("scope") == "with-services":
		return text("object") + " and its services"
	case text("object") != "":
		return text("object")
	}
	return "the whole program"
}

func (c *call) results(r *accepted) error {
	if r.Rule != "" {
		if _, err := fmt.Fprintf(c.Stdout, "downtime rule %s for %s: %s\n", r.Rule, c.subject(""), plural(r.Total, "object")); err != nil {
			return err
		}
	}
	t := table{head: []string{"OBJECT", "OUTCOME", "RULE", "DETAIL"}}
	for _, o := range r.Results {
		subject := c.subject(o.Object)
		if o.Object == "" && o.Rule != "" {
			subject = "downtime rule"
		}
		t.add(subject, o.Outcome, o.Rule, o.Detail)
	}
	if err := t.write(c.Stdout); err != nil {
		return err
	}
	if r.Total > len(r.Results) {
		if _, err := fmt.Fprintf(c.Stdout, "… of %d, %d of them failed\n", r.Total, r.Failed); err != nil {
			return err
		}
	}
	if c.note == "" {
		return nil
	}
	_, err := fmt.Fprintln(c.Stdout, c.note)
	return err
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
