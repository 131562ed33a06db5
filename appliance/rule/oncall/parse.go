package oncall

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Parse makes a schedule. An error is of type Problems and holds everything that
// is wrong, in the order of the spec.
func Parse(spec Spec) (*Schedule, error) {
	r := reader{s: &Schedule{name: spec.Name}, zone: spec.Zone}
	if r.zone == nil {
		r.zone = time.UTC
	}
	if len(spec.Layers) == 0 {
		r.at(-1, -1).bad("layers", `the on-call schedule %q has no layers, so nobody would ever be on call; write at least one with contacts, start, handover and days`, spec.Name)
	}
	names := map[string]bool{}
	for i, l := range spec.Layers {
		r.at(i, -1)
		switch {
		case strings.TrimSpace(l.Name) == "":
			r.bad("name", `layer %d of the on-call schedule %q has no name; write for example name: "weekdays"`, i+1, spec.Name)
		case names[l.Name]:
			r.bad("name", "two layers of the on-call schedule %q are called %q; write another name for one of them", spec.Name, l.Name)
		}
		names[l.Name] = true
		r.layer(l)
	}
	for i, o := range spec.Overrides {
		r.at(-1, i).override(o)
	}
	r.overlaps()
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	return r.s, nil
}

// reader collects what a spec holds.
type reader struct {
	s        *Schedule
	zone     *time.Location
	place    Problem // where it reads
	problems Problems
	indexes  []int // of the overrides that can be read, as the spec counts them
}

// at remembers where it reads.
func (r *reader) at(layer, override int) *reader {
	r.place = Problem{Layer: layer, Override: override}
	return r
}

func (r *reader) bad(field, format string, args ...any) {
	p := r.place
	p.Field, p.Text = field, fmt.Sprintf(format, args...)
	r.problems = append(r.problems, p)
}

// layer takes one layer; it is of use only if no problem is found.
func (r *reader) layer(spec LayerSpec) {
	before := len(r.problems)
	l := layer{source: Source{Kind: Layer, Name: spec.Name}, zone: spec.Zone, contacts: slices.Clone(spec.Contacts), only: spec.Only}
	if l.zone == nil {
		l.zone = r.zone
	}
	r.contacts(spec)
	var err error
	if l.first, err = dayOf(spec.Start); err != nil {
		r.bad("start", "layer %q: %s", spec.Name, err)
	}
	if l.clock, err = clock(spec.Handover); err != nil {
		r.bad("handover", "layer %q: %s", spec.Name, err)
	}
	r.cycle(&l, spec)
	if len(r.problems) > before {
		return
	}
	r.begin(&l, spec)
	r.s.layers = append(r.s.layers, l)
}

// contacts checks who takes turns.
func (r *reader) contacts(spec LayerSpec) {
	if len(spec.Contacts) == 0 {
		r.bad("contacts", `layer %q has no contacts, so nobody takes a turn; write for example contacts: ["alice", "bob"]`, spec.Name)
	}
	for i, name := range spec.Contacts {
		if strings.TrimSpace(name) == "" {
			r.bad("contacts", "layer %q: contact %d has no name; write one or remove it", spec.Name, i+1)
		}
	}
}

// cycle works out on which days hand-overs are.
func (r *reader) cycle(l *layer, spec LayerSpec) {
	if spec.Every == "" && len(spec.Days) == 0 {
		r.bad("days", `layer %q never hands over; write the weekdays, for example days: ["monday"], or every: "2 weeks"`, spec.Name)
		return
	}
	n, weeks := 1, true
	if spec.Every != "" {
		var err error
		if n, weeks, err = every(spec.Every); err != nil {
			r.bad("every", "layer %q: %s", spec.Name, err)
			return
		}
	}
	l.cycle, l.days = int64(n), []int64{0}
	if weeks {
		l.cycle *= 7
	}
	if len(spec.Days) == 0 {
		return
	}
	if !weeks {
		r.bad("every", `layer %q hands over on weekdays and every %q; write every in weeks, or leave out the days`, spec.Name, spec.Every)
	}
	l.days = l.days[:0]
	for i, text := range spec.Days {
		w, err := weekday(text)
		if err != nil {
			r.bad("days", "layer %q: %s", spec.Name, err)
			continue
		}
		// Days count from the start; 1970-01-01 was a Thursday.
		d := (w - 4 - l.first%7 + 14) % 7
		if slices.Contains(l.days, d) {
			r.bad("days", "layer %q: the hand-over day %q stands there twice; remove number %d", spec.Name, text, i+1)
		}
		l.days = append(l.days, d)
	}
	slices.Sort(l.days)
}

// begin works out when the layer has somebody for the first time.
func (r *reader) begin(l *layer, spec LayerSpec) {
	shown := l.first*daySeconds + l.clock
	if why, _ := missing(shown, l.zone); why != "" {
		r.bad("start", "layer %q: the start %s; write the day before or after, or another time of the hand-over", spec.Name, why)
		return
	}
	l.start = reach(l.zone, shown)
	l.filled = milliseconds(l.start)
	if l.only == nil {
		return
	}
	inside, until := l.only.Window(l.filled)
	if inside {
		return
	}
	if l.filled = until; until == 0 {
		r.bad("only", "layer %q: the period %q is never inside after the start, so nobody would ever be on call; write another period or an earlier start", spec.Name, l.only.Name())
	}
}

// override takes one override.
func (r *reader) override(spec OverrideSpec) {
	before := len(r.problems)
	name := spec.From + " - " + spec.To
	from, err := moment(spec.From, r.zone)
	if err != nil {
		r.bad("from", "override %q: from: %s", name, err)
	}
	to, err := moment(spec.To, r.zone)
	if err != nil {
		r.bad("to", "override %q: to: %s", name, err)
	}
	switch blank := strings.TrimSpace(spec.Contact) == ""; {
	case blank && !spec.Nobody:
		r.bad("contact", `override %q names no contact; write contact: "alice", or nobody: true`, name)
	case !blank && spec.Nobody:
		r.bad("nobody", "override %q names %q and nobody; write one of the two", name, spec.Contact)
	}
	if len(r.problems) > before {
		return
	}
	if to <= from {
		r.bad("to", "override %q does not end after it begins; write a later time in to", name)
		return
	}
	o := override{from: milliseconds(from), to: milliseconds(to), source: Source{Override, name, spec.Reason}}
	if !spec.Nobody {
		o.contact = spec.Contact
	}
	r.s.overrides = append(r.s.overrides, o)
	r.indexes = append(r.indexes, r.place.Override)
}

// overlaps sorts the overrides and refuses two at once.
func (r *reader) overlaps() {
	order := make([]int, len(r.s.overrides))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.s.overrides[a].from, r.s.overrides[b].from) })
	sorted := make([]override, len(order))
	last := 0 // of those so far the one that ends last
	for i, at := range order {
		sorted[i] = r.s.overrides[at]
		if i > 0 && sorted[i].from < sorted[last].to {
			r.at(-1, r.indexes[at]).bad("from", "the overrides %q and %q overlap, and only one can count; write the end of the one as the beginning of the other",
				sorted[last].source.Name, sorted[i].source.Name)
		}
		if sorted[i].to > sorted[last].to {
			last = i
		}
	}
	r.s.overrides = sorted
}
