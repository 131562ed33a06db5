package engine_test

import (
	"errors"
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
