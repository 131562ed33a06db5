package remote_test

import (
	"context"
	"io"
	"log/slog"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/probe"
	"jaque.sh/jaque/appliance/queue"
	"jaque.sh/jaque/appliance/remote"
)

// probeFunc is a prober made of a function.
type probeFunc func(ctx context.Context, req probe.Request) fold.Result

func (f probeFunc) Do(ctx context.Context, req probe.Request) fold.Result { return f(ctx, req) }

// lasting is a prober that answers after a while.
func lasting(d time.Duration, text string) probeFunc {
	return func(ctx context.Context, _ probe.Request) fold.Result {
		select {
		case <-time.After(d):
			return fold.Result{Output: text, Took: d.Microseconds()}
		case <-ctx.Done():
			return fold.Result{State: object.Unknown, Output: "killed"}
		}
	}
}

// queues opens both kinds of queue in a bubble.
var queues = map[string]func(t *testing.T) queue.Queue{
	"memory": func(*testing.T) queue.Queue { return queue.NewMemory(queue.MemoryOptions{}) },
	"jetstream": func(t *testing.T) queue.Queue {
		b, err := bus.Open(t.Context(), bus.Options{Data: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close(context.Background()) })
		q, err := queue.NewJetStream(b.Conn(), queue.JetStreamOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return q
	},
}

func inBubbles(t *testing.T, run func(t *testing.T, q queue.Queue)) {
	t.Helper()
	for name, open := range queues {
		t.Run(name, func(t *testing.T) {
			// The client's pool of timers outlives a bubble; collections empty it.
			runtime.GC()
			runtime.GC()
			synctest.Test(t, func(t *testing.T) { run(t, open(t)) })
		})
	}
}

func engineOn(t *testing.T, q queue.Queue) *remote.Runner {
	t.Helper()
	d, err := q.Dispatcher(t.Context(), "e1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return remote.NewRunner(d, lasting(0, "judged here"))
}

// start runs a worker and returns how to stop it and where its end arrives.
func start(t *testing.T, q queue.Queue, id string, p remote.Prober) (stop func(), ended <-chan error) {
	t.Helper()
	w, err := remote.NewWorker(remote.WorkerOptions{
		Queue: q, Worker: queue.Worker{ID: id, Version: "1.0", Zones: []string{"dmz", "default"}, Capacity: 8}, Prober: p,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	out, ready := make(chan error, 1), make(chan struct{})
	go func() { out <- w.Run(ctx, func() { close(ready) }) }()
	<-ready
	t.Cleanup(cancel)
	return cancel, out
}

// request asks for a check of a service, or of its host.
func request(service bool, zone string) probe.Request {
	rule := &object.Rule{Interval: time.Minute}
	o := &object.Object{ID: "web01", Name: "web01", Address: "192.0.2.7", Rule: rule, Zone: zone}
	if service {
		o = &object.Object{ID: "web01!http", Name: "http", Host: o, Rule: rule, Zone: zone}
	}
	settings := object.DefaultSettings()
	settings.TimeoutState, settings.AggressiveHostChecking = object.Warning, true
	return probe.Request{
		Object: o, Timeout: 20 * time.Second, Due: object.At(time.Now().Add(-time.Second)), Env: []string{"NAGIOS_X=ä"}, Settings: &settings,
		Check: object.Check{Kind: object.CheckPlugin, Plugin: []string{"check_http", "-H", "192.0.2.7", "a b", ""}},
	}
}

func TestAWorkerExecutesWhatWasAsked(t *testing.T) {
	inBubbles(t, func(t *testing.T, q queue.Queue) {
		run := engineOn(t, q)
		var got atomic.Pointer[probe.Request]
		start(t, q, "w1", probeFunc(func(_ context.Context, req probe.Request) fold.Result {
			got.Store(&req)
			time.Sleep(2 * time.Second)
			return fold.Result{State: object.Critical, Output: "CRITICAL", Long: "a\nb", Perfdata: "t=1s", Start: 5, Took: 2_000_000}
		}))
		for _, service := range []bool{true, false} {
			asked := request(service, "dmz")
			began := object.At(time.Now())
			res := run.Do(t.Context(), asked)
			want := fold.Result{State: object.Critical, Output: "CRITICAL", Long: "a\nb", Perfdata: "t=1s", Start: began, Latency: 1_000_000, Took: 2_000_000}
			if res.Start < began || res.Start > began.Add(500*time.Millisecond) {
				t.Errorf("started at %d, want %d by the engine's clock", res.Start, began)
			}
			if res.Latency += began.Sub(res.Start).Microseconds(); res.Latency != want.Latency {
				t.Errorf("latency %d, want %d", res.Latency, want.Latency)
			}
			res.Start = began
			if res != want {
				t.Errorf("result %+v, want %+v", res, want)
			}
			r := got.Load()
			if r.Object.Kind() != asked.Object.Kind() || r.Object.ID != asked.Object.ID || r.Object.HostObject().Address != "192.0.2.7" {
				t.Errorf("object %+v", r.Object)
			}
			if !reflect.DeepEqual(r.Check, asked.Check) || !reflect.DeepEqual(r.Env, asked.Env) || r.Timeout != asked.Timeout ||
				r.Settings.TimeoutState != object.Warning || !r.Settings.AggressiveHostChecking {
				t.Errorf("request %+v", r)
			}
		}
	})
}

func TestWhatNobodyExecutedIsUnknown(t *testing.T) {
	long := func(r *probe.Request) { r.Check.Plugin = append(r.Check.Plugin, strings.Repeat("x", 2<<20)) }
	cases := []struct {
		name    string
		service bool
		change  func(*probe.Request)
		want    string
		only    string
	}{
		{"a service in a zone without workers is unknown", true, func(*probe.Request) {}, "UNKNOWN - no worker serves zone lab; start one with -target worker -zones lab", ""},
		{"a host in a zone without workers is down", false, func(*probe.Request) {}, "DOWN - no worker serves zone lab; start one", ""},
		{"a command that is too long is named at once", true, long, "UNKNOWN - the check is 2097", "jetstream"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			inBubbles(t, func(t *testing.T, q queue.Queue) {
				if c.only != "" && !strings.HasSuffix(t.Name(), c.only) {
					return // the limit is the log server's
				}
				run := engineOn(t, q)
				start(t, q, "w1", lasting(0, "never"))
				req := request(c.service, "lab")
				c.change(&req)
				began := time.Now()
				res := run.Do(t.Context(), req)
				want := object.Unknown
				if !c.service {
					want = object.Down
				}
				if res.State != want || !strings.Contains(res.Output, c.want) || res.Latency < 1_000_000 {
					t.Errorf("%+v", res)
				}
				if c.only != "" && time.Since(began) > 0 {
					t.Errorf("said after %s", time.Since(began))
				}
			})
		})
	}
}

func TestAggregatesAreJudgedByTheEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := engineOn(t, queue.NewMemory(queue.MemoryOptions{}))
		req := request(true, "lab")
		req.Check = object.Check{Kind: object.CheckAggregate}
		if res := run.Do(t.Context(), req); res.Output != "judged here" {
			t.Errorf("%+v", res)
		}
	})
}

func TestAnEngineThatStopsSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := engineOn(t, queue.NewMemory(queue.MemoryOptions{}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if res := run.Do(ctx, request(true, "lab")); !strings.Contains(res.Output, "jaque is stopping") {
			t.Errorf("%+v", res)
		}
	})
}

func TestAWorkerThatStopsFinishesItsChecks(t *testing.T) {
	cases := []struct {
		name  string
		takes time.Duration
		by    string
	}{
		{"a check within the grace is finished", 8 * time.Second, "first"},
		{"a check beyond the grace goes to another worker", 15 * time.Second, "second"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			inBubbles(t, func(t *testing.T, q queue.Queue) {
				run := engineOn(t, q)
				stop, ended := start(t, q, "w1", lasting(c.takes, "first"))
				out := make(chan fold.Result, 1)
				go func() { out <- run.Do(t.Context(), request(true, "dmz")) }()
				time.Sleep(time.Second)
				start(t, q, "w2", lasting(time.Second, "second"))
				stop()
				if res := <-out; res.Output != c.by {
					t.Errorf("answered by %+v", res)
				}
				if err := <-ended; err != nil {
					t.Errorf("a clean stop ended with %v", err)
				}
			})
		})
	}
}

// What a worker lacks is named with the worker and the path: another worker of
// the zone may have it.
func TestAMissingPluginIsNamedWithItsWorker(t *testing.T) {
	prober, err := probe.New(probe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(prober.Close)
	q := queue.NewMemory(queue.MemoryOptions{})
	run := engineOn(t, q)
	start(t, q, "w1", prober)
	req := request(true, "dmz")
	req.Check.Plugin = []string{"/opt/none/check_none"}
	res := run.Do(t.Context(), req)
	if want := "UNKNOWN - on worker w1: plugin /opt/none/check_none does not exist on this machine"; res.State != object.Unknown || !strings.HasPrefix(res.Output, want) {
		t.Errorf("%+v", res)
	}
}

func TestAWorkerNeedsItsParts(t *testing.T) {
	if _, err := remote.NewWorker(remote.WorkerOptions{}); err == nil {
		t.Error("a worker without a queue")
	}
	w, err := remote.NewWorker(remote.WorkerOptions{
		Queue: queue.NewMemory(queue.MemoryOptions{}), Prober: lasting(0, ""), Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(t.Context(), func() { t.Error("it is ready") }); err == nil {
		t.Error("a worker without a name runs")
	}
}
