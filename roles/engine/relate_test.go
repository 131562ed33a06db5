package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/roles/engine"
)

// tree is a core switch, a web server behind it and a service on that. Hosts are
// checked once an hour, so that whatever is sooner was asked for.
func tree() (*object.Set, map[string]*object.Object) {
	rule := func(interval time.Duration) *object.Rule {
		return &object.Rule{
			Check: object.Check{Kind: object.CheckDummy, Dummy: &object.DummyCheck{}}, Interval: interval, Retry: 10 * time.Second,
			Timeout: 10 * time.Second, Attempts: 3, Active: true, Passive: true,
		}
	}
	sw := &object.Object{ID: "sw", Name: "sw", Rule: rule(time.Hour)}
	web := &object.Object{ID: "web", Name: "web", Rule: rule(time.Hour), Parents: []*object.Object{sw}}
	http := &object.Object{ID: "web!http", Name: "http", Host: web, Rule: rule(time.Minute)}
	set := object.NewSet("g1", object.DefaultSettings(), []*object.Object{sw, web, http})
	return set, map[string]*object.Object{"sw": sw, "web": web, "http": http}
}

// failing answers with a problem for the objects that are broken.
type failing struct{ sw, web, http atomic.Bool }

func (f *failing) answer(j engine.Job) fold.Result {
	bad := map[object.ID]*atomic.Bool{"sw": &f.sw, "web": &f.web, "web!http": &f.http}[j.Object.ID].Load()
	switch {
	case !bad:
		return fold.Result{Output: "fine"}
	case j.Object.Kind() == object.Host:
		return fold.Result{State: object.Down, Output: "no answer"}
	}
	return fold.Result{State: object.Critical, Output: "broken"}
}

// A failure is followed up at once: the service asks for its host, the host for
// its parent, and the lists know the root without waiting an hour.
func TestAFailureAsksForHostsAndParents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, _ := tree()
		var bad failing
		g := start(t, set, newJournal(), &runner{answer: bad.answer})
		time.Sleep(61 * time.Minute) // everything was checked once
		bad.sw.Store(true)
		bad.web.Store(true)
		bad.http.Store(true)
		time.Sleep(2 * time.Minute)
		for id, want := range map[object.ID]object.State{"sw": object.Down, "web": object.Unreachable, "web!http": object.Critical} {
			if st := g.status(id); st.State != want {
				t.Errorf("%s is %s, want %s", id, st.State.Name(id.Kind()), want.Name(id.Kind()))
			}
		}
		if st := g.status("web"); st.Root != "sw" || g.status("sw").Root != "" {
			t.Errorf("the root of web is %q", st.Root)
		}
		if d := g.run.times("web")[1].Sub(g.run.times("web")[0]); d > 62*time.Minute {
			t.Errorf("the host was checked after %s", d)
		}
		g.end()
	})
}

// What failed with a host is checked again as soon as the host is back, however
// young its last result is, and although its root is decided anew.
func TestAHostThatComesBackHasItsServicesCheckedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, o := tree()
		o["web"].Rule.Interval, o["web"].Rule.Attempts = 5*time.Second, 1
		o["http"].Rule.Interval, o["http"].Rule.Attempts = 10*time.Second, 1
		o["sw"].Rule.Interval, o["sw"].Rule.Attempts = 5*time.Second, 1
		var bad failing
		g := start(t, set, newJournal(), &runner{answer: bad.answer})
		time.Sleep(time.Minute)
		bad.sw.Store(true)
		bad.web.Store(true)
		bad.http.Store(true)
		time.Sleep(2 * time.Minute)
		if st := g.status("web!http"); st.Root != "sw" || st.State != object.Critical {
			t.Fatalf("the service is %+v", st)
		}
		bad.sw.Store(false)
		bad.web.Store(false)
		bad.http.Store(false)
		for g.status("web").State != object.Up {
			time.Sleep(100 * time.Millisecond)
		}
		back := time.Now()
		time.Sleep(500 * time.Millisecond)
		if times := g.run.times("web!http"); !times[len(times)-1].After(back.Add(-200 * time.Millisecond)) {
			t.Errorf("the service was last checked %s before its host was seen to be back", back.Sub(times[len(times)-1]))
		}
		if st := g.status("web!http"); st.State != object.OK || st.Root != "" {
			t.Errorf("the service is %+v", st)
		}
		g.end()
	})
}

