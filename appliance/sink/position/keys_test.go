package position

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
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
	k, err := New(b.Conn(), b.Names().State, Options{})
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
	e, err := k.bucket.Get(t.Context(), "sink.x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.bucket.Put(t.Context(), "sink.x", []byte("{"), e.Revision, 0); err != nil {
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

// overwrite has the server store an answer over the position of a sink.
func overwrite(t *testing.T, b *bus.Bus, name, ask, body string) {
	t.Helper()
	before, err := process(t, b).bucket.Get(t.Context(), key(name))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Conn().PublishRequest(ask, "$KV."+b.Names().State+"."+key(name), []byte(body)); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		e, err := process(t, b).bucket.Get(t.Context(), key(name))
		if err != nil || time.Now().After(end) {
			t.Fatalf("nothing was stored over %s: %v", name, err)
		}
		if e.Revision > before.Revision {
			return
		}
	}
}

func TestAPositionThatIsWrittenOverIsNotLost(t *testing.T) {
	b := open(t)
	for n, c := range []struct{ what, ask, body string }{
		{"an empty answer", "$JS.API.DIRECT.GET.JAQUE_LOG", `{"seq":1000000}`},
		{"an acknowledgement of a write", "$KV.JAQUE_STATE.sink.other", "{}"},
	} {
		name, logged := fmt.Sprint("x", n), &strings.Builder{}
		k, err := New(b.Conn(), b.Names().State, Options{Logger: slog.New(slog.NewTextHandler(logged, nil))})
		if err != nil {
			t.Fatal(err)
		}
		load0(t, k, name)
		save(t, k, name, at(10, 100))
		for range 3 {
			overwrite(t, b, name, c.ask, c.body)
		}
		if got := load(t, process(t, b), name); got != at(10, 100) {
			t.Errorf("over %s a sink that starts goes on at %+v", c.what, got)
		}
		save(t, k, name, at(11, 110)) // the one that runs
		if got := load(t, process(t, b), name); got != at(11, 110) {
			t.Errorf("over %s a sink that runs cannot go on: %+v", c.what, got)
		}
		if n := testutil.ToFloat64(k.foreign); n != 1 || strings.Count(logged.String(), "position of a sink") != 1 {
			t.Errorf("%v foreign positions were counted:\n%s", n, logged)
		}
	}
}

// load0 loads a position that is not there.
func load0(t *testing.T, k *Keys, name string) {
	t.Helper()
	if _, saved, err := k.Load(t.Context(), name); err != nil || !saved.IsZero() {
		t.Fatalf("load %q: %v, %v", name, saved, err)
	}
}

// A flood pushes out everything that a sink wrote; then it begins anew, and ends for nothing.
func TestASinkWhosePositionIsNowhereBeginsAnew(t *testing.T) {
	b := open(t)
	save(t, process(t, b), "x", at(10, 100))
	for range 20 {
		overwrite(t, b, "x", "$JS.API.DIRECT.GET.JAQUE_LOG", `{"seq":1000000}`)
	}
	k := process(t, b)
	if _, saved, err := k.Load(t.Context(), "x"); err != nil {
		t.Errorf("load: %v, %v", saved, err)
	}
	save(t, k, "x", at(12, 120))
	if got := load(t, process(t, b), "x"); got != at(12, 120) {
		t.Errorf("got %+v", got)
	}
}

// A description of a stream has no room in the bucket.
func TestTheBucketTakesNothingLong(t *testing.T) {
	b := open(t)
	save(t, process(t, b), "x", at(10, 100))
	if _, err := b.Conn().Request("$JS.API.STREAM.INFO.KV_JAQUE_MEMBERS", nil, 5*time.Second); err != nil {
		t.Fatal(err)
	}
	if err := b.Conn().PublishRequest("$JS.API.STREAM.INFO.KV_JAQUE_MEMBERS", "$KV.JAQUE_STATE.sink.x", nil); err != nil {
		t.Fatal(err)
	}
	overwrite(t, b, "y", "$JS.API.DIRECT.GET.JAQUE_LOG", `{"seq":1000000}`) // behind it
	e, err := process(t, b).bucket.Get(t.Context(), key("x"))
	if err != nil || e.Foreign {
		t.Errorf("%+v, %v", e, err)
	}
}
