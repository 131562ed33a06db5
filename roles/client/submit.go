package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/rule/output"
)

// workers is how many results of a list are sent at once.
const workers = 8

// longest is how many bytes a line of a list may have.
const longest = 512 << 10

func checkCommands() []command {
	return []command{
		{
			name: "check-now", api: "check-now", usage: "OBJECT…",
			summary: "run the check of an object at once, or at a time",
			text: `Runs checks out of turn.

  jaque check-now 'web01!http'
  jaque check-now -filter 'state=CRITICAL and label.role=db' -at +5m
`,
			options: slices.Concat([]option{
				{name: "at", arg: "TIME", help: "when (default: at once)"},
				{name: "forced", help: "whatever switches, periods and dependencies say (default: true)"},
			}, targets(), bulk()),
			run: func(ctx context.Context, c *call) error {
				c.switches("forced")
				if err := c.time("at", "at"); err != nil {
					return err
				}
				if err := c.target(); err != nil {
					return err
				}
				return c.send(ctx)
			},
		},
		{
			name: "submit", api: "submit-result", usage: "OBJECT STATE OUTPUT | -",
			summary: "hand in the result of a check",
			text: `Hands in a result that something else found out. STATE is a name or the exit code
of a plugin. OUTPUT may have several lines, and performance data behind a |.

  jaque submit 'db01!backup' OK "done in 52 min | took=3120s"
  jaque submit db01 DOWN "no answer"

With - it reads a list from standard input, one result a line: object, state and
output with a tab between them, and behind a further tab when it was found out, in
RFC 3339; \n in the output is a new line, \\ a backslash. Results of one object
keep their order.

  printf 'db01!backup\tOK\tdone\n' | jaque submit -
`,
			options: slices.Concat([]option{
				{name: "time", arg: "TIME", help: "when it was found out (default: now); one older than the newest is refused"},
			}, targets(), bulk()),
			run: runSubmit,
		},
	}
}

func runSubmit(ctx context.Context, c *call) error {
	if c.has("time") {
		t, err := readTime(c.text("time"), c.Now())
		if err != nil {
			return usagef("-time: %v", err)
		}
		if t.After(c.Now()) {
			return usagef("-time: %s is to come; write when it was found out, as in 2027-01-31T15:04:00Z", show(t))
		}
		c.body["time"] = stamp(t)
	}
	objects, rest := []string(nil), c.words
	if !c.has("filter") && !c.has("group") {
		if len(c.words) == 1 && c.words[0] == "-" {
			return c.list(ctx)
		}
		objects, rest = c.words[:min(1, len(c.words))], c.words[min(1, len(c.words)):]
	}
	if len(rest) != 2 {
		return usagef(`write an object, a state and a text, as in jaque submit 'db01!backup' OK "done"`)
	}
	if err := c.targetOf(objects); err != nil {
		return err
	}
	c.result(rest[0], rest[1])
	return c.send(ctx)
}

// result puts a state and what a plugin would have printed into the body.
func (c *call) result(state, text string) {
	c.body["state"] = state
	if code, err := strconv.Atoi(state); err == nil {
		c.body["state"] = code
	}
	r := output.Parse(text)
	c.body["output"], c.body["long_output"], c.body["perfdata"] = r.Output, r.Long, r.Perfdata
	for _, name := range []string{"long_output", "perfdata"} {
		if c.body[name] == "" {
			delete(c.body, name)
		}
	}
}

// submission is one line of a list.
type submission struct {
	line         int
	object       string
	state, text  string
	time         string // RFC 3339; "" = that of -time, or now
	status       int    // exit status of it alone
	outcome, why string
}

// list sends the results that stand on standard input.
func (c *call) list(ctx context.Context) error {
	if c.is("preview") {
		return usagef("a list is sent as it is read; -preview does not go with it")
	}
	var queues [workers]chan *submission
	var all sync.WaitGroup
	for i := range queues {
		queues[i] = make(chan *submission, 16)
		all.Go(func() {
			for s := range queues[i] {
				c.submit(ctx, s)
			}
		})
	}
	read, err := c.readList(func(s *submission) {
		h := fnv.New32a()
		_, _ = io.WriteString(h, s.object)
		queues[h.Sum32()%workers] <- s
	})
	for _, q := range queues {
		close(q)
	}
	all.Wait()
	if shown := c.showList(read); shown != nil {
		return shown
	}
	if err != nil {
		return err
	}
	if len(read) == 0 {
		return &fault{Nobody, "standard input held no result"}
	}
	return worst(read)
}

