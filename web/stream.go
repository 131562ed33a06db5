package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/web/wire"
)

const (
	heartbeat = 15 * time.Second // between comments on a quiet stream
	patience  = 10 * time.Second // for one write to a client
	lag       = 1024             // events a client may be behind
)

// outlet writes server-sent events to one client.
type outlet struct {
	w   http.ResponseWriter
	ctl *http.ResponseController
	now func() time.Time
}

func (s *site) openStream(w http.ResponseWriter) (*outlet, error) {
	o := &outlet{w: w, ctl: http.NewResponseController(w), now: s.Now}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	if rec, ok := w.(*recorder); ok {
		rec.streaming = true
	}
	return o, o.send("retry: 3000\n\n")
}

// send writes a piece and gives up on a client that does not take it.
func (o *outlet) send(text string) error {
	// A recorder in a test has no deadline; a connection has.
	if err := o.ctl.SetWriteDeadline(time.Now().Add(patience)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := o.w.Write([]byte(text)); err != nil {
		return err
	}
	return o.ctl.Flush()
}

// feed is one client of the event stream.
type feed struct {
	*outlet
	site    *site
	object  object.ID
	kinds   []event.Kind
	results bool
	at      journal.Position // everything up to here was handled
}

func (s *site) stream(w http.ResponseWriter, r *http.Request) error {
	if err := parameters(r, "object", "kind", "results", "after"); err != nil {
		return err
	}
	v := r.URL.Query()
	f := &feed{site: s, object: object.ID(v.Get("object"))}
	var err error
	if f.kinds, err = kindList(v.Get("kind")); err != nil {
		return err
	}
	if f.results, err = boolean(v.Get("results"), "results"); err != nil {
		return err
	}
	after := r.Header.Get("Last-Event-ID")
	if after == "" {
		after = v.Get("after")
	}
	resume := after != ""
	if resume {
		if f.at, err = s.resumeAt(r.Context(), after); err != nil {
			return err
		}
	}
	if f.outlet, err = s.openStream(w); err != nil {
		s.sent(r, err)
		return nil
	}
	s.metrics.streams.Inc()
	defer s.metrics.streams.Dec()
	s.sent(r, f.run(r.Context(), resume))
	return nil
}

// run replays what the client missed, then goes on with what is folded. The
// subscription starts before the replay, so that nothing lies in between; what
// both deliver is told once. A client that falls behind is sent away and comes
// back with its position.
func (f *feed) run(ctx context.Context, resume bool) error {
	sub := f.site.Projection.Subscribe(lag)
	defer sub.Close()
	if !resume {
		f.at = f.site.Projection.Position()
		if err := f.send("id: " + f.site.eventID(f.at) + "\nevent: open\ndata: {}\n\n"); err != nil {
			return err
		}
	} else if err := f.replay(ctx); err != nil {
		return err
	}
	behind, err := f.follow(ctx, sub.C)
	if behind {
		f.site.metrics.dropped.Inc()
		return f.send("event: behind\ndata: {}\n\n")
	}
	return err
}

// replay tells what stands on the log behind the client's position.
func (f *feed) replay(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := f.site.History.Follow(ctx, f.at, func(batch []event.Event) error {
		for i := range batch {
			if err := f.tell(&batch[i]); err != nil {
				return err
			}
		}
		return nil
	}, cancel)
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("replay events: %w", err)
	}
	return nil
}

// follow tells what is folded. It returns true if the client fell behind.
func (f *feed) follow(ctx context.Context, events <-chan *event.Event) (bool, error) {
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, nil
		case <-f.site.Stop:
			return false, nil
		case <-beat.C:
			if err := f.send("id: " + f.site.eventID(f.at) + "\n: still here\n\n"); err != nil {
				return false, err
			}
		case e, ok := <-events:
			if !ok {
				return true, nil
			}
			if err := f.tell(e); err != nil {
				return false, err
			}
		}
	}
}

// tell sends an event unless it was told or is not asked for.
func (f *feed) tell(e *event.Event) error {
	at := &f.at.Log
	if e.Stream == event.Results {
		at = &f.at.Results
	}
	if e.Seq <= *at {
		return nil
	}
	*at = e.Seq
	if !f.wants(e) {
		return nil
	}
	data, err := json.Marshal(wire.FromEvent(e))
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	return f.send("id: " + f.site.eventID(f.at) + "\ndata: " + string(data) + "\n\n")
}

func (f *feed) wants(e *event.Event) bool {
	if (e.Stream == event.Results && !f.results) || (f.object != "" && e.Object != f.object) {
		return false
	}
	return len(f.kinds) == 0 || slices.ContainsFunc(f.kinds, e.Has)
}
