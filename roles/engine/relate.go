package engine

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

const (
	// maxDemanded bounds the checks that wait for a place when another one is
	// demanded. Who is left out has a place in the schedule.
	maxDemanded = 2000
)

// What became of the demands for a check, as metric labels.
const (
	demandStarted = "started" // the check is in line
	demandFresh   = "fresh"   // a result is young enough, or on its way
	demandRetried = "retried" // a soft problem, whose next check is planned anyway
	demandBlocked = "blocked" // switches, period or a dependency forbid it
	demandShed    = "shed"    // too many checks wait
)

func newDemands(reg prometheus.Registerer) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "jaque_engine_checks_on_demand_total", Help: "Checks that results of related objects asked for, by what became of the wish.",
	}, []string{"outcome"})
	for _, outcome := range []string{demandStarted, demandFresh, demandRetried, demandBlocked, demandShed} {
		v.WithLabelValues(outcome)
	}
	reg.MustRegister(v)
	return v
}

// relate starts the checks that a result asks for at other objects. before is the
// object's state in front of it.
func (e *Engine) relate(key int32, before *fold.State, ev *event.Event) {
	if ev.Kind != event.CheckResult || e.state.stopped {
		return
	}
	o := e.state.entries[key].obj
	after := e.proj.State(o.ID)
	if o.Host == nil && before.Status.State == after.Status.State && len(o.Depends) == 0 {
		return // what most results of hosts are
	}
	env := e.env(key)
	ids := fold.OnDemand(&env, before, after, ev)
	now := object.At(time.Now())
	since := fold.Fresh(before, after, ev, now)
	for _, id := range ids {
		if other, ok := e.state.keys[id]; ok && e.owns(id) {
			e.demands.WithLabelValues(e.demand(other, since, now)).Inc()
		}
	}
}

// demand puts a check in line unless one that began since a time has a result or
// will have one, or something forbids the check. It returns what it did.
func (e *Engine) demand(key int32, since, now object.Time) string {
	ent := &e.state.entries[key]
	st := e.proj.State(ent.obj.ID)
	switch {
	case ent.running && ent.began != 0 && ent.began < since:
		ent.again = since
		return demandStarted
	case ent.running, e.state.pending[key].begun() >= since, st.Status.Checked && st.Measure.LastCheck >= since && st.Measure.LastCheck <= now:
		return demandFresh
	case !e.owns(ent.obj.ID):
		return demandBlocked
	case st.Status.Type == object.Soft && st.Status.State != object.OK:
		// More checks than the retry interval allows would make the problem hard
		// long before its time.
		return demandRetried
	case len(e.state.line) >= maxDemanded:
		return demandShed
	}
	env := e.env(key)
	if why, _ := fold.Blocked(&env, st, now); why != "" {
		return demandBlocked
	}
	e.enqueue(key, now)
	return demandStarted
}

// begun is when the check began whose result is being decided, 0 if there is none.
func (p *pending) begun() object.Time {
	if p == nil {
		return 0
	}
	r, _ := p.now.command.(fold.Result)
	return r.Start
}

// checkAgain starts the check that was asked for while one ran that had begun too
// early to answer.
func (e *Engine) checkAgain(key int32) {
	ent := &e.state.entries[key]
	since := ent.again
	ent.again, ent.began = 0, 0
	if since != 0 && !e.state.stopped {
		e.demand(key, since, object.At(time.Now()))
	}
}
