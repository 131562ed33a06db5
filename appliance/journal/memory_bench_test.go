package journal

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"

	"jaque.sh/jaque/appliance/core/object"
)

// BenchmarkServerMemory reports the heap that the embedded server holds for
// 100,000 objects with decisions and measurements, after they are written and
// after a restart.
func BenchmarkServerMemory(b *testing.B) {
	const objects = 100_000
	for b.Loop() {
		base := heapMiB()
		data := b.TempDir()
		bus1 := openBus(b, data)
		empty := heapMiB()
		j := openJournal(b, bus1)
		var wg sync.WaitGroup
		room := make(chan struct{}, 4000)
		for i := range objects {
			id := object.ServiceID(fmt.Sprintf("host%05d", i/10), fmt.Sprintf("service%d", i%10))
			e := benchEvent(id, i)
			wg.Add(1)
			room <- struct{}{}
			j.Append(&e, 0, func(_ uint64, err error) {
				if err != nil {
					b.Error(err)
				}
				<-room
				wg.Done()
			})
			for n := range 3 {
				m := benchEvent(id, i+n)
				m.Status, m.ID = nil, ""
				if err := j.Record(b.Context(), &m, nil); err != nil {
					b.Fatal(err)
				}
			}
		}
		wg.Wait()
		full := heapMiB()
		_ = j.Close(b.Context())
		_ = bus1.Close(b.Context())
		bus1, j = nil, nil
		gone := heapMiB()
		bus2 := openBus(b, data)
		again := heapMiB()
		b.ReportMetric(empty-base, "MiB-empty")
		b.ReportMetric(full-base, "MiB-written")
		b.ReportMetric(again-gone, "MiB-restarted")
		runtime.KeepAlive(bus2)
	}
}

func heapMiB() float64 {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}
