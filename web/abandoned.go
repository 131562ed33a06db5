package web

import (
	"context"
	"net/http"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/web/view"
)

// How far back every page says that notifications were given up, how often the log
// is looked at for it, and for how long a page waits for that.
const (
	abandonedWindow = 24 * time.Hour
	abandonedEvery  = 5 * time.Second
	abandonedWait   = time.Second
	// A second look begins so far before the first one's end: events of one instant
	// may come apart.
	abandonedMargin = time.Minute
)

// abandoned keeps what was given up lately: every page says it, and the log is not
// read for each.
type abandoned struct {
	mu    sync.Mutex
	known view.Abandonments
	read  time.Time     // when the log was read last
	at    uint64        // position on the log that was read up to; 0 = it never was
	back  time.Duration // how far the next first look goes; less after one took too long
}

// with calls fn with what was given up in the last day.
func (a *abandoned) with(ctx context.Context, s *site, fn func(*view.Abandonments)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, at := s.Now(), s.Projection.Position().Log
	if s.History != nil && (a.read.IsZero() || at != a.at && now.Sub(a.read) >= abandonedEvery) {
		a.look(ctx, s, now, at)
	}
	a.known.Forget(object.At(now.Add(-abandonedWindow)))
	fn(&a.known)
}

func (a *abandoned) look(ctx context.Context, s *site, now time.Time, at uint64) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonedWait)
	defer cancel()
	if a.back == 0 {
		a.back = abandonedWindow
	}
	since := now.Add(-a.back)
	if a.at != 0 {
		since = a.read.Add(-abandonedMargin)
	}
	list, err := s.History.History(ctx, journal.Query{
		Kinds: []event.Kind{event.NotificationDelivered, event.NotificationAbandoned}, Since: since, Limit: noteMost,
	})
	a.read = now
	if err != nil {
		s.Logger.Warn("what was given up is not shown", "err", err)
		a.back = max(a.back/12, abandonedMargin)
		return
	}
	a.at = at
	for i := range list {
		a.known.Add(&list[i])
	}
}

// unheard returns since when an object has a problem that nobody took note of, 0 if
// it has none.
func (s *site) unheard(id object.ID) object.Time {
	if s.Projection.Set().Get(id) == nil {
		return 0
	}
	st := &s.Projection.State(id).Status
	if !st.Checked || st.State == object.OK || st.Ack != object.AckNone || st.DowntimeDepth > 0 {
		return 0
	}
	return max(st.Problem, 1)
}

// readable returns an error if the log gives nothing at all although decisions stand
// on it: damaged it looks as if it were empty.
func (s *site) readable(ctx context.Context) error {
	at := s.Projection.Position().Log
	if s.History == nil || at == 0 {
		return nil
	}
	list, err := s.History.History(ctx, journal.Query{Limit: 1})
	if err == nil && len(list) == 0 {
		err = faultf(http.StatusServiceUnavailable, "The event log cannot be read: %s decisions stand on it, and it gives none of them.", view.Number(int(at)))
	}
	return err
}

// hasPage tells whether an object is in the configuration.
func (s *site) hasPage(id object.ID) bool { return s.Projection.Set().Get(id) != nil }
