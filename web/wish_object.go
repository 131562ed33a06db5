package web

import (
	"strings"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/operate"
)

// each makes the request for a command to every object of the target.
func (w *wisher) each(c fold.Command) (operate.Request, error) {
	t, err := w.target()
	return operate.Request{Target: t, Command: c}, err
}

func (w *wisher) acknowledge() (operate.Request, error) {
	author, text, err := w.signed()
	if err != nil {
		return operate.Request{}, err
	}
	expires, err := w.later("expires", w.q.Expires)
	if err != nil {
		return operate.Request{}, err
	}
	kind := object.AckNormal
	if is(w.q.Sticky, true) {
		kind = object.AckSticky
	}
	return w.each(fold.Acknowledge{
		Kind: kind, Notify: is(w.q.Notify, true), Persistent: is(w.q.Persistent, false), Expires: expires, Author: author, Text: text,
	})
}

func (w *wisher) removeAcknowledgement() (operate.Request, error) {
	author, err := w.author()
	if err != nil {
		return operate.Request{}, err
	}
	return w.each(fold.RemoveAcknowledgement{Author: author})
}

func (w *wisher) addComment() (operate.Request, error) {
	author, text, err := w.signed()
	if err != nil {
		return operate.Request{}, err
	}
	expires, err := w.later("expires", w.q.Expires)
	if err != nil {
		return operate.Request{}, err
	}
	return w.each(fold.AddComment{Author: author, Text: text, Persistent: is(w.q.Persistent, true), Expires: expires})
}

// deleteComment asks for one comment by its id, wherever it is, or for all of
// the target. Without a target plan finds the object.
func (w *wisher) deleteComment() (operate.Request, error) {
	author, err := w.author()
	if err != nil {
		return operate.Request{}, err
	}
	c := fold.RemoveComments{ID: w.q.ID, Author: author}
	if c.ID == "" {
		return w.each(c)
	}
	return operate.Request{Command: c}, w.onlyOne()
}

func (w *wisher) checkNow() (operate.Request, error) {
	author, err := w.author()
	if err != nil {
		return operate.Request{}, err
	}
	at, err := w.instant("at", w.q.At)
	if err != nil {
		return operate.Request{}, err
	}
	forced := is(w.q.Forced, true)
	return w.each(fold.Reschedule{At: at, Forced: forced, Strict: !forced, Author: author})
}

func (w *wisher) tell() (operate.Request, error) {
	author, text, err := w.signed()
	if err != nil {
		return operate.Request{}, err
	}
	return w.each(fold.Notify{
		Broadcast: is(w.q.Broadcast, false), Forced: is(w.q.Forced, false), Increment: is(w.q.Increment, false), Author: author, Text: text,
	})
}

// submitResult reads a result for one object or the same for many of a kind.
func (w *wisher) submitResult() (operate.Request, error) {
	t, err := w.target()
	if err != nil {
		return operate.Request{}, err
	}
	kind, err := kindOfAll(&t)
	if err != nil {
		return operate.Request{}, err
	}
	res, err := w.q.result(kind)
	if err != nil {
		return operate.Request{}, err
	}
	res.Start = w.now
	at, err := w.instant("time", w.q.Time)
	if err != nil {
		return operate.Request{}, err
	}
	if at > w.now {
		return operate.Request{}, badField("time", "time is %q, which is in the future; write when the result was made, or leave it out for now", w.q.Time)
	}
	if at != 0 {
		res.Start, res.Stamped = at, true
	}
	return operate.Request{Target: t, Command: res}, nil
}

// result reads what a submitted result says. Output may have further lines.
func (q *request) result(k object.Kind) (fold.Result, error) {
	res := fold.Result{Passive: true, Output: q.Output, Long: q.Long, Perfdata: q.Perfdata}
	var err error
	if res.State, err = q.stateOf(k); err != nil {
		return res, err
	}
	if first, rest, cut := strings.Cut(res.Output, "\n"); cut {
		res.Output = first
		res.Long = strings.TrimPrefix(rest+"\n"+res.Long, "\n")
		res.Long = strings.TrimSuffix(res.Long, "\n")
	}
	return res, nil
}

// kindOfAll returns the kind that every object of a target has: a state means
// something else for hosts and services.
func kindOfAll(t *operate.Target) (object.Kind, error) {
	kind := object.Host
	switch t.Scope {
	case operate.Services:
		return object.Service, nil
	case operate.WithServices, operate.Beyond:
		return kind, badField("scope", "scope %q is hosts and services, and a result is for one kind; write services, children or with-children", t.Scope)
	case operate.Children, operate.WithChildren:
		return kind, nil
	}
	if len(t.Objects) == 0 {
		if t.Kind == "" {
			return kind, badField("kind", "kind is missing; write host or service, because their states differ")
		}
		if t.Kind == "service" {
			kind = object.Service
		}
		return kind, nil
	}
	kind = t.Objects[0].Kind()
	for _, id := range t.Objects {
		if id.Kind() != kind {
			return kind, badField("objects", "%s is a %s and %s is a %s, and a result is for one kind; send two commands",
				t.Objects[0], kind, id, id.Kind())
		}
	}
	return kind, nil
}
