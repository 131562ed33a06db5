package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/operate"
)

// scheduleDowntime reads a downtime: of single objects, or a rule for many
// objects, those that come later among them, or for many times.
func (w *wisher) scheduleDowntime() (operate.Request, error) {
	author, text, err := w.signed()
	if err != nil {
		return operate.Request{}, err
	}
	t, err := w.target()
	if err != nil {
		return operate.Request{}, err
	}
	d := event.Downtime{Author: author, Text: text, Entry: w.now, Trigger: w.q.Trigger}
	if d.Duration, err = w.length("flexible", w.q.Flexible); err != nil {
		return operate.Request{}, err
	}
	recurring := len(w.q.Ranges) > 0
	if recurring {
		err = w.bounds(&d)
	} else {
		err = w.span(&d)
	}
	if err != nil {
		return operate.Request{}, err
	}
	rule := event.DowntimeRule{
		Author: author, Text: text, Entry: w.now, Start: d.Start, End: d.End, Duration: d.Duration,
		Ranges: w.q.Ranges,
	}
	if recurring {
		rule.Zone = cmp.Or(w.q.Timezone, "UTC")
		if err := comesAgain(&rule, w.now); err != nil {
			return operate.Request{}, err
		}
	}
	lasting := ruleFor(&rule, &t)
	var moves error
	if lasting && t.Filter != "" {
		moves = operate.Lasting(t.Filter) // not the rule's, for the column
		lasting = recurring || moves == nil
	}
	switch {
	case recurring && !lasting:
		return operate.Request{}, badField("scope", "a recurring downtime takes the scope services or with-services of named hosts; write one of them, or a filter")
	case (recurring || d.Trigger == "" && !plain(&t)) && len(rule.Filter) > longestComment:
		return operate.Request{}, badField(w.widest(), "the objects of a downtime for many make a filter of %d bytes, of at most %d; write a group or a shorter filter",
			len(rule.Filter), longestComment)
	case recurring && moves != nil:
		return operate.Request{}, refused(moves)
	case recurring || (lasting && d.Trigger == "" && !plain(&t)):
		return operate.Request{Target: ruleTarget(&rule), Program: program.PutRule{Rule: rule}}, nil
	}
	return operate.Request{Target: t, Command: fold.ScheduleDowntime{Downtime: d}}, nil
}

// widest returns the field that names the objects.
func (w *wisher) widest() string {
	if len(w.q.Objects) > 0 {
		return "objects"
	}
	return "filter"
}

// plain tells whether a target is nothing but named objects, or a scope that a
// moment decides.
func plain(t *operate.Target) bool { return len(t.Objects) > 0 && t.Scope != operate.WithServices }

// span reads when a downtime that happens once begins and ends.
func (w *wisher) span(d *event.Downtime) (err error) {
	q := w.q
	if q.Timezone != "" {
		return badField("timezone", "timezone is for ranges; a time has its zone in it, as in 2026-01-31T08:00:00+01:00")
	}
	if d.Start, err = w.instant("start", q.Start); err != nil {
		return err
	}
	if d.End, err = w.instant("end", q.End); err != nil {
		return err
	}
	length, err := w.length("duration", q.Duration)
	if err != nil {
		return err
	}
	if d.Trigger != "" {
		if err := w.triggered(d, length); err != nil {
			return err
		}
	}
	if d.Start == 0 {
		d.Start = w.now
	}
	switch {
	case length != 0 && q.End != "":
		return badField("duration", "end and duration are both given; write one of them")
	case length != 0:
		d.End = d.Start + length
	case d.End == 0:
		return badField("end", "end is missing; write when the downtime ends, or duration in seconds")
	}
	switch {
	case d.End <= d.Start && q.Start == "":
		return badField("end", "end is %s, which is not after now; write a later end", stamp(d.End))
	case d.End <= d.Start:
		return badField("end", "end is %s, which is not after start, %s; write a later end, or swap them", stamp(d.End), stamp(d.Start))
	case d.End <= w.now && q.End == "":
		return badField("duration", "the downtime would end %s, which has passed; write a later start or a longer duration", stamp(d.End))
	case d.End <= w.now:
		return badField("end", "end is %s, which has passed; write a later end", stamp(d.End))
	}
	return nil
}

