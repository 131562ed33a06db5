package sink

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// deliver writes a batch, however long that takes, and moves the position behind it.
// False = the process stops and the batch was not taken.
func (s *Sink) deliver(ctx, send context.Context, f *filling) bool {
	s.change(func(st *State) { st.sending = f.oldest })
	pause := s.opt.RetryFirst
	for b := &f.Batch; b.Len() > 0; {
		again, err := s.attempt(send, b)
		if again == nil {
			break
		}
		wait := jitter(pause)
		pause = min(2*pause, s.opt.RetryMost)
		var e *Error
		if errors.As(err, &e) && e.RetryAfter > wait {
			wait = min(e.RetryAfter, mostRetryAfter)
		}
		s.failing(err, wait)
		if !sleep(ctx, wait) {
			return false
		}
		b = again
	}
	s.change(func(st *State) {
		st.Position, st.sending = f.at, 0
		if f.Len() > 0 {
			st.Reason, st.Failing = "", time.Time{}
		}
	})
	s.metrics.events.Add(float64(f.events))
	s.lag()
	return true
}

// mostRetryAfter bounds the wish of a target to be left alone.
const mostRetryAfter = 10 * time.Minute

// jitter spreads a pause over half to one and a half of it, so that many sinks of a
// target that was gone do not come back in the same moment.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d+1) }

// attempt hands a batch over once. What is left of it is to be tried again because
// of the error; nil = nothing is. What the target refuses for good is searched for
// the items that are wrong, half by half, and left out.
func (s *Sink) attempt(ctx context.Context, b *Batch) (again *Batch, err error) {
	err = s.once(ctx, b)
	var e *Error
	switch {
	case err == nil:
		s.took(b.Len())
		return nil, nil
	case !errors.As(err, &e):
		return b, err
	case e.Partial:
		return s.partial(b, e)
	case !e.Permanent || !s.believed(time.Now()):
		return b, err
	case b.Len() == 1:
		s.drop(b, 0, e.Error())
		return nil, nil
	}
	half := b.Len() / 2
	rest := b.slice(half, b.Len())
	if again, err = s.attempt(ctx, b.slice(0, half)); again != nil {
		return again.join(rest), err
	}
	return s.attempt(ctx, rest)
}

// once makes one request of a target and counts it.
func (s *Sink) once(ctx context.Context, b *Batch) error {
	ctx, cancel := context.WithTimeout(ctx, s.opt.Timeout)
	defer cancel()
	start := time.Now()
	n, err := s.opt.Target.Write(ctx, b)
	s.metrics.seconds.Observe(time.Since(start).Seconds())
	s.metrics.bytes.Add(float64(n))
	s.metrics.batch(err)
	return err
}

// partial does what a target said of each item.
func (s *Sink) partial(b *Batch, e *Error) (*Batch, error) {
	again := b.pick(e.Again)
	taken := b.Len() - again.Len() - len(e.Refused)
	if taken > 0 {
		s.took(taken)
	}
	if len(e.Refused) > 0 && !s.believed(time.Now()) {
		for _, r := range e.Refused {
			e.Again = append(e.Again, r.Index)
		}
		return b.pick(e.Again), e
	}
	for _, r := range e.Refused {
		s.drop(b, r.Index, r.Reason)
	}
	if again.Len() == 0 {
		return nil, nil
	}
	return again, e
}

// took notes that the target has taken items.
func (s *Sink) took(n int) {
	s.proven, s.refused = true, time.Time{}
	s.metrics.items.Add(float64(n))
	s.metrics.success.SetToCurrentTime()
	s.change(func(st *State) {
		st.Taken += uint64(n)
		if !st.Failing.IsZero() {
			s.log.Info("target of a sink takes batches again", "since", st.Failing)
			st.Failing, st.Reason = time.Time{}, ""
		}
	})
}

// believed tells whether a refusal for good is taken at its word. Of a target that
// has not taken anything yet it is not for a while: what is wrong there is most
// likely the way it was set up, and would cost everything.
func (s *Sink) believed(now time.Time) bool {
	if s.proven {
		return true
	}
	if s.refused.IsZero() {
		s.refused = now
	}
	return now.Sub(s.refused) >= s.opt.Patience
}

// drop leaves one item out for good.
func (s *Sink) drop(b *Batch, i int, reason string) {
	s.metrics.drop(reasonRefused, 1)
	what := b.describe(i)
	s.change(func(st *State) {
		st.Refused++
		st.LastRefused, st.RefusedAt = what+": "+reason, time.Now()
		// The first ones are shown, then each that makes their number double.
		if n := st.Refused; n <= 10 || n&(n-1) == 0 {
			s.log.Warn("target of a sink refuses an item for good, it is left out", "item", what, "err", reason, "refused", n)
		}
	})
}

// failing notes that a batch has to wait.
func (s *Sink) failing(err error, wait time.Duration) {
	s.change(func(st *State) {
		reason := err.Error()
		if st.Failing.IsZero() {
			st.Failing = time.Now()
			s.log.Warn("target of a sink does not take a batch, it waits on the log", "err", reason, "retry", wait)
		} else if st.Reason != reason {
			s.log.Warn("target of a sink still does not take a batch", "err", reason, "retry", wait, "since", st.Failing)
		}
		st.Reason = reason
	})
	s.lag()
}
