package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

func explainCommands() []command {
	return []command{{
		name: "explain", usage: "OBJECT",
		summary: "say who is told of an object, and why or why not",
		text: `Shows the decision about telling people of an object that would be made now, or
at another time: the verdict of every gate in order, what would have to be
different, who is told, what happens next by itself, and what became of earlier
decisions. Nothing is sent. Of what is healthy it shows what would happen if it
failed. Times are those of this machine's clock.

  jaque explain 'web01!http'
  jaque explain 'web01!http' -contact alice
  jaque explain web01 -at -2h
  jaque explain web01 -at "tomorrow 03:00" -kind RECOVERY
`,
		options: []option{
			{name: "contact", arg: "NAME", help: "only about this contact, with the gates of the contact"},
			{name: "at", arg: "TIME", help: "then instead of now; -2h is two hours ago"},
			{name: "kind", arg: "KIND", help: "PROBLEM, RECOVERY, … (default: what fits the state)"},
			{name: "limit", arg: "N", help: "at most so many decisions from before (default: 5)"},
		},
		run: runExplain,
	}}
}

func runExplain(ctx context.Context, c *call) error {
	if len(c.words) != 1 || c.words[0] == "" {
		return usagef("name one object, as in web01 or 'web01!http'")
	}
	q := url.Values{"object": {c.words[0]}}
	for _, name := range []string{"contact", "kind"} {
		if c.has(name) {
			q.Set(name, c.text(name))
		}
	}
	if c.has("at") {
		t, err := readAgo(c.text("at"), c.Now())
		if err != nil {
			return usagef("-at: %v", err)
		}
		q.Set("at", stamp(t))
	}
	page := sheet{clock: c.clock(), contact: c.has("contact"), limit: 5}
	if c.has("limit") {
		n, err := strconv.Atoi(c.text("limit"))
		if err != nil || n < 0 {
			return usagef("-limit: %q is no number from 0", c.text("limit"))
		}
		page.limit = n
	}
	var e explanation
	if raw, err := c.read(ctx, "/explain?"+q.Encode(), &e); err != nil || raw {
		return err
	}
	e.onClock(page.clock)
	return page.show(c.Stdout, &e)
}

