package web

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/web/wire"
)

// events answers the history of one object or of all.
func (s *site) events(w http.ResponseWriter, r *http.Request) error {
	if err := parameters(r, "object", "kind", "since", "until", "limit", "results"); err != nil {
		return err
	}
	q, err := s.historyQuery(r)
	if err != nil {
		return err
	}
	list, err := s.history(r, q)
	if err != nil {
		return err
	}
	items := make([]wire.Event, len(list))
	for i := range list {
		items[i] = wire.FromEvent(&list[i])
	}
	return s.json(w, r, map[string]any{"items": items})
}

func (s *site) history(r *http.Request, q journal.Query) ([]event.Event, error) {
	if s.History == nil {
		return nil, faultf(http.StatusServiceUnavailable, "this process has no event log to read from")
	}
	return s.History.History(r.Context(), q)
}

func (s *site) historyQuery(r *http.Request) (journal.Query, error) {
	v := r.URL.Query()
	q := journal.Query{Object: object.ID(v.Get("object"))}
	var err error
	if q.Kinds, err = kindList(v.Get("kind")); err != nil {
		return q, err
	}
	if q.Since, err = instant(v.Get("since"), "since"); err != nil {
		return q, err
	}
	if q.Until, err = instant(v.Get("until"), "until"); err != nil {
		return q, err
	}
	if !q.Since.IsZero() && !q.Until.IsZero() && !q.Since.Before(q.Until) {
		return q, faultf(http.StatusBadRequest, "since is not before until; swap them")
	}
	if q.Results, err = boolean(v.Get("results"), "results"); err != nil {
		return q, err
	}
	q.Limit, err = number(v.Get("limit"), "limit", 100, 10000)
	return q, err
}

// allKinds are the kinds of event that can be asked for.
var allKinds = []event.Kind{
	event.CheckResult, event.FlappingStarted, event.FlappingStopped, event.AckSet, event.AckCleared,
	event.CommentAdded, event.CommentRemoved, event.DowntimeScheduled, event.DowntimeStarted, event.DowntimeEnded,
	event.DowntimeCancelled, event.ObjectAdded, event.ObjectChanged, event.ObjectRemoved, event.SettingChanged,
	event.CommandRejected, event.EngineJoined, event.EngineLeft, event.EpochRaised, event.ConfigLoaded,
	event.CheckScheduled, event.HandlerRan, event.RootChanged, event.NotificationRequested,
	event.NotificationIntended, event.NotificationSuppressed, event.NotificationDelivered, event.NotificationFailed,
	event.NotificationAbandoned, event.NotificationMissed, event.NotificationReleased,
}

func kindList(text string) ([]event.Kind, error) {
	if text == "" {
		return nil, nil
	}
	var out []event.Kind
	for name := range strings.SplitSeq(text, ",") {
		if !slices.Contains(allKinds, event.Kind(name)) {
			f := faultf(http.StatusBadRequest, "no kind of event is called %q", name)
			for _, k := range allKinds {
				f.Known = append(f.Known, string(k))
			}
			return nil, f
		}
		out = append(out, event.Kind(name))
	}
	return out, nil
}

func instant(text, name string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, faultf(http.StatusBadRequest, "%s is %q; write a time as in 2026-01-31T08:00:00Z", name, text)
	}
	return t, nil
}

func boolean(text, name string) (bool, error) {
	if text == "" {
		return false, nil
	}
	b, err := strconv.ParseBool(text)
	if err != nil {
		return false, faultf(http.StatusBadRequest, "%s is %q; write true or false", name, text)
	}
	return b, nil
}
