package web

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/explain"
	"jaque.sh/jaque/web/view"
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
	contact, channel, outcome, state string
	kind                             notify.Kind
	items                            int // of a page
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
	first, open := q.Before.Log == 0, s.explainOpen()
	reader, full := s.noteReader(q.Query, q.outcome), false
	for !full && len(answer.Items) < q.items && reader.goesOn() {
		list, outcomes, err := reader.next(r)
		if err != nil {
			return err
		}
		records := explain.Records(inOrder(list, outcomes), open)
		for i := range records {
			if len(answer.Items) >= q.items && records[i].Seq != q.Before.Log {
				full = true
				break
			}
			q.Before.Log = records[i].Seq
			if q.selects(&records[i]) {
				answer.Items = append(answer.Items, wire.FromRecord(&records[i]))
			}
		}
		if len(answer.Items) < q.items {
			q.Before.Log = reader.q.Before.Log
		}
	}
	if full || reader.more {
		answer.Next = "more"
	}
	if answer.Next != "" {
		answer.Next = strconv.FormatUint(q.Before.Log, 10)
	}
	if first && len(answer.Items) == 0 && answer.Next == "" {
		if err := s.knownNames(r, q); err != nil {
			return err
		}
	}
	return s.json(w, r, answer)
}

func (s *site) noteQuery(r *http.Request) (*noteQuery, error) {
	if err := parameters(r, "object", "contact", "channel", "kind", "outcome", "state", "since", "until", "limit", "cursor"); err != nil {
		return nil, err
	}
	v := r.URL.Query()
	q := &noteQuery{contact: v.Get("contact"), channel: v.Get("channel"), outcome: v.Get("outcome"), state: strings.ToUpper(v.Get("state")), kind: notify.Kind(strings.ToUpper(v.Get("kind")))}
	q.Object, q.Limit = object.ID(v.Get("object")), noteChunk
	for _, word := range []string{q.contact, q.channel, string(q.kind)} {
		if word != "" {
			q.Words = append(q.Words, word)
		}
	}
	switch {
	case q.kind != "" && !slices.Contains(explain.Kinds(), q.kind):
		return nil, unknownAsked(&explain.Unknown{What: "kind of notification", Name: string(q.kind)})
	case q.outcome != "" && !slices.Contains(noteOutcomes(), q.outcome):
		f := badField("outcome", "no outcome is called %q; write one of %s", q.outcome, strings.Join(noteOutcomes(), ", "))
		f.Known = noteOutcomes()
		return nil, f
	}
	if known := view.NoteStates(); q.state != "" && !slices.Contains(known, q.state) {
		f := badField("state", "no state is called %q; write one of %s", short(v.Get("state")), strings.Join(known, ", "))
		f.Known = known
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

// explainOpen returns the requests without an outcome, for an explanation.
func (s *site) explainOpen() []explain.Open {
	all := s.openRequests()
	open := make([]explain.Open, len(all))
	for i := range all {
		open[i] = explain.Open{ID: all[i].ID, Failures: all[i].Failures, Reason: all[i].Reason}
	}
	return open
}

// inOrder returns decisions and outcomes as one list, newest first.
func inOrder(list, outcomes []event.Event) []event.Event {
	all := append(slices.Clone(list), outcomes...)
	slices.SortFunc(all, func(a, b event.Event) int { return cmp.Compare(b.Seq, a.Seq) })
	return all
}

// selects tells whether a decision is asked for, and narrows it to the contact.
func (q *noteQuery) selects(r *explain.Record) bool {
	// The canary's rounds would hide everything else.
	if r.Kind == notify.Heartbeat && q.kind == "" && q.Object == "" {
		return false
	}
	if q.state != "" && q.state != r.State {
		return false
	}
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
	if err := s.knownOpen(object.ID(v.Get("object")), v.Get("contact"), v.Get("channel"), all); err != nil {
		return err
	}
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
