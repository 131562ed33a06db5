package sink

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/sample"
	"jaque.sh/jaque/appliance/service"
)

// Sink brings one target what it should have. Create it with New; any goroutine may
// call its methods.
type Sink struct {
	opt     Options
	log     *slog.Logger
	metrics *series
	inbox   *inbox

	mapper *sample.Mapper // nil = it is a sink of events
	left   []sample.Left  // belongs to the follower

	// What follows belongs to the goroutine of run.
	saved   journal.Position // as it is kept
	kept    bool             // a position stands there, of this process or one before it
	savedAt time.Time        // when that was last tried
	proven  bool             // the target has taken something since the start
	refused time.Time        // since when it, unproven, refuses for good; zero = it does not

	mu    sync.Mutex
	state State // guarded by mu
}

// saveEvery is how often a position is kept, at most. After a crash what was
// delivered since then is delivered again.
const saveEvery = time.Second

// Service returns the part of the process that writes; needs are the services that
// start before it, the log first of all. It is ready at once: a target that is gone
// holds nobody up.
func (s *Sink) Service(needs ...string) service.Service {
	return service.Service{Name: "sink-" + s.opt.Name, Needs: needs, StopTimeout: s.opt.StopTimeout + 2*time.Second, Run: s.run}
}

// run follows the log and writes until ctx ends; then what waits has a little time.
// It fails if the log cannot be followed.
func (s *Sink) run(ctx context.Context, ready func()) error {
	defer func() {
		if err := s.opt.Target.Close(); err != nil {
			s.log.Warn("target of a sink did not close in order", "err", err)
		}
	}()
	ready()
	from, ok := s.begin(ctx)
	if !ok {
		return nil
	}
	work, stop := context.WithCancel(ctx)
	defer stop()
	var parts sync.WaitGroup
	var failure error
	parts.Go(func() {
		defer stop()
		failure = s.opt.Source.Follow(work, from, func(events []event.Event) error { return s.read(work, events) }, nil)
		if failure == nil {
			failure = errors.New("the follower of the log ended by itself")
		}
		// What waits is still written; health is not to last that long.
		failure = service.Fail(ctx, failure)
	})
	parts.Go(func() { s.watch(work) })
	s.write(work)
	parts.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return failure
}

// begin returns the position to go on from, which it waits for; false = the process
// stops first.
func (s *Sink) begin(ctx context.Context) (journal.Position, bool) {
	var at, end journal.Position
	var saved time.Time
	for pause := s.opt.RetryFirst; ; pause = min(2*pause, s.opt.RetryMost) {
		var err error
		if at, saved, err = s.opt.Positions.Load(ctx, s.opt.Name); err == nil {
			end, err = s.opt.Source.End(ctx)
		}
		if err == nil {
			break
		}
		s.metrics.unsaved.Inc()
		s.change(func(st *State) { st.Unsaved = err.Error() })
		s.log.Error("it cannot be found out where a sink goes on, the sink waits", "err", err, "retry", pause)
		if !sleep(ctx, pause) {
			return at, false
		}
	}
	s.change(func(st *State) { st.Unsaved = "" })
	from := s.from(at, saved, end)
	s.inbox.begin(from)
	s.kept = !saved.IsZero()
	s.change(func(st *State) { st.Began, st.Position, st.End = time.Now(), from, end })
	if saved.IsZero() || from != at {
		s.save(ctx, time.Now(), true) // so that a crash from here on loses nothing
	} else {
		s.saved = from
	}
	return from, true
}

// from decides where a sink goes on.
func (s *Sink) from(at journal.Position, saved time.Time, end journal.Position) journal.Position {
	found := !saved.IsZero()
	switch {
	case !found && s.opt.Beginning:
		s.log.Info("sink begins with all that the log holds")
		return journal.Position{}
	case !found:
		s.log.Info("sink begins with what happens from now on", "log", end.Log, "results", end.Results)
		return end
	case at.Log > end.Log:
		// All that stands on another log is new to the target.
		s.log.Warn("log was replaced since the sink ran, it begins with all of the new one", "seq", at.Log, "end", end.Log)
		return journal.Position{}
	}
	// A killed log server may have lost its newest measurements and given their
	// numbers again. What was saved since this process reads the log, by another one,
	// is of this numbering.
	if saved.Before(s.opt.Opened) {
		at.Results = min(at.Results, s.opt.Source.Opened().Results)
	}
	at.Results = min(at.Results, end.Results)
	return at
}

