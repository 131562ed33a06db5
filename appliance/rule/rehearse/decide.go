package rehearse

import (
	"errors"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
)

var errNoObject = errors.New("no such object takes part; name it in the cast")

func (w *world) refuse(a *Act, err error) {
	if a != nil {
		w.out.Refused = append(w.out.Refused, Refused{*a, err})
	}
}

// decide judges a job, now or once the object's decision on its way is in.
func (w *world) decide(key int32, j job) {
	t := &w.things[key]
	if t.now != nil {
		t.line = append(t.line, j)
		return
	}
	if !w.attempt(key, j) {
		w.plan(key)
	}
}

// attempt decides a job on the present state; it tells whether the object now waits
// for the log.
func (w *world) attempt(key int32, j job) bool {
	t := &w.things[key]
	env := w.env(key)
	env.ID = w.newID()
	d, err := fold.Decide(&env, t.state, j.command, w.now)
	w.decisions++
	if err != nil {
		w.refuse(j.act, err)
	}
	if err != nil || !d.HasLog && !d.HasResult {
		return w.following(key)
	}
	w.reserve(&d)
	t.now, t.made = &j, d
	if d.HasLog {
		w.log = append(w.log, d.Log)
	} else {
		w.log = append(w.log, d.Result)
	}
	return true
}

// following goes on with the jobs in line; it tells whether one of them waits for
// the log.
func (w *world) following(key int32) bool {
	t := &w.things[key]
	t.now = nil
	if len(t.line) == 0 {
		return false
	}
	j := t.line[0]
	t.line = t.line[1:]
	return w.attempt(key, j)
}

// reserve takes note of the numbers that a decision gives.
func (w *world) reserve(d *fold.Decision) {
	if !d.HasLog || d.Log.Status == nil || d.Log.Status.Extra == nil {
		return
	}
	x, n := d.Log.Status.Extra, &w.numbers
	for i := range x.Comments {
		n.comment = max(n.comment, x.Comments[i].Number)
	}
	for i := range x.Downtimes {
		n.comment = max(n.comment, x.Downtimes[i].Comment)
		n.downtime = max(n.downtime, x.Downtimes[i].Number)
	}
}

// fold takes in what was decided, and what follows from that.
func (w *world) fold() {
	for len(w.log) > 0 {
		ev := w.log[0]
		w.log = w.log[1:]
		if ev.Stream == event.Log {
			w.seq++
			ev.Seq = w.seq
		}
		if ev.Object == "" {
			w.foldProgram(&ev)
			continue
		}
		key := w.keys[ev.Object]
		t := &w.things[key]
		before := t.state
		after, outcome := fold.Apply(*before, &ev)
		if outcome != fold.Accepted {
			continue
		}
		t.state = &after
		w.note(&ev)
		w.done(key)
		w.react(key, before, &ev)
	}
}

// done ends a decision that is in: the host's flap history gets its sample, and the
// object goes on with the next job or waits for its time.
func (w *world) done(key int32) {
	t := &w.things[key]
	command := t.now.command
	if _, is := command.(fold.Tick); is {
		t.ticked = 0 // it had an effect
	}
	if w.following(key) {
		return
	}
	w.plan(key)
	if _, is := command.(fold.Result); is && t.obj.Host != nil {
		w.sampleHost(t.obj.Host)
	}
}

func (w *world) sampleHost(host *object.Object) {
	key, ok := w.keys[host.ID]
	if ok && w.things[key].now == nil && !fold.Steady(w.things[key].state) {
		w.decide(key, job{command: fold.SampleHost{}})
	}
}

// onProgram decides an act about the whole program.
func (w *world) onProgram(a *Act) {
	env := program.Env{
		Set: w.set, Downtime: w.numbers.downtime + 1, Epoch: epoch, Writer: "rehearsal", Instance: "rehearsal", ID: w.newID(),
	}
	d, err := program.Decide(&env, &w.program, a.Program, w.now)
	switch {
	case err != nil:
		w.refuse(a, err)
	case d.HasLog:
		w.log = append(w.log, d.Log)
	}
}

func (w *world) foldProgram(ev *event.Event) {
	next, outcome := program.Apply(w.program, ev)
	if outcome != fold.Accepted {
		return
	}
	w.program = next
	if w.refresh() || ev.Program.Contact != nil {
		w.sweep()
	}
}

// sweep plans every object anew after a change of the program's settings, and ends
// or begins what flaps.
func (w *world) sweep() {
	for key := range w.things {
		if st := w.things[key].state; st.Status.Flapping || fold.Percent(st.Measure.Ring) > 0 {
			w.decide(int32(key), job{command: fold.SetProgramSwitches{}})
		}
		w.planSpread(int32(key))
	}
}
