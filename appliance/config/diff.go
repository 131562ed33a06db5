package config

import (
	"maps"
	"reflect"
	"slices"

	"jaque.sh/jaque/appliance/core/object"
)

// Change says which objects differ between two generations, each list sorted.
type Change struct {
	Added, Removed, Changed []object.ID
}

// Empty tells whether nothing differs.
func (c Change) Empty() bool { return len(c.Added)+len(c.Removed)+len(c.Changed) == 0 }

// Diff compares the definitions of two generations; nil is a generation without
// objects. A service counts as changed when its own definition, its rule or its
// zone differs, not when only its host does. Comparing takes one pass over both.
func Diff(old, new *object.Set) Change {
	var c Change
	var a, b []*object.Object
	if old != nil {
		a = old.Objects
	}
	if new != nil {
		b = new.Objects
	}
	rules := ruleComparer{}
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].ID < b[0].ID:
			c.Removed = append(c.Removed, a[0].ID)
			a = a[1:]
		case len(a) == 0 || b[0].ID < a[0].ID:
			c.Added = append(c.Added, b[0].ID)
			b = b[1:]
		default:
			if !rules.equal(a[0].Rule, b[0].Rule) || !sameObject(a[0], b[0]) {
				c.Changed = append(c.Changed, a[0].ID)
			}
			a, b = a[1:], b[1:]
		}
	}
	return c
}

// ruleComparer remembers which rules of two generations are equal: few rules
// are shared by many objects.
type ruleComparer map[[2]*object.Rule]bool

// equal compares two rules by content and remembers the answer.
func (rc ruleComparer) equal(a, b *object.Rule) bool {
	if a == b {
		return true
	}
	pair := [2]*object.Rule{a, b}
	same, known := rc[pair]
	if !known {
		same = sameRule(*a, *b)
		rc[pair] = same
	}
	return same
}

// sameRule compares two rules by content, their periods by their texts: a zone
// that is loaded twice is two values.
func sameRule(a, b object.Rule) bool {
	for _, p := range [][2]*object.Period{
		{&a.CheckPeriod, &b.CheckPeriod}, {&a.HandlerPeriod, &b.HandlerPeriod}, {&a.NotePeriod, &b.NotePeriod},
	} {
		if !samePeriod(*p[0], *p[1]) {
			return false
		}
		*p[0], *p[1] = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// samePeriod compares two periods; nil is always.
func samePeriod(a, b object.Period) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a == b || a.String() == b.String()
}

// terms are what a dependency says beside its master, comparable.
type terms struct {
	Execution, Notification               object.StateMask
	ExecutionPending, NotificationPending bool
	Inherits                              bool
	Period, Group                         string
}

// termsOf returns the terms of a dependency.
func termsOf(d *object.Dependency) terms {
	t := terms{
		Execution: d.Execution, Notification: d.Notification, Inherits: d.Inherits, Group: d.Group,
		ExecutionPending: d.ExecutionPending, NotificationPending: d.NotificationPending,
	}
	if d.Period != nil {
		t.Period = d.Period.String()
	}
	return t
}

// sameObject compares what two objects with one ID do not share with others.
func sameObject(a, b *object.Object) bool {
	return a.Alias == b.Alias && a.Address == b.Address && a.Zone == b.Zone &&
		maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Vars, b.Vars) &&
		slices.Equal(a.Groups, b.Groups) &&
		slices.EqualFunc(a.Depends, b.Depends, func(x, y *object.Dependency) bool {
			return x.Master.ID == y.Master.ID && termsOf(x) == termsOf(y)
		}) &&
		slices.EqualFunc(a.Parents, b.Parents, func(x, y *object.Object) bool { return x.ID == y.ID })
}
