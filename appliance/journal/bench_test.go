package journal

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

const benchObjects = 10_000

// figures reports events per second and CPU seconds per 1000 events of the whole
// process, server included.
func figures(b *testing.B, events int) func() {
	b.Helper()
	runtime.GC()
	cpu, start := usage(b), time.Now()
	b.ResetTimer()
	return func() {
		b.StopTimer()
		took := time.Since(start)
		b.ReportMetric(float64(events)/took.Seconds(), "events/s")
		b.ReportMetric((usage(b)-cpu).Seconds()/float64(events)*1000, "cpu-s/1000")
	}
}

func usage(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func benchIDs() []object.ID {
	ids := make([]object.ID, benchObjects)
	for i := range ids {
		ids[i] = object.ServiceID(fmt.Sprintf("host%05d", i/10), fmt.Sprintf("service%d", i%10))
	}
	return ids
}

// benchEvent is a decision of about 400 bytes.
func benchEvent(id object.ID, n int) event.Event {
	e := decision(id, n, 0)
	e.Measure.Output = "OK - load average: 0.42, 0.37, 0.31; 214 processes, 3 running; uptime 41 days"
	e.Measure.Perfdata = "load1=0.42;5;10;0 load5=0.37;4;8;0 load15=0.31;3;6;0"
	return *e
}

// appendFor keeps a number of objects in flight, each with one append at a time.
func appendFor(b *testing.B, j Journal, objects, events int) {
	ids := benchIDs()[:objects]
	var wg sync.WaitGroup
	share := max(events/objects, 1)
	defer figures(b, share*objects)()
	for i, id := range ids {
		wg.Add(1)
		var next func(n int, at uint64)
		next = func(n int, at uint64) {
			if n == share {
				wg.Done()
				return
			}
			e := benchEvent(id, n)
			e.ID, e.Prev = fmt.Sprintf("%d-%d-%d", i, n, b.N), at
			j.Append(&e, at, func(seq uint64, err error) {
				if err != nil {
					b.Error(err)
					wg.Done()
					return
				}
				next(n+1, seq)
			})
		}
		next(0, 0)
	}
	wg.Wait()
}

// BenchmarkAppendLogCAS appends decisions of many objects at once, synced.
func BenchmarkAppendLogCAS(b *testing.B) {
	for _, objects := range []int{1, 100, 2000} {
		b.Run(fmt.Sprintf("objects=%d", objects), func(b *testing.B) {
			j := openJournal(b, openBus(b, b.TempDir()))
			appendFor(b, j, objects, b.N)
		})
	}
}

// BenchmarkAppendLog appends events of the system, which are not compared.
func BenchmarkAppendLog(b *testing.B) {
	j := openJournal(b, openBus(b, b.TempDir()))
	var wg sync.WaitGroup
	room := make(chan struct{}, 2000)
	defer figures(b, b.N)()
	for n := range b.N {
		e := benchEvent("", n)
		e.ID, e.Facts = fmt.Sprint(n), map[string]string{"topic": "bench"}
		wg.Add(1)
		room <- struct{}{}
		j.Append(&e, 0, func(_ uint64, err error) {
			if err != nil {
				b.Error(err)
			}
			<-room
			wg.Done()
		})
	}
	wg.Wait()
}

func recordMany(b *testing.B, j Journal, n int) {
	ids := benchIDs()
	var wg sync.WaitGroup
	wg.Add(n)
	for i := range n {
		e := benchEvent(ids[i%len(ids)], i)
		e.Status, e.ID = nil, ""
		if err := j.Record(b.Context(), &e, func(_ uint64, err error) {
			if err != nil {
				b.Error(err)
			}
			wg.Done()
		}); err != nil {
			b.Fatal(err)
		}
	}
	wg.Wait()
}

// BenchmarkRecord puts measurements on the results stream.
func BenchmarkRecord(b *testing.B) {
	j := openJournal(b, openBus(b, b.TempDir()))
	defer figures(b, b.N)()
	recordMany(b, j, b.N)
}

// BenchmarkReplay follows b.N measurements from the beginning, decoded.
func BenchmarkReplay(b *testing.B) {
	data := b.TempDir()
	bus1 := openBus(b, data)
	j := openJournal(b, bus1)
	recordMany(b, j, b.N)
	_ = j.Close(b.Context())
	_ = bus1.Close(b.Context())
	j = openJournal(b, openBus(b, data))
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	n := 0
	stop := figures(b, b.N)
	if err := j.Follow(ctx, Position{}, func(es []event.Event) error { n += len(es); return nil }, cancel); err != nil {
		b.Fatal(err)
	}
	stop()
	if n != b.N {
		b.Fatalf("%d events, want %d", n, b.N)
	}
}
