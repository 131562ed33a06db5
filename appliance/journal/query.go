package journal

import (
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// defaultLimit is a Query's Limit when it names none.
const defaultLimit = 100

func (q *Query) limit() int {
	if q.Limit <= 0 {
		return defaultLimit
	}
	return q.Limit
}

// ready prepares a query for selects.
func (q *Query) ready() {
	if len(q.IDs) == 0 {
		return
	}
	q.ids = make(map[string]bool, len(q.IDs))
	for _, id := range q.IDs {
		q.ids[id] = true
	}
}

// selects tells whether an event belongs to the answer.
func (q *Query) selects(e *event.Event) bool {
	if q.Object != "" && e.Object != q.Object || q.Host != "" && (e.Object == "" || e.Object.Host() != q.Host) {
		return false
	}
	if !q.Since.IsZero() && e.Time < object.At(q.Since) {
		return false
	}
	if !q.Until.IsZero() && e.Time >= object.At(q.Until) {
		return false
	}
	before := q.Before.Log
	if e.Stream == event.Results {
		before = q.Before.Results
	}
	if before != 0 && e.Seq >= before || e.Stream == event.Log && e.Seq <= q.After {
		return false
	}
	if len(q.Kinds) > 0 && !slices.ContainsFunc(q.Kinds, e.Has) || q.ids != nil && !q.ids[about(e)] {
		return false
	}
	for _, w := range q.Words {
		if !says(e, w) {
			return false
		}
	}
	return true
}

// about returns the id that a query may name: that of the request for an outcome,
// else the event's own.
func about(e *event.Event) string {
	if id := e.Facts[event.FactRequest]; id != "" {
		return id
	}
	return e.ID
}

// says tells whether a word of a query stands in an event.
func says(e *event.Event, word string) bool {
	for w := range words(e) {
		if w == word {
			return true
		}
	}
	return false
}

// words goes through what a query may name of an event about telling people; some
// come more than once.
func words(e *event.Event) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := range e.Notes {
			n := &e.Notes[i]
			if i == 0 && e.Status != nil && !yield(e.Status.State.Name(e.Object.Kind())) || !yield(n.Kind) {
				return
			}
			for j := range n.People {
				if !yield(n.People[j].Name) {
					return
				}
				for _, c := range n.People[j].Channels {
					kind, _, _ := strings.Cut(c, ":")
					if !yield(c) || !yield(kind) {
						return
					}
				}
			}
		}
	}
}

// twin identifies the result that an event came from.
type twin struct {
	object object.ID
	epoch  uint64
	n      uint64
}

// merge puts decisions and measurements, each newest first, into one answer,
// newest first. A measurement whose decision is there too is left out.
func (q *Query) merge(log, results []event.Event) []event.Event {
	decided := make(map[twin]bool, len(log))
	for i := range log {
		if e := &log[i]; e.Measure != nil && e.Has(event.CheckResult) {
			decided[twin{e.Object, e.Measure.Epoch, e.Measure.N}] = true
		}
	}
	log = slices.DeleteFunc(log, func(e event.Event) bool { return !q.selects(&e) })
	results = slices.DeleteFunc(results, func(e event.Event) bool {
		return e.Measure != nil && decided[twin{e.Object, e.Measure.Epoch, e.Measure.N}] || !q.selects(&e)
	})
	all := make([]event.Event, 0, min(len(log)+len(results), q.limit()))
	for len(all) < q.limit() && len(log)+len(results) > 0 {
		if len(results) == 0 || len(log) > 0 && log[0].Time >= results[0].Time {
			all, log = append(all, log[0]), log[1:]
			continue
		}
		all, results = append(all, results[0]), results[1:]
	}
	return all
}
