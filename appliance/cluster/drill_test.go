package cluster

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// ending is an engine whose process ends while it is asked to step out.
type ending struct{ end context.CancelFunc }

func (d ending) Drill(ctx context.Context, _ time.Duration, _ string) error {
	d.end()
	<-ctx.Done()
	return ctx.Err()
}

func (d ending) StepAside(ctx context.Context, hold time.Duration, by string) error {
	return d.Drill(ctx, hold, by)
}
func (d ending) Report() *DrillReport { return nil }
func (d ending) Away() bool           { return true }

func TestAMemberThatEndsInTheMiddleOfADrillSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	k := &keeper{st: status(true, "a", "b")}
	a := &Answers{Keeper: k, Self: Member{ID: "a"}, Driller: ending{cancel}, Logger: slog.New(slog.DiscardHandler)}
	r := a.drill(ctx, &DrillOrder{Hold: time.Minute})
	if !strings.Contains(r.Error, "member a ended during the drill") || !strings.Contains(r.Error, "its objects are the others'") {
		t.Errorf("it says %q", r.Error)
	}
	if s := a.self(); !s.Drill {
		t.Errorf("an engine that is out says %+v", s)
	}
}

func TestADrillThatTookLongerThanAskedForTellsByHowMuch(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	for name, c := range map[string]struct {
		back time.Duration // after it was out; 0 = it did not come back
		want time.Duration
	}{
		"it came back early":         {3 * time.Second, 0},
		"it came back in time":       {5500 * time.Millisecond, 0},
		"joining again took a while": {24 * time.Second, 19 * time.Second},
		"it did not come back":       {},
	} {
		r := DrillReport{Hold: 5 * time.Second, Out: at}
		if c.back > 0 {
			r.Back = at.Add(c.back)
		}
		if got := r.Over(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
