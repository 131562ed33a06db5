package roles

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/membership"
)

// joined is what an engine says of itself when it has joined others.
func joined(seq uint64, id, delivery string, others ...string) event.Event {
	e := saying(seq, event.EngineJoined, id)
	e.Facts["members"] = strings.Join(append([]string{id}, others...), ",")
	if delivery != "" {
		e.Facts[event.FactDelivery] = delivery
	}
	return e
}

func left(seq uint64, id, why string) event.Event {
	e := saying(seq, event.EngineLeft, id)
	e.Facts["why"] = why
	return e
}

func loaded(seq uint64, id, generation string) event.Event {
	e := saying(seq, event.ConfigLoaded, id)
	e.Facts["generation"] = generation
	return e
}

func raised(seq, epoch uint64, members ...string) event.Event {
	e := saying(seq, event.EpochRaised, members[0])
	e.Epoch = epoch
	e.Facts = map[string]string{"members": strings.Join(members, ",")}
	return e
}

// saying is an event of an engine; its run is named after it.
func saying(seq uint64, k event.Kind, id string) event.Event {
	return event.Event{
		Kind: k, Seq: seq, Epoch: seq, Writer: id, Time: object.At(time.Now()), Facts: map[string]string{"engine": id, "instance": id + "-run"},
	}
}

func TestWhoDeliversIsSaidByTheEnginesThatLive(t *testing.T) {
	for _, c := range []struct {
		name  string
		says  []event.Event
		local bool
	}{
		{"nobody has said anything", nil, false},
		{"an engine that says nothing delivers by itself", []event.Event{joined(1, "a", "")}, true},
		{"one that leaves it to notifiers", []event.Event{joined(1, "a", "notifier")}, false},
		{"one that was started again with another value", []event.Event{joined(1, "a", "local"), joined(2, "a", "notifier")}, false},
		{"the newest of two leaves it to notifiers", []event.Event{joined(1, "a", "local"), joined(2, "b", "notifier", "a")}, true},
		{"the newest of two delivers by itself", []event.Event{joined(1, "a", "notifier"), joined(2, "b", "local", "a")}, true},
		{"the one that did has stopped", []event.Event{joined(1, "a", "local"), joined(2, "b", "notifier", "a"), left(3, "a", "stopped")}, false},
		{"the one that did has died", []event.Event{joined(1, "a", "local"), joined(2, "b", "notifier", "a"), raised(3, 3, "b")}, false},
		{"it was gone when the next one came", []event.Event{joined(1, "a", "local"), joined(2, "b", "notifier")}, false},
		{"an older run of it has left", []event.Event{joined(1, "a", "notifier"), joined(3, "a", "local"), leftRun(4, "a", "another")}, true},
		{"all have stopped, the newest delivered", []event.Event{joined(1, "a", "local"), left(2, "a", "stopped")}, true},
		{"all have stopped, the newest did not", []event.Event{joined(1, "a", "notifier"), left(2, "a", "stopped")}, false},
		{"one joined under a later epoch than another lists", []event.Event{joined(2, "b", "local", "a"), raised(3, 1, "a"), joined(4, "a", "notifier", "b")}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := &engines{}
			for i := range c.says {
				x.hear(&c.says[i])
			}
			if x.local() != c.local {
				t.Errorf("engines deliver: %t, want %t; live are %+v", x.local(), c.local, x.live())
			}
			if said := strings.Join(x.deliver(), ""); strings.Contains(said, "delivers notifications by itself") != c.local {
				t.Errorf("a notifier says %q", said)
			}
		})
	}
}

func leftRun(seq uint64, id, instance string) event.Event {
	e := left(seq, id, "expired")
	e.Facts["instance"] = instance
	return e
}

// In whichever order events are heard of, once or twice: what is known is the same.
func TestWhatIsKnownOfEnginesDependsOnTheLogAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := []string{"a", "b", "c"}
		var all []event.Event
		for seq := uint64(1); seq <= uint64(rapid.IntRange(1, 20).Draw(t, "events")); seq++ {
			id := rapid.SampledFrom(ids).Draw(t, "id")
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				all = append(all, joined(seq, id, rapid.SampledFrom([]string{"local", "notifier"}).Draw(t, "delivery"), rapid.SampledFrom(ids).Draw(t, "other")))
			case 1:
				all = append(all, left(seq, id, "stopped"))
			case 2:
				all = append(all, raised(seq, seq, id, rapid.SampledFrom(ids).Draw(t, "other")))
			case 3:
				all = append(all, loaded(seq, id, fmt.Sprint("generation", seq)))
			}
		}
		inOrder, otherwise := &engines{}, &engines{}
		for i := range all {
			inOrder.hear(&all[i])
		}
		mixed := rapid.Permutation(all).Draw(t, "order")
		half := rapid.IntRange(0, len(mixed)).Draw(t, "half")
		otherwise.take(mixed[:half]...)
		for i := range mixed {
			otherwise.hear(&mixed[i])
		}
		if a, b := untimed(inOrder.now), untimed(otherwise.now); !reflect.DeepEqual(a, b) {
			t.Fatalf("in order %+v, otherwise %+v", a, b)
		}
		if in := inOrder.view(); !reflect.DeepEqual(in, otherwise.view()) {
			t.Fatalf("the view is %+v and %+v", in, otherwise.view())
		}
	})
}

// untimed is a roll without when things were heard of.
func untimed(r roll) roll {
	r = r.after(&said{})
	delete(r.all, "")
	for id, n := range r.all {
		n.loaded = time.Time{}
		r.all[id] = n
	}
	return r
}