// triggered takes over the times of the downtime that starts this one, as far as
// none are given: it cannot be waited for longer.
func (w *wisher) triggered(d *event.Downtime, length object.Time) error {
	world := w.world()
	found := world.Downtimes(func(_ object.ID, other *event.Downtime) bool { return other.ID == d.Trigger })
	if len(found) == 0 {
		f := badField("trigger", "no object has a downtime with the id %q; GET /api/v1/downtimes lists them", short(d.Trigger))
		f.Status, f.Title = 404, "Not Found"
		return f
	}
	if d.Start == 0 {
		d.Start = found[0].Start
	}
	if d.End == 0 && length == 0 {
		d.End = found[0].End
	}
	return nil
}

// bounds reads from when to when a recurring downtime may begin, 0 = from now
// and for ever, and checks its ranges.
func (w *wisher) bounds(d *event.Downtime) (err error) {
	q := w.q
	switch {
	case q.Duration != "":
		return badField("duration", "the ranges say how long a recurring downtime lasts; leave duration out")
	case d.Trigger != "":
		return badField("trigger", "a recurring downtime has no trigger; leave it out, or leave ranges out")
	case len(q.Ranges) > mostRanges:
		return badField("ranges", "%d ranges; write at most %d", len(q.Ranges), mostRanges)
	}
	if _, err := calendar(q.Ranges, q.Timezone); err != nil {
		return err
	}
	if d.Start, err = w.instant("start", q.Start); err != nil {
		return err
	}
	if d.End, err = w.later("end", q.End); err != nil {
		return err
	}
	if d.End != 0 && d.End <= d.Start {
		return badField("end", "end is %s, which is not after start, %s; write a later end, or swap them", stamp(d.End), stamp(d.Start))
	}
	return nil
}

func stamp(t object.Time) string { return t.Std().Format("2006-01-02T15:04:05Z07:00") }

// ruleFor says in a rule what a target is, and tells whether it can.
func ruleFor(r *event.DowntimeRule, t *operate.Target) bool {
	services := t.Scope == operate.Services
	switch {
	case t.Scope != operate.Itself && t.Scope != operate.WithServices && !services:
		return false
	case len(t.Objects) == 1 && !services:
		r.Object, r.WithServices = t.Objects[0], t.Scope == operate.WithServices
		return true
	case t.Group != "" && t.Kind == "" && t.Scope == operate.Itself:
		r.Group = t.Group
		return true
	case t.Filter == "*" && t.Scope == operate.WithServices: // hosts and all their services
		r.Filter = "*"
		return true
	case t.Filter == "*" && services:
	case t.Filter != "" && t.Scope != operate.Itself:
		return false // what the filter says of a host does not hold for its services
	}
	text, kind := t.Filter, t.Kind
	if t.Group != "" {
		text = "group=" + quoted(t.Group)
	}
	if len(t.Objects) > 0 {
		text = named(t.Objects, t.Scope == operate.Itself)
	}
	if services {
		kind = "service"
	}
	switch {
	case kind != "" && text == "*":
		text = "kind=" + kind
	case kind != "":
		text = fmt.Sprintf("(%s) and kind=%s", text, kind)
	}
	r.Filter = text
	return true
}

// named is the filter that named objects match: themselves alone, or with the
// services of hosts.
func named(ids []object.ID, alone bool) string {
	field := "host="
	if alone {
		field = "id="
	}
	var terms []string
	for _, id := range ids {
		if term := field + quoted(string(id)); !slices.Contains(terms, term) {
			terms = append(terms, term)
		}
	}
	return strings.Join(terms, " or ")
}

// quoted writes a text as one value of a filter.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// ruleTarget returns the objects that a rule is for today.
func ruleTarget(r *event.DowntimeRule) operate.Target {
	t := operate.Target{Group: r.Group, Filter: r.Filter}
	if r.Object != "" {
		t.Objects = []object.ID{r.Object}
	}
	if r.WithServices {
		t.Scope = operate.WithServices
	}
	return t
}

// cancelDowntime asks for one downtime by its id, wherever it is, or for those
// of the target that fit. Without a target plan finds it.
func (w *wisher) cancelDowntime() (operate.Request, error) {
	author, err := w.author()
	if err != nil {
		return operate.Request{}, err
	}
	c := fold.CancelDowntimes{ID: w.q.ID, Text: strings.TrimSpace(w.q.Comment), Author: author}
	if c.ID != "" {
		for field, text := range map[string]string{"start": w.q.Start, "comment": w.q.Comment} {
			if text != "" {
				return operate.Request{}, badField(field, "the id says which downtime; leave %s out", field)
			}
		}
		return operate.Request{Command: c}, w.onlyOne()
	}
	if c.Start, err = w.instant("start", w.q.Start); err != nil {
		return operate.Request{}, err
	}
	c.All = c.Start == 0 && c.Text == ""
	return w.each(c)
}
