package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/roles/engine"
)

// hanging hangs in the handlers of one name, for as long as a handler may run.
type hanging struct {
	handlers
	name string
}

func (h *hanging) Handle(ctx context.Context, j engine.HandlerJob) engine.HandlerResult {
	res := h.handlers.Handle(ctx, j)
	if j.Handler.Name == h.name {
		select {
		case <-time.After(j.Timeout):
		case <-ctx.Done():
		}
	}
	return res
}

// ranOf returns what ran of one handler.
func (h *handlers) ranOf(name string) (of []string) {
	for _, line := range h.list() {
		if strings.HasPrefix(line, name+" ") {
			of = append(of, line)
		}
	}
	return of
}

// dropped returns the reasons for which handlers were dropped, by number.
func dropped(t *testing.T, j journal.Journal) map[string]int {
	t.Helper()
	events, err := j.History(t.Context(), journal.Query{Limit: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	why := map[string]int{}
	for _, ev := range ofKind(events, event.HandlerRan) {
		if ev.Facts["outcome"] == "dropped" {
			why[ev.Facts["reason"]]++
			if !strings.Contains(ev.Text, "dropped: "+ev.Facts["reason"]) {
				t.Errorf("text %q does not say why", ev.Text)
			}
		}
	}
	return why
}

// Handlers that hang fill their places and their part of the line, and nothing
// else: checks go on, and each that does not run is on the log.
func TestHandlersThatHangAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := site(1, 20)
		set.ServiceHandler = &object.Handler{Name: "slow"}
		h := &handlers{takes: time.Hour}
		registry := prometheus.NewRegistry()
		g := startWith(t, set, newJournal(), &runner{answer: critical}, func(o *engine.Options) {
			o.Handlers, o.HandlersAtOnce, o.QueuedHandlers, o.Registerer = h, 8, 10, registry
		})
		time.Sleep(4 * time.Minute)
		if got := h.list(); len(got) != 2 || h.most != 2 {
			t.Errorf("%d ran, at most %d at once; want a quarter of the places", len(got), h.most)
		}
		for s := range 20 {
			if st := g.status(object.ServiceID("h0", fmt.Sprint("s", s))); st.Type != object.Hard || st.State != object.Critical {
				t.Errorf("service %d: %+v", s, st)
			}
		}
		if n := gathered(t, registry, "jaque_engine_handlers_dropped_total"); n != 53 {
			t.Errorf("%v of 60 are counted as dropped", n)
		}
		if why := dropped(t, g.j); why["too many handlers wait"] != 53 {
			t.Errorf("dropped on the log: %v", why)
		}
		g.end()
		want := map[string]int{"too many handlers wait": 53, "the engine ended while it waited": 5, "the engine ended while it ran": 2}
		if why := dropped(t, g.j); fmt.Sprint(why) != fmt.Sprint(want) {
			t.Errorf("dropped on the log after the stop: %v, want %v", why, want)
		}
	})
}

func TestAHandlerThatHangsHoldsUpNoOther(t *testing.T) {
	for name, change := range map[string]func(*object.Set){
		"of 300 other services": func(s *object.Set) {
			for _, o := range s.Objects {
				o.Rule.Handler = &object.Handler{Name: "hangs", Shell: "sleep 1000"}
			}
		},
		"of the whole program, for its services": func(s *object.Set) { s.ServiceHandler = &object.Handler{Name: "hangs"} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set := site(10, 30)
				change(set)
				set.HostHandler = &object.Handler{Name: "hosts"}
				quick := *set.Get("h0!s0").Rule // the others share it
				quick.Handler = &object.Handler{Name: "quick"}
				set.Get("h0!s0").Rule = &quick
				h := &hanging{name: "hangs"}
				var bad failing
				r := &runner{answer: func(j engine.Job) fold.Result {
					return fold.Result{State: map[bool]object.State{true: object.Critical}[j.Object.ID != "h0!s0" || bad.http.Load()]}
				}}
				g := startWith(t, set, newJournal(), r, func(o *engine.Options) { o.Handlers = h })
				time.Sleep(2 * time.Minute)
				if h.ranOf("hangs") == nil || h.ranOf("quick") != nil {
					t.Fatalf("the test proves nothing: %d hang", len(h.ranOf("hangs")))
				}
				bad.http.Store(true)
				g.must("h1", fold.Result{State: object.Critical, Output: "gone"})
				time.Sleep(70 * time.Second)
				if got := h.ranOf("quick"); len(got) == 0 {
					t.Error("the other handler has not run")
				}
				if got := h.ranOf("hosts"); !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "hosts h1 ") }) {
					t.Errorf("the handler of all hosts ran %q", got)
				}
				g.end()
			})
		})
	}
}

func TestAHandlerThatWaitsTooLongIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := site(1, 20)
		set.ServiceHandler = &object.Handler{Name: "slow"}
		g := startWith(t, set, newJournal(), &runner{answer: critical}, func(o *engine.Options) {
			o.Handlers, o.HandlersAtOnce = &handlers{takes: time.Hour}, 4
		})
		time.Sleep(9 * time.Minute)
		if why := dropped(t, g.j); fmt.Sprint(why) != "map[it waited longer than 5m0s for a place:59]" {
			t.Errorf("dropped: %v", why)
		}
		g.end()
	})
}

func TestAHandlerWhoseObjectChangedMeanwhileIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bad failing
		h := &handlers{takes: 150 * time.Second}
		r := &runner{answer: func(engine.Job) fold.Result {
			return fold.Result{State: map[bool]object.State{true: object.Critical}[bad.http.Load()]}
		}}
		set := site(1, 1)
		set.Get("h0!s0").Rule.Handler = &object.Handler{Name: "own"}
		g := startWith(t, set, newJournal(), r, func(o *engine.Options) { o.Handlers, o.HandlerTimeout = h, time.Hour })
		time.Sleep(2 * time.Minute)
		bad.http.Store(true)
		for len(h.list()) == 0 {
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute) // the next attempts wait for the first one's handler
		bad.http.Store(false)
		time.Sleep(3 * time.Minute)
		got, why := h.list(), dropped(t, g.j)
		if len(got) != 2 || !strings.HasPrefix(got[1], "own h0!s0 OK") || why["the state changed to OK while it waited"] == 0 {
			t.Errorf("ran %q, dropped %v", got, why)
		}
		g.end()
	})
}