// read puts events into batches, and waits while there is no room.
func (s *Sink) read(ctx context.Context, events []event.Event) error {
	for i := range events {
		e := &events[i]
		for !s.inbox.add(e, func(f *filling) { s.put(f, e) }) {
			signal(s.inbox.more)
			select {
			case <-s.inbox.room:
			case <-ctx.Done():
				return nil
			}
		}
	}
	signal(s.inbox.more)
	return nil
}

// put adds what the sink has to tell of an event.
func (s *Sink) put(f *filling, e *event.Event) {
	if s.mapper != nil {
		// Every result is a measurement, also one that changed something; decisions
		// only repeat what the newest one said.
		if e.Stream != event.Results {
			return
		}
		f.Samples, s.left = s.mapper.Map(f.Samples, s.left[:0], e, s.opt.Object(e.Object))
		for _, l := range s.left {
			s.metrics.drop(l.Reason, 1)
			s.log.Debug("a value of a check is no sample", "object", e.Object, "reason", l.Reason, "value", l.Text)
		}
		return
	}
	if e.Stream == event.Results && !s.opt.Measurements {
		return
	}
	text := s.opt.Encode(nil, e)
	f.Events = append(f.Events, Document{Event: *e, JSON: text})
	f.bytes += len(text)
}

// write hands batches over until ctx ends, and then what has been read already.
func (s *Sink) write(ctx context.Context) {
	send, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	stopping := context.AfterFunc(ctx, func() {
		if service.Hurried(ctx) { // others write what is left
			cut()
			return
		}
		end := time.AfterFunc(s.opt.StopTimeout, cut)
		context.AfterFunc(send, func() { end.Stop() })
	})
	defer stopping()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		stop := ctx.Err() != nil
		f, pause := s.inbox.take(time.Now(), s.opt.Wait, stop)
		if f != nil {
			ok := s.deliver(ctx, send, f)
			s.inbox.done(f)
			if !ok {
				break // the process stops; the batch stays on the log
			}
		}
		s.save(send, time.Now(), false)
		switch {
		case f != nil:
			continue
		case stop:
			s.save(send, time.Now(), true)
			return
		}
		if s.position() != s.saved {
			pause = min(pause, saveEvery)
		}
		timer.Reset(pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-s.inbox.more:
		}
	}
	s.save(send, time.Now(), true)
}

// save keeps the position if it has moved and was not kept a moment ago.
func (s *Sink) save(ctx context.Context, now time.Time, hurry bool) {
	at := s.position()
	if at == s.saved && !s.savedAt.IsZero() || !hurry && now.Sub(s.savedAt) < saveEvery {
		return
	}
	s.savedAt = now
	err := s.opt.Positions.Save(ctx, s.opt.Name, at)
	if err == nil {
		s.saved, s.kept = at, true
	} else {
		s.metrics.unsaved.Inc()
	}
	s.change(func(st *State) {
		st.Restart = s.restart()
		switch {
		case err != nil && st.Unsaved == "":
			s.log.Error("position of a sink cannot be kept", "err", err, "restart", st.Restart)
		case err == nil && st.Unsaved != "":
			s.log.Info("position of a sink is kept again")
		}
		st.Unsaved = ""
		if err != nil {
			st.Unsaved = err.Error()
		}
	})
}

// restart says what the next process that runs the sink does while its position is not kept.
func (s *Sink) restart() string {
	switch {
	case s.kept:
		return "after a restart it delivers again what follows the position that was kept last"
	case s.opt.Beginning:
		return "after a restart it delivers again all that the log holds"
	}
	return "after a restart it begins with what happens then, and what lies between is missing at the target"
}

// sleep waits; false = ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
