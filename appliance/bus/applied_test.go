package bus

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A cluster whose leader was just chosen says that its log ends in front of what was
// acknowledged, until it has applied what it holds: that is waited for, and no loss.
func TestAClusterIsGivenTimeToReachWhereItWas(t *testing.T) {
	const acked = 10054
	for name, c := range map[string]struct {
		shared bool
		at     func(since time.Duration) (uint64, error)
		want   time.Duration
	}{
		"it is there":                  {true, func(time.Duration) (uint64, error) { return acked, nil }, 0},
		"it is further":                {true, func(time.Duration) (uint64, error) { return acked + 1, nil }, 0},
		"it gets there":                {true, func(d time.Duration) (uint64, error) { return 10051 + uint64(d/time.Second), nil }, 3 * time.Second},
		"it answers after a while":     {true, func(d time.Duration) (uint64, error) { return acked, after(d, 2*time.Second) }, 2 * time.Second},
		"it never gets there":          {true, func(time.Duration) (uint64, error) { return 10051, nil }, appliedMost},
		"nobody else keeps the stream": {false, func(time.Duration) (uint64, error) { return 10051, nil }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				names := NamesFor("")
				g := &guard{shared: c.shared, names: names, stores: stores(names, Retention{}), acked: acked}
				began := time.Now()
				g.applied(t.Context(), func(_ context.Context, stream string) (uint64, error) {
					if stream != names.Log {
						t.Errorf("asked about %s, of which nothing is known", stream)
					}
					return c.at(time.Since(began))
				})
				if took := time.Since(began); took != c.want {
					t.Errorf("waited %s, want %s", took, c.want)
				}
			})
		})
	}
}

func after(since, most time.Duration) error {
	if since < most {
		return errors.New("no leader")
	}
	return nil
}
