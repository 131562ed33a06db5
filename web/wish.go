package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/filter"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/web/query"
)

// verb is one command: the fields that it takes beside those of every command
// and of the target, and what it asks for.
type verb struct {
	name  string
	takes []string
	where aim
	wish  func(w *wisher) (operate.Request, error)
}

// aim says what else than objects a command may be for.
type aim uint8

const (
	onObjects  aim = iota
	onAnything     // also the whole program and a contact
	byID           // also one thing by its id
)

// verbs are the commands in the order in which they are told.
func verbs() []verb {
	return []verb{
		{"acknowledge", []string{"comment", "sticky", "notify", "persistent", "expires"}, onObjects, (*wisher).acknowledge},
		{"remove-acknowledgement", nil, onObjects, (*wisher).removeAcknowledgement},
		{"schedule-downtime", []string{"comment", "start", "end", "duration", "flexible", "trigger", "ranges", "timezone"}, onObjects, (*wisher).scheduleDowntime},
		{"cancel-downtime", []string{"id", "start", "comment"}, byID, (*wisher).cancelDowntime},
		{"add-comment", []string{"comment", "persistent", "expires"}, onObjects, (*wisher).addComment},
		{"delete-comment", []string{"id"}, byID, (*wisher).deleteComment},
		{"check-now", []string{"at", "forced"}, onObjects, (*wisher).checkNow},
		{"submit-result", []string{"state", "output", "long_output", "perfdata", "time"}, onObjects, (*wisher).submitResult},
		{"enable", []string{"what"}, onAnything, (*wisher).enable},
		{"disable", []string{"what"}, onAnything, (*wisher).disable},
		{"set", []string{"setting", "value"}, onObjects, (*wisher).tune},
		{"notify", []string{"comment", "broadcast", "forced", "increment"}, onObjects, (*wisher).tell},
	}
}

// commandNames returns the names of all commands.
func commandNames() []string {
	var names []string
	for _, v := range verbs() {
		names = append(names, v.name)
	}
	return names
}

// common are the fields that every command takes.
var common = []string{"command", "author", "preview", "confirm", "object", "objects", "group", "filter", "kind", "scope"}

// wisher reads one request.
type wisher struct {
	*site
	q    *request
	verb *verb
	now  object.Time
}

// wish reads what a request asks for. Nothing is done and no state is judged;
// an error is a fault that names the field.
func (s *site) wish(q *request) (operate.Request, error) {
	all := verbs()
	n := slices.IndexFunc(all, func(v verb) bool { return v.name == q.Command })
	if n < 0 {
		return operate.Request{}, unknownWord("command", "command", q.Command, commandNames())
	}
	w := wisher{site: s, q: q, verb: &all[n], now: object.At(s.Now())}
	if err := w.fits(); err != nil {
		return operate.Request{}, err
	}
	return w.verb.wish(&w)
}

// unknownWord is the fault for a word that is not one of those known.
func unknownWord(field, what, word string, known []string) *fault {
	if word == "" {
		f := badField(field, "%s is missing; write one of %s", field, strings.Join(known, ", "))
		f.Known = known
		return f
	}
	f := badField(field, "no %s is called %q; write one of %s", what, short(word), strings.Join(known, ", "))
	f.Known = known
	if f.Near = query.Closest(known, word); f.Near != "" {
		f.Detail += fmt.Sprintf("; did you mean %q?", f.Near)
	}
	return f
}

