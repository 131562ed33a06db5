package external_test

import (
	"fmt"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/external"
	"jaque.sh/jaque/appliance/rule/objectfile"
	"jaque.sh/jaque/appliance/rule/objectfile/build"
	"jaque.sh/jaque/appliance/rule/operate"
	"pgregory.net/rapid"
)

// world is a config with the state of everything in it: one engine and its log
// in memory.
type world struct {
	t       rapid.TB
	set     *object.Set
	states  map[object.ID]*fold.State
	program program.State
	seq     uint64
	start   object.Time
	now     object.Time

	comment, downtime uint64 // the highest numbers
}

func newWorld(t rapid.TB, config, main string, start object.Time) *world {
	t.Helper()
	objects, problems := objectfile.Read(objectfile.Source{Path: "objects.cfg", Text: config})
	m, more := objectfile.ParseMain(objectfile.Source{Path: "nagios.cfg", Text: main})
	problems = append(problems, more...)
	set, more := build.Build(objects, m)
	if err := append(problems, more...).Err(); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, set: set, states: map[object.ID]*fold.State{}, program: program.State{}, start: start, now: start}
	for _, o := range set.Objects {
		s := fold.New(o)
		w.states[o.ID] = &s
	}
	return w
}

// view is the world as commands see it.
func (w *world) view() *operate.World {
	return &operate.World{
		Set: w.set, Program: &w.program, Now: w.now,
		State: func(id object.ID) *fold.State { return w.states[id] },
	}
}

// settings are those of the config with what operators set against them.
func (w *world) settings() *object.Settings {
	s := w.set.Settings
	s.On = s.On&^w.program.Switches.Off | w.program.Switches.On
	return &s
}

func (w *world) env(o *object.Object) *fold.Env {
	env := &fold.Env{
		Object: o, Settings: w.settings(), Periods: w.set.Periods, Epoch: 1, Writer: "a", Instance: "1",
		ID: fmt.Sprint("d", w.seq), Started: w.start, Comment: w.comment + 1, Downtime: w.downtime + 1,
		Look: func(id object.ID) *fold.State { return w.states[id] }, Trigger: w.trigger,
	}
	if o.Host != nil {
		env.Host = w.states[o.Host.ID]
	}
	for _, p := range o.Parents {
		if w.states[p.ID].Status.State == object.Up {
			env.ParentsUp++
		}
	}
	return env
}

func (w *world) trigger(id string) fold.Trigger {
	for _, s := range w.states {
		if s.Status.Extra == nil {
			continue
		}
		for i := range s.Status.Extra.Downtimes {
			if d := &s.Status.Extra.Downtimes[i]; d.ID == id {
				return fold.Trigger{Known: true, Started: d.Started}
			}
		}
	}
	return fold.Trigger{}
}

// decide decides a command about an object and folds what comes of it.
func (w *world) decide(id object.ID, c fold.Command) error {
	w.t.Helper()
	d, err := fold.Decide(w.env(w.set.Get(id)), w.states[id], c, w.now)
	if err != nil {
		return err
	}
	e := &d.Result
	if d.HasLog {
		e = &d.Log
	} else if !d.HasResult {
		return nil
	}
	w.seq++
	e.Seq = w.seq
	next, outcome := fold.Apply(*w.states[id], e)
	if outcome != fold.Accepted {
		w.t.Fatalf("decided %+v, which the fold found %s", e, outcome)
	}
	w.states[id] = &next
	w.count(next.Status.Extra)
	return nil
}

func (w *world) count(x *event.Extra) {
	if x == nil {
		return
	}
	for i := range x.Comments {
		w.comment = max(w.comment, x.Comments[i].Number)
	}
	for i := range x.Downtimes {
		w.comment, w.downtime = max(w.comment, x.Downtimes[i].Comment), max(w.downtime, x.Downtimes[i].Number)
	}
}

// about decides a command about the program, of which objects hear as well.
func (w *world) about(c program.Command) error {
	w.t.Helper()
	env := &program.Env{Set: w.set, Downtime: w.downtime + 1, Epoch: 1, Writer: "a", Instance: "1", ID: fmt.Sprint("p", w.seq)}
	d, err := program.Decide(env, &w.program, c, w.now)
	if err != nil || !d.HasLog {
		return err
	}
	w.seq++
	d.Log.Seq = w.seq
	next, outcome := program.Apply(w.program, &d.Log)
	if outcome != fold.Accepted {
		w.t.Fatalf("decided %+v, which the fold found %s", d.Log, outcome)
	}
	w.program = next
	for _, o := range w.set.Objects {
		if err := w.decide(o.ID, fold.SetProgramSwitches{}); err != nil {
			w.t.Fatal(err)
		}
	}
	return nil
}

// command carries out a line. It is accepted unless it is refused as a whole, or
// by everything that it is about.
func (w *world) command(line string) error {
	w.t.Helper()
	c, err := external.Parse(line, w.now)
	if err != nil {
		return err
	}
	c.ID = fmt.Sprint("c", w.seq)
	actions, err := external.Translate(w.view(), c)
	if err != nil {
		return err
	}
	var failed error
	done := len(actions) == 0
	for _, a := range actions {
		if a.Program != nil {
			err = w.about(a.Program)
		} else {
			err = w.decide(a.Object, a.Command)
		}
		if err != nil {
			failed = err
			continue
		}
		done = true
	}
	if done {
		return nil
	}
	return failed
}

// check decides the result of a plugin as the core's callers do, and samples the
// host after a service's result.
func (w *world) check(id object.ID, rc int, text string, passive bool) {
	w.t.Helper()
	r := fold.Result{State: object.State(rc), Passive: passive, Output: text, Start: w.now}
	if id.Kind() == object.Host && !passive {
		r.State = object.Up
		if rc > 1 || rc == 1 && w.set.Settings.AggressiveHostChecking {
			r.State = object.Down
		}
	} else if id.Kind() == object.Service && (rc < 0 || rc > 3) {
		r.State = object.Critical
		if passive {
			r.State = object.Unknown
		}
	}
	if err := w.decide(id, r); err != nil {
		w.t.Logf("%v", err)
		return
	}
	w.sample(id)
}

func (w *world) sample(id object.ID) {
	if id.Kind() == object.Service {
		if err := w.decide(object.HostID(id.Host()), fold.SampleHost{}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// pass lets the clock go on, second by second where something waits for it.
func (w *world) pass(to object.Time) {
	w.t.Helper()
	for w.now < to {
		w.now = min(w.now+1000, to)
		waits := false
		for _, o := range w.set.Objects {
			if w.states[o.ID].Status.Extra == nil {
				continue
			}
			waits = true
			if err := w.decide(o.ID, fold.Tick{}); err != nil {
				w.t.Fatal(err)
			}
		}
		if !waits {
			w.now = to
		}
	}
}