func TestOldEventsAreForgottenAndTheirEffectIsNot(t *testing.T) {
	x := &engines{}
	x.take(joined(1, "a", "notifier"))
	for seq := uint64(2); seq < 2*keepSaid+100; seq++ {
		e := loaded(seq, "a", fmt.Sprint("generation", seq))
		x.hear(&e)
	}
	if len(x.heard) >= 2*keepSaid || x.local() || len(x.live()) != 1 || x.live()[0].Generation != fmt.Sprint("generation", 2*keepSaid+99) {
		t.Fatalf("%d events are kept, live are %+v", len(x.heard), x.live())
	}
	old := joined(1, "a", "local")
	if x.hear(&old); x.local() {
		t.Error("an event is taken in a second time")
	}
}

func TestThatEnginesDifferIsSaid(t *testing.T) {
	now := time.Now()
	same := []event.Event{joined(1, "a", "local"), loaded(2, "a", "1111222233"), joined(3, "b", "local", "a")}
	for _, c := range []struct {
		name string
		me   string
		says []event.Event
		at   time.Duration
		want []string // parts of the sentences; none = no trouble
	}{
		{"they work by the same config", "a", append(same, loaded(4, "b", "1111222233")), time.Hour, nil},
		{"one is reloaded just before the other", "a", append(same, loaded(4, "b", "aaaabbbbcc")), 30 * time.Second, nil},
		{
			"the other one was not", "a", append(same, loaded(4, "b", "aaaabbbbcc")), 2 * time.Minute,
			[]string{"engine b runs config generation aaaabbbb, this one 11112222: the engines judge by different configs"},
		},
		{
			"a dashboard names both", "", append(same, loaded(4, "b", "aaaabbbbcc")), 2 * time.Minute,
			[]string{"engine a runs config generation 11112222, engine b runs config generation aaaabbbb: "},
		},
		{"the one that differs has left", "a", append(same, loaded(4, "b", "aaaabbbbcc"), left(5, "b", "stopped")), 2 * time.Minute, nil},
		{
			"one of them is missed", "a", append(same, loaded(4, "b", "1111222233"), left(5, "b", "expired")), 10 * time.Minute,
			[]string{"engine b has been missing since "},
		},
		{"for long", "a", append(same, loaded(4, "b", "1111222233"), left(5, "b", "expired")), 2 * time.Hour, nil},
		{"it was started again", "a", append(same, left(4, "b", "expired"), joined(5, "b", "local", "a"), loaded(6, "b", "1111222233")), 10 * time.Minute, nil},
		{
			"they differ in who delivers", "b",
			[]event.Event{joined(1, "a", "local"), joined(2, "b", "notifier", "a"), joined(3, "c", "local", "a", "b")},
			0,
			[]string{"the engines differ in -notify-delivery: a, c with local, b with notifier"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := &engines{}
			x.take(c.says...)
			got := x.trouble(c.me, now.Add(c.at))
			if len(got) != len(c.want) {
				t.Fatalf("the trouble is %q, want %q", got, c.want)
			}
			for i := range got {
				if !strings.Contains(got[i], c.want[i]) {
					t.Errorf("the trouble is %q, want %q", got[i], c.want[i])
				}
			}
		})
	}
}

// pages is a log of which one page is read at a time, newest first.
type pages struct {
	events []event.Event
	asked  int
}

func (p *pages) History(_ context.Context, q journal.Query) (all []event.Event, err error) {
	p.asked++
	for i := len(p.events) - 1; i >= 0 && len(all) < q.Limit; i-- {
		if e := p.events[i]; q.Before.Log == 0 || e.Seq < q.Before.Log {
			all = append(all, e)
		}
	}
	return all, nil
}

func TestAnEngineThatRunsForLongIsFoundBehindOthersThatCameAndWent(t *testing.T) {
	p := &pages{events: []event.Event{joined(1, "a", "notifier"), loaded(2, "a", "g1")}}
	for seq := uint64(3); seq < 2000; seq += 3 {
		p.events = append(p.events, joined(seq, "b", "notifier", "a"), loaded(seq+1, "b", "g1"), left(seq+2, "b", "stopped"))
	}
	x := &engines{}
	if err := x.recall(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if live := x.live(); len(live) != 1 || live[0].ID != "a" || live[0].Generation != "g1" || live[0].Joined.IsZero() {
		t.Errorf("live are %+v after %d pages", live, p.asked)
	}
	few := &pages{events: p.events[:2]}
	if err := (&engines{}).recall(t.Context(), few); err != nil || few.asked != 1 {
		t.Errorf("a short log is read %d times, %v", few.asked, err)
	}
}

func TestWhoOwnsAnObjectIsToldFromTheLog(t *testing.T) {
	x := &engines{}
	x.take(joined(1, "a", "local"), joined(2, "b", "local", "a"), joined(3, "c", "local", "a", "b"))
	v := membership.View{Epoch: 3, Members: []membership.Member{{ID: "a", Instance: "a-run"}, {ID: "b", Instance: "b-run"}, {ID: "c", Instance: "c-run"}}}
	if got := x.view(); !reflect.DeepEqual(got, v) {
		t.Fatalf("the view is %+v", got)
	}
	x.take(left(4, "b", "expired"))
	if got := x.view(); len(got.Members) != 2 || got.Has(v.Members[1]) {
		t.Errorf("the view is %+v after one has died", got)
	}
}
