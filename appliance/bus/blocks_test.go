package bus

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// writeBlock has the server write messages and returns the bytes of the block.
func writeBlock(t testing.TB, n int) (Block, []byte) {
	t.Helper()
	data := t.TempDir()
	b, err := Open(t.Context(), Options{Data: data})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if _, err := b.JetStream().Publish(t.Context(), "jaque.log.web01", fmt.Appendf(nil, "event %d", i+1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	blocks := b.Blocks("JAQUE_LOG")
	if len(blocks) != 1 || blocks[0].First != 1 {
		t.Fatalf("blocks = %+v, want one that begins at 1", blocks)
	}
	buf, err := os.ReadFile(blocks[0].Path())
	if err != nil {
		t.Fatal(err)
	}
	return blocks[0], buf
}

func TestBlockHoldsWhatTheServerStored(t *testing.T) {
	k, buf := writeBlock(t, 5)
	next := uint64(1)
	err := k.Scan(func(seq uint64, _, data []byte) bool {
		if seq != next || string(data) != fmt.Sprintf("event %d", seq) {
			t.Errorf("record %d = %q", seq, data)
		}
		next++
		return true
	})
	if err != nil || next != 6 {
		t.Errorf("scan ended in front of %d with %v", next, err)
	}
	got, _, err := k.read()
	if got.inside != 0 || got.tail != 0 || got.first != 1 || got.last != 5 || err != nil {
		t.Errorf("read %+v, %v", got, err)
	}

	// Any byte that changes is noticed: as a hole, or as an end that comes too early.
	copyOf := Block{path: filepath.Join(t.TempDir(), "1.blk"), stream: k.stream, index: k.index, First: 1}
	for at := range buf {
		changed := append([]byte(nil), buf...)
		changed[at] ^= 0x10
		if err := os.WriteFile(copyOf.path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
		got, _, err := copyOf.read()
		if err != nil {
			t.Fatal(err)
		}
		if got.inside == 0 && got.last == 5 {
			t.Fatalf("a change of byte %d of %d was not noticed", at, len(buf))
		}
		// One record is lost, all others are found again behind it.
		n := 0
		for _, p := range got.parts {
			n += p[1] - p[0]
		}
		if lost := len(buf) - n; lost > len(buf)/5+1 {
			t.Fatalf("a change of byte %d costs %d of %d bytes", at, lost, len(buf))
		}
	}
	// Cut anywhere, the records in front of the cut are read.
	for size := range buf {
		if err := os.WriteFile(copyOf.path, buf[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		if got, _, err := copyOf.read(); got.inside > 0 || got.last > 4 || err != nil {
			t.Fatalf("cut to %d of %d: %+v, %v", size, len(buf), got, err)
		}
	}
}

// A block of which nothing is left costs no minutes, and records behind garbage
// are found again.
func TestGarbageIsPassedOverQuickly(t *testing.T) {
	k, buf := writeBlock(t, 3)
	garbage := make([]byte, 2<<20)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range garbage {
		garbage[i] = byte(random.Uint32())
	}
	copyOf := Block{path: filepath.Join(t.TempDir(), "1.blk"), stream: k.stream, index: k.index, First: 1}
	if err := os.WriteFile(copyOf.path, append(garbage, buf...), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	got, _, err := copyOf.read()
	if err != nil || got.inside != len(garbage) || !got.front || got.first != 1 || got.last != 3 {
		t.Errorf("read %+v, %v", got, err)
	}
	if d := time.Since(began); d > 30*time.Second {
		t.Errorf("it took %s", d)
	}
}

func FuzzBlock(f *testing.F) {
	k, buf := writeBlock(f, 3)
	f.Add(buf)
	f.Add(buf[:len(buf)-1])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, buf []byte) {
		r, err := k.reader(buf)
		if err != nil {
			t.Fatal(err)
		}
		for len(r.rest) > 0 {
			before := len(r.rest)
			_, _, _, err := r.next()
			if len(r.rest) == before {
				if err == nil {
					t.Fatal("no error and no step")
				}
				return
			}
		}
	})
}
