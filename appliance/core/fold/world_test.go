package fold_test

import (
	"fmt"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/objectfile"
	"jaque.sh/jaque/appliance/rule/objectfile/build"
)

// world is a config with the state of everything in it: one writer and one
// reader of a log in memory.
type world struct {
	t      testing.TB
	set    *object.Set
	states map[object.ID]*fold.State
	seq    uint64
	start  object.Time

	program program.State
	events  []event.Event // every event of the log
}

func newWorld(t testing.TB, config, main string, start object.Time) *world {
	t.Helper()
	objects, problems := objectfile.Read(objectfile.Source{Path: "objects.cfg", Text: config})
	m, more := objectfile.ParseMain(objectfile.Source{Path: "nagios.cfg", Text: main})
	problems = append(problems, more...)
	set, more := build.Build(objects, m)
	if err := append(problems, more...).Err(); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, set: set, states: map[object.ID]*fold.State{}, start: start}
	for _, o := range set.Objects {
		s := fold.New(o)
		w.states[o.ID] = &s
	}
	return w
}

func (w *world) env(o *object.Object) *fold.Env {
	settings := program.Effective(w.set.Settings, &w.program)
	env := &fold.Env{
		Object: o, Settings: &settings, Epoch: 1, Writer: "a", Instance: "1",
		ID: fmt.Sprint("d", w.seq), Started: w.start, Look: w.look, Periods: w.set.Periods, Comment: 1, Downtime: 1,
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

// decide decides a command and folds what comes of it.
func (w *world) decide(id object.ID, c fold.Command, now object.Time) (fold.Decision, error) {
	w.t.Helper()
	o := w.set.Get(id)
	if o == nil {
		w.t.Fatalf("no object %q", id)
	}
	d, err := fold.Decide(w.env(o), w.states[id], c, now)
	if err != nil {
		return d, err
	}
	if d.HasLog {
		w.seq++
		d.Log.Seq = w.seq
		w.fold(&d.Log)
		w.events = append(w.events, d.Log)
	}
	if d.HasResult {
		w.seq++
		d.Result.Seq = w.seq
		if !d.HasLog {
			w.fold(&d.Result)
		}
	}
	return d, nil
}

func (w *world) fold(e *event.Event) {
	w.t.Helper()
	next, outcome := fold.Apply(*w.states[e.Object], e)
	if outcome != fold.Accepted {
		w.t.Fatalf("decided %+v, which the fold found %s", e, outcome)
	}
	w.states[e.Object] = &next
}

// check decides the result of a plugin with an exit code, as the core's callers
// map it, and samples the host after a service's result.
func (w *world) check(id object.ID, rc int, output string, passive bool, now object.Time) {
	w.t.Helper()
	r := fold.Result{State: object.State(rc), Passive: passive, Output: output, Start: now}
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
	if _, err := w.decide(id, r, now); err != nil {
		w.t.Logf("%v", err)
		return
	}
	if id.Kind() == object.Service {
		w.sample(id, now)
	}
}

// sample lets a service's result count in the flap history of its host.
func (w *world) sample(service object.ID, now object.Time) {
	w.t.Helper()
	if _, err := w.decide(object.HostID(service.Host()), fold.SampleHost{}, now); err != nil {
		w.t.Fatal(err)
	}
}

// brief writes a condition as the monitoring reference does: "C S1".
func brief(id object.ID, s *fold.State) string {
	st := &s.Status
	name := st.State.Name(id.Kind())
	if id.Kind() == object.Service && name != "OK" {
		name = name[:1]
	}
	return fmt.Sprintf("%s %s%d", name, strings.ToUpper(st.Type.String()[:1]), st.Attempt)
}
