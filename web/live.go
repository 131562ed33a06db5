package web

import (
	"net/http"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
)

// calm is the least time between two changes that a page is told of.
const calm = time.Second

// live tells a page that it has changed, at most once a second; the page then
// asks for itself again. Which events count depends on the page: those about
// one object, or decisions about any.
func (s *site) live(w http.ResponseWriter, r *http.Request) error {
	if err := parameters(r, "object", "at", "did"); err != nil {
		return err
	}
	id := object.ID(r.URL.Query().Get("object"))
	at, err := s.pageAt(r)
	if err != nil {
		return err
	}
	sub := s.Projection.Subscribe(lag)
	defer func() { sub.Close() }()
	o, err := s.openStream(w)
	if err != nil {
		s.sent(r, err)
		return nil
	}
	s.metrics.streams.Inc()
	defer s.metrics.streams.Dec()
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	waits := s.waitFor(r)
	defer waits.Stop()
	var pending <-chan time.Time // fires when a change is to be told
	var told time.Time
	if now := s.Projection.Position(); now.Log != at.Log || (id != "" && now != at) {
		pending = time.After(0) // something happened while the page was on its way
	}
	for {
		text := ""
		select {
		case <-r.Context().Done():
			return nil
		case <-s.Stop:
			return nil
		case <-beat.C:
			text = ": still here\n\n"
		case e, ok := <-sub.C:
			if !ok {
				// Too many events to look at each: something has changed.
				sub = s.Projection.Subscribe(lag)
			}
			if pending == nil && (!ok || concerns(id, e)) {
				pending = time.After(max(50*time.Millisecond, calm-time.Since(told)))
			}
			continue
		case <-waits.C:
			if _, open := s.waiting(r); open {
				continue
			}
			waits.Stop()
			pending = time.After(0)
			continue
		case <-pending:
			pending, told = nil, time.Now()
			text = changed(s.Projection)
		}
		if err := o.send(text); err != nil {
			s.sent(r, err)
			return nil
		}
	}
}

// pageAt returns the position that the page was made at, the present one if it
// does not say.
func (s *site) pageAt(r *http.Request) (journal.Position, error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("at")
	}
	if text == "" {
		return s.Projection.Position(), nil
	}
	at, _, err := parsePosition(text)
	return at, err
}

// waitFor ticks while the page waits for what becomes of a command: not everything
// that becomes of one is an event of the page's object.
func (s *site) waitFor(r *http.Request) *time.Ticker {
	t := time.NewTicker(calm / 2)
	if _, open := s.waiting(r); !open {
		t.Stop()
	}
	return t
}

func changed(p *projection.Projection) string {
	return "id: " + formatPosition(p.Position()) + "\nevent: change\ndata: {}\n\n"
}

// concerns tells whether a page about id (every page, if it is empty) shows
// something of the event. A host's page shows its services.
func concerns(id object.ID, e *event.Event) bool {
	if id == "" {
		return e.Stream == event.Log
	}
	return e.Object == id || (id.Kind() == object.Host && e.Object.Host() == string(id)) || e.Object == object.ID(id.Host())
}
