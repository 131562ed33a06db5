package roles

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/rehearse"
	"jaque.sh/jaque/roles/client"
)

// told is a rehearsal as people read it.
type told struct {
	story *rehearse.Story
	scene *rehearse.Scene
	out   *rehearse.Outcome
	zone  *time.Location
	zones bool // the clocks are changed meanwhile, so that each time has its zone
}

// turns tells whether the clocks are changed between the beginning and the last time
// that is shown.
func (t *told) turns() bool {
	_, first := t.story.At.Std().In(t.zone).Zone()
	turned := func(at object.Time) bool {
		_, offset := at.Std().In(t.zone).Zone()
		return offset != first
	}
	return turned(t.story.At.Add(t.story.For)) ||
		slices.ContainsFunc(t.out.Entries, func(e rehearse.Entry) bool { return turned(e.Time) }) ||
		slices.ContainsFunc(t.out.Messages, func(m rehearse.Message) bool { return turned(m.Time) })
}

// row is one line of the table.
type row struct {
	at                   object.Time
	what, who, over, why string
}

// table writes the rehearsal for people.
func (t *told) table(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "If %s were %s from %s on%s. Nothing is sent.\n\n", t.story.Object, t.state(t.story.Object, t.story.State), t.stamp(t.story.At), t.lasts())
	t.zones = t.turns()
	rows := append(t.sent(), t.held()...)
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.at, b.at) })
	tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	if len(rows) > 0 {
		fmt.Fprintln(tab, "WHEN\tAFTER\tWHAT\tWHO\tOVER\tWHY")
	}
	for _, r := range rows {
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\n", t.clock(r.at), t.after(r.at), r.what, r.who, r.over, client.OnClock(t.zone, r.why))
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	if len(rows) == 0 {
		b.WriteString("Nobody would be told: " + t.silence() + ".\n")
	}
	b.WriteString("\n" + t.summary() + "\n" + t.next() + "\n")
	for _, r := range t.out.Refused {
		fmt.Fprintf(&b, "Not simulated at %s: %v\n", t.stamp(r.Act.At), r.Err)
	}
	_, err := io.WriteString(w, strings.ReplaceAll(b.String(), "  \n", "\n"))
	return err
}

// silence says why there is nothing to say.
func (t *told) silence() string {
	for _, id := range t.scene.Cast {
		if o := t.story.Set.Get(id); o != nil && o.Notify != nil {
			return "nothing is to be told of it in this time"
		}
	}
	return "no policy is for it"
}

func (t *told) lasts() string {
	if t.story.Then == nil {
		return ", seen for " + short(t.story.For)
	}
	return " for " + short(t.story.For) + ", then " + t.state(t.story.Object, *t.story.Then)
}

func (t *told) state(id object.ID, s object.State) string { return s.Name(id.Kind()) }

// sent returns a row for each message and for each contact without a channel.
func (t *told) sent() (rows []row) {
	for i := range t.out.Messages {
		m := &t.out.Messages[i]
		first := &t.out.Entries[m.Entries[0]]
		r := row{at: m.Time, who: m.Contact, over: m.Channel, what: t.what(first), why: why(first)}
		if len(m.Entries) > 1 {
			r.what, r.why = t.together(m), r.why+"; in one message"
		}
		if late := m.Time.Sub(first.Time); late > 0 {
			r.why += "; waited " + short(late) + waited(m)
		}
		rows = append(rows, r)
	}
	for i := range t.out.Abandoned {
		m := &t.out.Abandoned[i]
		first := &t.out.Entries[m.Entries[0]]
		r := row{at: m.Time, who: "not " + m.Contact, over: m.Channel, what: t.what(first)}
		if len(m.Entries) > 1 {
			r.what = t.together(m)
		}
		r.why = "given up: " + short(m.Time.Sub(first.Time)) + " after it was decided the deadline of delivery has passed" + waited(m)
		rows = append(rows, r)
	}
	for i := range t.out.Entries {
		if e := &t.out.Entries[i]; e.Told && e.Channel == "" {
			rows = append(rows, row{at: e.Time, who: e.Contact, over: "nothing", what: t.what(e), why: why(e) + "; the contact has no channel"})
		}
	}
	return rows
}

func waited(m *rehearse.Message) string {
	switch {
	case m.Group == "rate":
		return " for the channel's limit"
	case m.Group != "":
		return " for more"
	}
	return ""
}

// what names a notification: its kind, number and object.
func (t *told) what(e *rehearse.Entry) string {
	s := e.Kind
	if e.Kind == "PROBLEM" && e.Number > 0 {
		s += fmt.Sprintf(" %d", e.Number)
	}
	return fmt.Sprintf("%s %s %s", s, e.Object, t.state(e.Object, e.State))
}

