package engine_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/roles/engine"
)

// Whoever is not sure whether a result arrived submits it again; what comes of it
// is told, counted and nowhere on the log.
func TestResultsThatComeLateOrTwiceAreRefusedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		g := startWith(t, site(1, 1), newJournal(), &runner{}, func(o *engine.Options) { o.Registerer = registry })
		time.Sleep(61 * time.Second)
		now := object.At(time.Now())
		submit := func(at object.Time) error {
			r, err := g.e.Do(t.Context(), []operate.Action{{Object: "h0!s0", Command: fold.Result{
				State: object.Warning, Output: "slow", Passive: true, Stamped: true, Start: at,
			}}})
			if err != nil {
				t.Fatal(err)
			}
			return r.Results[0].Err
		}
		if err := submit(now); err != nil {
			t.Fatal(err)
		}
		for _, at := range []object.Time{now, now - 5000} {
			if err := submit(at); !errors.Is(err, engine.ErrRefused) {
				t.Errorf("the result of %d: %v", at, err)
			}
		}
		if st := g.status("h0!s0"); st.State != object.Warning || st.Attempt != 1 {
			t.Errorf("%+v, want the first attempt", st)
		}
		for _, why := range []fold.Reason{fold.Late, fold.Duplicate} {
			if n := gathered(t, registry, "jaque_engine_commands_refused_total", string(why)); n != 1 {
				t.Errorf("%v counted as %s", n, why)
			}
		}
		g.end()
	})
}

func TestASubmittedResultIsCutAsThatOfAPlugin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, site(1, 1), newJournal(), &runner{})
		long := strings.Repeat("é", 50_000) // of two bytes
		g.must("h0!s0", fold.Result{State: object.Warning, Output: "x" + long, Long: long, Perfdata: strings.Repeat("load=1.25 ", 10_000)})
		m := g.p.State("h0!s0").Measure
		if len(m.Output) != 64<<10-1+len("…") || !strings.HasSuffix(m.Output, "é…") || !strings.HasPrefix(m.Long, "…\n(performance data cut") {
			t.Errorf("output of %d bytes, long %.80q", len(m.Output), m.Long)
		}
		if len(m.Perfdata) > 64<<10 || !strings.HasSuffix(m.Perfdata, " load=1.25") {
			t.Errorf("perfdata of %d bytes", len(m.Perfdata))
		}
		g.must("h0!s0", fold.Result{State: object.Warning, Output: "short", Long: "a\nb", Perfdata: "a=1"})
		if m = g.p.State("h0!s0").Measure; m.Output != "short" || m.Long != "a\nb" || m.Perfdata != "a=1" {
			t.Errorf("%+v", m)
		}
		g.end()
	})
}

// A check whose result no decision takes is not due again at once, without end.
func TestACheckWhoseResultIsRefusedWaitsForItsNextPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var checks atomic.Int64
		r := &runner{takes: time.Millisecond, answer: func(engine.Job) fold.Result {
			if checks.Add(1) > 1000 {
				panic("the check is started again and again")
			}
			return fold.Result{State: 42, Output: "x"}
		}}
		g := startWith(t, site(1, 1), newJournal(), r, func(*engine.Options) {})
		time.Sleep(10 * time.Minute)
		if n := checks.Load(); n < 8 || n > 70 {
			t.Errorf("%d checks in ten minutes of an object that is checked every minute, and every 10 s while it has a problem", n)
		}
		g.end()
	})
}
