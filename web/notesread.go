package web

import (
	"net/http"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/web/view"
)

// noteWindow is how far back a look at the notification log goes unless it is told
// since when.
const noteWindow = 7 * 24 * time.Hour

// notes fills the rows of the page, and says where older ones are.
func (s *site) notes(r *http.Request, v *view.Notes, ask view.NoteAsk, before uint64, now time.Time) error {
	q := journal.Query{Since: ask.Since, Until: ask.Until, Before: journal.Position{Log: before}, Limit: noteFirst}
	switch ask.Object.Kind() {
	case object.Service:
		q.Object = ask.Object
	case object.Host:
		q.Host = string(ask.Object)
	}
	for _, word := range []string{ask.Contact, ask.Channel, ask.Kind, ask.State} {
		if word != "" {
			q.Words = append(q.Words, word)
		}
	}
	bounded := ask.Since.IsZero()
	if bounded {
		q.Since = now.Add(-noteWindow)
		if !ask.Until.IsZero() {
			q.Since = ask.Until.Add(-noteWindow)
		}
	}
	log := view.NoteLog{Ask: ask, Deliveries: s.deliveries(), Now: now, Known: s.hasPage}
	reader, full := s.noteReader(q, ask.Outcome), false
	for !full && reader.goesOn() {
		list, outcomes, err := reader.next(r)
		if err != nil {
			return err
		}
		for i := range outcomes {
			log.Deliveries.Outcomes.Add(&outcomes[i])
		}
		for i := range list {
			if len(log.Rows) >= view.NoteRows {
				full = true
				break
			}
			log.Add(&list[i])
			q.Before.Log = list[i].Seq
		}
	}
	if reader.read == 0 {
		if err := s.readable(r.Context()); err != nil {
			return err
		}
	}
	v.Rows = log.Rows
	switch {
	case full:
		v.Older = view.Link{Label: "Older", URL: ask.Older(q.Before.Log)}
	case reader.more:
		v.Older = view.Link{Label: "Older", URL: ask.Older(reader.q.Before.Log)}
	case bounded:
		earlier := ask
		earlier.Until = q.Since
		v.Older = view.Link{Label: "Look further back than " + view.NewWhen(object.At(q.Since), now).Text, URL: "/notifications?" + earlier.Query().Encode()}
	}
	if len(v.Rows) == 0 {
		v.Empty = nothing(ask, bounded, reader)
	}
	return nil
}

// nothing says why no row is shown.
func nothing(ask view.NoteAsk, bounded bool, reader *noteReader) string {
	switch {
	case reader.more:
		return "Nothing of this among the last " + view.Number(reader.read) + " decisions."
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