// listed bounds the objects that a line names.
const listed = 4

// together says what a message with several notifications holds.
func (t *told) together(m *rehearse.Message) string {
	kinds, objects := []string{}, []string{}
	for _, i := range m.Entries {
		e := &t.out.Entries[i]
		if !slices.Contains(kinds, e.Kind) {
			kinds = append(kinds, e.Kind)
		}
		objects = append(objects, string(e.Object))
	}
	s := fmt.Sprintf("%d together: %s of %s", len(m.Entries), strings.Join(kinds, ", "), some(objects))
	if m.Root != "" {
		s += ", because of " + string(m.Root)
	}
	return s
}

// some lists the first of many names, each once.
func some(all []string) string {
	all = slices.Clone(all)
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) <= listed {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:listed], ", "), len(all)-listed)
}

func why(e *rehearse.Entry) string {
	s := e.Why
	if len(e.Steps) > 0 && !strings.Contains(s, e.Steps[0]) {
		s += " (escalated: " + strings.Join(e.Steps, ", ") + ")"
	}
	return s
}

// held returns the rows of what is kept back: one for each reason, from the first time
// on.
func (t *told) held() (rows []row) {
	type reason struct {
		kind, why string
		number    int32
	}
	people, objects := map[reason][]string{}, map[reason][]*rehearse.Entry{}
	var order []reason
	for i := range t.out.Entries {
		e := &t.out.Entries[i]
		if e.Told {
			continue
		}
		k := reason{e.Kind, e.Gate + ": " + e.Why, e.Number}
		if objects[k] == nil {
			order = append(order, k)
		}
		people[k], objects[k] = append(people[k], e.Contact), append(objects[k], e)
	}
	for _, k := range order {
		what := t.what(objects[k][0])
		var names []string
		for _, e := range objects[k] {
			names = append(names, string(e.Object))
		}
		slices.Sort(names)
		if names = slices.Compact(names); len(names) > 1 {
			what = fmt.Sprintf("%s of %d: %s", k.kind, len(names), some(names))
		}
		who := "not " + some(people[k])
		if who == "not " {
			who = "nobody"
		}
		rows = append(rows, row{at: objects[k][0].Time, what: what, who: who, over: "-", why: k.why + t.again(objects[k])})
	}
	return rows
}

// again says how often something was kept back if that was at several times, "" if not.
// The entries are in order.
func (t *told) again(all []*rehearse.Entry) string {
	type moment struct {
		at object.Time
		id object.ID
	}
	moments, times := map[moment]bool{}, map[object.Time]bool{}
	for _, e := range all {
		moments[moment{e.Time, e.Object}], times[e.Time] = true, true
	}
	if len(times) == 1 {
		return ""
	}
	return fmt.Sprintf(" (%d times until %s)", len(moments), t.clock(all[len(all)-1].Time))
}

// summary counts what would go out.
func (t *told) summary() string {
	people := map[string]bool{}
	for _, m := range t.out.Messages {
		people[m.Contact] = true
	}
	s := fmt.Sprintf("%s to %s.", plural(len(t.out.Messages), "message"), plural(len(people), "contact"))
	if n := len(t.out.Abandoned); n > 0 {
		s += fmt.Sprintf(" %s would be given up.", plural(n, "message"))
	}
	return s
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// next says who is told next, if all stays as it is.
func (t *told) next() string {
	var who []string
	var first *rehearse.Entry
	for i := range t.out.Next {
		if e := &t.out.Next[i]; e.Told {
			first = e
			who = append(who, e.Contact)
		}
	}
	switch {
	case first != nil:
		return fmt.Sprintf("Next, if nothing changes: %s at %s to %s.", t.what(first), t.stamp(first.Time), some(who))
	case t.out.Cut:
		return "Who is told next is too far ahead to say."
	}
	return "Nobody is told anything more within 48h if nothing changes."
}

// clock returns a time, with the day if that is not the first.
func (t *told) clock(at object.Time) string {
	then, begin := at.Std().In(t.zone), t.story.At.Std().In(t.zone)
	layout := "15:04:05"
	if then.YearDay() != begin.YearDay() || then.Year() != begin.Year() {
		layout = "2006-01-02 15:04:05"
	}
	if t.zones {
		layout += " MST"
	}
	return then.Format(layout)
}

func (t *told) stamp(at object.Time) string {
	return at.Std().In(t.zone).Format("Mon 2006-01-02 15:04:05 MST")
}

func (t *told) after(at object.Time) string { return "+" + short(at.Sub(t.story.At)) }

// short writes a length of time without parts that are zero or of no interest.
func short(d time.Duration) string {
	s := d.Round(time.Second).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
