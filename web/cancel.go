package web

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/web/view"
)

// cancels returns what ends downtimes: one by its ID, or those of a target and
// the rules that are for nothing beyond it, which would make them again.
func cancels(w *operate.World, r *operate.Request, c fold.CancelDowntimes) ([]operate.Action, error) {
	if c.ID != "" {
		actions, err := w.ByDowntime(c.ID, c.Author)
		return actions, within("id", err)
	}
	objects, err := w.Objects(&r.Target)
	if err != nil {
		return nil, err
	}
	meant := make(map[object.ID]bool, len(objects))
	for _, o := range objects {
		meant[o.ID] = true
	}
	rules := rulesOf(w, &r.Target, meant, c)
	var actions []operate.Action
	for _, id := range rules {
		actions = append(actions, operate.Action{Program: program.RemoveRule{ID: id, Author: c.Author}})
	}
	found := w.Downtimes(func(id object.ID, d *event.Downtime) bool {
		return meant[id] && !slices.Contains(rules, d.Rule) && (c.Start == 0 || d.Start == c.Start) && (c.Text == "" || d.Text == c.Text)
	})
	actions = append(actions, w.Cancel(found, c.Author)...)
	if len(actions) == 0 {
		text := "no downtime of the target fits; GET /api/v1/downtimes lists them"
		if rule := reaching(w, meant); rule != nil {
			text = fmt.Sprintf("no downtime of the target fits; the rule %s for %s reaches beyond it and goes on (cancel it by this id)", rule.ID, view.RuleTarget(rule))
		}
		return nil, &operate.Error{Fault: operate.NoMatch, Text: text}
	}
	return actions, nil
}

// rulesOf returns the ids of the rules that a target covers and that fit, in the
// order in which they were made. What a rule made goes with it.
func rulesOf(w *operate.World, t *operate.Target, meant map[object.ID]bool, c fold.CancelDowntimes) []string {
	if w.Program == nil {
		return nil
	}
	var ids []string
	for id, r := range w.Program.Rules {
		if (c.Start == 0 || r.Start == c.Start) && (c.Text == "" || r.Text == c.Text) && covered(w.Set, &r, t, meant) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(w.Program.Rules[a].Number, w.Program.Rules[b].Number), cmp.Compare(a, b))
	})
	return ids
}

// covered tells whether a rule is for nothing beyond a target, now and later. That
// its objects are all among those that are meant at the moment is not enough for a
// rule on a group or a filter: others may come.
func covered(set *object.Set, r *event.DowntimeRule, t *operate.Target, meant map[object.ID]bool) bool {
	var same event.DowntimeRule
	switch {
	case t.Filter == "*" && t.Kind == "" && t.Scope == operate.Itself:
		return true
	case ruleFor(&same, t) && r.Object == same.Object && r.WithServices == same.WithServices && r.Group == same.Group && r.Filter == same.Filter:
		return true
	case r.Object == "" || !meant[r.Object] || t.Filter != "" && operate.Lasting(t.Filter) != nil:
		return false
	case !r.WithServices:
		return true
	}
	// Only a target that has all services of its hosts has those that come later.
	whole := t.Scope == operate.WithServices || t.Scope == operate.Beyond || len(t.Objects) == 0 && t.Kind == "" && t.Scope == operate.Itself
	return whole && !slices.ContainsFunc(set.Get(r.Object).Services, func(o *object.Object) bool { return !meant[o.ID] })
}

// reaching returns the first rule that is also for one of the objects, nil if none
// is.
func reaching(w *operate.World, meant map[object.ID]bool) *event.DowntimeRule {
	if w.Program == nil {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(w.Program.Rules)) {
		r := w.Program.Rules[id]
		t := ruleTarget(&r)
		objects, err := w.Objects(&t)
		if err == nil && slices.ContainsFunc(objects, func(o *object.Object) bool { return meant[o.ID] }) {
			return &r
		}
	}
	return nil
}

// madeBy returns the objects that have a downtime made from a rule, sorted.
func (s *site) madeBy(rule string) []object.ID {
	ids := s.Projection.OfRule(rule)
	slices.Sort(ids)
	return ids
}

// aside is what the answer says of an action that was done, beside that.
type aside struct {
	rule    string      // id of the rule that the action is about
	detail  string      // what goes on all the same
	objects []object.ID // what a rule is for, or was for
}

// asides returns what is to be said of each action. It is asked before they are
// carried out: what they end is not there afterwards.
func (s *site) asides(actions []operate.Action, touched []object.ID) []aside {
	rules := s.Projection.Program().Rules
	ending := map[string]bool{}
	cancelled := map[string]int{} // objects by the id of what they lose
	onward := map[string]string{} // by the same, what goes on
	for _, a := range actions {
		if c, ok := a.Command.(fold.CancelDowntimes); ok {
			cancelled[c.ID]++
		}
	}
	said := make([]aside, len(actions))
	for i, a := range actions {
		switch c := a.Program.(type) {
		case program.PutRule:
			said[i].objects = touched
		case program.RemoveRule:
			ending[c.ID] = true
			r := rules[c.ID]
			said[i] = aside{rule: c.ID, detail: ended(&r), objects: s.madeBy(c.ID)}
		}
		if c, ok := a.Command.(fold.CancelDowntimes); ok {
			if r, ok := rules[s.ruleOf(a.Object, c.ID)]; ok && !ending[r.ID] {
				if _, known := onward[c.ID]; !known {
					onward[c.ID] = goesOn(&r, cancelled[c.ID] >= len(s.Projection.OfRule(r.ID)))
				}
				said[i].detail = onward[c.ID]
			}
		}
	}
	return said
}

// ruleOf returns the id of the rule that an object's downtime was made from, "" if
// it is the object's own.
func (s *site) ruleOf(id object.ID, downtime string) string {
	if x := s.Projection.State(id).Status.Extra; x != nil {
		for i := range x.Downtimes {
			if d := &x.Downtimes[i]; d.ID == downtime {
				return d.Rule
			}
		}
	}
	return ""
}

// ended says what goes with a rule.
func ended(r *event.DowntimeRule) string {
	text := "the downtime for " + view.RuleTarget(r)
	if len(r.Ranges) > 0 {
		text += " and all of its times"
	}
	return text
}

// goesOn says that a rule is still there, of whose downtimes one was cancelled, or
// all that there are.
func goesOn(r *event.DowntimeRule, all bool) string {
	only, later := "this object only", ""
	switch {
	case len(r.Ranges) > 0:
		only = "this time only"
	case all:
		only, later = "the objects of now only", " for those added later"
	}
	return fmt.Sprintf("%s; the rule %s for %s goes on%s (cancel it by this id)", only, r.ID, view.RuleTarget(r), later)
}
