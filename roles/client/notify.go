package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

func notifyCommands() []command {
	return []command{
		{
			name: "notify test", usage: "-contact NAME", summary: "send a marked message to a contact",
			text: `Sends one message that says it is a test to a contact now, over each of its
channels or over one, and shows what became of it. It is on no log.

  jaque notify test -contact alice
  jaque notify test -contact alice -channel email
`,
			options: []option{
				{name: "contact", arg: "NAME", help: "who gets the message"},
				{name: "channel", arg: "NAME", help: "over this channel only, as in email"},
			},
			run: runNotifyTest,
		},
		{
			name: "notifications", usage: "[OBJECT]", summary: "list who was told what, and who was not; notifications open",
			text: `Lists the decisions about telling people, newest first, with what became of the
messages. Times are those of this machine's clock. The rounds of the canary are
listed only where HEARTBEAT or an object is asked for.

  jaque notifications -since -8h
  jaque notifications 'web01!http' -contact alice
  jaque notifications -outcome abandoned
`,
			options: []option{
				{name: "contact", arg: "NAME", help: "only what is about this contact"},
				{name: "channel", arg: "NAME", help: "only what went over this channel, as in email"},
				{name: "kind", arg: "KIND", help: "PROBLEM, RECOVERY, …"},
				{name: "outcome", arg: "OUTCOME", help: "sent, suppressed, delivered, failed, abandoned, waiting or unknown"},
				{name: "state", arg: "STATE", help: "only what was decided in this state, as in critical or down"},
				{name: "since", arg: "TIME", help: "from then on; -2h is two hours ago"},
				{name: "until", arg: "TIME", help: "up to then"},
				{name: "limit", arg: "N", help: "at most so many (default: 50)"},
			},
			run: runNotifications,
		},
		{
			name: "notifications open", usage: "[OBJECT]", summary: "list messages that are not delivered yet",
			text: "Lists the messages that nobody has delivered or given up yet, oldest first.\n",
			options: []option{
				{name: "contact", arg: "NAME", help: "only those to this contact"},
				{name: "channel", arg: "NAME", help: "only those over this channel, as in email"},
				{name: "limit", arg: "N", help: "at most so many (default: 1000)"},
			},
			run: runOpen,
		},
	}
}

func runNotify(ctx context.Context, c *call) error {
	c.switches("broadcast", "forced", "increment")
	if err := c.commented(ctx); err != nil || c.is("preview") || c.text("o") == "json" {
		return err
	}
	id, one := c.body["object"].(string)
	if !one {
		return nil
	}
	return c.whoHears(ctx, id)
}

// whoHears says to whom the message of one's own goes that was just accepted. Where
// that cannot be read, the command is done all the same.
func (c *call) whoHears(ctx context.Context, id string) error {
	all, err := c.pages(ctx, "/notifications", url.Values{"object": {id}, "kind": {"CUSTOM"}, "limit": {"1"}}, 1)
	var n notification
	if err != nil || len(all.Items) == 0 || json.Unmarshal(all.Items[0], &n) != nil || n.Object != id {
		return nil
	}
	if told := n.told(); len(told) > 0 {
		_, err := fmt.Fprintf(c.Stdout, "goes to %s\n", strings.Join(told, ", "))
		return err
	}
	why := n.why()
	if why == "" {
		why = "no contact is named for it"
	}
	return &fault{Nobody, "nobody is told: " + why + "; with -forced it is told all the same"}
}

func runNotifyTest(ctx context.Context, c *call) error {
	if len(c.words) > 0 {
		return usagef("%q is no option; name the contact with -contact", c.words[0])
	}
	if c.text("contact") == "" {
		return usagef("-contact is missing; name the contact who gets the message")
	}
	if !c.has("timeout") {
		c.api.client.Timeout = 2 * time.Minute // a slow server may take a minute
	}
	a, err := c.api.ask(ctx, http.MethodPost, "/notify/test", map[string]string{"contact": c.text("contact"), "channel": c.text("channel")})
	if err != nil {
		return err
	}
	if a.status != http.StatusOK {
		return c.problem(a)
	}
	var answer tested
	if err := json.Unmarshal(a.body, &answer); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if c.text("o") == "json" {
		_, err = c.Stdout.Write(a.body)
	} else {
		err = answer.table().write(c.Stdout)
	}
	if err == nil && !answer.Delivered {
		return &fault{Failed, ""} // the answer says it
	}
	return err
}

func (t *tested) table() *table {
	out := &table{head: []string{"", "CHANNEL", "OUTCOME", "SECONDS", "REASON"}}
	for _, o := range t.Outcomes {
		says := "failed"
		sign := "✗"
		if o.Delivered {
			says, sign = "delivered", "✓"
		}
		out.add(sign, o.Channel, says, strconv.FormatFloat(o.Seconds, 'f', 1, 64), o.Reason)
	}
	return out
}

