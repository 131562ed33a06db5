package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/explain"
	"jaque.sh/jaque/web/wire"
)

// What an item of the notification log may be asked for: whether anybody was to be
// told, or what became of one of its messages.
const (
	wasSent       = "sent"
	wasSuppressed = "suppressed"
)

func noteOutcomes() []string {
	return []string{
		wasSent, wasSuppressed, string(explain.Delivered), string(explain.Failed), string(explain.Abandoned),
		string(explain.Waiting), string(explain.Unsaid),
	}
}

// noteQuery is a request for a part of the notification log.
type noteQuery struct {
	journal.Query
	contact, channel, outcome string
	kind                      notify.Kind
	items                     int // of a page
}

// notifications answers the notification log: who was told what and who was not,
// newest first.
func (s *site) notifications(w http.ResponseWriter, r *http.Request) error {
	q, err := s.noteQuery(r)
	if err != nil {
		return err
	}
	answer := struct {
		Items []wire.Notification `json:"items"`
		Next  string              `json:"next"`
	}{Items: []wire.Notification{}}
	for read := 0; len(answer.Items) < q.items && read < noteMost; {
		list, err := s.history(r, q.Query)
		if err != nil {
			return err
		}
		records, err := s.records(r.Context(), list, q.Object)
		if err != nil {
			return err
		}
		answer.Next = ""
		for i := range records {
			if len(answer.Items) >= q.items && records[i].Seq != q.Before.Log {
				answer.Next = "more"
				break
			}
			q.Before.Log = records[i].Seq
			if q.selects(&records[i]) {
				answer.Items = append(answer.Items, wire.FromRecord(&records[i]))
			}
		}
		read += len(list)
		if len(list) < q.Limit {
			break
		}
		answer.Next = "more"
	}
	if answer.Next != "" {
		answer.Next = strconv.FormatUint(q.Before.Log, 10)
	}
	return s.json(w, r, answer)
}

func (s *site) noteQuery(r *http.Request) (*noteQuery, error) {
	if err := parameters(r, "object", "contact", "channel", "kind", "outcome", "since", "until", "limit", "cursor"); err != nil {
		return nil, err
	}
	v := r.URL.Query()
	q := &noteQuery{contact: v.Get("contact"), channel: v.Get("channel"), outcome: v.Get("outcome"), kind: notify.Kind(strings.ToUpper(v.Get("kind")))}
	q.Object, q.Kinds, q.Limit = object.ID(v.Get("object")), noteKinds(), noteChunk
	switch {
	case q.kind != "" && !slices.Contains(explain.Kinds(), q.kind):
		return nil, unknownAsked(&explain.Unknown{What: "kind of notification", Name: string(q.kind)})
	case q.outcome != "" && !slices.Contains(noteOutcomes(), q.outcome):
		f := badField("outcome", "no outcome is called %q; write one of %s", q.outcome, strings.Join(noteOutcomes(), ", "))
		f.Known = noteOutcomes()
		return nil, f
	}
	var err error
	if q.Since, err = instant(v.Get("since"), "since"); err != nil {
		return nil, err
	}
	if q.Until, err = instant(v.Get("until"), "until"); err != nil {
		return nil, err
	}
	if !q.Since.IsZero() && !q.Until.IsZero() && !q.Since.Before(q.Until) {
		return nil, faultf(http.StatusBadRequest, "since is not before until; swap them")
	}
	if q.items, err = number(v.Get("limit"), "limit", 100, 1000); err != nil {
		return nil, err
	}
	if text := v.Get("cursor"); text != "" {
		if q.Before.Log, err = strconv.ParseUint(text, 10, 64); err != nil || q.Before.Log == 0 {
			return nil, badField("cursor", "the cursor is none of this list; start again without it")
		}
	}
	return q, nil
}

// records returns the decisions of events with what became of their requests.
// Outcomes stand behind their requests, mostly soon: first the newest of all are
// read, then for what is still without one those of its object.
func (s *site) records(ctx context.Context, list []event.Event, of object.ID) ([]explain.Record, error) {
	outcomes, err := s.outcomeEvents(ctx, of, list)
	if err != nil {
		return nil, err
	}
	all := s.openRequests()
	open := make([]explain.Open, len(all))
	for i := range all {
		open[i] = explain.Open{ID: all[i].ID, Failures: all[i].Failures, Reason: all[i].Reason}
	}
	records := explain.Records(append(list, outcomes...), open)
	if len(outcomes) < noteMost || of != "" {
		return records, nil
	}
	asked := map[object.ID]bool{}
	for i := range records {
		r := &records[i]
		if asked[r.Object] || !slices.ContainsFunc(r.Deliveries, func(d explain.Delivery) bool { return d.Status == explain.Unsaid }) {
			continue
		}
		asked[r.Object] = true
		own, err := s.outcomeEvents(ctx, r.Object, list)
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, own...)
	}
	slices.SortFunc(outcomes, func(a, b event.Event) int { return int(b.Seq) - int(a.Seq) })
	return explain.Records(append(list, outcomes...), open), nil
}

// selects tells whether a decision is asked for, and narrows it to the contact.
func (q *noteQuery) selects(r *explain.Record) bool {
	if q.kind != "" && q.kind != r.Kind || q.contact != "" && !r.Narrow(q.contact) {
		return false
	}
	if q.channel != "" && !slices.ContainsFunc(r.Deliveries, func(d explain.Delivery) bool { return overChannel(d.Channel, q.channel) }) {
		return false
	}
	switch q.outcome {
	case "":
		return true
	case wasSent:
		return len(r.Deliveries) > 0
	case wasSuppressed:
		return len(r.Deliveries) == 0
	}
	return slices.ContainsFunc(r.Deliveries, func(d explain.Delivery) bool {
		return string(d.Status) == q.outcome && (q.channel == "" || overChannel(d.Channel, q.channel))
	})
}

// overChannel tells whether a channel has a name, or is of that kind.
func overChannel(channel, name string) bool {
	kind, _, _ := strings.Cut(channel, ":")
	return channel == name || kind == name
}

// openNotifications answers the messages that nobody has delivered or given up
// yet, oldest first.
func (s *site) openNotifications(w http.ResponseWriter, r *http.Request) error {
	if err := parameters(r, "object", "contact", "channel", "limit"); err != nil {
		return err
	}
	v := r.URL.Query()
	limit, err := number(v.Get("limit"), "limit", pageOf, pageMost)
	if err != nil {
		return err
	}
	all := s.openRequests()
	answer := struct {
		Items []wire.OpenRequest `json:"items"`
		Total int                `json:"total"`
	}{Items: []wire.OpenRequest{}}
	for i := range all {
		p := &all[i]
		if id := v.Get("object"); id != "" && id != string(p.Event.Object) || v.Get("contact") != "" && v.Get("contact") != p.Contact ||
			v.Get("channel") != "" && !overChannel(p.Channel, v.Get("channel")) {
			continue
		}
		if answer.Total++; answer.Total > limit {
			continue
		}
		answer.Items = append(answer.Items, wire.OpenRequest{
			Request: p.ID, Seq: p.Event.Seq, Time: wire.Time(p.Event.Time), Object: p.Event.Object, Kind: notify.Kind(p.Note.Kind),
			Number: p.Note.Number, Contact: p.Contact, Channel: p.Channel, Failures: p.Failures, Reason: p.Reason,
		})
	}
	return s.json(w, r, answer)
}
