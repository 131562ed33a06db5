package web

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/web/page"
	"jaque.sh/jaque/web/view"
)

// notesPage shows who was told what and who was not, newest first.
func (s *site) notesPage(w http.ResponseWriter, r *http.Request) error {
	now, set := s.Now(), s.Projection.Set()
	v := view.Notes{Chrome: s.chrome(r, "Notifications", "notifications")}
	ask, before, err := noteAsk(r)
	status := http.StatusOK
	if err == nil {
		err = s.notes(r, &v, ask, before, now)
	}
	if err != nil {
		f := asFault(err)
		if f == nil {
			s.Logger.Warn("notifications not shown", "err", err)
			f = faultf(http.StatusServiceUnavailable, "The event log cannot be read to its end now; narrow the time with since and until.")
		}
		v.Error, status = f.Detail, f.Status
	}
	v.Form = ask.Fields(slices.Sorted(maps.Keys(set.Contacts)), view.ChannelKinds(set))
	v.Quick, v.Narrow = ask.Quick(), ask.Detailed() || v.Error != ""
	if before == 0 {
		v.Strip = s.strip(r, now)
	} else {
		v.Chrome.Live = "" // what is far back does not change
	}
	return s.render(w, r, status, page.Notes(v))
}

// noteAsk reads what the log is narrowed to, and the position to go on before.
func noteAsk(r *http.Request) (ask view.NoteAsk, before uint64, err error) {
	q := r.URL.Query()
	text := func(name string) string { return strings.TrimSpace(q.Get(name)) }
	ask = view.NoteAsk{
		Object: object.ID(text("object")), Contact: text("contact"), Channel: text("channel"),
		Kind: strings.ToUpper(text("kind")), Outcome: strings.ToLower(text("outcome")), State: strings.ToUpper(text("state")),
	}
	if part, value, known := ask.Wrong(); part != "" {
		return ask, 0, faultf(http.StatusBadRequest, "%s is %q; write one of %s", part, short(value), strings.Join(known, ", "))
	}
	if ask.Since, err = momentOf(text("since"), "since"); err != nil {
		return ask, 0, err
	}
	if ask.Until, err = momentOf(text("until"), "until"); err != nil {
		return ask, 0, err
	}
	if !ask.Since.IsZero() && !ask.Until.IsZero() && !ask.Since.Before(ask.Until) {
		return ask, 0, faultf(http.StatusBadRequest, "since is not before until; swap them")
	}
	if at := text("before"); at != "" {
		if before, err = strconv.ParseUint(at, 10, 64); err != nil || before == 0 {
			return ask, 0, faultf(http.StatusBadRequest, "before is %q; write a position of the log, as the link to older ones does", short(at))
		}
	}
	return ask, before, nil
}

// momentOf reads an instant as a field for date and time has it, in UTC, or as the
// API does; zero if there is none.
func momentOf(text, name string) (time.Time, error) {
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return instant(text, name)
}

// strip says how the delivery goes, from what the process knows and from the newest
// outcomes on the log.
func (s *site) strip(r *http.Request, now time.Time) view.Strip {
	var d view.Delivery
	if s.Delivery != nil {
		own := s.Delivery()
		d = view.Delivery{Known: true, Open: own.Open, Due: own.Due, InFlight: own.InFlight, Oldest: stampOf(own.Oldest)}
		for _, c := range own.Channels {
			d.Channels = append(d.Channels, view.ChannelState{Name: c.Name, Sent: stampOf(c.Sent), Failing: stampOf(c.Failing), Reason: c.Reason, Open: c.Open})
		}
	}
	open := s.openRequests()
	if s.Delivery == nil {
		d.Known, d.Open = true, len(open)
		for i := range open {
			if at := open[i].Event.Time; d.Oldest == 0 || at < d.Oldest {
				d.Oldest = at
			}
		}
	}
	if s.History != nil {
		list, err := s.History.History(r.Context(), journal.Query{Kinds: outcomeKinds(), Since: now.Add(-noteWindow), Limit: noteChunk})
		if err != nil {
			s.Logger.Warn("channels not shown", "err", err)
			d.Broken = true
		}
		own := len(d.Channels)
		d.Channels = view.GaveUpToo(d.Channels, view.NewChannels(list))
		for i := own; i < len(d.Channels); i++ {
			for j := range open {
				kind, _, _ := strings.Cut(open[j].Channel, ":")
				if kind == d.Channels[i].Name {
					d.Channels[i].Open++
				}
			}
		}
	}
	s.abandoned.with(r.Context(), s, func(a *view.Abandonments) { d.Abandoned, d.AbandonedSince = a.Since() })
	return view.NewStrip(d, now)
}

func stampOf(t time.Time) object.Time {
	if t.IsZero() {
		return 0
	}
	return object.At(t)
}

// canary says how the dead man's switch stands.
func (s *site) canary(now time.Time) view.Canary {
	if s.Canary == nil {
		return view.Canary{}
	}
	c := s.Canary()
	if !c.Enabled {
		return view.Canary{}
	}
	started := s.Status().Started
	if started.IsZero() {
		started = now
	}
	return view.NewCanary(c.Every, c.Last, started, c.Hop, c.Reason, now)
}

// pageNumber reads which part of a list is asked for; what is none is the first.
func pageNumber(r *http.Request) int {
	n, err := number(r.URL.Query().Get("page"), "page", 1, 1_000_000)
	if err != nil {
		return 1
	}
	return n
}

// contactsPage shows who can be told, over what, and who is on call.
func (s *site) contactsPage(w http.ResponseWriter, r *http.Request) error {
	now := s.Now()
	src := view.ContactSources{
		Set: s.Projection.Set(), Program: s.Projection.Program(), Name: r.URL.Query().Get("name"), Page: pageNumber(r),
		Last: map[string]*event.Event{}, Missed: map[string]*event.Event{}, Waiting: map[string]int{},
	}
	open := s.openRequests()
	for i := range open {
		src.Waiting[open[i].Contact]++
	}
	if s.History != nil && len(src.Set.Contacts) > 0 {
		list, err := s.History.History(r.Context(), journal.Query{
			Kinds: []event.Kind{event.NotificationDelivered, event.NotificationAbandoned}, Since: now.Add(-noteWindow), Limit: noteMost,
		})
		if err != nil {
			s.Logger.Warn("who was told last is not shown", "err", err)
			src.Broken = "The event log cannot be read now: who was told last is not known."
		}
		for i := range list {
			name := list[i].Facts[event.FactContact]
			if list[i].Kind == event.NotificationAbandoned {
				if src.Last[name] == nil { // newest first: nothing arrived since
					src.Missed[name] = cmp.Or(src.Missed[name], &list[i])
				}
				continue
			}
			src.Last[name] = cmp.Or(src.Last[name], &list[i])
		}
	}
	v := view.NewContactPage(s.chrome(r, "Contacts", "notifications"), s.cannot(r), src, now)
	return s.render(w, r, http.StatusOK, page.Contacts(v))
}