// short keeps an error text readable when a value is a page of text.
func short(text string) string {
	const most = 120
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// fits refuses fields that mean nothing to the command, because one that is left
// unread is one that was meant otherwise.
func (w *wisher) fits() error {
	takes := slices.Concat(common, w.verb.takes)
	if w.verb.where == onAnything {
		takes = append(takes, "program", "contact")
	}
	for _, name := range w.q.given {
		if !slices.Contains(takes, name) {
			f := badField(name, "%s takes no %s; it takes %s", w.verb.name, name, strings.Join(takes[1:], ", "))
			f.Known = takes
			return f
		}
	}
	return nil
}

// target reads which objects are meant.
func (w *wisher) target() (operate.Target, error) {
	q := w.q
	t := operate.Target{Group: q.Group, Filter: q.Filter, Kind: q.Kind, Scope: operate.Scope(q.Scope)}
	if err := w.onlyOne(); err != nil {
		return t, err
	}
	field := "object"
	if q.Object != "" {
		t.Objects = []object.ID{q.Object}
	}
	for _, id := range q.Objects {
		field = "objects"
		t.Objects = append(t.Objects, object.ID(id))
	}
	if err := w.present(&t, field); err != nil {
		return t, err
	}
	if t.Group != "" {
		if _, err := operate.Group(w.Projection.Set(), t.Group); err != nil {
			return t, within("group", err)
		}
	}
	if _, err := filter.Parse(t.Filter); err != nil {
		f := badFilter(err)
		f.Field = "filter"
		return t, f
	}
	return t, w.narrowed(&t)
}

// present leaves out of several named objects those that are not there, as
// refused: they vanished after somebody chose them. It fails if none is left.
func (w *wisher) present(t *operate.Target, field string) error {
	var there []object.ID
	var first *fault
	w.q.missing = nil
	for _, id := range t.Objects {
		if w.Projection.Set().Get(id) != nil {
			there = append(there, id)
			continue
		}
		f := w.unknown(id)
		if f.Field = field; id == "" {
			return f
		}
		if first == nil {
			first = f
		}
		w.q.missing = append(w.q.missing, operate.Result{Object: id, Err: &fold.Refusal{Object: id, Text: f.Detail}})
	}
	if first != nil && len(there) == 0 {
		return first
	}
	t.Objects = there
	return nil
}

// onlyOne refuses a target that is missing or named twice.
func (w *wisher) onlyOne() error {
	q := w.q
	ways := []string{"object", "objects", "group", "filter"}
	given := []bool{q.Object != "", len(q.Objects) > 0, q.Group != "", q.Filter != ""}
	switch w.verb.where {
	case onAnything:
		ways = append(ways, "program", "contact")
		given = append(given, is(q.Program, false), q.Contact != "")
	case byID:
		ways, given = append(ways, "id"), append(given, q.ID != "")
	}
	first := ""
	for i, name := range ways {
		switch {
		case !given[i]:
		case first != "":
			return badField(name, "%s and %s are both given; write one of them", first, name)
		default:
			first = name
		}
	}
	if first == "" {
		f := badField("object", "the target is missing; write one of %s", strings.Join(ways, ", "))
		f.Known = ways
		return f
	}
	return nil
}

// narrowed checks what goes with the objects: the kind and the scope.
func (w *wisher) narrowed(t *operate.Target) error {
	scopes := []string{
		string(operate.Services), string(operate.WithServices), string(operate.Children), string(operate.WithChildren), string(operate.Beyond),
	}
	switch {
	case t.Kind != "" && t.Kind != "host" && t.Kind != "service":
		return unknownWord("kind", "kind", t.Kind, []string{"host", "service"})
	case t.Kind != "" && len(t.Objects) > 0:
		return badField("kind", "kind narrows a group or a filter; leave it out for named objects")
	case t.Scope != "" && !slices.Contains(scopes, string(t.Scope)):
		return unknownWord("scope", "scope", string(t.Scope), scopes)
	case t.Scope != "" && t.Kind == "service":
		return badField("scope", "scope %q starts from hosts; write kind host, or leave the scope out", t.Scope)
	}
	if t.Scope == "" {
		return nil
	}
	for _, id := range t.Objects {
		if id.Kind() == object.Service {
			return badField("scope", "scope %q: %s is a service; name hosts, or leave the scope out", t.Scope, id)
		}
	}
	return nil
}

// within turns an error of package operate into a fault about a field.
func within(field string, err error) error {
	err = refused(err)
	if f := asFault(err); f != nil {
		f.Field = field
	}
	return err
}

// refused turns an error of package operate into a fault; any other one is
// returned as it is.
func refused(err error) error {
	e, ok := err.(*operate.Error)
	if !ok {
		return err
	}
	f := faultf(http.StatusBadRequest, "%v", e)
	f.Column = e.Column
	switch e.Fault {
	case operate.NotFound:
		f = faultf(http.StatusNotFound, "%v", e)
		if len(e.Near) > 0 {
			f.Near = e.Near[0]
		}
	case operate.NoMatch:
		f = faultf(http.StatusNotFound, "%v", e)
		f.Total = new(int)
	case operate.BadFilter:
		f.Field = "filter"
	}
	return f
}
