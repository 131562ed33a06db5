package macro

import (
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// total is a macro that counts objects of one kind.
type total struct {
	kind   object.Kind
	states object.StateMask
	// unhandled leaves out problems that somebody or something takes care of.
	unhandled bool
}

// totals is every macro that counts objects by name. Nagios counts unreachable
// hosts that nobody handles among those that are down; here each has its own.
var totals = map[string]total{
	"TOTALHOSTSUP":                   {object.Host, 1 << object.Up, false},
	"TOTALHOSTSDOWN":                 {object.Host, 1 << object.Down, false},
	"TOTALHOSTSUNREACHABLE":          {object.Host, 1 << object.Unreachable, false},
	"TOTALHOSTSDOWNUNHANDLED":        {object.Host, 1 << object.Down, true},
	"TOTALHOSTSUNREACHABLEUNHANDLED": {object.Host, 1 << object.Unreachable, true},
	"TOTALHOSTPROBLEMS":              {object.Host, hostProblems, false},
	"TOTALHOSTPROBLEMSUNHANDLED":     {object.Host, hostProblems, true},

	"TOTALSERVICESOK":                {object.Service, 1 << object.OK, false},
	"TOTALSERVICESWARNING":           {object.Service, 1 << object.Warning, false},
	"TOTALSERVICESCRITICAL":          {object.Service, 1 << object.Critical, false},
	"TOTALSERVICESUNKNOWN":           {object.Service, 1 << object.Unknown, false},
	"TOTALSERVICESWARNINGUNHANDLED":  {object.Service, 1 << object.Warning, true},
	"TOTALSERVICESCRITICALUNHANDLED": {object.Service, 1 << object.Critical, true},
	"TOTALSERVICESUNKNOWNUNHANDLED":  {object.Service, 1 << object.Unknown, true},
	"TOTALSERVICEPROBLEMS":           {object.Service, serviceProblems, false},
	"TOTALSERVICEPROBLEMSUNHANDLED":  {object.Service, serviceProblems, true},
}

const (
	hostProblems    = 1<<object.Down | 1<<object.Unreachable
	serviceProblems = 1<<object.Warning | 1<<object.Critical | 1<<object.Unknown
)

// count answers a macro that counts. One that nothing was ever heard of is in
// no state and counts nowhere.
func (e *expander) count(t total) string {
	n := 0
	for _, o := range e.src.Objects {
		s := e.src.state(o)
		if o.Kind() == t.kind && s.Status.Checked && t.states.Has(s.Status.State) && (!t.unhandled || !e.handled(o, s)) {
			n++
		}
	}
	return integer(n)
}

// handled tells whether a problem needs nobody: it is acknowledged, in a
// downtime, no longer checked, or that of a service whose host is the problem.
func (e *expander) handled(o *object.Object, s *fold.State) bool {
	st := &s.Status
	if st.Ack != object.AckNone || st.DowntimeDepth > 0 || !fold.Enabled(o, st, object.SwitchActive) {
		return true
	}
	return o.Host != nil && e.src.state(o.Host).Status.State != object.Up
}