// lingering lets the checks of one object take their time.
type lingering struct {
	*runner
	object object.ID
	takes  time.Duration
	began  func()
}

func (l *lingering) Run(ctx context.Context, j engine.Job) fold.Result {
	if j.Object.ID != l.object {
		return l.runner.Run(ctx, j)
	}
	began := object.At(time.Now())
	l.began()
	time.Sleep(l.takes)
	r := l.runner.Run(ctx, j)
	r.Start = began
	return r
}

// A check that runs while its host comes back began too early to prove anything.
func TestACheckThatBeganBeforeTheChangeIsRunAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, o := tree()
		o["web"].Rule.Interval, o["web"].Rule.Attempts = 5*time.Second, 1
		o["http"].Rule.Interval, o["http"].Rule.Attempts = 10*time.Minute, 1
		var bad failing
		bad.web.Store(true)
		bad.http.Store(true)
		run := &lingering{runner: &runner{answer: bad.answer}, object: "web!http", takes: 8 * time.Second}
		checks := 0
		run.began = func() {
			if checks++; checks == 2 {
				bad.web.Store(false) // seen within 5 s, while this check still runs
			}
		}
		g := start(t, set, newJournal(), run.runner, func(o *engine.Options) { o.Runner = run })
		time.Sleep(25 * time.Minute)
		times := run.times("web!http")
		if len(times) < 3 {
			t.Fatalf("%d checks of the service", len(times))
		}
		if d := times[2].Sub(times[1]); d > 20*time.Second {
			t.Errorf("the check that began before its host was back is repeated %s later", d)
		}
		g.end()
	})
}

// A host's soft problem is retried at its pace, however many services ask.
func TestDemandsDoNotHurryASoftProblem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, o := tree()
		o["web"].Rule.Retry = 5 * time.Minute
		var bad failing
		g := start(t, set, newJournal(), &runner{answer: bad.answer})
		time.Sleep(61 * time.Minute)
		bad.web.Store(true)
		bad.http.Store(true)
		time.Sleep(4 * time.Minute)
		if st := g.status("web"); st.Type != object.Soft || st.Attempt != 1 {
			t.Errorf("after four minutes of a retry interval of five: %+v", st)
		}
		g.end()
	})
}

func TestABlockedCheckIsSkippedAndPlannedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, o := tree()
		o["http"].Depends = []*object.Dependency{{Master: o["sw"], Execution: 1 << object.Down}}
		var bad failing
		bad.sw.Store(true)
		g := start(t, set, newJournal(), &runner{answer: bad.answer})
		time.Sleep(2 * time.Hour)
		before := len(g.run.times("web!http"))
		time.Sleep(time.Hour)
		if n := len(g.run.times("web!http")); n != before {
			t.Errorf("%d checks although what the service depends on is down", n-before)
		}
		bad.sw.Store(false)
		time.Sleep(time.Hour) // the switch comes back with its next check
		before = len(g.run.times("web!http"))
		time.Sleep(time.Hour)
		if n := len(g.run.times("web!http")) - before; n != 60 {
			t.Errorf("%d checks in an hour after the switch is back, want 60", n)
		}
		g.end()
	})
}

// What a reload adds gets its time to report; it is not stale because the process
// is old.
func TestAnAddedObjectIsNotStaleAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, _ := tree()
		g := start(t, set, newJournal(), &runner{})
		time.Sleep(3 * time.Hour)
		next, o := tree()
		backup := &object.Object{ID: "web!backup", Name: "backup", Host: o["web"], Rule: &object.Rule{
			Check: object.Check{Kind: object.CheckPassive}, Passive: true, Attempts: 1, Retry: time.Minute, Freshness: time.Hour,
		}}
		next = object.NewSet("g2", next.Settings, []*object.Object{bare(o["sw"]), bare(o["web"]), o["http"], backup})
		if err := g.e.Reload(t.Context(), next, engine.Change{Added: []object.ID{backup.ID}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(59 * time.Minute)
		if st := g.status(backup.ID); st.Checked {
			t.Errorf("before its freshness: %+v", st)
		}
		time.Sleep(2 * time.Minute)
		if st := g.status(backup.ID); st.State != object.Unknown {
			t.Errorf("behind its freshness: %+v", st)
		}
		g.end()
	})
}

// bare returns a host without the links that a set makes.
func bare(o *object.Object) *object.Object {
	o.Services, o.Children = nil, nil
	return o
}
