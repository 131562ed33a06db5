package projection_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/klauspost/compress/s2"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
)

// full is a projection in which every object has said something.
func full() *projection.Projection {
	p := projection.New(set(3))
	for seq := range uint64(9) {
		p.Apply(decision(p, object.ServiceID("h", fmt.Sprint("s", seq%3)), seq+1, object.State(seq%4), object.Hard))
	}
	return p
}

// unpacked returns a snapshot without its compression, packed puts it back: the
// checksums of the compression would otherwise catch every damage before the
// reader of the records has seen it.
func unpacked(t *testing.T, data []byte) []byte {
	t.Helper()
	plain, err := io.ReadAll(s2.NewReader(bytes.NewReader(data)))
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func packed(t *testing.T, plain []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := s2.NewWriter(&out, s2.WriterConcurrency(1))
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A snapshot that was cut off anywhere is refused as a whole: half of the states
// with the position of all would be a silent loss.
func TestASnapshotCutOffAnywhereIsRefusedWhole(t *testing.T) {
	at, data := full().Encode()
	plain := unpacked(t, data)
	for n := range len(plain) {
		q := projection.New(set(3))
		if err := q.Restore(at, packed(t, plain[:n])); err == nil {
			t.Fatalf("%d of %d bytes were taken", n, len(plain))
		}
		if q.Position() != (journal.Position{}) || q.Epoch() != 0 || q.Counts() != projection.New(set(3)).Counts() {
			t.Fatalf("%d of %d bytes left something behind: %+v", n, len(plain), q.Counts())
		}
	}
}

// A length that damage has made huge must not become memory.
func TestADamagedLengthIsRefused(t *testing.T) {
	at, data := full().Encode()
	plain := unpacked(t, data)
	head := bytes.IndexByte(plain, '\n') + 1
	for i := head; i < len(plain); i += 7 {
		damaged := bytes.Clone(plain)
		damaged = append(damaged[:i], append(bytes.Repeat([]byte{0xff}, 9), damaged[i:]...)...)
		q := projection.New(set(3))
		if err := q.Restore(at, packed(t, damaged)); err != nil && q.Position() != (journal.Position{}) {
			t.Errorf("a refusal at byte %d left the position at %+v", i, q.Position())
		}
	}
}

func TestASnapshotOfAnotherFormatIsRefused(t *testing.T) {
	at, data := full().Encode()
	plain := unpacked(t, data)
	for name, text := range map[string][]byte{
		"another version": append([]byte("jaque snapshot 4\n"), plain[bytes.IndexByte(plain, '\n')+1:]...),
		"no format":       []byte("hello\n"),
		"nothing":         nil,
	} {
		if err := projection.New(set(3)).Restore(at, packed(t, text)); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	for _, raw := range [][]byte{nil, []byte("hello"), data[:len(data)/2]} {
		if err := projection.New(set(3)).Restore(at, raw); err == nil {
			t.Errorf("%d bytes that are not compressed were taken", len(raw))
		}
	}
}

// What a snapshot restores encodes to the same bytes again.
func TestEncodingARestoredSnapshotChangesNothing(t *testing.T) {
	at, data := full().Encode()
	q := projection.New(set(3))
	if err := q.Restore(at, data); err != nil {
		t.Fatal(err)
	}
	again, same := q.Encode()
	if again != at || !bytes.Equal(same, data) {
		t.Errorf("position %+v, want %+v; the same bytes: %v", again, at, bytes.Equal(same, data))
	}
}

// A subscription ends for good: closing it twice is fine, and it hears nothing
// of what comes after.
func TestAClosedSubscriptionHearsNothing(t *testing.T) {
	p := projection.New(set(1))
	first, second := p.Subscribe(4), p.Subscribe(4)
	p.Apply(decision(p, "h", 1, object.Up, object.Hard))
	first.Close()
	first.Close()
	p.Apply(decision(p, "h", 2, object.Down, object.Hard))
	if got := len(drain(first)); got != 1 {
		t.Errorf("the closed one heard %d events, want 1", got)
	}
	second.Close()
	if got := len(drain(second)); got != 2 {
		t.Errorf("the open one heard %d events, want 2", got)
	}
}

// An event that is refused reaches no subscriber and moves no counter.
func TestRefusedEventsAreNotHandedOut(t *testing.T) {
	p := projection.New(set(1))
	e := decision(p, "h!s0", 1, object.Critical, object.Hard)
	p.Apply(e)
	s := p.Subscribe(4)
	before := p.Counts()
	if o := p.Apply(e); o != fold.Repeated {
		t.Fatalf("the same event again is %s", o)
	}
	s.Close()
	if got := len(drain(s)); got != 0 || p.Counts() != before {
		t.Errorf("%d events were handed out, counts %+v", got, p.Counts())
	}
	if n := p.Outcome(fold.Repeated); n != 1 {
		t.Errorf("%d repeated events counted, want 1", n)
	}
}
