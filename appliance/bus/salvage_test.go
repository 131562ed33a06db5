package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// damagedAt changes one byte of the n-th record of a stream's block, at an
// offset inside it, and returns what the block is then.
func damagedAt(t *testing.T, data, stream string, n, offset int) []byte {
	t.Helper()
	k := listBlocks(filepath.Join(data, storeFolder, "$G", "streams", stream), stream)[0]
	buf, err := os.ReadFile(k.path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := k.reader(buf)
	if err != nil {
		t.Fatal(err)
	}
	for range n - 1 {
		if _, _, _, err := r.next(); err != nil {
			t.Fatal(err)
		}
	}
	buf[len(buf)-len(r.rest)+offset] ^= 0x55
	if err := os.WriteFile(k.path, buf, 0o600); err != nil {
		t.Fatal(err)
	}
	return buf
}

func accept(t *testing.T, data string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(data, acceptFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// wantHoles tells whether exactly these positions of a stream are missing, and
// that the next one was never used before.
func wantHoles(t *testing.T, b *Bus, stream, subject string, last uint64, holes ...uint64) {
	t.Helper()
	s, err := b.JetStream().Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	var missing []uint64
	for seq := uint64(1); seq <= last; seq++ {
		m, err := s.GetMsg(t.Context(), seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			missing = append(missing, seq)
		} else if err != nil || len(m.Data) == 0 {
			t.Errorf("position %d: %v, %v", seq, m, err)
		}
	}
	if !slices.Equal(missing, holes) {
		t.Errorf("positions %v are missing, want %v", missing, holes)
	}
	ack, err := b.JetStream().Publish(t.Context(), subject, []byte("{}"))
	if err != nil || ack.Sequence != last+1 {
		t.Errorf("the next position is %+v (%v), want %d", ack, err, last+1)
	}
}

// Accepting a loss costs what the error says and nothing else, wherever the
// damage is: in the length, the position, the time, the subject or the data.
func TestAcceptedLossIsExact(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 11, 20} {
		for _, offset := range []int{0, 4, 12, 36} {
			t.Run(fmt.Sprintf("record %d at byte %d", n, offset), func(t *testing.T) {
				t.Parallel()
				data := store20(t, false)
				was := damagedAt(t, data, "JAQUE_LOG", n, offset)
				_, err := Open(t.Context(), Options{Data: data})
				if !errors.Is(err, ErrLoss) || !strings.Contains(err.Error(), "(1 lost)") || !strings.Contains(err.Error(), acceptFile) {
					t.Fatalf("open = %v, want the loss of one position and how to accept it", err)
				}
				accept(t, data)
				b := open(t, Options{Data: data})
				wantHoles(t, b, "JAQUE_LOG", "jaque.log.db", 20, uint64(n))
				if err := b.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				kept, err := filepath.Glob(filepath.Join(data, damagedFolder, "*", "JAQUE_LOG", "1.blk"))
				if err != nil || len(kept) != 1 {
					t.Fatalf("kept aside: %v, %v", kept, err)
				}
				if buf, err := os.ReadFile(kept[0]); err != nil || string(buf) != string(was) {
					t.Errorf("what was kept is not the damaged block (%v)", err)
				}
				if accepted(data) {
					t.Error("the next loss would be accepted too")
				}
				b = open(t, Options{Data: data}) // and nothing is asked again
				wantHoles(t, b, "JAQUE_LOG", "jaque.log.db", 21, uint64(n))
			})
		}
	}
}

// Damage that shows after kill -9, when the server's index is of no use.
func TestAcceptedLossAfterKill(t *testing.T) {
	t.Parallel()
	data := store20(t, true)
	damagedAt(t, data, "JAQUE_LOG", 7, 30)
	if _, err := Open(t.Context(), Options{Data: data}); !errors.Is(err, ErrLoss) || !strings.Contains(err.Error(), "positions 7 to 7") {
		t.Fatalf("open = %v, want the loss of position 7", err)
	}
	accept(t, data)
	wantHoles(t, open(t, Options{Data: data}), "JAQUE_LOG", "jaque.log.db", 20, 7)
}

// Without marks nobody can be asked: the readable rest is kept all the same.
func TestWithoutMarksTheRestIsKept(t *testing.T) {
	t.Parallel()
	data := store20(t, false)
	damagedAt(t, data, "JAQUE_LOG", 7, 30)
	for _, name := range []string{marksFile, ackFile} {
		if err := os.Remove(filepath.Join(data, name)); err != nil {
			t.Fatal(err)
		}
	}
	var lines strings.Builder
	b := open(t, Options{Data: data, Logger: slog.New(slog.NewTextHandler(&lines, nil))})
	wantHoles(t, b, "JAQUE_LOG", "jaque.log.db", 20, 7)
	if !strings.Contains(lines.String(), "lost=1") {
		t.Errorf("log:\n%s", lines.String())
	}
}

// Everything that can be gone from the log, accepted: it starts, and no position
// is given out twice.
func TestAcceptedLossOfFiles(t *testing.T) {
	t.Parallel()
	all := make([]uint64, 20)
	for i := range all {
		all[i] = uint64(i + 1)
	}
	for _, name := range []string{"msgs/1.blk", "msgs", ""} {
		t.Run("JAQUE_LOG/"+name, func(t *testing.T) {
			t.Parallel()
			data := store20(t, false)
			if err := os.RemoveAll(filepath.Join(data, storeFolder, "$G", "streams", "JAQUE_LOG", name)); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(t.Context(), Options{Data: data}); !errors.Is(err, ErrLoss) || !strings.Contains(err.Error(), "(20 lost)") {
				t.Fatalf("open = %v, want the loss of 20", err)
			}
			accept(t, data)
			b := open(t, Options{Data: data})
			wantHoles(t, b, "JAQUE_LOG", "jaque.log.db", 20, all...)
			if err := b.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			open(t, Options{Data: data})
		})
	}
}

// Sessions and sink positions are asked about like the log.
func TestDamagedStateIsAskedAbout(t *testing.T) {
	t.Parallel()
	data := store20(t, false)
	b := open(t, Options{Data: data})
	if _, err := b.JetStream().Publish(t.Context(), "$KV.JAQUE_STATE.other", []byte("y")); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	damagedAt(t, data, "KV_JAQUE_STATE", 1, 30)
	if _, err := Open(t.Context(), Options{Data: data}); !errors.Is(err, ErrLoss) || !strings.Contains(err.Error(), "bytes in the middle") {
		t.Fatalf("open = %v, want the loss of a value", err)
	}
	accept(t, data)
	b = open(t, Options{Data: data})
	kv, err := b.JetStream().KeyValue(t.Context(), b.Names().State)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := kv.Get(t.Context(), "other"); err != nil || string(v.Value()) != "y" {
		t.Errorf("the other value: %v, %v", v, err)
	}
}

// Measurements are the lesser promise: their loss never stops a start, but it is
// counted and said, after a clean stop and after a kill.
func TestLostMeasurementsAreCounted(t *testing.T) {
	t.Parallel()
	const results = storeFolder + "/$G/streams/JAQUE_RESULTS"
	remove := func(name string) func(*testing.T, string) {
		return func(t *testing.T, data string) {
			if err := os.RemoveAll(filepath.Join(data, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	cases := []struct {
		name   string
		damage func(t *testing.T, data string)
		lost   int
	}{
		{"nothing is lost", func(*testing.T, string) {}, 0},
		{"the folder is gone", remove(results), 9},
		{"the block is gone", remove(results + "/msgs/1.blk"), 9},
		{"one record is damaged", func(t *testing.T, data string) { damagedAt(t, data, "JAQUE_RESULTS", 4, 30) }, 1},
		{"the last record is damaged", func(t *testing.T, data string) { damagedAt(t, data, "JAQUE_RESULTS", 9, 30) }, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			b := open(t, Options{Data: data})
			for range 9 {
				if _, err := b.JetStream().Publish(t.Context(), "jaque.result.default.db", []byte("{}")); err != nil {
					t.Fatal(err)
				}
			}
			if err := b.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.damage(t, data)
			var lines strings.Builder
			b, err := Open(t.Context(), Options{Data: data, Logger: slog.New(slog.NewTextHandler(&lines, nil))})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close(context.Background())
			said := strings.Contains(lines.String(), fmt.Sprintf("lost=%d ", c.lost)) || strings.Contains(lines.String(), fmt.Sprintf("lost=%d\n", c.lost))
			if said != (c.lost > 0) || c.lost == 0 && strings.Contains(lines.String(), "WARN") {
				t.Errorf("log does not say lost=%d:\n%s", c.lost, lines.String())
			}
			if ack, err := b.JetStream().Publish(t.Context(), "jaque.result.default.db", []byte("{}")); err != nil || ack.Sequence != 10 {
				t.Errorf("the next position is %+v (%v), want 10", ack, err)
			}
		})
	}
}

// After a kill the marks still know the measurements, although no decision moved.
func TestMarksKnowMeasurementsWithoutDecisions(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	b := open(t, Options{Data: data})
	for range 9 {
		if _, err := b.JetStream().Publish(t.Context(), "jaque.result.default.db", []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	b.embed.guard.keepMarks(t.Context(), b.JetStream())
	m, err := readMarks(data)
	if err != nil || m.Streams["JAQUE_RESULTS"].Last != 9 || m.Streams["JAQUE_RESULTS"].Messages != 9 {
		t.Errorf("marks = %+v, %v", m, err)
	}
}

// A stream of several blocks: the damage is at the seams.
func TestLostMeasurementsOfManyBlocks(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		damage func(t *testing.T, blocks []Block) (lost uint64)
	}{
		{"the first record of the second block", func(t *testing.T, blocks []Block) uint64 {
			buf, err := os.ReadFile(blocks[1].path)
			if err != nil {
				t.Fatal(err)
			}
			buf[5] ^= 0x55 // its position
			if err := os.WriteFile(blocks[1].path, buf, 0o600); err != nil {
				t.Fatal(err)
			}
			return 1
		}},
		{"a block in the middle", func(t *testing.T, blocks []Block) uint64 {
			return blocks[2].First - blocks[1].First
		}},
		{"the first block", func(t *testing.T, blocks []Block) uint64 { return blocks[1].First - 1 }},
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := Options{Data: t.TempDir(), Retention: Retention{ResultsBytes: 30 << 20}}
			b := open(t, o)
			for range 200 {
				if _, err := b.JetStream().Publish(t.Context(), "jaque.result.default.db", make([]byte, 60_000)); err != nil {
					t.Fatal(err)
				}
			}
			if err := b.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			blocks := b.Blocks("JAQUE_RESULTS")
			if len(blocks) < 3 {
				t.Fatalf("only %d blocks", len(blocks))
			}
			lost := c.damage(t, blocks)
			if i > 0 {
				if err := os.Remove(blocks[2-i].path); err != nil {
					t.Fatal(err)
				}
			}
			var lines strings.Builder
			o.Logger = slog.New(slog.NewTextHandler(&lines, nil))
			b = open(t, o)
			if !strings.Contains(lines.String(), fmt.Sprintf("lost=%d", lost)) {
				t.Errorf("log does not say lost=%d:\n%s", lost, lines.String())
			}
			if ack, err := b.JetStream().Publish(t.Context(), "jaque.result.default.db", []byte("{}")); err != nil || ack.Sequence != 201 {
				t.Errorf("the next position is %+v (%v), want 201", ack, err)
			}
		})
	}
}
