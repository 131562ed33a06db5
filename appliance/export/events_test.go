package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/journal"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// tape is a log of n events per stream, handed out in batches of three.
type tape struct {
	n    uint64
	fail error
	lost uint64 // of the newest measurements, so many are of this process
}

func (l tape) Opened() journal.Position {
	return journal.Position{Log: l.n, Results: l.n - l.lost}
}

func (l tape) End(context.Context) (journal.Position, error) {
	return journal.Position{Log: l.n, Results: l.n}, nil
}

func (l tape) Follow(ctx context.Context, from journal.Position, fn func([]event.Event) error, caughtUp func()) error {
	for stream, seq := range map[event.Stream]uint64{event.Log: from.Log, event.Results: from.Results} {
		for seq < l.n {
			var batch []event.Event
			for len(batch) < 3 && seq < l.n {
				seq++
				batch = append(batch, event.Event{Stream: stream, Seq: seq})
			}
			if err := fn(batch); err != nil {
				return err
			}
		}
	}
	caughtUp()
	if l.fail != nil {
		return l.fail
	}
	<-ctx.Done()
	return nil
}

func line(dst []byte, e *event.Event) []byte {
	return fmt.Appendf(dst, `{"stream":%q,"seq":%d}`, e.Stream, e.Seq)
}

// run writes a tape to a file until everything is written, then stops.
func run(t *testing.T, path string, l Follower) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	x := NewEvents(EventsOptions{Path: path, Source: stopAfter{l, cancel}, Logger: quiet(), Append: line})
	return x.Run(ctx, func() {})
}

// stopAfter ends the run once the follower has caught up.
type stopAfter struct {
	Follower
	stop func()
}

func (s stopAfter) Follow(ctx context.Context, from journal.Position, fn func([]event.Event) error, _ func()) error {
	return s.Follower.Follow(ctx, from, fn, s.stop)
}

// seqs returns the numbers in a file by stream and fails on a torn line.
func seqs(t *testing.T, path string) map[string][]uint64 {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]uint64{}
	for _, l := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		var e struct {
			Stream string
			Seq    uint64
		}
		if err := json.Unmarshal([]byte(l), &e); err != nil {
			t.Fatalf("line %q: %v", l, err)
		}
		got[e.Stream] = append(got[e.Stream], e.Seq)
	}
	return got
}

func count(from, to uint64) []uint64 {
	var all []uint64
	for ; from <= to; from++ {
		all = append(all, from)
	}
	return all
}

func TestAFileGoesOnWhereItStopped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	start := `{"stream":"log","seq":4}` + "\n" + `{"stream":"results","seq":2}` + "\n"
	cases := map[string]string{
		"whole lines":              start,
		"a line torn by a crash":   start + `{"stream":"log","se`,
		"a foreign line among it":  "# rotated\n" + start,
		"a torn line without text": start + `{`,
	}
	for name, content := range cases {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := run(t, path, tape{n: 9}); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, bytes.TrimPrefix(data, []byte("# rotated\n")), 0o600); err != nil {
				t.Fatal(err)
			}
			got := seqs(t, path)
			if !slices.Equal(got["log"], count(4, 9)) || !slices.Equal(got["results"], count(2, 9)) {
				t.Fatalf("got %v", got)
			}
		})
	}
}

