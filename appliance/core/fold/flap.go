package fold

import (
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// The flap history holds 21 states of 2 bits, the newest lowest: 20 changes.
const (
	ringStates = 21
	ringMask   = 1<<(2*ringStates) - 1
)

// Percent returns the weighted share of changes in a flap history, 0 to 100.
// The newest change weighs 1.25, the oldest 0.75, all 20 together 20.
func Percent(ring uint64) float64 {
	// Weights in 76ths are whole numbers, so the sum is exact.
	sum := 0
	for diff, weight := (ring^ring>>2)&(ringMask>>2), 95; diff != 0; diff, weight = diff>>2, weight-2 {
		if diff&3 != 0 {
			sum += weight
		}
	}
	return float64(sum*100) / (76 * 20)
}

func record(ring uint64, s object.State) uint64 {
	return (ring<<2 | uint64(s&3)) & ringMask
}

// Steady tells whether the history holds nothing but the present state, so that
// another sample of it would change nothing.
func Steady(s *State) bool {
	return record(s.Measure.Ring, s.Status.State) == s.Measure.Ring
}

// history takes the judged state into the measure's flap history. Soft problems
// of services are left out, and states that the object's options leave out.
func (d *decider) history(m *event.Measure) {
	o, st := d.env.Object, &d.next
	if o.Rule.FlapIgnore.Has(st.State) {
		return
	}
	if o.Kind() == object.Service && st.State != object.OK && st.Type == object.Soft {
		return
	}
	m.Ring = record(m.Ring, st.State)
	if o.Kind() == object.Host {
		m.RingTime = d.now
	}
}

// flap decides whether the object flaps with a history. Between the thresholds
// nothing changes; where detection is off nothing flaps.
func (d *decider) flap(ring uint64) {
	was := d.next.Flapping
	low, high := thresholds(d.env)
	switch p := Percent(ring); {
	case !d.env.Settings.On.Has(object.ProgramFlapDetection), !Enabled(d.env.Object, &d.next, object.SwitchFlapDetection), p <= low:
		d.next.Flapping = false
	case p >= high:
		d.next.Flapping = true
	}
	d.started = !was && d.next.Flapping
	d.stopped = was && !d.next.Flapping
}

func thresholds(env *Env) (low, high float64) {
	low, high = env.Settings.ServiceFlapLow, env.Settings.ServiceFlapHigh
	if env.Object.Kind() == object.Host {
		low, high = env.Settings.HostFlapLow, env.Settings.HostFlapHigh
	}
	if own := env.Object.Rule.FlapLow; own > 0 {
		low = own
	}
	if own := env.Object.Rule.FlapHigh; own > 0 {
		high = own
	}
	return low, high
}

// SampleWait returns how long after the last entry in a host's flap history a
// result of one of its services may add another: the mean check interval of
// its services, without services its notification interval.
func SampleWait(host *object.Object) time.Duration {
	if len(host.Services) == 0 {
		return host.Rule.NoteInterval
	}
	var sum time.Duration
	for _, s := range host.Services {
		sum += s.Rule.Interval
	}
	return sum / time.Duration(len(host.Services))
}

// sampleHost adds the present state of a host to its history if the last entry
// is old enough, and evaluates the history in any case.
func (d *decider) sampleHost() (Decision, error) {
	o := d.env.Object
	if o.Kind() != object.Host {
		return Decision{}, refuse(d.env, BadCommand, "only hosts are sampled; name the host of the service")
	}
	m := &d.old.Measure
	// A last entry that lies ahead by more than that was made by a clock that was ahead.
	ago, wait := d.now.Sub(m.RingTime), SampleWait(o)
	due := ago >= wait || -ago > wait
	if due && !o.Rule.FlapIgnore.Has(d.next.State) {
		m = d.nextMeasure()
		d.history(m)
	}
	d.flap(m.Ring)

	var out Decision
	if m != &d.old.Measure {
		d.measure(&out, event.FlappingSampled, m)
	}
	switch {
	case d.started:
		d.log(&out, event.FlappingStarted, m)
	case d.stopped:
		d.log(&out, event.FlappingStopped, m)
	}
	return out, nil
}
