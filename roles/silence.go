package roles

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/projection"
)

// silence knows whether an engine still writes what this process shows: with objects
// that are checked regularly something comes in all the time. What counts is when
// events arrive here, so that no other machine's clock matters.
type silence struct {
	proj *projection.Projection
	live *atomic.Bool // the log was read to its end once
	last atomic.Int64 // when the newest event arrived, at first the start; in Unix nanoseconds

	mu      sync.Mutex    // guards what follows
	looked  time.Time     // when bound was found out
	longest time.Duration // without an event while an engine runs; 0 = any time
}

// How quiet an engine may be at least, and how often it is found out which object is
// checked most often: operators switch checks off and on.
const (
	quietAtLeast = 30 * time.Second
	lookAtRules  = 10 * time.Second
)

func newSilence(p *projection.Projection, live *atomic.Bool) *silence {
	s := &silence{proj: p, live: live}
	s.hear(nil)
	return s
}

// hear notes that an event has arrived.
func (s *silence) hear(*event.Event) { s.last.Store(time.Now().UnixNano()) }

// since returns when the last event came, if it is so long ago that no engine can be
// at work; zero otherwise.
func (s *silence) since() time.Time {
	arrived := time.Unix(0, s.last.Load())
	if !s.live.Load() || time.Since(arrived) < quietAtLeast {
		return time.Time{}
	}
	if longest := s.bound(); longest == 0 || time.Since(arrived) < longest {
		return time.Time{}
	}
	// A process that was started later has heard everything late.
	if written := s.proj.Newest(); written != 0 && written.Std().Before(arrived) {
		return written.Std()
	}
	return arrived
}

// trouble says that no engine writes.
func (s *silence) trouble() []string {
	at := s.since()
	if at.IsZero() {
		return nil
	}
	return []string{fmt.Sprintf("No engine has written since %s. What is shown may be old; is an engine running?", clockOf(at))}
}

// clockOf is a time of today without its date.
func clockOf(t time.Time) string {
	t = t.Local()
	if now := time.Now(); t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04:05")
}

// bound returns how long nothing may come while an engine runs, 0 for any time: when
// no object is checked around the clock, nothing follows from silence.
func (s *silence) bound() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.looked.IsZero() && time.Since(s.looked) < lookAtRules {
		return s.longest
	}
	s.looked, s.longest = time.Now(), 0
	set := s.proj.Set()
	settings := program.Effective(set.Settings, s.proj.Program())
	for _, o := range set.Objects {
		if d := quietFor(o, settings, s.proj.State(o.ID)); d != 0 && (s.longest == 0 || d < s.longest) {
			s.longest = d
		}
	}
	return s.longest
}

// quietFor returns how long an engine may write nothing about an object: twice its
// interval, or its retry interval where that is longer, but not less than one check may
// take. It is 0 for an object that is not checked all the time, or not while others
// fail. Those of jaque itself do not count, because not every engine has them.
func quietFor(o *object.Object, settings object.Settings, state *fold.State) time.Duration {
	kind, every := o.Rule.Check.Kind, max(o.Rule.Interval, o.Rule.Retry)
	switch {
	case kind == "", kind == object.CheckPassive, kind == object.CheckNone, o.Rule.Interval <= 0:
		return 0
	case o.Rule.CheckPeriod != nil, len(o.Depends) > 0, o.Host != nil && len(o.Host.Depends) > 0:
		return 0
	case o.ID.Host() == config.CanaryHost, !settings.ActiveChecks(o.Kind()), !fold.Enabled(o, &state.Status, object.SwitchActive):
		return 0
	}
	if x := state.Status.Extra; x != nil && slices.ContainsFunc(x.Settings, paced) {
		return 0
	}
	return max(2*every, every+o.Rule.Timeout, quietAtLeast)
}

// paced tells whether an operator has set when an object is checked.
func paced(s event.Setting) bool {
	return s.Name == event.SettingInterval || s.Name == event.SettingCheckPeriod
}

// old says why what this process shows may be old, if it may.
func (a *appliance) old() []string {
	if away := a.away(); len(away) > 0 {
		return away
	}
	return a.silence.trouble()
}
