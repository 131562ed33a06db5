package rehearse

import (
	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// post delivers what is asked for: every message arrives the moment it is due.
type post struct {
	open    deliver.Open
	planner *deliver.Planner
	world   deliver.World
	entries map[string]int // indexes of entries by request
	looked  object.Time    // when it was last found that nothing is due
}

func newPost(w *world, l deliver.Limits) *post {
	p := &post{planner: deliver.NewPlanner(l), entries: map[string]int{}}
	p.world = deliver.World{
		Status: func(id object.ID) *event.Status {
			if st := w.look(id); st != nil {
				return &st.Status
			}
			return nil
		},
		Object: func(id object.ID) *object.Object { return w.set.Get(id) },
		Sent:   func(k deliver.GroupKey) deliver.Last { return p.open.Sent(k) },
		Seen: func(id object.ID) object.Time {
			if st := w.look(id); st != nil {
				return st.Measure.LastCheck
			}
			return 0
		},
	}
	return p
}

// next returns when the next message is due, 0 if none waits.
func (p *post) next(now object.Time) object.Time {
	at := p.planner.Next(now)
	if at != 0 && p.looked == now {
		return max(at, now+1)
	}
	return at
}

// note takes the verdicts of an event into the outcome, and what it asks for to the
// post. Beyond the end it only looks who is told next.
func (w *world) note(ev *event.Event) {
	if ev.Stream != event.Log || w.found {
		return
	}
	entries := Entries(ev)
	if w.now > w.scene.End {
		for i := range entries {
			if entries[i].Told {
				w.found, w.out.Next = true, entries
			}
		}
		return
	}
	if w.scene.Watch != nil {
		w.scene.Watch(ev)
	}
	for i := range entries {
		if id := entries[i].Request; id != "" {
			w.post.entries[id] = len(w.out.Entries)
		}
		w.out.Entries = append(w.out.Entries, entries[i])
	}
	w.post.looked = 0
	added, _ := w.post.open.Apply(ev)
	for _, p := range added {
		w.post.planner.Add(p, false)
	}
}

// send lets every message out that is due, and tells whether there was one.
func (w *world) send() (sent bool) {
	p := w.post
	for {
		b, ok := p.planner.Take(w.now, &p.world)
		if !ok {
			p.looked = w.now
			return sent
		}
		sent = true
		if b.Expired {
			w.abandoned(b)
			p.planner.Abandoned(b)
		} else {
			w.sent(b)
			p.planner.Done(b, w.now)
		}
		w.settled(b)
	}
}

// abandoned takes a message into the outcome that is not sent any more.
func (w *world) abandoned(b *deliver.Batch) {
	m := Message{Time: w.now, Contact: b.Contact, Channel: b.Channel, Group: b.Group, Root: b.Root}
	for _, r := range b.Requests {
		i := w.post.entries[r.ID]
		w.out.Entries[i].Abandoned = true
		m.Entries = append(m.Entries, i)
	}
	w.out.Abandoned = append(w.out.Abandoned, m)
}

// sent takes a message into the outcome.
func (w *world) sent(b *deliver.Batch) {
	m := Message{
		Number: len(w.out.Messages) + 1, Time: w.now, Contact: b.Contact, Channel: b.Channel, Group: b.Group, Root: b.Root,
	}
	for _, r := range b.Requests {
		i := w.post.entries[r.ID]
		w.out.Entries[i].Message = m.Number
		m.Entries = append(m.Entries, i)
	}
	w.out.Messages = append(w.out.Messages, m)
}

// settled folds the outcomes of a message, as they would stand on the log.
func (w *world) settled(b *deliver.Batch) {
	for i, r := range b.Requests {
		w.seq++
		e := event.Event{
			Stream: event.Log, Seq: w.seq, Version: event.Version, Kind: event.NotificationDelivered, Object: r.Event.Object, Time: w.now,
			Facts: map[string]string{
				event.FactRequest: r.ID, event.FactContact: b.Contact, event.FactChannel: b.Channel,
				event.FactGroup: b.GroupOf(i), event.FactThread: b.Thread,
			},
		}
		if b.Expired {
			e.Kind = event.NotificationAbandoned
		}
		_, ended := w.post.open.Apply(&e)
		for _, id := range ended {
			w.post.planner.End(id)
		}
	}
}

// drain lets the messages out that still wait when nothing else happens any more.
func (w *world) drain() {
	for at := w.post.next(w.now); at != 0; at = w.post.next(w.now) {
		w.now = max(w.now, at)
		w.send()
	}
}
