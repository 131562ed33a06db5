package explain

import (
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// How far a lapse goes: so many instants, and so long.
const (
	lapseMost = 5000
	lapseLong = 5 * 7 * 24 * time.Hour
)

// lapse is an object and its host while nothing happens but time: downtimes and
// acknowledgements end, steps of the escalation begin, people are told again. What
// time does is what the engine lets it do: each instant is a fold.Tick.
type lapse struct {
	env, hostEnv fold.Env
	own, host    *fold.State // host is nil for hosts
	now          object.Time
	notes        []event.Note // of the last instant
}

// lapse returns one that begins at a time with the object in a state.
func (a *asking) lapse(from object.Time, state *fold.State) *lapse {
	l := &lapse{env: *a.env, own: state, now: from}
	l.env.Trigger = l.trigger
	if a.env.Host == nil {
		return l
	}
	l.host = a.env.Host
	quiet := *a.o.Host
	quiet.Notify = nil // nobody asks who is told of the host
	l.hostEnv = l.env
	l.hostEnv.Object, l.hostEnv.Host = &quiet, nil
	return l
}

// trigger answers for the downtimes that start others. Those of objects that are not
// looked at go on as they are.
func (l *lapse) trigger(id string) fold.Trigger {
	t := fold.Trigger{Known: true}
	for _, s := range []*fold.State{l.host, l.own} {
		if s == nil || s.Status.Extra == nil {
			continue
		}
		for i := range s.Status.Extra.Downtimes {
			w := &s.Status.Extra.Downtimes[i]
			if w.ID == id {
				return fold.Trigger{Known: true, Started: w.Started}
			}
			if w.Trigger == id {
				t.Started = max(t.Started, w.Started)
			}
		}
	}
	return t
}

// due returns when something is to be done next for the object or its host, at the
// earliest now; 0 = never.
func (l *lapse) due() (at object.Time, ofHost bool) {
	own := fold.NextAsk(&l.env, l.own, l.now)
	if own != 0 {
		own = max(own, l.now)
	}
	if l.host == nil {
		return own, false
	}
	host := fold.NextAsk(&l.hostEnv, l.host, l.now)
	if host != 0 {
		host = max(host, l.now)
	}
	if host != 0 && (own == 0 || host <= own) {
		return host, true
	}
	return own, false
}

// run lets time pass up to an instant, and that one too; look is called behind each
// instant at which something happened, and ends it by false. It tells whether it
// came to the end: nothing happens after l.now up to that instant.
func (l *lapse) run(end object.Time, look func() bool) bool {
	idle := 0
	for range lapseMost {
		at, ofHost := l.due()
		if at == 0 || at > end || idle > 1 && at <= l.now {
			return true
		}
		l.now = at
		if !l.tick(ofHost) {
			idle++
			continue
		}
		idle = 0
		if !look() {
			return false
		}
	}
	return false
}

// tick lets an instant happen to the object or its host; false if nothing did.
func (l *lapse) tick(ofHost bool) bool {
	env, s := &l.env, &l.own
	if ofHost {
		env, s = &l.hostEnv, &l.host
	}
	env.Epoch, l.notes = max((*s).Fence, (*s).Measure.Epoch), nil
	d, err := fold.Decide(env, *s, fold.Tick{}, l.now)
	if err != nil || !d.HasLog {
		return false
	}
	e := d.Log
	e.Seq = max((*s).Last, (*s).Sub) + 1
	next, outcome := fold.Apply(**s, &e)
	if outcome != fold.Accepted {
		return false
	}
	*s = &next
	if ofHost {
		l.env.Host = l.host
	} else {
		l.notes = e.Notes
	}
	return true
}

// until lets time pass up to an instant at which a question is asked: who is told at
// that very instant is what the answer is about. It tells whether it came so far.
func (l *lapse) until(at object.Time) bool {
	end := l.run(at-1, func() bool { return true })
	mute := *l.env.Object
	mute.Notify = nil
	spoken := l.env.Object
	l.env.Object = &mute
	end = l.run(at, func() bool { return true }) && end
	l.env.Object = spoken
	return end
}
