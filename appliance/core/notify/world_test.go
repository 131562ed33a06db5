package notify_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/external"
	"jaque.sh/jaque/appliance/rule/objectfile"
	"jaque.sh/jaque/appliance/rule/objectfile/build"
	"jaque.sh/jaque/appliance/rule/operate"
)

// world is a config with the state of everything in it, told as an engine tells:
// after each event that the fold took, under a clock of its own.
type world struct {
	t       rapid.TB
	set     *object.Set
	states  map[object.ID]*fold.State
	program program.State
	seq     uint64
	start   object.Time
	now     object.Time

	comment, downtime uint64 // the highest numbers

	sent []string // what people were told, as the case files write it
	// later is what the start of a downtime says that began with the very command
	// which planned it: Nagios starts downtimes by a timed event after the command.
	later []string
	// decided hears of every decision.
	decided func(in *notify.Input, out *notify.Outcome)
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
	w := &world{
		t: t, set: set, states: map[object.ID]*fold.State{},
		program: program.State{}, start: start, now: start,
	}
	for _, o := range set.Objects {
		s := fold.New(o)
		w.states[o.ID] = &s
	}
	return w
}

func (w *world) settings() *object.Settings {
	s := program.Effective(w.set.Settings, &w.program)
	return &s
}

func (w *world) env(o *object.Object) *fold.Env {
	env := &fold.Env{
		Object: o, Settings: w.settings(), Periods: w.set.Periods, Epoch: 1, Writer: "a", Instance: "1",
		ID: fmt.Sprint("d", w.seq), Started: w.start, Comment: w.comment + 1, Downtime: w.downtime + 1,
		Contacts: w.program.Contacts, Known: w.set.Contacts,
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
		if x := s.Status.Extra; x != nil {
			if i := slices.IndexFunc(x.Downtimes, func(d event.Downtime) bool { return d.ID == id }); i >= 0 {
				return fold.Trigger{Known: true, Started: x.Downtimes[i].Started}
			}
		}
	}
	return fold.Trigger{}
}

// decide decides a command about an object, folds what comes of it and tells
// people.
func (w *world) decide(id object.ID, c fold.Command) error {
	w.t.Helper()
	o, before := w.set.Get(id), *w.states[id]
	d, err := fold.Decide(w.env(o), &before, c, w.now)
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
	after, outcome := fold.Apply(before, e)
	if outcome != fold.Accepted {
		w.t.Fatalf("decided %+v, which the fold found %s", e, outcome)
	}
	w.states[id] = &after
	w.count(after.Status.Extra)

	w.listen(o, e, &before.Status, &after.Status)
	if o.Host != nil && e.Kind == event.CheckResult && notify.HostAgain(w.settings(), &w.states[o.Host.ID].Status, &before.Status, &after.Status) {
		return w.decide(o.Host.ID, fold.Remind{})
	}
	return nil
}

// listen hears what people are told with an event. It makes each decision again: the
// log has to say the same.
func (w *world) listen(o *object.Object, e *event.Event, before, after *event.Status) {
	w.t.Helper()
	f := notify.Turn(notify.FieldsOf(before), before, after, w.now)
	for i := range e.Notes {
		in := w.input(o, notify.Kind(e.Notes[i].Kind))
		in.Before, in.Fields = before, f
		in.Forced, in.Broadcast, in.Increment = e.Facts["forced"] != "", e.Facts["broadcast"] != "", e.Facts["increment"] != ""
		in.Flexible = in.Kind == notify.Problem && e.Has(event.DowntimeStarted)
		out := notify.Decide(in)
		if want := out.Note(o.Kind()); !reflect.DeepEqual(e.Notes[i], want) {
			w.t.Fatalf("the log says %+v, decided was %+v", e.Notes[i], want)
		}
		f = out.Fields
		if w.decided != nil {
			w.decided(in, &out)
		}
		w.hear(o, in, &out, e)
	}
	if len(e.Notes) > 0 && !reflect.DeepEqual(f, notify.FieldsOf(after)) {
		w.t.Fatalf("the status remembers %+v, decided was %+v", notify.FieldsOf(after), f)
	}
}

func (w *world) hear(o *object.Object, in *notify.Input, out *notify.Outcome, e *event.Event) {
	what := in.Status.State.Name(o.Kind())
	if in.Kind != notify.Problem && in.Kind != notify.Recovery {
		what = string(in.Kind) + " (" + what + ")"
	}
	to := &w.sent
	if e.Kind == event.DowntimeScheduled {
		to = &w.later
	}
	for _, name := range out.Told() {
		*to = append(*to, name+" "+strings.Replace(string(o.ID), "!", "/", 1)+" "+what)
	}
}

// input is what a decision about an object looks at now.
func (w *world) input(o *object.Object, kind notify.Kind) *notify.Input {
	in := fold.NoteInput(w.env(o), w.states[o.ID], w.now)
	in.Kind = kind
	return &in
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
	w.program, _ = program.Apply(w.program, &d.Log)
	for _, o := range w.set.Objects {
		if err := w.decide(o.ID, fold.SetProgramSwitches{}); err != nil {
			w.t.Fatal(err)
		}
	}
	return nil
}

// command carries out an external command.
func (w *world) command(line string) {
	w.t.Helper()
	c, err := external.Parse(line, w.now)
	if err != nil {
		w.t.Fatal(err)
	}
	c.ID = fmt.Sprint("c", w.seq)
	view := &operate.World{
		Set: w.set, Program: &w.program, Now: w.now,
		State: func(id object.ID) *fold.State { return w.states[id] },
	}
	actions, err := external.Translate(view, c)
	if err != nil {
		w.t.Logf("%s: %v", line, err)
	}
	for _, a := range actions {
		if a.Program != nil {
			err = w.about(a.Program)
		} else {
			err = w.decide(a.Object, a.Command)
		}
		if err != nil {
			w.t.Logf("%s: %v", line, err)
		}
	}
}

// check decides the result of a plugin as the core's callers do, and samples the
// host after a service's result.
func (w *world) check(id object.ID, rc int, text string, passive bool) {
	w.t.Helper()
	r := fold.Result{State: object.State(rc), Passive: passive, Output: text, Start: w.now}
	switch {
	case id.Kind() == object.Host && !passive:
		r.State = object.Up
		if rc > 1 || rc == 1 && w.set.Settings.AggressiveHostChecking {
			r.State = object.Down
		}
	case id.Kind() == object.Service && (rc < 0 || rc > 3):
		r.State = object.Critical
		if passive {
			r.State = object.Unknown
		}
	}
	if err := w.decide(id, r); err != nil {
		w.t.Logf("%v", err)
		return
	}
	if id.Kind() == object.Service {
		if err := w.decide(object.HostID(id.Host()), fold.SampleHost{}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// pass lets the clock go on, second by second where something waits for it.
func (w *world) pass(to object.Time) {
	w.t.Helper()
	if w.now < to {
		w.sent, w.later = append(w.sent, w.later...), nil
	}
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

// take returns what was told since it was last asked, sorted.
func (w *world) take() []string {
	sent := w.sent
	w.sent = nil
	slices.Sort(sent)
	return sent
}