// noteFilters reads the words and options that narrow a list of notifications.
func (c *call) noteFilters(fallback int, names ...string) (q url.Values, limit int, err error) {
	q, limit = url.Values{}, fallback
	switch {
	case len(c.words) > 1:
		return nil, 0, usagef("name one object, or none")
	case len(c.words) == 1:
		q.Set("object", c.words[0])
	}
	for _, name := range names {
		if c.has(name) {
			q.Set(name, c.text(name))
		}
	}
	if c.has("limit") {
		if limit, err = strconv.Atoi(c.text("limit")); err != nil || limit < 1 {
			return nil, 0, usagef("-limit: %q is no number from 1", c.text("limit"))
		}
	}
	for _, name := range []string{"since", "until"} {
		if !c.has(name) {
			continue
		}
		t, err := readPast(c.text(name), c.Now())
		if err != nil {
			return nil, 0, usagef("-%s: %v", name, err)
		}
		q.Set(name, stamp(t))
	}
	return q, limit, nil
}

func runNotifications(ctx context.Context, c *call) error {
	q, limit, err := c.noteFilters(50, "contact", "channel", "kind", "outcome", "state")
	if err != nil {
		return err
	}
	q.Set("limit", strconv.Itoa(min(limit, 1000)))
	all, err := c.pages(ctx, "/notifications", q, limit)
	if err != nil {
		return err
	}
	if c.text("o") == "json" {
		return json.NewEncoder(c.Stdout).Encode(map[string]any{"items": all.Items})
	}
	on := c.clock()
	t := table{head: []string{"", "TIME", "OBJECT", "STATE", "KIND", "TOLD", "OUTCOME", "WHY NOT"}}
	for _, raw := range all.Items {
		var n notification
		if err := json.Unmarshal(raw, &n); err != nil {
			return fmt.Errorf("read the list: %w", err)
		}
		says := "not told"
		if len(n.Deliveries) > 0 {
			n.Send = true
			says = n.says()
		}
		t.add(mark(says), on.at(n.Time), n.Object, n.State, n.Kind, strings.Join(n.told(), ", "), n.outcome(), on.text(n.why()))
	}
	if len(t.rows) == 0 {
		return &fault{Nobody, "there are no notifications of this"}
	}
	return t.write(c.Stdout)
}

// told returns who was told over what.
func (n *notification) told() (all []string) {
	for _, d := range n.Deliveries {
		all = append(all, d.Contact+" ("+d.Channel+")")
	}
	return all
}

// outcome counts what became of the messages, in the order of how they came.
func (n *notification) outcome() string {
	counts, order := map[string]int{}, []string{}
	for _, d := range n.Deliveries {
		if counts[d.Status]++; counts[d.Status] == 1 {
			order = append(order, d.Status)
		}
	}
	for i, status := range order {
		if counts[status] > 1 {
			order[i] = strconv.Itoa(counts[status]) + " " + status
		}
	}
	return strings.Join(order, ", ")
}

// why says why nobody, or the contact that is asked about, was told.
func (n *notification) why() string {
	if n.Why != "" || len(n.Deliveries) > 0 {
		return n.Why
	}
	for _, p := range n.Contacts {
		if p.Why != "" {
			return p.Why
		}
	}
	return ""
}

func runOpen(ctx context.Context, c *call) error {
	q, limit, err := c.noteFilters(0, "contact", "channel")
	if err != nil {
		return err
	}
	if limit > 0 {
		q.Set("limit", strconv.Itoa(limit))
	}
	var list struct {
		Items []openRequest `json:"items"`
		Total int           `json:"total"`
	}
	path := "/notifications/open"
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	if raw, err := c.read(ctx, path, &list); err != nil || raw {
		return err
	}
	t := table{head: []string{"SINCE", "OBJECT", "KIND", "CONTACT", "CHANNEL", "FAILED", "REASON"}}
	for _, r := range list.Items {
		failed := ""
		if r.Failures > 0 {
			failed = strconv.Itoa(r.Failures)
		}
		t.add(c.clock().at(r.Time), r.Object, r.Kind, r.Contact, r.Channel, failed, r.Reason)
	}
	if len(t.rows) == 0 {
		return &fault{Nobody, "no message waits"}
	}
	if err := t.write(c.Stdout); err != nil || list.Total <= len(list.Items) {
		return err
	}
	_, err = fmt.Fprintf(c.Stdout, "and %d more; write -limit %d\n", list.Total-len(list.Items), list.Total)
	return err
}

// readAgo reads a time, where a length behind - is so long ago.
func readAgo(s string, now time.Time) (time.Time, error) {
	if ago, ok := strings.CutPrefix(strings.TrimSpace(s), "-"); ok {
		d, err := readDuration(ago)
		return now.Add(-d), err
	}
	return readTime(s, now)
}

// readPast reads a time as readAgo does; a time of day without a day is the last
// one.
func readPast(s string, now time.Time) (time.Time, error) {
	t, err := readAgo(s, now)
	if _, plain := time.Parse("15:04", strings.TrimSpace(s)); err == nil && plain == nil && t.After(now) {
		return t.AddDate(0, 0, -1), nil
	}
	return t, err
}
