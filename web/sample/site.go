package sample

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
)

// Now is the instant at which an invented installation is looked at.
var Now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Site is a projection and the log that it was folded from.
type Site struct {
	*projection.Projection
	mu     sync.Mutex
	events []event.Event
	seq    [2]uint64 // by stream
	more   chan struct{}
	opened journal.Position
}

// New returns an installation of the given objects, all PENDING.
func New(objects ...*object.Object) *Site {
	return &Site{
		Projection: projection.New(object.NewSet("4f2a91", object.DefaultSettings(), objects)),
		more:       make(chan struct{}),
	}
}

// Say is what a Result adds to a state.
type Say func(e *event.Event)

// Soft makes the problem soft at an attempt.
func Soft(attempt int32) Say {
	return func(e *event.Event) { e.Status.Type, e.Status.Attempt = object.Soft, attempt }
}

// Ack acknowledges the problem.
func Ack(author, text string) Say {
	return func(e *event.Event) {
		e.Status.Ack = object.AckSticky
		e.Status.Extra = &event.Extra{AckAuthor: author, AckText: text}
	}
}

// Downtime puts the object into a downtime.
func Downtime(e *event.Event) {
	e.Status.DowntimeDepth = 1
	e.Status.Extra = &event.Extra{Downtimes: []event.Downtime{{
		ID: "d1", Author: "ops", Text: "disk is being replaced", Start: e.Time, Started: e.Time, End: e.Time.Add(2 * time.Hour),
	}}}
}

// Flapping marks the object as flapping.
func Flapping(e *event.Event) {
	e.Status.Flapping = true
	e.Also = append(e.Also, event.FlappingStarted)
}

// Text sets further output and performance data.
func Text(long, perfdata string) Say {
	return func(e *event.Event) { e.Measure.Long, e.Measure.Perfdata = long, perfdata }
}

// Result folds a decision after a check, ago before Now.
func (s *Site) Result(id object.ID, state object.State, output string, ago time.Duration, says ...Say) {
	old := s.State(id)
	at := object.At(Now.Add(-ago))
	e := event.Event{
		Kind: event.CheckResult, Object: id, Epoch: 3, Writer: "engine-1", Prev: old.Last, Time: at, ID: fmt.Sprintf("e%d", len(s.events)+1),
		Transition: true,
		Was:        &event.Was{State: old.Status.State, Type: old.Status.Type, Attempt: old.Status.Attempt, Checked: old.Status.Checked},
		Status: &event.Status{
			State: state, Checked: true, Attempt: 1, MaxAttempts: 3, LastChange: at, LastHardChange: at, LastHard: state,
		},
		Measure: s.measure(id, state, output, at),
	}
	if state != object.OK {
		e.Status.Attempt, e.Status.Problem = 3, at
	}
	for _, say := range says {
		say(&e)
	}
	s.note(&e, &old.Status)
	s.Append(e)
}

// Repeat records a measurement that changes nothing.
func (s *Site) Repeat(id object.ID, output string, ago time.Duration) {
	at := object.At(Now.Add(-ago))
	s.Append(event.Event{
		Stream: event.Results, Kind: event.CheckResult, Object: id, Epoch: 3, Writer: "engine-1", Time: at,
		Measure: s.measure(id, s.State(id).Status.State, output, at),
	})
}

func (s *Site) measure(id object.ID, state object.State, output string, at object.Time) *event.Measure {
	return &event.Measure{
		Epoch: 3, N: s.State(id).Measure.N + 1, State: state, LastCheck: at, NextCheck: at.Add(time.Minute),
		Latency: 1800, Took: 41_300, Output: output,
	}
}

// Append gives an event its position, folds it and wakes followers.
func (s *Site) Append(e event.Event) {
	s.mu.Lock()
	s.seq[e.Stream]++
	e.Seq, e.Version = s.seq[e.Stream], event.Version
	s.events = append(s.events, e)
	close(s.more)
	s.more = make(chan struct{})
	s.mu.Unlock()
	s.Apply(&e)
}

// History returns matching events, newest first.
func (s *Site) History(_ context.Context, q journal.Query) ([]event.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []event.Event
	for _, e := range slices.Backward(s.events) {
		t := e.Time.Std()
		switch {
		case q.Object != "" && e.Object != q.Object,
			len(q.Kinds) > 0 && !slices.ContainsFunc(q.Kinds, e.Has),
			!q.Since.IsZero() && t.Before(q.Since), !q.Until.IsZero() && !t.Before(q.Until),
			q.Before.Log != 0 && e.Stream == event.Log && e.Seq >= q.Before.Log,
			e.Stream == event.Results && !q.Results:
			continue
		}
		if out = append(out, e); q.Limit > 0 && len(out) == q.Limit {
			break
		}
	}
	return out, nil
}

// End returns the last positions of both streams.
func (s *Site) End(context.Context) (journal.Position, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return journal.Position{Log: s.seq[event.Log], Results: s.seq[event.Results]}, nil
}

// Reopen makes the present end what a restarted process finds.
func (s *Site) Reopen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = journal.Position{Log: s.seq[event.Log], Results: s.seq[event.Results]}
}

// Opened returns where the log ended when it was opened.
func (s *Site) Opened() journal.Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

// Follow hands out what stands behind a position and then what comes.
func (s *Site) Follow(ctx context.Context, from journal.Position, fn func([]event.Event) error, caughtUp func()) error {
	for done := 0; ; {
		s.mu.Lock()
		batch, more := slices.Clone(s.events[done:]), s.more
		s.mu.Unlock()
		done += len(batch)
		batch = slices.DeleteFunc(batch, func(e event.Event) bool {
			if e.Stream == event.Results {
				return e.Seq <= from.Results
			}
			return e.Seq <= from.Log
		})
		if len(batch) > 0 {
			if err := fn(batch); err != nil {
				return err
			}
		}
		if caughtUp != nil {
			caughtUp()
			caughtUp = nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-more:
		}
	}
}
