package fold_test

import (
	"fmt"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/external"
	"jaque.sh/jaque/appliance/rule/operate"
)

// look returns the state of an object, nil if there is none.
func (w *world) look(id object.ID) *fold.State { return w.states[id] }

// command carries out an external command. What it is refused for is logged: the
// case says what must have come of it.
func (w *world) command(line string, now object.Time) {
	w.t.Helper()
	c, err := external.Parse(line, now)
	if err != nil {
		w.t.Log(err)
		return
	}
	actions, err := external.Translate(&operate.World{Set: w.set, State: w.look, Program: &w.program, Now: now}, c)
	if err != nil {
		w.t.Log(err)
	}
	for _, a := range actions {
		if a.Program != nil {
			w.decideProgram(a.Program, now)
			continue
		}
		if _, err := w.decide(a.Object, a.Command, now); err != nil {
			w.t.Log(err)
			continue
		}
		if _, is := a.Command.(fold.Result); is && a.Object.Kind() == object.Service {
			w.sample(a.Object, now)
		}
	}
}

// decideProgram decides about the whole program and tells every object.
func (w *world) decideProgram(c program.Command, now object.Time) {
	w.t.Helper()
	env := &program.Env{Set: w.set, Epoch: 1, Writer: "a", Instance: "1", ID: fmt.Sprint("d", w.seq)}
	d, err := program.Decide(env, &w.program, c, now)
	if err != nil || !d.HasLog {
		w.t.Logf("%T: %v", c, err)
		return
	}
	w.seq++
	d.Log.Seq = w.seq
	w.program, _ = program.Apply(w.program, &d.Log)
	for _, o := range w.set.Objects {
		if _, err := w.decide(o.ID, fold.SetProgramSwitches{}, now); err != nil {
			w.t.Fatal(err)
		}
	}
}

// pass lets time pass up to an instant: downtimes start and end.
func (w *world) pass(now object.Time) {
	w.t.Helper()
	for _, o := range w.set.Objects {
		for range 100 {
			work, at := fold.Due(w.env(o), w.states[o.ID], now)
			if work != fold.PassTime {
				break
			}
			if _, err := w.decide(o.ID, fold.Tick{}, max(at, w.start)); err != nil {
				w.t.Fatal(err)
			}
		}
	}
}
