package rehearse

import (
	"maps"
	"slices"
	"strconv"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/schedule"
)

// epoch is that of every decision; there is nobody who could have another one.
const epoch = 1

// maxBeyond bounds the decisions of the look beyond the end.
const maxBeyond = 300_000

// thing is what is kept of one object of the cast.
type thing struct {
	obj     *object.Object
	state   *fold.State
	skipped object.Time // when a due check was last not run, because something forbade it
	ticked  object.Time // due time of the last Tick
	running bool
	find    Finding // of the check that runs
	started object.Time
	again   object.Time // what runs began too early: check again, with a result from then on; 0 = no

	now  *job // whose decision is on its way to the log; nil = none
	made fold.Decision
	line []job
}

// job is one command for one object, with the act it came from, if any.
type job struct {
	command fold.Command
	act     *Act
}

// world is a scene while it is played.
type world struct {
	scene *Scene
	out   Outcome
	now   object.Time

	set      *object.Set
	settings object.Settings
	periods  map[string]object.Period
	program  program.State
	things   []thing
	keys     map[object.ID]int32
	extras   map[object.ID]*fold.State // states of objects outside of the cast

	due, ends schedule.Queue // what is to be done, and when checks end
	log       []event.Event  // decided and not folded yet
	seq, ids  uint64
	numbers   struct{ comment, downtime uint64 } // the highest that were given
	post      *post
	decisions int
	found     bool // the look beyond the end has found who is told next
}

// Run plays a scene. Limits say how messages go out.
func Run(s *Scene, l deliver.Limits) *Outcome {
	w := &world{scene: s, set: s.Set, now: s.Start, keys: map[object.ID]int32{}}
	w.post = newPost(w, l)
	w.refresh()
	w.people()
	for key := range w.things {
		w.planSpread(int32(key))
	}
	w.play(s.Acts)
	w.drain()
	return &w.out
}

// play lets time pass until the end, and beyond it until somebody is told.
func (w *world) play(acts []Act) {
	s := w.scene
	for {
		next := w.next(acts)
		switch {
		case next == 0 || next > s.End && s.Beyond <= 0 || next > s.End.Add(s.Beyond) || w.found:
			return
		case next > s.End && w.now <= s.End:
			w.decisions = 0
		case next > s.End && w.decisions > maxBeyond:
			w.out.Cut = true
			return
		}
		w.now = max(w.now, next)
		for len(acts) > 0 && acts[0].At <= w.now {
			a := &acts[0]
			w.act(a)
			acts = acts[1:]
			w.fold()
			if a.First {
				w.first(a.Object)
			}
		}
		w.work()
	}
}

// people makes the cast.
func (w *world) people() {
	cast := w.scene.Cast
	if cast == nil {
		for _, o := range w.set.Objects {
			cast = append(cast, o.ID)
		}
	}
	cast = slices.Clone(cast)
	slices.Sort(cast)
	for _, id := range slices.Compact(cast) {
		if o := w.set.Get(id); o != nil {
			st := fold.New(o)
			w.keys[id] = int32(len(w.things))
			w.things = append(w.things, thing{obj: o, state: &st})
		}
	}
	w.extras = map[object.ID]*fold.State{}
	if w.scene.Settled {
		w.settle()
	}
}

// settle lets every object of the cast have had a check that found nothing, as long
// ago as its place on the clock says.
func (w *world) settle() {
	for key := range w.things {
		t := &w.things[key]
		if k := t.obj.Rule.Check.Kind; k == object.CheckNone && t.obj.Kind() == object.Host {
			continue // nothing is ever heard of it
		}
		at := w.now - 1
		if step := t.obj.Rule.Interval; step > 0 {
			at = fold.NextSlot(t.obj.ID, step, w.now.Add(-step))
		}
		env := w.env(int32(key))
		env.Started = at
		d, err := fold.Decide(&env, t.state, fold.Result{Output: "OK", Start: at}, at)
		if err != nil || !d.HasLog {
			continue
		}
		w.seq++
		d.Log.Seq = w.seq
		st, _ := fold.Apply(*t.state, &d.Log)
		t.state = &st
	}
}

// next returns when something happens next, 0 for never.
func (w *world) next(acts []Act) (at object.Time) {
	sooner := func(t object.Time, is bool) {
		if is && (at == 0 || t < at) {
			at = t
		}
	}
	due, ok := w.due.Next()
	sooner(due, ok)
	due, ok = w.ends.Next()
	sooner(due, ok)
	if len(acts) > 0 {
		sooner(acts[0].At, true)
	}
	due = w.post.next(w.now)
	sooner(due, due != 0)
	return at
}

