package deliver

import (
	"maps"
	"slices"
	"strconv"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// Open is the fold of the log into the requests without a final outcome. The zero
// value knows of none; it has one owner, what it returns is never changed.
type Open struct {
	pending  map[string]*Pending // by ID
	incident map[object.ID]incident
	sent     map[GroupKey]sending
	seq      uint64      // of the newest event that was folded
	newest   object.Time // of the event that was folded last: what was ahead of it is not for long
	repeated uint64
	releases map[string]*Release // the newest of each process run, by instance; not in a snapshot
	pruneAt  int                 // what is remembered from which it is worth looking through it
}

// incident is what is remembered of an object's problem that people are told of: the
// recovery, which is told in the same place, says nothing of it.
type incident struct {
	since object.Time
	root  object.ID
	at    object.Time // of the newest event about it
}

// sending is the newest message of a group.
type sending struct {
	at     object.Time
	thread string
}

// memoryOf is how long an object's problem is remembered after its newest event.
const memoryOf = 30 * day

// Concerns tells whether an event of the log changes what is open. Nearly none does.
func Concerns(e *event.Event) bool {
	switch e.Kind {
	case event.NotificationDelivered, event.NotificationFailed, event.NotificationAbandoned, event.NotificationReleased:
		return true
	}
	return len(e.Notes) > 0
}

// Apply folds an accepted event of the log and returns the requests that are open by
// it and the IDs of those that are not any more. An event that was folded before
// changes nothing. The event is not kept.
func (o *Open) Apply(e *event.Event) (added []*Pending, ended []string) {
	if e.Stream != event.Log || !Concerns(e) || e.Seq != 0 && e.Seq <= o.seq {
		return nil, nil
	}
	o.seq, o.newest = max(o.seq, e.Seq), e.Time
	if o.pending == nil {
		o.pending, o.incident, o.sent = map[string]*Pending{}, map[object.ID]incident{}, map[GroupKey]sending{}
	}
	switch {
	case e.Kind == event.NotificationReleased:
		o.release(e)
		return nil, nil
	case e.Kind.Outcome():
		return nil, o.outcome(e)
	}
	return o.ask(e), nil
}

// ask takes in what an event asks for.
func (o *Open) ask(e *event.Event) (added []*Pending) {
	if !slices.ContainsFunc(e.Notes, func(n event.Note) bool { return n.Send }) {
		return nil
	}
	known := o.incident[e.Object]
	if e.Status != nil && e.Status.Problem != 0 {
		known = incident{e.Status.Problem, e.Status.Root, e.Time}
		o.incident[e.Object] = known
		o.prune()
	}
	for _, p := range pending(lean(e)) {
		if p.Note.Kind == recovery && p.Since == 0 && known.at.Add(memoryOf) > o.newest {
			p.Since, p.Root = known.since, known.root
		}
		if o.pending[p.ID] == nil {
			o.pending[p.ID] = p
			added = append(added, p)
		}
	}
	return added
}

// outcome takes in what became of a request.
func (o *Open) outcome(e *event.Event) (ended []string) {
	id := e.Facts[event.FactRequest]
	p := o.pending[id]
	if e.Kind == event.NotificationFailed {
		if p != nil {
			o.pending[id] = p.failed(e)
		}
		return nil
	}
	if e.Kind == event.NotificationDelivered {
		o.remember(e, p)
	}
	if p == nil {
		o.repeated++
		return nil
	}
	delete(o.pending, id)
	return []string{id}
}

// failed returns the request after one more failed attempt.
func (p *Pending) failed(e *event.Event) *Pending {
	q := *p
	q.Failures++
	if n, err := strconv.Atoi(e.Facts[event.FactAttempts]); err == nil {
		q.Failures = max(p.Failures, n)
	}
	q.Reason, q.By = clip(e.Facts[event.FactReason], maxText), e.Writer
	return &q
}

// remember keeps when a message of a group went out, and for the object the root in
// whose message its problem was told.
func (o *Open) remember(e *event.Event, p *Pending) {
	group := e.Facts[event.FactGroup]
	k := GroupKey{e.Facts[event.FactContact], e.Facts[event.FactChannel], group}
	// What did not wait for its group holds the rest of it up no more than it was.
	kind := e.Facts[event.FactKind]
	apart := group != "" && (kind == string(notify.Custom) || kind == string(notify.Acknowledgement))
	if !apart { // also where whoever sent the one before had a clock that was ahead
		o.sent[k] = sending{e.Time, e.Facts[event.FactThread]}
		o.prune()
	}
	o.sent[GroupKey{Contact: k.Contact, Channel: k.Channel}] = sending{at: e.Time}
	if root := rootOf(group); root != "" && root != e.Object && p != nil && p.Since != 0 {
		if known := o.incident[e.Object]; known.since == p.Since {
			known.root = root
			o.incident[e.Object] = known
		}
	}
}

// prune forgets what is too old to matter, once there is much.
func (o *Open) prune() {
	if len(o.sent)+len(o.incident) < o.pruneAt {
		return
	}
	for k, s := range o.sent {
		if s.at.Add(day) <= o.newest {
			delete(o.sent, k)
		}
	}
	for id, i := range o.incident {
		if i.at.Add(memoryOf) <= o.newest {
			delete(o.incident, id)
		}
	}
	o.pruneAt = max(minPrune, 2*(len(o.sent)+len(o.incident)))
}

// Clone returns a copy that what is folded later does not change.
func (o *Open) Clone() *Open {
	c := *o
	c.pending, c.incident, c.sent = maps.Clone(o.pending), maps.Clone(o.incident), maps.Clone(o.sent)
	c.releases = maps.Clone(o.releases)
	return &c
}

// Get returns an open request, nil if there is none with the ID.
func (o *Open) Get(id string) *Pending { return o.pending[id] }

// Len returns how many requests are open.
func (o *Open) Len() int { return len(o.pending) }

// All returns the open requests in the order of the log.
func (o *Open) All() []*Pending {
	all := make([]*Pending, 0, len(o.pending))
	for _, p := range o.pending {
		all = append(all, p)
	}
	slices.SortFunc(all, (*Pending).compare)
	return all
}

// Sent returns what the outcomes say of a group's newest message, without a Group of
// the newest to the contact over the channel; it is forgotten after a day.
func (o *Open) Sent(k GroupKey) Last {
	s, ok := o.sent[k]
	if !ok || s.at.Add(day) <= o.newest {
		return Last{}
	}
	return Last{s.at, s.thread}
}

// Repeated returns how many outcomes settled what was settled before.
func (o *Open) Repeated() uint64 { return o.repeated }
