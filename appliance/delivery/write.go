package delivery

import (
	"errors"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/journal"
)

// How outcomes are put on the log again that it has not taken.
const (
	writePause    = 250 * time.Millisecond // the first; each further one is twice as long
	writeMost     = 30 * time.Second
	writePatience = 3 * time.Second // of a stop
)

// writes are the outcomes that the log has not acknowledged. A message is never
// sent again because its outcome could not be written: the outcome is written again.
type writes struct {
	flying int            // handed to the journal
	again  []*event.Event // refused, to be handed over again
	at     time.Time      // when; zero = nothing to do
	pause  time.Duration  // before that
	err    error          // of the last refusal
}

func (w *writes) open() int { return w.flying + len(w.again) }

// hurry lets the next attempt come at once.
func (w *writes) hurry(now time.Time) {
	if !w.at.IsZero() {
		w.at, w.pause = now, 0
	}
}

// write hands an outcome to the journal, which takes any number at once.
func (d *Delivery) write(ev *event.Event) {
	d.writes.flying++
	d.opt.Journal.Append(ev, 0, func(_ uint64, err error) {
		d.inbox.put(func() { d.written(ev, err) })
	})
}

func (d *Delivery) written(ev *event.Event, err error) {
	s := &d.writes
	s.flying--
	if err == nil {
		if len(s.again) == 0 {
			s.pause, s.err = 0, nil
		}
		return
	}
	d.metrics.writeErrors.Inc()
	if errors.Is(err, journal.ErrClosed) {
		return // the process ends: the request stays open
	}
	s.again, s.err = append(s.again, ev), err
	if s.at.IsZero() {
		s.pause = min(max(writePause, 2*s.pause), writeMost)
		s.at = time.Now().Add(s.pause)
		d.log.Warn("the outcome of a notification could not be appended and is tried again",
			"object", string(ev.Object), "again_in", s.pause, "err", err)
	}
}

// writeAgain hands refused outcomes over again when their time has come.
func (d *Delivery) writeAgain(now time.Time) {
	s := &d.writes
	if s.at.IsZero() || now.Before(s.at) {
		return
	}
	again := s.again
	s.again, s.at = nil, time.Time{}
	for _, ev := range again {
		d.write(ev)
	}
}
