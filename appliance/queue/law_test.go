package queue

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/fold"
)

// act is one step of the property below.
type act struct {
	What   string
	Worker int
	Pause  time.Duration
}

var acts = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) act {
	return act{
		What:   rapid.SampledFrom([]string{"start", "start", "die", "close", "drain", "ask", "ask", "ask"}).Draw(t, "what"),
		Worker: rapid.IntRange(0, 2).Draw(t, "worker"),
		Pause:  time.Duration(rapid.IntRange(0, 4000).Draw(t, "ms")) * time.Millisecond,
	}
}), 4, 24)

// lawWorld is the state of one run of the property.
type lawWorld struct {
	t       *testing.T
	q       Queue
	d       Dispatcher
	diary   *diary
	workers map[int]Source
	asked   []<-chan outcome
	count   int
}

func (w *lawWorld) do(a act) {
	s := w.workers[a.Worker]
	switch {
	case a.What == "ask":
		w.asked = append(w.asked, ask(w.t.Context(), w.d, item("dmz", len(w.asked))))
	case a.What == "start" && s == nil:
		w.start(a.Worker)
	case s == nil:
	case a.What == "die":
		vanish(s)
		delete(w.workers, a.Worker)
	case a.What == "close":
		_ = s.Close()
		delete(w.workers, a.Worker)
	case a.What == "drain":
		s.Drain()
		delete(w.workers, a.Worker)
	}
}

func (w *lawWorld) start(n int) {
	w.count++
	id := fmt.Sprintf("w%d.%d", n, w.count)
	s := source(w.t, w.q, inZone(id, "dmz", 2))
	w.workers[n] = s
	go func() {
		for d := range s.Items() {
			go func() {
				w.diary.add(d.Item().ID, id)
				time.Sleep(3 * time.Second)
				_ = d.Answer(context.Background(), &Result{Result: fold.Result{Output: d.Item().ID}})
			}()
		}
	}()
}

// For any order of starts, deaths and stops of workers, an item that gets a
// result was executed at least once, its result is its own, and it is accepted
// once; with a worker that stays, every fresh item gets one.
func TestEveryItemIsAnsweredOnce(t *testing.T) {
	for name, runs := range map[string]int{"memory": 60, "jetstream": 12} {
		t.Run(name, func(t *testing.T) {
			answered, repeated, lost := 0, 0, 0
			for seed := range runs {
				script := acts.Example(seed)
				bubble(t, func(t *testing.T) {
					q := implementations[name](t)
					w := &lawWorld{t: t, q: q, d: dispatcher(t, q, "e"), diary: newDiary(), workers: map[int]Source{}}
					for _, a := range script {
						w.do(a)
						time.Sleep(a.Pause)
						synctest.Wait()
					}
					w.start(9) // it stays
					last := len(w.asked)
					w.asked = append(w.asked, ask(t.Context(), w.d, item("dmz", last)))
					for i, out := range w.asked {
						o := <-out
						switch runs := w.diary.times(o.item.ID); {
						case o.err == nil && (runs < 1 || o.result.Output != o.item.ID):
							t.Errorf("%v: item %d: executed %d times, result %+v", script, i, runs, o.result)
						case o.err != nil && i == last:
							t.Errorf("%v: a fresh item with a worker: %v", script, o.err)
						case o.err != nil:
							lost++
						default:
							answered++
							repeated += min(runs-1, 1)
						}
					}
					time.Sleep(2 * time.Minute)
					checkAccepted(t, q, w, script)
				})
			}
			t.Logf("%d runs: %d items answered, %d of them executed more than once, %d not answered in time", runs, answered, repeated, lost)
			if answered == 0 || repeated == 0 {
				t.Error("the runs do not exercise what they should")
			}
		})
	}
}

// checkAccepted wants that nothing is left anywhere and every answer was
// accepted once.
func checkAccepted(t *testing.T, q Queue, w *lawWorld, script []act) {
	t.Helper()
	var m *metrics
	switch q := q.(type) {
	case *Memory:
		m = q.metrics
	case *JetStream:
		m = q.metrics
		s, err := q.js.Stream(t.Context(), q.names.stream)
		if err != nil {
			t.Fatal(err)
		}
		if info := s.CachedInfo(); info.State.Msgs != 0 {
			t.Errorf("%v: %d items are left on the server", script, info.State.Msgs)
		}
	}
	accepted, answered := testutil.ToFloat64(m.results.WithLabelValues(resultAccepted)), testutil.ToFloat64(m.sent.WithLabelValues("answered"))
	if accepted != answered || testutil.ToFloat64(m.waiting) != 0 {
		t.Errorf("%v: %v results accepted, %v items answered, %v wait", script, accepted, answered, testutil.ToFloat64(m.waiting))
	}
	for _, s := range w.workers {
		if n := len(s.Items()); n > 0 {
			t.Errorf("%v: %d items lie with a worker", script, n)
		}
	}
}
