package view

import (
	"maps"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Abandonment is a request that was given up: somebody was to be told and heard
// nothing.
type Abandonment struct {
	Object  object.ID
	Contact string
	Time    object.Time
}

// Abandonments are the requests that were given up, and when contacts were reached
// about objects after all.
type Abandonments struct {
	final   map[string]final // by request; the first one counts
	reached map[[2]string]object.Time
}

// final is the first final outcome of a request.
type final struct {
	Abandonment
	abandoned bool
}

// Add takes in an event; those that are no final outcome change nothing. The order
// in which events come does not matter, nor how often.
func (a *Abandonments) Add(e *event.Event) {
	if e.Kind != event.NotificationDelivered && e.Kind != event.NotificationAbandoned {
		return
	}
	if a.final == nil {
		a.final, a.reached = map[string]final{}, map[[2]string]object.Time{}
	}
	f := final{Abandonment{Object: e.Object, Contact: e.Facts[event.FactContact], Time: e.Time}, e.Kind == event.NotificationAbandoned}
	if !f.abandoned {
		who := [2]string{string(f.Object), f.Contact}
		a.reached[who] = max(a.reached[who], e.Time)
	}
	id := e.Facts[event.FactRequest]
	if was, ok := a.final[id]; !ok || e.Time < was.Time {
		a.final[id] = f
	}
}

// Forget drops what was before an instant.
func (a *Abandonments) Forget(before object.Time) {
	maps.DeleteFunc(a.final, func(_ string, f final) bool { return f.Time < before })
	maps.DeleteFunc(a.reached, func(_ [2]string, at object.Time) bool { return at < before })
}

// Since returns how many requests were given up, and when the first of them was.
func (a *Abandonments) Since() (n int, since object.Time) {
	for _, f := range a.final {
		if !f.abandoned {
			continue
		}
		if n++; since == 0 || f.Time < since {
			since = f.Time
		}
	}
	return n, since
}

// Banner says that people were not reached about problems that are still there and
// that nobody took note of. problem returns since when an object has such a problem,
// 0 = it has none. How many messages were given up stands where it leads to.
func (a *Abandonments) Banner(problem func(object.ID) object.Time) []Banner {
	objects, people := map[object.ID]bool{}, map[string]bool{}
	for _, g := range a.final {
		from := problem(g.Object)
		if !g.abandoned || from == 0 || g.Time < from || a.reached[[2]string{string(g.Object), g.Contact}] >= from {
			continue
		}
		objects[g.Object], people[g.Contact] = true, true
	}
	if len(people) == 0 {
		return nil
	}
	return []Banner{{
		Text: Count(len(people), "contact was", "contacts were") + " not reached about " + Count(len(objects), "problem", "problems") +
			" that nobody took note of: every message to them was given up.",
		Link: Link{Label: "See which", URL: abandonedURL},
	}}
}

// abandonedURL lists what was given up.
const abandonedURL = "/notifications?outcome=" + OutcomeAbandoned

// clock writes an instant of the last day shortly, with the date if that was
// another one.
func clock(at object.Time, now time.Time) string {
	t := at.Std().UTC()
	if y, m, d := now.UTC().Date(); t.Before(time.Date(y, m, d, 0, 0, 0, 0, time.UTC)) {
		return t.Format("2006-01-02 15:04 UTC")
	}
	return t.Format("15:04 UTC")
}
