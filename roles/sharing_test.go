package roles

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/event"
)

// hungLog does not answer the first questions, which go to a leader that stops, nor any
// before it answers again.
type hungLog struct {
	hung  int
	until time.Time
	asked []time.Time
}

func (l *hungLog) EndOf(ctx context.Context, s event.Stream) (uint64, error) {
	l.asked = append(l.asked, time.Now())
	switch {
	case s != event.Log:
		return 0, errors.New("another stream has another leader")
	case len(l.asked) > l.hung && time.Now().After(l.until):
		return 7, nil
	}
	<-ctx.Done()
	return 0, ctx.Err()
}

func TestTheEndOfTheLogIsAskedForAgainSoon(t *testing.T) {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	synctest.Test(t, func(t *testing.T) {
		began, l := time.Now(), &hungLog{hung: 1}
		if end, ok := logEnd(t.Context(), l, quiet); end != 7 || !ok || time.Since(began) > 1500*time.Millisecond {
			t.Errorf("after a leader that stopped: end %d, %v, in %v", end, ok, time.Since(began))
		}
	})
	synctest.Test(t, func(t *testing.T) { // a slow log is given more time, and not asked all the time
		began := time.Now()
		l := &hungLog{until: began.Add(time.Minute)}
		if end, ok := logEnd(t.Context(), l, quiet); end != 7 || !ok || len(l.asked) > 12 {
			t.Errorf("after a minute: end %d, %v, asked %d times", end, ok, len(l.asked))
		}
		if n := len(l.asked); n < 3 || l.asked[n-1].Sub(l.asked[n-2]) < askEndMost {
			t.Errorf("asked at %v", l.asked)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if end, ok := logEnd(ctx, &hungLog{hung: 1000}, quiet); ok || end != 0 {
			t.Errorf("of a process that stops: end %d, %v", end, ok)
		}
	})
}
