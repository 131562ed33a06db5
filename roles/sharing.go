package roles

import (
	"context"
	"log/slog"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/delivery"
	"jaque.sh/jaque/appliance/rule/membership"
)

// sharing takes the share of this process in the contacts, among the notifiers or among
// the engines.
type sharing struct {
	a      *appliance
	roster *roster
	newer  chan struct{} // capacity 1: a view was adopted that is not in force
}

func newSharing(a *appliance, id string) sharing {
	return sharing{
		a: a, roster: &roster{me: membership.Member{ID: id, Instance: a.instance}, change: func() {}},
		newer: make(chan struct{}, 1),
	}
}

// options are those of a delivery to the contacts of this process.
func (s *sharing) options() delivery.Options {
	return delivery.Options{
		Owner: s.roster.owns, Shared: s.roster.isShared, Rivals: s.roster.rivals, Begun: s.roster.mayHaveBegun, Busy: s.roster.busy,
		Halted: func() bool { return !s.a.store.Alive() },
	}
}

// adopt takes in a newer view.
func (s *sharing) adopt(v membership.View) {
	if s.roster.adopt(v) {
		s.roster.join(time.Now().Add(s.a.s.HeartbeatTTL), false) // others may be sending to its contacts
	}
	select {
	case s.newer <- struct{}{}:
	default:
	}
}

// wait gives those who had contacts of this process a moment to hear that it is there
// and to say that they begin with nothing more. Where one does not say so, what comes in
// meanwhile, and as long as that one may not have heard of it, is marked. silent tells
// that some of them say nothing.
func (s *sharing) wait(ctx context.Context, silent bool) {
	began := time.Now()
	s.roster.join(began.Add(s.a.s.HeartbeatTTL), silent)
	for !s.roster.letGo() && time.Since(began) < s.a.s.HeartbeatTTL/3 && pause(ctx, lookAtFold) {
	}
}

// follow delivers, and puts newer views in force, until ctx ends. It is ready when the
// first one is.
func (s *sharing) follow(ctx context.Context, ready func()) {
	for first := true; ; first = false {
		end, ok := s.settle(ctx)
		if !ok {
			return
		}
		if s.roster.begin(end, time.Now()); first {
			ready()
		}
		select {
		case <-s.newer:
		case <-ctx.Done():
			return
		}
	}
}

// How long an answer is waited for when the log is asked for its end, the first time and
// at most; and how often the fold is asked for its position. A question to a leader that
// is just stopping is never answered, while the next one is at once.
const (
	askEndFirst = time.Second
	askEndMost  = 8 * time.Second
	lookAtFold  = 10 * time.Millisecond
)

// settle puts the newest view in force once everything is folded that stood on the log
// when it was adopted: what its former owner has delivered is not delivered again. It
// returns where the log ended, and false when ctx has ended.
func (s *sharing) settle(ctx context.Context) (end uint64, ok bool) {
	epoch := s.roster.epoch()
	if end, ok = logEnd(ctx, s.a.journal, s.a.p.Logger); !ok {
		return 0, false
	}
	for s.a.proj.Position().Log < end {
		if !pause(ctx, lookAtFold) {
			return 0, false
		}
	}
	s.roster.enforce(epoch, end)
	return end, ctx.Err() == nil
}

// logEnd asks where the log ends until it is told, each time with more patience: as long
// as it is not known, this process vouches for no request of the members that left. It
// returns false when ctx has ended.
func logEnd(ctx context.Context, log interface {
	EndOf(ctx context.Context, s event.Stream) (uint64, error)
}, l *slog.Logger,
) (end uint64, ok bool) {
	for patience := askEndFirst; ; patience = min(2*patience, askEndMost) {
		one, cancel := context.WithTimeout(ctx, patience)
		end, err := log.EndOf(one, event.Log)
		if cancel(); err == nil {
			return end, true
		}
		l.Warn("the end of the log is not known, trying again", "err", err)
		if !pause(ctx, patience/5) {
			return 0, false
		}
	}
}

// pause is false if ctx ended meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// contacts shares the contacts of a process that delivers what it decides with the other
// engines.
type contacts struct {
	sharing
	first uint64 // position from which on nobody else can have sent; 0 = not known yet
}

func newContacts(a *appliance) *contacts {
	c := &contacts{sharing: newSharing(a, a.s.EngineID)}
	c.roster.sharers, c.roster.said, c.roster.doubted = a.engines.delivering, a.proj.Release, a.proj.Doubted
	return c
}

// options are those of a delivery to the share of this engine.
func (c *contacts) options() delivery.Options {
	o := c.sharing.options()
	o.Before, o.Former, o.Doubted, o.Release = c.mayHaveSent, c.roster.formerly, c.roster.doubted, c.roster.release
	return o
}

// mayHaveSent tells whether another engine, or this one in an earlier run, may have sent a
// request that was open when this one began to deliver.
func (c *contacts) mayHaveSent(p *deliver.Pending) bool {
	if c.first != 0 {
		return p.Seq < c.first
	}
	return c.roster.formerly(p)
}

// run takes the share of this engine until ctx ends. It begins when the log tells that
// it is there.
func (c *contacts) run(ctx context.Context, ready func()) error {
	a := c.a
	for a.engines.joined(a.s.EngineID, a.instance) == 0 {
		if !pause(ctx, lookAtFold) {
			return nil
		}
	}
	seq := a.engines.joined(a.s.EngineID, a.instance)
	before := a.engines.before(seq)
	if v := a.store.View(); len(v.Members) > 1 || before.seen && !before.local() {
		c.wait(ctx, before.seen && !before.local()) // notifiers may have delivered until now
	} else {
		c.first = seq
	}
	c.follow(ctx, ready)
	return nil
}
