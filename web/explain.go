package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/explain"
	"jaque.sh/jaque/web/wire"
)

// How much of an object's history an explanation reads.
const (
	explainDecisions = 100 // newest decisions about telling people
	explainEvents    = 200 // newest events before an instant, for the state then
)

// explainRoute answers who is told of an object, and why or why not.
func (s *site) explainRoute(w http.ResponseWriter, r *http.Request) error {
	if err := parameters(r, "object", "contact", "at", "kind"); err != nil {
		return err
	}
	q, err := explainQuestion(r)
	if err != nil {
		return err
	}
	a, err := s.explained(r.Context(), q)
	if err != nil {
		return err
	}
	return s.json(w, r, wire.FromAnswer(a))
}

func explainQuestion(r *http.Request) (explain.Question, error) {
	v := r.URL.Query()
	q := explain.Question{Object: object.ID(v.Get("object")), Contact: v.Get("contact"), Kind: notify.Kind(strings.ToUpper(v.Get("kind")))}
	if q.Object == "" {
		return q, badField("object", "object is missing; write the host or host!service that is asked about")
	}
	if text := v.Get("at"); text != "" {
		t, err := parseInstant(text)
		if err != nil {
			return q, err
		}
		if t.UnixMilli() <= 0 {
			return q, faultf(http.StatusBadRequest, "at is %q; write an instant after 1970-01-01T00:00:00Z", text)
		}
		q.At = object.At(t)
	}
	return q, nil
}

// explained answers a question. An error about what is asked is a fault.
func (s *site) explained(ctx context.Context, q explain.Question) (*explain.Answer, error) {
	if s.Projection.Set().Get(q.Object) == nil {
		return nil, s.unknown(q.Object)
	}
	world, failed, err := s.explainWorld(ctx, q)
	if err != nil {
		return nil, err
	}
	a, err := explain.Ask(q, world)
	if err == nil {
		err = failed()
	}
	return a, unknownAsked(err)
}

// unknownAsked makes a fault of what an explanation does not know.
func unknownAsked(err error) error {
	var u *explain.Unknown
	if !errors.As(err, &u) {
		return err
	}
	f := faultf(http.StatusNotFound, "%v", err)
	f.Near = u.Near
	f.Field = "contact"
	if strings.HasPrefix(u.What, "kind") {
		f = badField("kind", "%v", err)
		for _, k := range explain.Kinds() {
			f.Known = append(f.Known, string(k))
		}
	}
	return f
}

// explainWorld gathers what an explanation is made from. failed returns what went
// wrong while the world was looked at.
func (s *site) explainWorld(ctx context.Context, q explain.Question) (w *explain.World, failed func() error, err error) {
	now := object.At(s.Now())
	w = &explain.World{
		Set: s.Projection.Set(), State: s.Projection.State, Program: s.Projection.Program(), Started: object.At(s.started),
		Loaded: object.At(s.Status().Reload.At), Now: now,
	}
	w.Open = s.openOf(q.Object)
	failed = func() error { return nil }
	past := q.At != 0 && q.At < now
	switch {
	case s.History == nil && past:
		return nil, nil, faultf(http.StatusServiceUnavailable, "this process has no event log to read the past from; leave at out to get the present state")
	case s.History == nil:
		w.Caveats = append(w.Caveats, "this process has no event log: what was decided before is not shown")
		return w, failed, nil
	case past:
		old := &rewound{ctx: ctx, s: s, at: q.At, states: map[object.ID]*fold.State{}}
		w.State, failed = old.state, func() error { return old.err }
		w.Caveats = append(w.Caveats, "what operators switched for the whole program and for contacts is as it is now")
	}
	err = s.explainLog(ctx, q, w, past)
	return w, failed, err
}

// openOf returns the open requests of an object.
func (s *site) openOf(id object.ID) (open []explain.Open) {
	all := s.openRequests()
	for i := range all {
		if all[i].Event.Object == id {
			open = append(open, explain.Open{ID: all[i].ID, Failures: all[i].Failures, Reason: all[i].Reason})
		}
	}
	return open
}

// explainLog reads what an explanation tells of the log: the decisions about
// telling people up to the time, what became of them, and for a time of the past
// what the object was like.
func (s *site) explainLog(ctx context.Context, q explain.Question, w *explain.World, past bool) error {
	var until time.Time
	if past {
		until = (q.At/1000*1000 + 1000).Std() // the whole second that is named
	}
	decisions, err := s.History.History(ctx, journal.Query{Object: q.Object, Kinds: noteKinds(), Until: until, Limit: explainDecisions})
	if err != nil {
		return err
	}
	outcomes, err := s.outcomeEvents(ctx, q.Object, decisions)
	if err != nil {
		return err
	}
	w.Events, w.Complete = append(decisions, outcomes...), true
	if past {
		before, err := s.History.History(ctx, journal.Query{Object: q.Object, Until: (q.At + 1).Std(), Limit: explainEvents})
		if err != nil {
			return err
		}
		changed, err := s.History.History(ctx, journal.Query{
			Object: q.Object, Kinds: []event.Kind{event.ObjectAdded, event.ObjectChanged}, Since: (q.At + 1).Std(), Limit: 1,
		})
		if err != nil {
			return err
		}
		w.Complete = len(before) < explainEvents
		w.Events = append(append(w.Events, before...), changed...)
	}
	slices.SortFunc(w.Events, func(a, b event.Event) int { return cmp.Compare(b.Seq, a.Seq) })
	w.Events = slices.CompactFunc(w.Events, func(a, b event.Event) bool { return a.Seq == b.Seq })
	return nil
}

// outcomeEvents reads what became of the requests of decisions, newest first; of
// one object, or of all.
func (s *site) outcomeEvents(ctx context.Context, id object.ID, decisions []event.Event) ([]event.Event, error) {
	since := object.Time(0)
	for i := range decisions {
		if len(decisions[i].Requests()) > 0 && (since == 0 || decisions[i].Time < since) {
			since = decisions[i].Time
		}
	}
	if since == 0 {
		return nil, nil // nobody was to be told
	}
	return s.History.History(ctx, journal.Query{Object: id, Kinds: outcomeKinds(), Since: since.Std(), Limit: noteMost})
}

// rewound looks at objects as they were at an instant, each one when it is asked
// for: an explanation needs few of them.
type rewound struct {
	ctx    context.Context
	s      *site
	at     object.Time
	states map[object.ID]*fold.State
	err    error // the first that reading the log failed with
}

func (w *rewound) state(id object.ID) *fold.State {
	o := w.s.Projection.Set().Get(id)
	if o == nil || w.err != nil {
		return nil
	}
	if known := w.states[id]; known != nil {
		return known
	}
	events, err := w.s.History.History(w.ctx, journal.Query{Object: id, Until: (w.at + 1).Std(), Limit: explainEvents})
	if err != nil {
		w.err = err
		return nil
	}
	state, _ := explain.Rewind(o, events, w.at)
	w.states[id] = state
	return state
}
