package web

import (
	"time"

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
	settings := &s.Projection.Set().Settings
	kind := o.Rule.Check.Kind
	scheduled := kind != "" && kind != object.CheckPassive && kind != object.CheckNone
	if !scheduled || !settings.ActiveChecks(o.Kind()) || !fold.Enabled(o, &st.Status, object.SwitchActive) {
		return 0
	}
	env := fold.Env{Object: o, Settings: settings, Started: object.At(s.started)}
	_, at := fold.Due(&env, st, object.At(now))
	return at
}
