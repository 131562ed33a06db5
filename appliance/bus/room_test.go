package bus

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

func TestADiskThatFillsUpIsToldOf(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		name string
		free []int64 // MiB; the first is what the start saw
		said string  // w = warned, r = room again, . = nothing
	}{
		{"plenty", []int64{9000, 5000, 1024}, ".."},
		{"each limit once", []int64{2000, 1000, 900, 255, 254, 63, 10, 0}, "w.w.w.."},
		{"two limits at once", []int64{2000, 60, 59}, "w."},
		{"what the start saw is not told again", []int64{500, 499, 255}, ".w"},
		{"around a limit", []int64{2000, 1023, 1025, 1023, 1279, 1000}, "w...."},
		{"room again, and less again", []int64{2000, 1000, 1300, 1000}, "wrw"},
		{"a little room at a low limit", []int64{2000, 60, 79, 60, 300, 200}, "w...."},
	} {
		var said bytes.Buffer
		at, shown := 0, 0.0
		r := newRoom(&Bus{
			opts: Options{Data: "x", free: func(string) (int64, error) { return c.free[at] * mib, nil }},
			log:  slog.New(slog.NewTextHandler(&said, nil)), metrics: newMetrics(nil),
		})
		r.set = func(v float64) { shown = v }
		got := ""
		for at = 1; at < len(c.free); at++ {
			said.Reset()
			r.look()
			switch text := said.String(); {
			case text == "":
				got += "."
			case strings.Contains(text, "filling up"):
				got += "w"
			case strings.Contains(text, "has room again"):
				got += "r"
			}
			if shown != float64(c.free[at]*mib) {
				t.Errorf("%s: shown are %v of %d MiB", c.name, shown, c.free[at])
			}
		}
		if got != c.said {
			t.Errorf("%s: %v: said %s, want %s", c.name, c.free, got, c.said)
		}
	}
	r := &diskRoom{free: func(string) (int64, error) { return 0, errors.New("gone") }, set: func(float64) { t.Error("a folder that cannot be asked is shown") }}
	r.look()
}
