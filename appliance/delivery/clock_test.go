package delivery

import (
	"testing"
	"time"
)

func TestThatTheClockWasSetIsNoticedOnce(t *testing.T) {
	begun := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	type look struct {
		wall, passed, want time.Duration // since the start; by how much it was set
	}
	cases := map[string][]look{
		"it goes as it should":              {{0, 0, 0}, {time.Hour, time.Hour, 0}, {48 * time.Hour, 48 * time.Hour, 0}},
		"it is set ahead and back":          {{0, 0, 0}, {time.Hour + time.Second, time.Second, time.Hour}, {time.Hour + 2*time.Second, 2 * time.Second, 0}, {3 * time.Second, 3 * time.Second, -time.Hour}},
		"it is set by little":               {{0, 0, 0}, {900 * time.Millisecond, 0, 0}, {time.Second, time.Second, 0}},
		"it runs away until that is much":   {{0, 0, 0}, {time.Minute + 600*time.Millisecond, time.Minute, 0}, {2*time.Minute + 1200*time.Millisecond, 2 * time.Minute, 1200 * time.Millisecond}, {3*time.Minute + 1800*time.Millisecond, 3 * time.Minute, 0}},
		"the machine slept":                 {{0, 0, 0}, {8 * time.Hour, time.Second, 8*time.Hour - time.Second}},
		"it is a day back at the next look": {{0, 0, 0}, {-24 * time.Hour, 0, -24 * time.Hour}, {-24*time.Hour + time.Minute, time.Minute, 0}},
	}
	for name, looks := range cases {
		t.Run(name, func(t *testing.T) {
			var c clock
			for i, l := range looks {
				if by := c.set(begun.Add(l.wall), l.passed); by != l.want {
					t.Errorf("look %d: set by %v, want %v", i, by, l.want)
				}
			}
		})
	}
	t.Logf("%d cases", len(cases))
}
