package remote

import (
	"context"
	"log/slog"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/probe"
	"jaque.sh/jaque/appliance/queue"
)

// BenchmarkCheck executes the same checks in this process and by a worker over
// each queue, 256 at once: checks a second, and what CPU a thousand of them cost
// engine, worker and embedded server together. The check itself costs next to
// nothing, so that the way there and back is what is measured.
func BenchmarkCheck(b *testing.B) {
	local, err := probe.New(probe.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer local.Close()
	b.Run("in process", func(b *testing.B) { checks(b, local) })
	b.Run("memory", func(b *testing.B) { checks(b, by(b, queue.NewMemory(queue.MemoryOptions{}), local)) })
	b.Run("jetstream", func(b *testing.B) {
		server, err := bus.Open(b.Context(), bus.Options{Data: b.TempDir(), Registerer: prometheus.NewRegistry()})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = server.Close(context.Background()) })
		q, err := queue.NewJetStream(server.Conn(), queue.JetStreamOptions{})
		if err != nil {
			b.Fatal(err)
		}
		checks(b, by(b, q, local))
	})
}

const atOnce = 256

// by executes checks by a worker of a queue.
func by(b *testing.B, q queue.Queue, local Prober) Prober {
	b.Helper()
	d, err := q.Dispatcher(b.Context(), "e")
	if err != nil {
		b.Fatal(err)
	}
	w, err := NewWorker(WorkerOptions{
		Queue: q, Prober: local, Logger: slog.New(slog.DiscardHandler),
		Worker: queue.Worker{ID: "w", Zones: []string{DefaultZone}, Capacity: atOnce},
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- w.Run(ctx, func() { close(ready) }) }()
	<-ready
	b.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			b.Error(err)
		}
		_ = d.Close()
	})
	return NewRunner(d, local)
}

func checks(b *testing.B, p Prober) {
	host := &object.Object{ID: object.HostID("web01"), Name: "web01", Address: "192.0.2.1", Rule: &object.Rule{}}
	o := &object.Object{ID: object.ServiceID("web01", "http"), Name: "http", Host: host, Rule: &object.Rule{Interval: time.Minute}}
	req := probe.Request{Object: o, Timeout: 10 * time.Second, Check: object.Check{Kind: object.CheckDummy, Dummy: &object.DummyCheck{Text: "12 ms"}}}
	var all sync.WaitGroup
	room := make(chan struct{}, atOnce)
	before := processor(b)
	b.ResetTimer()
	for range b.N {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			if res := p.Do(context.Background(), req); res.State != object.OK {
				b.Error(res.Output)
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "checks/s")
	b.ReportMetric((processor(b)-before).Seconds()*1000/float64(b.N), "cpu-s/1000")
}

// processor returns the time that this process has used.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
