package operate

import (
	"errors"
	"fmt"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/filter"
)

// Objects returns the objects that a target means, each once: named ones as they
// are named, others in the order of the set; behind a host come those that the
// scope adds. An error is an *Error.
func (w *World) Objects(t *Target) ([]*object.Object, error) {
	named, err := w.named(t)
	if err != nil {
		return nil, err
	}
	all, err := widen(named, t.Scope)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, &Error{Fault: NoMatch, Text: nothing(t)}
	}
	return all, nil
}

// nothing says why a target means no object.
func nothing(t *Target) string {
	kind := "object"
	if t.Kind != "" {
		kind = t.Kind
	}
	switch {
	case t.Group != "" && t.Scope == Itself:
		return fmt.Sprintf("group %q has no %s in it", t.Group, kind)
	case t.Filter != "" && t.Scope == Itself:
		return fmt.Sprintf("no %s matches %q", kind, t.Filter)
	}
	return fmt.Sprintf("scope %q of the named hosts is empty", t.Scope)
}

// named returns what a target names, before its scope.
func (w *World) named(t *Target) ([]*object.Object, error) {
	if given(len(t.Objects) > 0, t.Group != "", t.Filter != "") != 1 {
		return nil, malformed("the target is not clear; name objects, or a group, or a filter")
	}
	kind, err := kindOf(t)
	if err != nil {
		return nil, err
	}
	switch {
	case t.Group != "":
		members, err := Members(w.Set, t.Group)
		if err != nil {
			return nil, err
		}
		return sieve(members, kind), nil
	case t.Filter != "":
		return w.filtered(t.Filter, kind)
	}
	return w.listed(t)
}

// kindOf returns the test that a kind makes; a scope of a group or a filter
// starts from the hosts in it.
func kindOf(t *Target) (func(*object.Object) bool, error) {
	hosts := func(o *object.Object) bool { return o.Kind() == object.Host }
	services := func(o *object.Object) bool { return o.Kind() == object.Service }
	switch {
	case t.Kind != "" && len(t.Objects) > 0:
		return nil, malformed("kind narrows a group or a filter; leave it out for named objects")
	case t.Kind == "service" && t.Scope != Itself:
		return nil, &Error{Fault: WrongScope, Text: fmt.Sprintf("scope %q starts from hosts; write kind host, or leave the scope out", t.Scope)}
	case t.Kind == "host", t.Kind == "" && t.Scope != Itself:
		return hosts, nil
	case t.Kind == "service":
		return services, nil
	case t.Kind != "":
		return nil, malformed("no kind is called %q; write host or service", t.Kind)
	}
	return func(*object.Object) bool { return true }, nil
}

// listed returns the objects named one by one.
func (w *World) listed(t *Target) ([]*object.Object, error) {
	list := make([]*object.Object, 0, len(t.Objects))
	for _, id := range t.Objects {
		o, err := Object(w.Set, id)
		if err != nil {
			return nil, err
		}
		if t.Scope != Itself && o.Kind() == object.Service {
			return nil, wrongScope(t.Scope, id)
		}
		list = append(list, o)
	}
	return list, nil
}

func (w *World) filtered(text string, kind func(*object.Object) bool) ([]*object.Object, error) {
	match, err := w.Matcher(text)
	if err != nil {
		return nil, err
	}
	var list []*object.Object
	for _, o := range w.Set.Objects {
		if kind(o) && match(o) {
			list = append(list, o)
		}
	}
	return list, nil
}

// Matcher returns the test that a filter makes in this world; "*" passes
// everything. An error is an *Error with the column.
func (w *World) Matcher(text string) (func(*object.Object) bool, error) {
	if text == "*" {
		return func(*object.Object) bool { return true }, nil
	}
	f, err := parsed(text)
	if err != nil {
		return nil, err
	}
	return func(o *object.Object) bool { return f.MatchIn(o, w.state(o), w.State) }, nil
}

// parsed reads a filter. An error is an *Error with the column.
func parsed(text string) (*filter.Filter, error) {
	f, err := filter.Parse(text)
	if err != nil {
		bad := &Error{Fault: BadFilter, Text: err.Error()}
		if e := (*filter.Error)(nil); errors.As(err, &e) {
			bad.Column = e.Column
		}
		return nil, bad
	}
	return f, nil
}

// Lasting refuses a filter whose objects change while the config stays as it is:
// it cannot say whom a rule is for. An error is an *Error with the column.
func Lasting(text string) error {
	f, err := parsed(text)
	if err != nil {
		return err
	}
	if field, column, yes := f.Stateful(); yes {
		what := fmt.Sprintf("%q", field)
		if field == "output" {
			what = "the output, where a text is searched for,"
		}
		return &Error{Fault: BadFilter, Column: column, Text: fmt.Sprintf(
			"filter, column %d: %s changes by itself, so nobody could tell whom the downtime is for later; ask for host, service, group, label.NAME, kind, zone or id instead, or schedule a downtime that happens once",
			column, what)}
	}
	return nil
}

// state returns what is known of an object, as never checked where that is
// nothing.
func (w *World) state(o *object.Object) *fold.State {
	if w.State != nil {
		if s := w.State(o.ID); s != nil {
			return s
		}
	}
	s := fold.New(o)
	return &s
}

func sieve(objects []*object.Object, keep func(*object.Object) bool) []*object.Object {
	var list []*object.Object
	for _, o := range objects {
		if keep(o) {
			list = append(list, o)
		}
	}
	return list
}

func given(conditions ...bool) (n int) {
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}

// widen applies a scope to named objects.
func widen(named []*object.Object, scope Scope) ([]*object.Object, error) {
	u := union{seen: make(map[object.ID]bool, len(named))}
	for _, o := range named {
		switch scope {
		case Itself:
			u.add(o)
		case Services:
			u.add(o.Services...)
		case WithServices:
			u.add(o)
			u.add(o.Services...)
		case Children:
			u.add(Behind(o)...)
		case WithChildren:
			u.add(o)
			u.add(Behind(o)...)
		case Beyond:
			for _, h := range Behind(o) {
				u.add(h)
				u.add(h.Services...)
			}
		default:
			return nil, malformed("no scope is called %q; write services, with-services, children, with-children or beyond", scope)
		}
	}
	return u.list, nil
}

// union collects objects, each once.
type union struct {
	seen map[object.ID]bool
	list []*object.Object
}

func (u *union) add(objects ...*object.Object) {
	for _, o := range objects {
		if !u.seen[o.ID] {
			u.seen[o.ID] = true
			u.list = append(u.list, o)
		}
	}
}

// Behind returns every host behind the given ones, the nearest first; a host is
// not behind itself.
func Behind(hosts ...*object.Object) []*object.Object {
	u := union{seen: map[object.ID]bool{}}
	for _, h := range hosts {
		u.seen[h.ID] = true
	}
	for _, h := range hosts {
		u.add(h.Children...)
	}
	for i := 0; i < len(u.list); i++ {
		u.add(u.list[i].Children...)
	}
	return u.list
}
