package heap

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"jaque.sh/jaque/appliance/service"
)

const (
	// headroom is how many bytes of garbage a large heap may gather.
	headroom = 48 << 20
	// lowest bounds the price: below it the collector would run too often.
	lowest = 25
	// usual is Go's own default.
	usual = 100
	// every is how often the percentage is set anew.
	every = 5 * time.Second
)

// Percent returns the collector's percentage (GOGC) for a heap with so many live
// bytes: Go's default while the heap is small, less the larger it is.
func Percent(live uint64) int {
	if live == 0 {
		return usual
	}
	return int(min(usual, max(lowest, headroom*100/live)))
}

// Service sets the percentage from time to time. chosen says that an operator
// set GOGC or GOMEMLIMIT; then it does nothing.
func Service(chosen bool) service.Service {
	return service.Service{Name: "heap", Run: func(ctx context.Context, ready func()) error {
		ready()
		if chosen {
			<-ctx.Done()
			return nil
		}
		tick := time.NewTicker(every)
		defer tick.Stop()
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
			metrics.Read(sample)
			debug.SetGCPercent(Percent(sample[0].Value.Uint64()))
		}
	}}
}