func TestANewFileBeginsNowAndOneOfAnotherLogToo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	if err := run(t, path, tape{n: 5}); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(path); len(data) != 0 {
		t.Fatalf("history was written: %s", data)
	}
	if err := os.WriteFile(path, []byte(`{"stream":"log","seq":700}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t, path, tape{n: 5}); err != nil {
		t.Fatal(err)
	}
}

// A process that is killed loses measurements that stand in the file already.
func TestAFileGoesOnAfterAKill(t *testing.T) {
	for name, c := range map[string]struct {
		last    string
		log     []uint64
		results []uint64
		says    string
	}{
		"numbers that were lost are written again": {
			`{"stream":"log","seq":7}` + "\n" + `{"stream":"results","seq":9}` + "\n",
			count(7, 9),
			[]uint64{9, 6, 7, 8, 9},
			"level=INFO msg=\"newest measurements in the events file were lost on the log, others follow under their numbers\"",
		},
		"beyond the present end too": {
			`{"stream":"log","seq":9}` + "\n" + `{"stream":"results","seq":5154}` + "\n",
			count(9, 9),
			[]uint64{5154, 6, 7, 8, 9},
			"measurements=5149 seq=5154 end=5",
		},
		"what was not lost is not written twice": {
			`{"stream":"log","seq":9}` + "\n" + `{"stream":"results","seq":4}` + "\n",
			count(9, 9), count(4, 9), "",
		},
		"a decision that never was is of another log": {
			`{"stream":"log","seq":10}` + "\n" + `{"stream":"results","seq":9}` + "\n",
			count(10, 10),
			[]uint64{9, 6, 7, 8, 9},
			"level=WARN msg=\"events file is from another log",
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "events.jsonl")
			if err := os.WriteFile(path, []byte(c.last), 0o600); err != nil {
				t.Fatal(err)
			}
			var logged bytes.Buffer
			ctx, cancel := context.WithCancel(t.Context())
			x := NewEvents(EventsOptions{
				Path: path, Source: stopAfter{tape{n: 9, lost: 4}, cancel}, Append: line,
				Logger: slog.New(slog.NewTextHandler(&logged, nil)),
			})
			if err := x.Run(ctx, func() {}); err != nil {
				t.Fatal(err)
			}
			got := seqs(t, path)
			if !slices.Equal(got["log"], c.log) || !slices.Equal(got["results"], c.results) {
				t.Errorf("got %v", got)
			}
			if text := logged.String(); !strings.Contains(text, c.says) || (text == "") != (c.says == "") || strings.Count(text, "\n") > 1 {
				t.Errorf("logged %s", text)
			}
		})
	}
}

func TestStandardOutputTakesEvents(t *testing.T) {
	var out bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	x := NewEvents(EventsOptions{
		Path: "-", Stdout: &out, Logger: quiet(), Append: line,
		Source: growing{tape{n: 2}, cancel},
	})
	if err := x.Run(ctx, func() {}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 4 {
		t.Fatalf("got %d lines: %s", n, out.String())
	}
}

// growing is a tape whose events all happen after the start.
type growing struct {
	tape
	stop func()
}

func (g growing) End(context.Context) (journal.Position, error) { return journal.Position{}, nil }

func (g growing) Follow(ctx context.Context, from journal.Position, fn func([]event.Event) error, _ func()) error {
	return g.tape.Follow(ctx, from, fn, g.stop)
}

// full is a disk that takes a few bytes, then nothing for a while.
type full struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	until time.Time
	room  int
}

func (f *full) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Now().After(f.until) {
		return f.buf.Write(p)
	}
	n := min(f.room, len(p))
	f.room -= n
	f.buf.Write(p[:n])
	return n, syscall.ENOSPC
}

func TestAFullDiskHoldsUpNothingAndLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		disk := &full{until: time.Now().Add(time.Minute), room: 30}
		ctx, cancel := context.WithCancel(t.Context())
		x := NewEvents(EventsOptions{
			Path: "-", Stdout: disk, Append: line, Source: growing{tape{n: 7}, cancel},
			Logger: slog.New(slog.NewTextHandler(&logged, nil)),
		})
		if err := x.Run(ctx, func() {}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(disk.buf.String()), "\n")
		if len(lines) != 14 {
			t.Fatalf("got %d lines, want 14:\n%s", len(lines), disk.buf.String())
		}
		for _, l := range lines {
			if !json.Valid([]byte(l)) {
				t.Fatalf("torn line %q", l)
			}
		}
		if n := strings.Count(logged.String(), "level=ERROR"); n != 1 || !strings.Contains(logged.String(), "no space left") {
			t.Fatalf("want one error in the log, got:\n%s", logged.String())
		}
	})
}

func TestAStopDuringAFullDiskDoesNotHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		disk := &full{until: time.Now().Add(time.Hour)}
		x := NewEvents(EventsOptions{
			Path: "-", Stdout: disk, Append: line, Logger: quiet(),
			Source: growing{tape{n: 7}, func() {}},
		})
		if err := x.Run(ctx, func() {}); err != nil {
			t.Fatal(err)
		}
	})
}

func TestARotatedFileIsOpenedAgain(t *testing.T) {
	dir := t.TempDir()
	path, old := filepath.Join(dir, "events.jsonl"), filepath.Join(dir, "events.jsonl.1")
	x := NewEvents(EventsOptions{Path: path, Logger: quiet(), Append: line})
	out, _, err := x.open()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if i == 1 {
			if err := os.Rename(path, old); err != nil {
				t.Fatal(err)
			}
		}
		if err := x.write(t.Context(), out, []event.Event{{Seq: uint64(i + 1)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.close(); err != nil {
		t.Fatal(err)
	}
	if a, b := seqs(t, old)["log"], seqs(t, path)["log"]; !slices.Equal(a, count(1, 1)) || !slices.Equal(b, count(2, 3)) {
		t.Fatalf("old file %v, new file %v", a, b)
	}
}

func TestWhatEndsTheEvents(t *testing.T) {
	boom := errors.New("boom")
	path := filepath.Join(t.TempDir(), "events.jsonl")
	if err := NewEvents(EventsOptions{Path: path, Source: tape{fail: boom}, Logger: quiet(), Append: line}).
		Run(t.Context(), func() {}); !errors.Is(err, boom) {
		t.Fatalf("a log that fails: %v", err)
	}
	missing := filepath.Join(path, "x")
	if err := run(t, missing, tape{}); err == nil || !strings.Contains(err.Error(), "-events-out: open "+missing) {
		t.Fatalf("a file that cannot be: %v", err)
	}
}
