package operate

import (
	"fmt"
	"iter"
	"sort"
	"strconv"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
)

// extras yields the states that may have comments or downtimes.
func (w *World) extras() iter.Seq2[object.ID, *fold.State] {
	if w.Extras != nil {
		return w.Extras
	}
	return func(yield func(object.ID, *fold.State) bool) {
		if w.State == nil {
			return
		}
		for _, o := range w.Set.Objects {
			if s := w.State(o.ID); s != nil && !yield(o.ID, s) {
				return
			}
		}
	}
}

// Downtime is a downtime of an object.
type Downtime struct {
	Object object.ID
	event.Downtime
}

// Downtimes returns the downtimes of objects that fit, in the order of objects
// and then of their numbers.
func (w *World) Downtimes(fits func(id object.ID, d *event.Downtime) bool) []Downtime {
	var found []Downtime
	for id, s := range w.extras() {
		if s.Status.Extra == nil || w.Set.Get(id) == nil {
			continue
		}
		for i := range s.Status.Extra.Downtimes {
			if d := &s.Status.Extra.Downtimes[i]; fits(id, d) {
				found = append(found, Downtime{id, *d})
			}
		}
	}
	sort.SliceStable(found, func(i, j int) bool {
		a, b := &found[i], &found[j]
		if a.Object != b.Object {
			return a.Object < b.Object
		}
		return a.Number < b.Number
	})
	return found
}

// ByDowntime returns what cancels the downtime with an ID or a number: an
// object's own with those that it triggers, or one for many objects. An error is
// an *Error.
func (w *World) ByDowntime(ref, author string) ([]Action, error) {
	if w.Program != nil {
		if r, ok := w.ruleOf(ref); ok {
			return []Action{{Program: program.RemoveRule{ID: r, Author: author}}}, nil
		}
	}
	// One occurrence of a downtime for many objects has the same ID everywhere.
	if found := w.Downtimes(func(_ object.ID, d *event.Downtime) bool { return d.ID == ref }); len(found) > 0 {
		return w.Cancel(found, author), nil
	}
	number, isNumber := numberOf(ref)
	found := w.Downtimes(func(_ object.ID, d *event.Downtime) bool { return isNumber && d.Number == number })
	switch len(found) {
	case 0:
		return nil, &Error{Fault: NotFound, Name: ref, Text: fmt.Sprintf("there is no downtime %q; it is over, or was cancelled", shorten(ref))}
	case 1:
		return w.Cancel(found, author), nil
	}
	return nil, malformed("%d downtimes have the number %s; write the id of one: %s or %s", len(found), ref, found[0].ID, found[1].ID)
}

// ruleOf returns the ID of a downtime for many objects by ID or number.
func (w *World) ruleOf(ref string) (string, bool) {
	if _, ok := w.Program.Rules[ref]; ok {
		return ref, true
	}
	number, ok := numberOf(ref)
	if !ok {
		return "", false
	}
	for _, id := range keys(w.Program.Rules) {
		if w.Program.Rules[id].Number == number {
			return id, true
		}
	}
	return "", false
}

// numberOf reads the number of a comment or downtime; 0 is none.
func numberOf(ref string) (uint64, bool) {
	n, err := strconv.ParseUint(ref, 10, 64)
	return n, err == nil && n != 0
}

// Cancel returns what cancels downtimes and all that they trigger. What is
// triggered comes first: it would end with its trigger.
func (w *World) Cancel(downtimes []Downtime, author string) []Action {
	seen := map[string]bool{}
	var waves [][]Downtime
	for wave := withoutTriggered(downtimes); len(wave) > 0; {
		var fresh []Downtime
		triggers := map[string]bool{}
		for _, d := range wave {
			if key := string(d.Object) + "\x00" + d.ID; !seen[key] {
				seen[key], triggers[d.ID] = true, true
				fresh = append(fresh, d)
			}
		}
		waves = append(waves, fresh)
		if len(fresh) == 0 {
			break
		}
		wave = w.Downtimes(func(_ object.ID, d *event.Downtime) bool { return d.Trigger != "" && triggers[d.Trigger] })
	}
	var actions []Action
	for i := len(waves) - 1; i >= 0; i-- {
		for j, d := range waves[i] {
			actions = append(actions, Action{
				Object: d.Object, Command: fold.CancelDowntimes{ID: d.ID, Author: author},
				Wait: j == 0 && len(actions) > 0,
			})
		}
	}
	return actions
}

// withoutTriggered returns downtimes less those that another one of them starts,
// which are found again with it.
func withoutTriggered(all []Downtime) []Downtime {
	ids := make(map[string]bool, len(all))
	for i := range all {
		ids[all[i].ID] = true
	}
	var first []Downtime
	for _, d := range all {
		if d.Trigger == "" || !ids[d.Trigger] {
			first = append(first, d)
		}
	}
	return first
}

// ByComment returns what removes the comment of an operator with an ID or a
// number. An error is an *Error.
func (w *World) ByComment(ref, author string) ([]Action, error) {
	number, isNumber := numberOf(ref)
	var found []Action
	for id, s := range w.extras() {
		if s.Status.Extra == nil || w.Set.Get(id) == nil {
			continue
		}
		for i := range s.Status.Extra.Comments {
			c := &s.Status.Extra.Comments[i]
			if c.ID == ref || isNumber && c.Number == number {
				found = append(found, Action{Object: id, Command: fold.RemoveComments{ID: c.ID, Author: author}})
			}
		}
	}
	switch len(found) {
	case 0:
		return nil, &Error{Fault: NotFound, Name: ref, Text: fmt.Sprintf("there is no comment %q", shorten(ref))}
	case 1:
		return found, nil
	}
	return nil, malformed("%d comments have the number %s; write the id of one", len(found), ref)
}
