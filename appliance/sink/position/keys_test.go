package position

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/journal"
)

func open(t *testing.T) *bus.Bus {
	t.Helper()
	b, err := bus.Open(t.Context(), bus.Options{Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	return b
}

// process returns the positions as another process has them.
func process(t *testing.T, b *bus.Bus) *Keys {
	t.Helper()
	k, err := New(b.Conn(), b.Names().State)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func at(log, results uint64) journal.Position { return journal.Position{Log: log, Results: results} }

func load(t *testing.T, k *Keys, name string) journal.Position {
	t.Helper()
	got, saved, err := k.Load(t.Context(), name)
	if age := time.Since(saved); err != nil || age > time.Minute {
		t.Fatalf("load %q: saved %s ago, %v", name, age, err)
	}
	return got
}

func save(t *testing.T, k *Keys, name string, p journal.Position) {
	t.Helper()
	if err := k.Save(t.Context(), name, p); err != nil {
		t.Fatal(err)
	}
}

func TestAPositionOutlivesItsProcess(t *testing.T) {
	b := open(t)
	for _, name := range []string{"vm", "a/b ..!", "Ä%", "a.b", "*", ">"} {
		if _, saved, err := process(t, b).Load(t.Context(), name); !saved.IsZero() || err != nil {
			t.Fatalf("sink %q, which never ran, has a position: %v %v", name, saved, err)
		}
		first := process(t, b)
		save(t, first, name, at(1, 2))
		save(t, first, name, at(3, 4))
		if got := load(t, process(t, b), name); got != at(3, 4) {
			t.Errorf("%q goes on at %+v", name, got)
		}
	}
}

func TestTwoProcessesNeverMoveAPositionBack(t *testing.T) {
	b := open(t)
	slow, fast := process(t, b), process(t, b)
	save(t, slow, "x", at(10, 100))
	load(t, fast, "x")
	save(t, fast, "x", at(15, 150))
	save(t, slow, "x", at(11, 110)) // it has not noticed that the sink is not its own any more
	if got := load(t, process(t, b), "x"); got != at(15, 150) {
		t.Errorf("the slower one moved it to %+v", got)
	}
	save(t, slow, "x", at(12, 120))
	if got := load(t, process(t, b), "x"); got != at(15, 150) {
		t.Errorf("the slower one moved it to %+v when it tried again", got)
	}
	save(t, fast, "x", at(16, 190))
	save(t, slow, "x", at(20, 120))
	if got := load(t, process(t, b), "x"); got != at(20, 190) {
		t.Errorf("the later one of each stream is lost: %+v", got)
	}
}

func TestAPositionGoesBackIfNobodyElseHasWrittenIt(t *testing.T) {
	b := open(t)
	save(t, process(t, b), "x", at(10, 100))
	next := process(t, b) // whose log is another one
	load(t, next, "x")
	save(t, next, "x", at(0, 0))
	if got := load(t, process(t, b), "x"); got != at(0, 0) {
		t.Errorf("the sink would miss %+v of the new log", got)
	}
}

func TestAPositionThatWasDeletedIsWrittenAgain(t *testing.T) {
	b := open(t)
	k := process(t, b)
	save(t, k, "x", at(10, 100))
	kv, err := b.JetStream().KeyValue(t.Context(), b.Names().State)
	if err != nil {
		t.Fatal(err)
	}
	if err := kv.Delete(t.Context(), "sink.x"); err != nil {
		t.Fatal(err)
	}
	if _, saved, err := process(t, b).Load(t.Context(), "x"); !saved.IsZero() || err != nil {
		t.Errorf("a deleted position: %v %v", saved, err)
	}
	save(t, k, "x", at(11, 110))
	if got := load(t, process(t, b), "x"); got != at(11, 110) {
		t.Errorf("got %+v", got)
	}
	if _, err := kv.PutString(t.Context(), "sink.x", "{"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := k.Load(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "delete the key sink.x of bucket JAQUE_STATE") {
		t.Errorf("a damaged position: %v", err)
	}
}

// Whatever two processes save at once, and whoever is first, the position is at the
// end the furthest that any has come.
func TestPositionsGrow(t *testing.T) {
	b := open(t)
	cases := 0
	rapid.Check(t, func(r *rapid.T) {
		cases++
		if cases > 30 {
			return
		}
		steps := rapid.SliceOfN(rapid.SliceOfN(rapid.Uint64Range(1, 50), 1, 8), 2, 3).Draw(r, "steps")
		name := fmt.Sprint("sink ", cases)
		var most uint64
		var all sync.WaitGroup
		keys := make([]*Keys, len(steps))
		for i := range keys {
			keys[i] = process(t, b)
			if _, _, err := keys[i].Load(t.Context(), name); err != nil {
				r.Fatal(err)
			}
		}
		for i, mine := range steps {
			k := keys[i]
			own := uint64(0)
			for _, by := range mine {
				own += by
			}
			most = max(most, own)
			all.Go(func() {
				now := uint64(0)
				for _, by := range mine {
					now += by
					if err := k.Save(t.Context(), name, at(now, 2*now)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if got := load(t, process(t, b), name); got != at(most, 2*most) {
			r.Errorf("the position is %+v, want %d", got, most)
		}
	})
	t.Logf("%d cases", min(cases, 30))
}