// work does everything that is due now, until nothing is.
func (w *world) work() {
	for again := true; again; {
		again = false
		for {
			key, _, ok := w.ends.Pop(w.now)
			if !ok {
				break
			}
			w.finished(key)
			again = true
		}
		w.fold()
		for {
			key, due, ok := w.due.Pop(w.now)
			if !ok {
				break
			}
			w.onDue(key, due)
			w.fold()
			again = true
		}
		again = w.send() || again
	}
}

// refresh takes in what operators and the config say of the program. It tells
// whether that changes what is due.
func (w *world) refresh() (moved bool) {
	old := w.settings
	if w.periods = w.set.Periods; w.periods == nil {
		w.periods = map[string]object.Period{}
	}
	w.settings = program.Effective(w.set.Settings, &w.program)
	return old != w.settings
}

func (w *world) newID() string {
	w.ids++
	return "r-" + strconv.FormatUint(w.ids, 36)
}

// look returns the state of an object, nil if nothing is known of it. One outside
// of the cast is as it was at the start.
func (w *world) look(id object.ID) *fold.State {
	if key, ok := w.keys[id]; ok {
		return w.things[key].state
	}
	if st := w.extras[id]; st != nil {
		return st
	}
	o := w.set.Get(id)
	if o == nil {
		return nil
	}
	st := fold.New(o)
	w.extras[id] = &st
	return &st
}

// env is what a decision about an object may see.
func (w *world) env(key int32) fold.Env {
	t := &w.things[key]
	env := fold.Env{
		Object: t.obj, Settings: &w.settings, Periods: w.periods, Look: w.look, Trigger: w.trigger,
		Contacts: w.program.Contacts, Known: w.set.Contacts, Skipped: t.skipped, Started: w.scene.Start,
		Comment: w.numbers.comment + 1, Downtime: w.numbers.downtime + 1,
		Epoch: epoch, Writer: "rehearsal", Instance: "rehearsal",
	}
	if t.obj.Host != nil {
		env.Host = w.look(t.obj.Host.ID)
		return env
	}
	for _, p := range t.obj.Parents {
		if w.look(p.ID).Status.State == object.Up {
			env.ParentsUp++
		}
	}
	return env
}

// trigger tells about a downtime by its id.
func (w *world) trigger(id string) fold.Trigger {
	t := fold.Trigger{}
	for key := range w.things {
		if d := downtime(w.things[key].state.Status.Extra, id); d != nil {
			t.Known, t.Started = true, max(t.Started, d.Started)
		}
	}
	return t
}

func downtime(x *event.Extra, id string) *event.Downtime {
	if x == nil {
		return nil
	}
	for i := range x.Downtimes {
		if x.Downtimes[i].ID == id {
			return &x.Downtimes[i]
		}
	}
	return nil
}

// act does what the scene says.
func (w *world) act(a *Act) {
	switch {
	case a.Set != nil:
		w.reload(a.Set)
	case a.Program != nil:
		w.onProgram(a)
	default:
		key, ok := w.keys[a.Object]
		if !ok {
			w.refuse(a, errNoObject)
			return
		}
		c := a.Command
		if r, is := c.(fold.Result); is {
			r.Passive, r.Expired = true, false
			if r.Start == 0 {
				r.Start = w.now
			}
			c = r
		}
		w.decide(key, job{command: c, act: a})
	}
}

// first starts a check and takes its result if it takes no time.
func (w *world) first(id object.ID) {
	key, ok := w.keys[id]
	if !ok || w.things[key].running || w.things[key].now != nil {
		return
	}
	w.launch(key)
	if w.things[key].find.Takes == 0 {
		w.ends.Remove(key)
		w.finished(key)
		w.fold()
	}
}

// reload switches to another config of the same objects.
func (w *world) reload(set *object.Set) {
	w.set = set
	for key := range w.things {
		if o := set.Get(w.things[key].obj.ID); o != nil {
			w.things[key].obj = o
		}
	}
	maps.DeleteFunc(w.extras, func(id object.ID, _ *fold.State) bool { return set.Get(id) == nil })
	if w.refresh() {
		w.sweep()
	}
	for key := range w.things {
		w.planSpread(int32(key))
	}
}