// read asks for one answer. With -o json it is handed on as it came, and raw is
// true; else it is read into v.
func (c *call) read(ctx context.Context, path string, v any) (raw bool, err error) {
	a, err := c.api.ask(ctx, http.MethodGet, path, nil)
	if err != nil {
		return false, err
	}
	if a.status != http.StatusOK {
		return false, c.problem(a)
	}
	if c.text("o") == "json" {
		_, err := c.Stdout.Write(a.body)
		return true, err
	}
	if err := json.Unmarshal(a.body, v); err != nil {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	return false, nil
}

// sheet is an explanation as it is written for people.
type sheet struct {
	clock   clock
	contact bool // it is about one contact, whose gates are shown too
	limit   int  // decisions from before
}

// show writes an explanation.
func (s *sheet) show(w io.Writer, e *explanation) error {
	var b strings.Builder
	lines(&b, e.Object+" at "+s.clock.at(e.At), e.Condition, e.Supposed)
	b.WriteByte('\n')
	lines(&b, e.Decision.Verdict, e.Decision.If)
	if e.Next.Text != "" {
		lines(&b, "next: "+e.Next.Text)
	}
	for _, caveat := range e.Caveats {
		lines(&b, "note: "+caveat)
	}
	section(&b, "", gateTable("GATE", e.Decision.Gates))
	if s.contact {
		for _, p := range e.Decision.Contacts {
			section(&b, "", gateTable("GATE OF "+printable(p.Name), p.Gates))
		}
	}
	section(&b, "", e.contacts(s.contact))
	section(&b, "if nothing happens:", s.ahead(e))
	s.recorded(&b, e.Recorded)
	_, err := io.WriteString(w, b.String())
	return err
}

// lines writes texts that are not empty, one a line.
func lines(b *strings.Builder, texts ...string) {
	for _, text := range texts {
		if text != "" {
			b.WriteString(printable(text) + "\n")
		}
	}
}

// section writes a table behind an empty line and a title, nothing if it has no
// rows.
func section(b *strings.Builder, title string, t table) {
	if len(t.rows) == 0 {
		return
	}
	b.WriteByte('\n')
	lines(b, title)
	_ = t.write(b) // a Builder takes everything
}

// mark is a verdict as one sign.
func mark(verdict string) string {
	switch verdict {
	case "passed", "told", "would be told", "would have been told", "delivered":
		return "✓"
	case "blocked", "not told", "abandoned", "given up":
		return "✗"
	}
	return "·"
}

func gateTable(head string, gates []gate) table {
	t := table{head: []string{"", head, "VERDICT", "WHY"}}
	for _, g := range gates {
		why := g.Why
		if why == "" {
			why = g.Meaning + "?"
		}
		t.add(mark(g.Verdict), g.Name, g.Verdict, why)
	}
	return t
}

// contacts lists who is told. What would have to be different for a contact is said
// unless it stands below the whole verdict.
func (e *explanation) contacts(whole bool) table {
	t := table{head: []string{"", "CONTACT", "VERDICT", "CHANNELS", "WHY"}}
	for _, p := range e.Decision.Contacts {
		why := p.Why
		_, condition, _ := strings.Cut(p.If, " if ")
		_, said, _ := strings.Cut(e.Decision.If, " if ")
		if condition != said && !whole {
			why += "; " + p.If
		}
		says := p.Says
		if e.Past && says == "would be told" {
			says = "would have been told"
		}
		t.add(mark(says), p.Name, says, strings.Join(p.Channels, ", "), why)
	}
	return t
}

func (s *sheet) ahead(e *explanation) table {
	t := table{head: []string{"AT", "NUMBER", "TIMES", "STEPS", "TOLD"}}
	for _, n := range e.Ahead {
		times := strconv.Itoa(n.Times)
		if n.More {
			times = "on and on"
		}
		number := "" // a recovery has none
		if n.Number > 0 {
			number = strconv.Itoa(n.Number)
		}
		t.add(s.clock.at(n.At), number, times, strings.Join(n.Steps, ", "), strings.Join(n.Told, ", "))
	}
	return t
}

// recorded lists the newest decisions on the log with their messages.
func (s *sheet) recorded(b *strings.Builder, all []notification) {
	if len(all) == 0 || s.limit == 0 {
		return
	}
	b.WriteString("\ndecided before, newest first:\n")
	for i := range all[:min(s.limit, len(all))] {
		n := &all[i]
		says, why := n.says(), n.Why
		switch {
		case n.Send && n.Number > 0:
			why = fmt.Sprintf("number %d", n.Number)
		case n.Send:
			why = ""
		}
		text := fmt.Sprintf("%s %s  %s (%s): %s, %s", mark(says), s.clock.at(n.Time), n.Kind, n.State, says, why)
		lines(b, strings.TrimSuffix(text, ", "))
		for _, d := range n.Deliveries {
			lines(b, "    "+mark(d.Status)+" "+d.words(s.clock))
		}
	}
	if more := len(all) - s.limit; more > 0 {
		fmt.Fprintf(b, "and %d more; write -limit %d\n", more, len(all))
	}
}

// words says what became of a message.
func (d *delivery) words(on clock) string {
	text := d.Contact + " over " + d.Channel + ": " + d.Status
	if d.Status == "abandoned" {
		text = d.Contact + " over " + d.Channel + ": given up"
	}
	if d.Time != "" {
		text += " at " + on.at(d.Time)
	}
	if d.Attempts > 1 {
		text += fmt.Sprintf(", %d attempts", d.Attempts)
	}
	if d.With > 1 {
		text += fmt.Sprintf(", in one message with %d others", d.With-1)
	}
	if d.Repeat {
		text += ", marked as a possible repetition"
	}
	if d.Reason != "" {
		text += ": " + d.Reason
	}
	return text
}
