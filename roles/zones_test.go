package roles

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/queue"
	"jaque.sh/jaque/roles/engine"
	"jaque.sh/jaque/web"
)

// beneath is what executes the checks that are no zone's.
type beneath struct{}

func (beneath) Run(context.Context, engine.Job) fold.Result {
	return fold.Result{Output: "executed beneath"}
}

// watched returns the watch over a queue in memory, for objects of a config.
func watched(t *testing.T, q queue.Queue, site string) *zoneWatch {
	t.Helper()
	c, problems := config.Load(folder(t, site), config.Options{Zones: true})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	d, err := q.Dispatcher(t.Context(), "e")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return &zoneWatch{dispatcher: d, proj: projection.New(c.Set)}
}

const dmz = `package site
hosts: web01: {zone: "dmz", check: icmp: {}}
`

// serveDMZ makes a worker of the zone.
func serveDMZ(t *testing.T, q queue.Queue, id string) queue.Source {
	t.Helper()
	s, err := q.Source(t.Context(), queue.Worker{ID: id, Zones: []string{"dmz"}, Capacity: 32})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestAZoneThatNobodyNeedsIsForgottenWithItsLastWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.NewMemory(queue.MemoryOptions{})
		w := watched(t, q, dmz)
		mistaken, err := q.Source(t.Context(), queue.Worker{ID: "w9", Zones: []string{"dnz"}, Capacity: 4})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(w.names(), " "); got != "dmz dnz" {
			t.Errorf("with a worker of a zone that the config does not know: %s", got)
		}
		known := []web.FleetZone{{Name: "dmz"}}
		if got := alsoServed(known, w.dispatcher.Fleet()); len(got) != 2 || got[1].Name != "dnz" || got[1].Workers != 1 || got[1].Capacity != 4 {
			t.Errorf("a dashboard shows %+v", got)
		}
		if err := mistaken.Close(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(w.names(), " "); got != "dmz" {
			t.Errorf("after it left: %s", got)
		}
		if got := alsoServed(known, w.dispatcher.Fleet()); len(got) != 1 {
			t.Errorf("then a dashboard shows %+v", got)
		}
	})
}

func TestAZoneSaysHowItsWorkersDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.NewMemory(queue.MemoryOptions{})
		w := watched(t, q, dmz)
		r := w.runner(beneath{})
		check := func(id object.ID) fold.Result {
			return r.Run(t.Context(), engine.Job{Object: w.proj.Set().Get(id), Due: object.At(time.Now())})
		}
		if res := check("web01"); res.Output != "executed beneath" {
			t.Errorf("a host of the zone: %+v", res)
		}
		if res := check("jaque"); res.State != object.OK || res.Output == "executed beneath" {
			t.Errorf("the host of zones: %+v", res)
		}
		began := time.Now()
		res := check(config.ZoneID("dmz"))
		if waited := time.Since(began); res.State != object.Critical || waited < w.dispatcher.Fleet().Settling() || waited > 10*time.Second {
			t.Errorf("after a start nobody is heard of for %s: %+v", waited, res)
		}
		if !strings.HasPrefix(res.Output, "no worker serves zone dmz since ") || !strings.HasSuffix(res.Output, "; start one with -target worker -zones dmz") {
			t.Errorf("says %q", res.Output)
		}
		first, second := serveDMZ(t, q, "w1"), serveDMZ(t, q, "w2")
		if res := check(config.ZoneID("dmz")); res.State != object.OK || res.Output != "2 workers, 0 of 64 places busy" || res.Perfdata != "workers=2;;;0 capacity=64;;;0 busy=0;;;0;64 waiting=0;;;0" {
			t.Errorf("with two workers: %+v", res)
		}
		first.Drain()
		if res := check(config.ZoneID("dmz")); res.Output != "1 worker, 0 of 32 places busy" {
			t.Errorf("with one worker: %+v", res)
		}
		second.Drain()
		if res := check(config.ZoneID("dmz")); res.State != object.Critical || res.Took > 1000 {
			t.Errorf("a polite leave is not seen at once: %+v", res)
		}
	})
}

func TestAChangeOfAZoneIsNoticedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := queue.NewMemory(queue.MemoryOptions{})
		w := watched(t, q, dmz)
		ctx, stop := context.WithCancel(t.Context())
		var seen []time.Duration
		began := time.Now()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			w.follow(ctx, func(zone string) {
				if zone == "dmz" {
					seen = append(seen, time.Since(began).Round(time.Second))
				}
			})
		}()
		time.Sleep(20*time.Second + time.Millisecond)
		s := serveDMZ(t, q, "w1")
		time.Sleep(10 * time.Second)
		s.Drain()
		time.Sleep(10 * time.Second)
		stop()
		<-ended
		if len(seen) != 2 || seen[0] > 22*time.Second || seen[1] > 32*time.Second {
			t.Errorf("noticed after %v", seen)
		}
	})
}

func TestAZoneWithAnOldWorkerIsAWarning(t *testing.T) {
	z := zoneState{name: "dmz", workers: 2, capacity: 8, busy: 8, waiting: 3, old: []string{"w1"}}
	state, text, _ := z.say(nil)
	if state != object.Warning || text != "2 workers, 8 of 8 places busy, 3 waiting for a place; upgrade w1: checks of this engine are not understood there" {
		t.Errorf("%s: %s", state.Name(object.Service), text)
	}
	if state, text, perf := z.say([]string{"the connection is away"}); state != object.Unknown || text != "the connection is away" || perf != "" {
		t.Errorf("%s: %s %s", state.Name(object.Service), text, perf)
	}
}

func TestZonesHaveMetrics(t *testing.T) {
	q := queue.NewMemory(queue.MemoryOptions{})
	m := newZoneMetrics(watched(t, q, dmz))
	serveDMZ(t, q, "w1")
	reg := prometheus.NewRegistry()
	reg.MustRegister(m)
	want := `
# HELP jaque_zone_capacity Checks that the workers of a zone run at once at most; they may serve other zones too.
# TYPE jaque_zone_capacity gauge
jaque_zone_capacity{zone="dmz"} 32
# HELP jaque_zone_workers Workers that serve a zone now; without a value while the server of the queue does not answer.
# TYPE jaque_zone_workers gauge
jaque_zone_workers{zone="dmz"} 1
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(want), "jaque_zone_capacity", "jaque_zone_workers"); err != nil {
		t.Error(err)
	}
}
