package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/explain"
)

// How much of the notification log is read for one page.
const (
	// noteFirst and then noteChunk are how many decisions are read at once, noteMost
	// how many for a page: a filter that few match would else read the whole log.
	noteFirst = 100
	noteChunk = 500
	noteMost  = 4000
	// endedMost is how many outcomes are looked through for one page that is narrowed
	// by them.
	endedMost = 10 * noteMost
	// endedLate is how long behind a decision its outcomes are looked for.
	endedLate = 48 * time.Hour
)

func noteKinds() []event.Kind {
	return []event.Kind{event.NotificationIntended, event.NotificationSuppressed}
}

func outcomeKinds() []event.Kind {
	return []event.Kind{event.NotificationDelivered, event.NotificationFailed, event.NotificationAbandoned}
}

// noteReader reads decisions about telling people, newest first and a part at a
// time, each with what became of its requests. What it leaves out is not asked for;
// what it returns still has to be looked at. Where the outcome says where to look,
// it looks there: the messages that wait are known, those that failed or were given
// up are found from their outcomes, which are few.
type noteReader struct {
	s    *site
	q    journal.Query // Before moves on with what is read
	read int           // decisions so far
	more bool          // there may be older ones

	waiting bool
	ended   []event.Kind // outcomes to begin with; nil = begin with the decisions
	ids     []string     // of decisions that outcomes were read of
	seen    map[string]bool
	behind  uint64 // position of the oldest outcome read
	looked  int    // outcomes so far
	all     bool   // every outcome was read
	hungry  bool   // no decision is left that the outcomes read so far lead to
}

// noteReader returns one for a query, and a word for what became of the messages.
func (s *site) noteReader(q journal.Query, outcome string) *noteReader {
	n := &noteReader{s: s, q: q, more: true, hungry: true, seen: map[string]bool{}}
	n.q.Kinds = noteKinds()
	switch outcome {
	case "":
	case wasSuppressed:
		n.q.Kinds = []event.Kind{event.NotificationSuppressed}
	case string(explain.Waiting):
		n.waiting = true
	case string(explain.Failed):
		n.ended = []event.Kind{event.NotificationFailed, event.NotificationAbandoned}
	case string(explain.Abandoned):
		n.ended = []event.Kind{event.NotificationAbandoned}
	default:
		n.q.Kinds = []event.Kind{event.NotificationIntended}
	}
	return n
}

// goesOn tells whether to read on for the same page.
func (n *noteReader) goesOn() bool { return n.more && n.read < noteMost && n.looked < endedMost }

// next reads the next part: decisions, and outcomes of their requests.
func (n *noteReader) next(r *http.Request) (list, outcomes []event.Event, err error) {
	switch {
	case n.waiting:
		list = n.open()
	case n.ended != nil:
		list, err = n.fromOutcomes(r)
	default:
		list, err = n.s.history(r, n.q)
		n.more = len(list) == n.q.Limit
	}
	if err != nil || len(list) == 0 {
		return nil, nil, err
	}
	n.read += len(list)
	n.q.Before.Log, n.q.Limit = list[len(list)-1].Seq, noteChunk
	outcomes, err = n.s.outcomesOf(r.Context(), list, n.q.Object != "")
	return list, outcomes, err
}

// open returns the next decisions that have an open request.
func (n *noteReader) open() (list []event.Event) {
	all := n.s.openRequests()
	for i := range all {
		e := all[i].Event
		at := e.Time.Std()
		switch {
		case n.q.Object != "" && e.Object != n.q.Object, n.q.Host != "" && e.Object.Host() != n.q.Host,
			!n.q.Since.IsZero() && at.Before(n.q.Since), !n.q.Until.IsZero() && !at.Before(n.q.Until),
			n.q.Before.Log != 0 && e.Seq >= n.q.Before.Log:
			continue
		}
		list = append(list, *e)
	}
	slices.SortFunc(list, func(a, b event.Event) int { return cmp.Compare(b.Seq, a.Seq) })
	list = slices.CompactFunc(list, func(a, b event.Event) bool { return a.Seq == b.Seq })
	n.more = len(list) > n.q.Limit
	return list[:min(len(list), n.q.Limit)]
}

// fromOutcomes returns the next decisions that the outcomes lead to. An outcome
// stands behind its decision: once the outcomes are read back to a position, no
// decision behind that position can be missing.
func (n *noteReader) fromOutcomes(r *http.Request) ([]event.Event, error) {
	for n.more && n.looked < endedMost {
		if n.hungry {
			if err := n.lookBack(r); err != nil {
				return nil, err
			}
		}
		var list []event.Event
		if len(n.ids) > 0 {
			q := n.q
			if q.IDs = n.ids; !n.all {
				q.After = n.behind - 1
			}
			var err error
			if list, err = n.s.history(r, q); err != nil {
				return nil, err
			}
		}
		n.hungry = len(list) < n.q.Limit
		n.more = !n.hungry || !n.all
		if len(list) > 0 {
			return list, nil
		}
		if n.hungry && !n.all {
			n.q.Before.Log = min(cmp.Or(n.q.Before.Log, n.behind), n.behind)
		}
	}
	return nil, nil
}

// lookBack reads further outcomes.
func (n *noteReader) lookBack(r *http.Request) error {
	if n.all {
		return nil
	}
	q := journal.Query{
		Object: n.q.Object, Host: n.q.Host, Kinds: n.ended, Since: n.q.Since, Before: journal.Position{Log: n.behind}, Limit: noteMost,
	}
	if !n.q.Until.IsZero() {
		q.Until = n.q.Until.Add(endedLate)
	}
	list, err := n.s.history(r, q)
	if err != nil {
		return err
	}
	n.all, n.looked = len(list) < noteMost, n.looked+len(list)
	for i := range list {
		n.behind = list[i].Seq
		if id := decisionOf(list[i].Facts[event.FactRequest]); id != "" && !n.seen[id] {
			n.seen[id] = true
			n.ids = append(n.ids, id)
		}
	}
	return nil
}

// decisionOf returns the id of the decision that made a request, "" if the id of
// the request is none; see event.Request.
func decisionOf(request string) string {
	parts := strings.Split(request, "/")
	if len(parts) != 7 {
		return ""
	}
	return strings.NewReplacer("%2F", "/", "%25", "%").Replace(parts[4])
}

// outcomesOf reads what became of the requests of events. Those of one object are
// looked for among what is said of it, however long ago.
func (s *site) outcomesOf(ctx context.Context, list []event.Event, oneObject bool) ([]event.Event, error) {
	if len(list) == 0 {
		return nil, nil
	}
	q := journal.Query{Kinds: outcomeKinds(), After: list[len(list)-1].Seq}
	for i := range list {
		requests := list[i].Requests()
		for j := range requests {
			q.IDs = append(q.IDs, requests[j].ID)
		}
	}
	if s.History == nil || len(q.IDs) == 0 {
		return nil, nil
	}
	if oneObject {
		q.Object = list[0].Object
	}
	q.Limit = max(noteMost, 4*len(q.IDs))
	return s.History.History(ctx, q)
}
