package journal

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/event"
)

// Every kind of damage either starts repaired, with everything there and a
// warning, or stops the start with an error that names the folder and what to
// do. Nothing is lost in silence.
func TestDamagedStore(t *testing.T) {
	const events = 40
	whole := filepath.Join(t.TempDir(), "data")
	fill(t, whole, events)
	const log = "jetstream/$G/streams/JAQUE_LOG/"
	const results = "jetstream/$G/streams/JAQUE_RESULTS/"
	cases := []struct {
		name   string
		damage func(t *testing.T, data string)
		loss   bool   // the start must fail
		warned string // what the log must say otherwise; "" = nothing to warn about
	}{
		{"the log's block lost its last bytes", cut(log+"msgs/1.blk", 7), true, ""},
		{"the log's block lost its last event exactly", cutEvent(log + "msgs/1.blk"), true, ""},
		{"the log's block and index lost their end", both(cut(log+"msgs/1.blk", 500), remove(log+"msgs/index.db")), true, ""},
		{"a byte flipped in the middle of the log's block", flip(log+"msgs/1.blk", 0.5), true, ""},
		{"a byte flipped in the middle, and no index", both(flip(log+"msgs/1.blk", 0.5), remove(log+"msgs/index.db")), true, ""},
		{"garbage behind the end of the log's block", add(log+"msgs/1.blk", "\x00\x01garbage of a torn write"), false, "log server says"},
		{"garbage behind the end, and no index", both(add(log+"msgs/1.blk", "garbage"), remove(log+"msgs/index.db")), false, "cut unreadable bytes"},
		{"the log's block is gone", remove(log + "msgs/1.blk"), true, ""},
		{"the log's block is empty", empty(log + "msgs/1.blk"), true, ""},
		{"the log's index is gone", remove(log + "msgs/index.db"), false, ""},
		{"the log's index is garbage", flip(log+"msgs/index.db", 0.5), false, "checksum did not match"},
		{"the log's description is gone", remove(log + "meta.inf"), false, "description of a stream is damaged"},
		{"the log's description is garbage", flip(log+"meta.inf", 0.5), false, "description of a stream is damaged"},
		{"the log's folder is gone", remove(log), true, ""},
		{"the whole store is gone", remove("jetstream"), true, ""},
		{"sessions are gone", remove("jetstream/$G/streams/KV_JAQUE_STATE"), false, ""},
		{"the measurements are gone", remove(results), false, "lost=40"},
		{"the measurements' block is gone", remove(results + "msgs/1.blk"), false, "lost=40"},
		{"a byte flipped among the measurements", flip(results+"msgs/1.blk", 0.5), false, "lost=1"},
		{"the measurements lost their end", cut(results+"msgs/1.blk", 500), false, "lost=4"},
		{"the marks are garbage", flip("marks.json", 0.01), true, ""},
		{"the acknowledged position is garbage", flip("acknowledged", 0.5), false, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			data := copyFolder(t, whole)
			c.damage(t, data)
			var lines lockedBuffer
			b, err := bus.Open(t.Context(), bus.Options{Data: data, Logger: slog.New(slog.NewTextHandler(&lines, nil))})
			if c.loss {
				wantLoss(t, b, err, data)
				return
			}
			if err != nil {
				t.Fatalf("open: %v", err)
			}
			defer b.Close(context.Background())
			if c.warned != "" && !strings.Contains(lines.String(), c.warned) {
				t.Errorf("no line says %q:\n%s", c.warned, lines.String())
			}
			wantAll(t, b, events)
		})
	}
}

func wantLoss(t *testing.T, b *bus.Bus, err error, data string) {
	t.Helper()
	if err == nil {
		st := readAll(t, openJournal(t, b), Position{})
		_ = b.Close(context.Background())
		t.Fatalf("started with damage, %d events left", len(st))
	}
	if !errors.Is(err, bus.ErrLoss) && !strings.Contains(err.Error(), "marks") {
		t.Errorf("error %v is not ErrLoss", err)
	}
	if !strings.Contains(err.Error(), data) || !strings.Contains(err.Error(), "restore") {
		t.Errorf("error %q does not name the folder and what to do", err)
	}
	// What the error advises works, and is seen.
	if err := os.WriteFile(filepath.Join(data, "accept-loss"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b = openBus(t, data)
	readAll(t, openJournal(t, b), Position{})
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	b = openBus(t, data) // and the accepted loss stays accepted
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func wantAll(t *testing.T, b *bus.Bus, events int) {
	t.Helper()
	j := openJournal(t, b)
	defer j.Close(context.Background())
	n := 0
	for _, e := range readAll(t, j, Position{}) {
		if e.Stream == event.Log {
			n++
		}
	}
	if n != events {
		t.Errorf("%d events on the log, want %d", n, events)
	}
}

// fill writes a store and closes it in order.
func fill(t *testing.T, data string, events int) {
	t.Helper()
	b := openBus(t, data)
	j := openJournal(t, b)
	at := uint64(0)
	for n := range events {
		at = mustPut(t, j, decision("db", n, at), at)
		mustRecord(t, j, measurement("db", n))
	}
	if err := errors.Join(j.Close(t.Context()), b.Close(t.Context())); err != nil {
		t.Fatalf("close: %v", err)
	}
}

func both(a, b func(*testing.T, string)) func(*testing.T, string) {
	return func(t *testing.T, data string) { a(t, data); b(t, data) }
}

// edit rewrites one file.
func edit(file string, change func([]byte) []byte) func(*testing.T, string) {
	return func(t *testing.T, data string) {
		path := filepath.Join(data, file)
		buf, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, change(buf), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func cut(file string, n int) func(*testing.T, string) {
	return edit(file, func(b []byte) []byte { return b[:len(b)-n] })
}

// cutEvent removes the last record, which begins with its length.
func cutEvent(file string) func(*testing.T, string) {
	return edit(file, func(b []byte) []byte {
		at := 0
		for {
			n := int(uint32(b[at]) | uint32(b[at+1])<<8 | uint32(b[at+2])<<16 | uint32(b[at+3]&0x7f)<<24)
			if at+n >= len(b) {
				return b[:at]
			}
			at += n
		}
	})
}

func flip(file string, where float64) func(*testing.T, string) {
	return edit(file, func(b []byte) []byte {
		b[int(float64(len(b))*where)] ^= 0x40
		return b
	})
}

func add(file, tail string) func(*testing.T, string) {
	return edit(file, func(b []byte) []byte { return append(b, tail...) })
}

func empty(file string) func(*testing.T, string) {
	return edit(file, func([]byte) []byte { return nil })
}

func remove(name string) func(*testing.T, string) {
	return func(t *testing.T, data string) {
		if err := os.RemoveAll(filepath.Join(data, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// lockedBuffer collects log lines of several goroutines.
type lockedBuffer struct {
	mu    sync.Mutex
	lines bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lines.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lines.String()
}