// worst is the error for a list that was not taken whole; the answer on Stdout
// says what is wrong.
func worst(all []*submission) error {
	failed, unknown := 0, 0
	for _, s := range all {
		if s.status != Done {
			failed++
		}
		if s.status == Nobody {
			unknown++
		}
	}
	switch {
	case failed == 0:
		return nil
	case unknown == len(all):
		return &fault{Nobody, ""}
	}
	return &fault{Failed, ""}
}

// readList reads lines until the end. Those that cannot be a result are not sent.
func (c *call) readList(send func(*submission)) (all []*submission, err error) {
	lines := bufio.NewScanner(c.Stdin)
	lines.Buffer(nil, longest)
	n := 1
	for ; lines.Scan(); n++ {
		text := strings.TrimSuffix(lines.Text(), "\r")
		if strings.TrimSpace(text) == "" {
			continue
		}
		s := &submission{line: n}
		all = append(all, s)
		parts := strings.Split(text, "\t")
		s.object = parts[0]
		if s.why = misread(parts); s.why != "" {
			s.status, s.outcome = Failed, "refused"
			continue
		}
		if len(parts) == 4 {
			s.time = strings.TrimSpace(parts[3])
		}
		s.state, s.text = strings.TrimSpace(parts[1]), output.Unescape(parts[2])
		send(s)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return all, fmt.Errorf("line %d is longer than %d bytes, it and those behind it were not sent; send less output", n, longest)
	case err != nil:
		return all, fmt.Errorf("read standard input at line %d: %w", n, err)
	}
	return all, nil
}

// misread says what is wrong with the columns of a line, "" = nothing.
func misread(columns []string) string {
	switch {
	case len(columns) < 3 || columns[0] == "":
		return "the line is no object, state and output with a tab between them"
	case len(columns) > 4:
		return "the line has more than object, state, output and time; write no tab in the output"
	case len(columns) == 4:
		if _, err := time.Parse(time.RFC3339, strings.TrimSpace(columns[3])); err != nil {
			return fmt.Sprintf("%q behind the output is no time; write one as in 2027-01-31T15:04:00Z, and no tab in the output", columns[3])
		}
	}
	return ""
}

// submit sends one result of a list. While jaque has too much to do it waits.
func (c *call) submit(ctx context.Context, s *submission) {
	one := call{Process: c.Process, values: c.values, cmd: c.cmd, api: c.api, body: map[string]any{"object": s.object}}
	if t, ok := c.body["time"]; ok {
		one.body["time"] = t
	}
	if s.time != "" {
		one.body["time"] = s.time
	}
	one.result(s.state, s.text)
	err := one.common()
	var a answer
	for wait := 100 * time.Millisecond; err == nil; wait *= 2 {
		a, err = c.api.ask(ctx, http.MethodPost, "/commands", one.body)
		if err != nil || a.status != http.StatusServiceUnavailable || wait > 10*time.Second {
			break
		}
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-time.After(wait):
		}
	}
	if err == nil && a.status != http.StatusAccepted {
		err = one.problem(a)
	}
	var r accepted
	if err == nil && json.Unmarshal(a.body, &r) == nil && len(r.Results) == 1 && r.Results[0].Outcome != "done" && r.Results[0].Outcome != "submitted" {
		err = &fault{Failed, r.Results[0].Detail}
	}
	s.outcome = "done"
	if err != nil {
		s.outcome, s.why, s.status = "failed", err.Error(), status(err)
		if s.status != Nobody {
			s.status = Failed // a list is not a wrong command line
		}
	}
}

// showList shows the results that were not taken, and how many were.
func (c *call) showList(all []*submission) error {
	type row struct {
		Line    int    `json:"line"`
		Object  string `json:"object"`
		Outcome string `json:"outcome"`
		Detail  string `json:"detail,omitempty"`
	}
	t, failed := table{head: []string{"LINE", "OBJECT", "OUTCOME", "DETAIL"}}, []row{}
	for _, s := range all {
		if s.outcome != "done" {
			t.add(strconv.Itoa(s.line), s.object, s.outcome, s.why)
			failed = append(failed, row{s.line, s.object, s.outcome, s.why})
		}
	}
	if c.text("o") == "json" {
		return json.NewEncoder(c.Stdout).Encode(map[string]any{"total": len(all), "failed": len(failed), "results": failed})
	}
	if err := t.write(c.Stdout); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.Stdout, "%s handed in, %d failed\n", plural(len(all)-len(failed), "result"), len(failed))
	return err
}
