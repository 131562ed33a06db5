package engine_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/roles/engine"
)

// broken switches the checks of a service off and submits a problem, so that its
// own next result never comes.
func (g *rig) broken(id object.ID) {
	g.t.Helper()
	g.must(id, fold.Switch{What: object.SwitchActive}, fold.Result{State: object.Critical, Output: "broken"})
}

func (g *rig) wantRoot(when string, id, want object.ID) {
	g.t.Helper()
	synctest.Wait()
	if got := g.status(id).Root; got != want {
		g.t.Errorf("%s: the root of %s is %q, want %q", when, id, got, want)
	}
}

// The roots of problems follow their host, however many there are, though no
// check of theirs runs.
func TestRootsFollowTheHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := site(1, 50)
		g := start(t, set, newJournal(), &runner{})
		for _, o := range set.Objects {
			if o.Host != nil && o.Name != "s7" {
				g.broken(o.ID)
			}
		}
		for _, turn := range []struct {
			state object.State
			root  object.ID
		}{{object.Down, "h0"}, {object.Up, ""}, {object.Down, "h0"}} {
			g.must("h0", fold.Result{State: turn.state})
			time.Sleep(time.Second)
			for _, o := range set.Objects {
				want := turn.root
				if o.Host == nil || o.Name == "s7" {
					want = ""
				}
				g.wantRoot(turn.state.Name(object.Host), o.ID, want)
			}
		}
		g.end()
	})
}

// A chain of hosts passes the root on, and a problem that comes later has it.
func TestRootsFollowTheHostsBetween(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, o := tree()
		set.Settings.TranslatePassiveHosts = true
		for _, host := range []string{"sw", "web"} {
			o[host].Rule.Active = false
		}
		g := start(t, set, newJournal(), &runner{})
		g.broken("web!http")
		g.must("web", fold.Result{State: object.Down})
		g.wantRoot("with the host", "web!http", "web")
		g.must("sw", fold.Result{State: object.Down})
		g.must("web", fold.Result{State: object.Down})
		g.wantRoot("with the switch", "web", "sw")
		g.wantRoot("with the switch", "web!http", "sw")
		g.must("sw", fold.Result{State: object.Up})
		g.wantRoot("when the switch is back", "web", "")
		g.wantRoot("when the switch is back", "web!http", "web")
		g.end()
	})
}

// What a kill left behind is found at the next start.
func TestAStartFindsStaleRoots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		g := start(t, site(1, 2), j, &runner{})
		g.broken("h0!s0")
		g.must("h0", fold.Result{State: object.Down})
		g.wantRoot("before", "h0!s0", "h0")
		st := *g.p.State("h0!s0")
		g.end()
		st.Status.Root = ""
		written := make(chan error, 1)
		j.Append(&event.Event{
			Version: event.Version, ID: "stale", Kind: event.SettingChanged, Object: "h0!s0", Epoch: st.Fence, Writer: "e1", Instance: "x",
			Prev: st.Last, Time: object.At(time.Now()), Status: &st.Status, Measure: &st.Measure,
		}, st.Sub, func(_ uint64, err error) { written <- err })
		if err := <-written; err != nil {
			t.Fatal(err)
		}
		g = start(t, site(1, 2), j, &runner{})
		time.Sleep(time.Second)
		g.wantRoot("after a start", "h0!s0", "h0")
		g.end()
	})
}

// A comment that is not persistent outlasts a reload and no restart.
func TestACommentThatEndsWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		g := start(t, site(1, 1), j, &runner{})
		g.must("h0", fold.AddComment{Text: "for now"}, fold.AddComment{Text: "for long", Persistent: true})
		texts := func() (all string) {
			synctest.Wait()
			for _, c := range g.status("h0").Extra.Comments {
				all += c.Text + ";"
			}
			return all
		}
		time.Sleep(time.Minute)
		if err := g.e.Reload(t.Context(), site(1, 1), engine.Change{Changed: []object.ID{"h0"}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if got := texts(); got != "for now;for long;" {
			t.Errorf("after a reload: %q", got)
		}
		g.end()
		time.Sleep(time.Second)
		g = start(t, site(1, 1), j, &runner{})
		time.Sleep(time.Second)
		if got := texts(); got != "for long;" {
			t.Errorf("after a restart: %q", got)
		}
		g.end()
	})
}

// always is a period without an end.
type always struct{}

func (always) Name() string                           { return "always" }
func (always) String() string                         { return "always" }
func (always) Window(object.Time) (bool, object.Time) { return true, 0 }

// A period that a reload takes away is dropped with a warning, at the reload and
// not at some restart.
func TestAReloadDropsAPeriodThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := site(1, 1)
		set.Periods = map[string]object.Period{"work": always{}}
		var log bytes.Buffer
		g := start(t, set, newJournal(), &runner{}, func(o *engine.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		g.must("h0!s0", fold.Tune{Name: event.SettingCheckPeriod, Value: "work", Author: "ann"})
		time.Sleep(time.Minute)
		if err := g.e.Reload(t.Context(), site(1, 1), engine.Change{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		st := g.status("h0!s0")
		if v, left := st.Setting(event.SettingCheckPeriod); left {
			t.Errorf("the setting %q is left", v)
		}
		g.end()
		if text := log.String(); strings.Count(text, "setting=check_period value=work author=ann") != 1 {
			t.Errorf("the log says %s", text)
		}
	})
}

// Checks of many objects that are switched on together run one after the other.
func TestSwitchingManyOnSpreadsTheirChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := site(10, 30)
		r := &runner{}
		g := start(t, set, newJournal(), r)
		var ids []object.ID
		for _, o := range set.Objects {
			if o.Host != nil {
				o.Rule.Interval = time.Hour
				ids = append(ids, o.ID)
			}
		}
		g.bulk(ids, fold.Switch{What: object.SwitchActive})
		began := time.Now()
		g.bulk(ids, fold.Switch{What: object.SwitchActive, On: true})
		time.Sleep(time.Minute)
		var tenths [10]int
		for _, id := range ids {
			for _, at := range r.times(id) {
				if after := at.Sub(began); after >= 0 {
					tenths[after*10/(time.Minute+time.Second)]++
				}
			}
		}
		for i, n := range tenths {
			if n == 0 || n > len(ids)/10*3 {
				t.Errorf("%d of %d checks in tenth %d of the minute", n, len(ids), i)
			}
		}
		g.end()
	})
}
