package web

import (
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
)

// next returns when an object's next check is planned, 0 for never. The last
// measurement says so; before the first, the rule that the engine goes by does.
func (s *site) next(i *projection.Item, now time.Time) object.Time {
	o, st := i.Object, i.State
	if st.Status.Checked || st.Measure.NextCheck != 0 {
		return st.Measure.NextCheck
	}
	set := s.Projection.Set()
	if !planned(o, st, set) {
		return 0
	}
	env := fold.Env{Object: o, Settings: &set.Settings, Periods: set.Periods, Started: object.At(s.started)}
	alone := checkOnly(st)
	_, at := fold.Due(&env, &alone, object.At(now))
	if s.Commands == nil && at != 0 {
		// Since when the engine counts is not known here: what would be past is due now.
		return max(at, object.At(now))
	}
	return at
}

// planned tells whether the object's own check runs at all: regularly, or because
// somebody asked for it.
func planned(o *object.Object, st *fold.State, set *object.Set) bool {
	kind := o.Rule.Check.Kind
	if kind == "" || kind == object.CheckPassive || kind == object.CheckNone {
		return false
	}
	asked := st.Status.Extra != nil && st.Status.Extra.CheckAt != 0
	return asked || set.Settings.ActiveChecks(o.Kind()) && fold.Enabled(o, &st.Status, object.SwitchActive)
}

// checkOnly returns a state without what passes with time beside checks:
// downtimes, comments and acknowledgements that end.
func checkOnly(st *fold.State) fold.State {
	alone := *st
	if x := st.Status.Extra; x != nil {
		alone.Status.AckExpires = 0
		alone.Status.Extra = &event.Extra{CheckAt: x.CheckAt, CheckForced: x.CheckForced, Settings: x.Settings}
	}
	return alone
}
