package queue

import (
	"context"
	"sync"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/fold"
)

// BenchmarkRoundTrip measures how many checks a second travel to a worker and
// back, and what CPU a thousand of them cost, with so many under way at once. The
// worker executes nothing. CPU is that of the whole process: engine, worker and
// the embedded server.
func BenchmarkRoundTrip(b *testing.B) {
	open := map[string]func(b *testing.B) Queue{
		"memory":    func(*testing.B) Queue { return NewMemory(MemoryOptions{}) },
		"jetstream": func(b *testing.B) Queue { return openJetStream(b, openBus(b)) },
	}
	for _, name := range []string{"memory", "jetstream"} {
		b.Run(name, func(b *testing.B) { roundTrips(b, open[name](b), 256) })
	}
}

func roundTrips(b *testing.B, q Queue, atOnce int) {
	d, err := q.Dispatcher(b.Context(), "e")
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	s, err := q.Source(b.Context(), inZone("w1", "default", atOnce))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	go func() {
		for d := range s.Items() {
			go func() {
				_ = d.Answer(context.Background(), &Result{Result: fold.Result{Output: "OK - 12 ms", Perfdata: "time=0.012s;1;2"}})
			}()
		}
	}()
	var all sync.WaitGroup
	room := make(chan struct{}, atOnce)
	before := cpu(b)
	b.ResetTimer()
	for i := range b.N {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			if _, err := d.Do(context.Background(), item("default", i%100)); err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "checks/s")
	b.ReportMetric((cpu(b)-before).Seconds()*1000/float64(b.N), "cpu-s/1000")
}

// cpu returns the processor time that this process has used.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkItem is the encoding and decoding of one item.
func BenchmarkItem(b *testing.B) {
	it := item("default", 1)
	it.ID, it.Engine = "a", "e"
	for b.Loop() {
		data, err := encodeItem(it)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := decodeItem(data); err != nil {
			b.Fatal(err)
		}
	}
}
