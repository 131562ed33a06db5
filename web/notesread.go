package web

import (
	"context"
	"net/http"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/web/view"
)

// How far one look at the notification log goes.
const (
	// noteWindow is how far back it looks unless it is told since when.
	noteWindow = 7 * 24 * time.Hour
	// noteFirst and then noteChunk are how many events are read at once, noteMost
	// how many for a page: a filter that few match would else read the whole log.
	noteFirst = 100
	noteChunk = 500
	noteMost  = 4000
)

func noteKinds() []event.Kind {
	return []event.Kind{event.NotificationIntended, event.NotificationSuppressed}
}

func outcomeKinds() []event.Kind {
	return []event.Kind{event.NotificationDelivered, event.NotificationFailed, event.NotificationAbandoned}
}

// notes fills the rows of the page, and says where older ones are.
func (s *site) notes(r *http.Request, v *view.Notes, ask view.NoteAsk, before uint64, now time.Time) error {
	q := journal.Query{Kinds: noteKinds(), Since: ask.Since, Until: ask.Until, Before: journal.Position{Log: before}, Limit: noteFirst}
	if ask.Object.Kind() == object.Service {
		q.Object = ask.Object
	}
	bounded := ask.Since.IsZero()
	if bounded {
		q.Since = now.Add(-noteWindow)
		if !ask.Until.IsZero() {
			q.Since = ask.Until.Add(-noteWindow)
		}
	}
	deliveries := s.deliveries()
	log := view.NoteLog{Ask: ask, Deliveries: deliveries, Now: now}
	read, full := 0, false
	for !full && read < noteMost {
		list, err := s.history(r, q)
		if err != nil {
			return err
		}
		if err := s.outcomesOf(r.Context(), list, deliveries); err != nil {
			return err
		}
		for i := range list {
			if len(log.Rows) >= view.NoteRows {
				full = true
				break
			}
			log.Add(&list[i])
			q.Before.Log = list[i].Seq
			read++
		}
		if len(list) < q.Limit {
			break
		}
		q.Limit = noteChunk
	}
	v.Rows = log.Rows
	switch {
	case full || read >= noteMost:
		v.Older = view.Link{Label: "Older", URL: ask.Older(q.Before.Log)}
	case bounded:
		earlier := ask
		earlier.Until = q.Since
		v.Older = view.Link{Label: "Look further back than " + view.NewWhen(object.At(q.Since), now).Text, URL: "/notifications?" + earlier.Query().Encode()}
	}
	if len(v.Rows) == 0 {
		v.Empty = nothing(ask, bounded, read)
	}
	return nil
}

// nothing says why no row is shown.
func nothing(ask view.NoteAsk, bounded bool, read int) string {
	switch {
	case read >= noteMost:
		return "Nothing of this among the last " + view.Number(read) + " decisions."
	case ask.Narrow() && bounded:
		return "Nothing of this in seven days."
	case ask.Narrow():
		return "Nothing of this in that time."
	case bounded:
		return "Nobody was to be told of anything in seven days."
	}
	return "Nobody was to be told of anything in that time."
}

// deliveries returns how requests stand as far as this process holds it.
func (s *site) deliveries() *view.Deliveries {
	open := s.openRequests()
	d := &view.Deliveries{Outcomes: view.Outcomes{}, Open: make(map[string]view.Waiting, len(open))}
	for _, p := range open {
		d.Open[p.ID] = view.Waiting{Failures: p.Failures, Reason: p.Reason}
	}
	return d
}

// outcomesOf reads what became of the requests of events, newest first. Outcomes
// stand behind their requests, mostly soon: first all those of the time are read,
// then for what is still without one those of its object.
func (s *site) outcomesOf(ctx context.Context, list []event.Event, d *view.Deliveries) error {
	if s.History == nil || len(list) == 0 {
		return nil
	}
	from, to := list[len(list)-1].Time.Std(), list[0].Time.Std().Add(10*time.Minute)
	for i := range list {
		if at := list[i].Time.Std(); at.Before(from) {
			from = at
		}
	}
	near, err := s.History.History(ctx, journal.Query{Kinds: outcomeKinds(), Since: from, Until: to, Limit: noteMost})
	if err != nil {
		return err
	}
	for i := range near {
		d.Outcomes.Add(&near[i])
	}
	asked := map[object.ID]bool{}
	for i := range list {
		e := &list[i]
		if asked[e.Object] || !unsettled(e, d) || len(asked) >= view.NoteRows {
			continue
		}
		asked[e.Object] = true
		own, err := s.History.History(ctx, journal.Query{Object: e.Object, Kinds: outcomeKinds(), Since: from, Limit: noteMost})
		if err != nil {
			return err
		}
		for j := range own {
			d.Outcomes.Add(&own[j])
		}
	}
	return nil
}

// unsettled tells whether a request of an event has no outcome that is known, and
// should have one.
func unsettled(e *event.Event, d *view.Deliveries) bool {
	for _, r := range e.Requests() {
		_, open := d.Open[r.ID]
		if d.Outcomes[r.ID].Final == "" && !open {
			return true
		}
	}
	return false
}
