package projection_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
)

// telling makes the next accepted event of an object that tells ada by mail and bob
// by mail and telegram.
func telling(p *projection.Projection, id object.ID, seq uint64, kind string) *event.Event {
	e := decision(p, id, seq, object.Critical, object.Hard)
	e.Status.Problem = 500
	if kind == "RECOVERY" {
		e.Status.State, e.Status.Problem = object.OK, 0
	}
	e.Notes = []event.Note{{Kind: kind, Send: true, Number: 1, Group: object.Grouping{By: object.GroupRoot}, People: []event.Person{
		{Name: "ada", Told: true, Channels: []string{"email"}},
		{Name: "bob", Told: true, Channels: []string{"email", "telegram"}},
		{Name: "cai", Channels: []string{"email"}},
	}}}
	return e
}

// outcome makes the event that says what became of a request.
func outcome(r *deliver.Pending, seq uint64, k event.Kind) *event.Event {
	return &event.Event{
		Stream: event.Log, Seq: seq, Version: 1, ID: fmt.Sprint("outcome/", seq), Kind: k, Object: r.Event.Object, Time: object.Time(1000 * seq),
		Facts: map[string]string{
			event.FactRequest: r.ID, event.FactContact: r.Contact, event.FactChannel: r.Channel, event.FactGroup: "root=h",
			event.FactThread: "t1", event.FactAttempts: "3", event.FactReason: "421 later",
		},
	}
}

func ids(all []*deliver.Pending) (out []string) {
	for _, p := range all {
		out = append(out, p.ID)
	}
	return out
}

func TestARequestIsOpenUntilItsOutcome(t *testing.T) {
	p := projection.New(set(2))
	p.Apply(telling(p, "h!s0", 1, "PROBLEM"))
	open := p.OpenRequests()
	if len(open) != 3 || open[0].Contact != "ada" || open[2].Channel != "telegram" || open[0].Since != 500 {
		t.Fatalf("open are %v", ids(open))
	}
	p.Apply(outcome(open[1], 2, event.NotificationFailed))
	if r := p.OpenRequest(open[1].ID); r == nil || r.Failures != 3 || r.Reason != "421 later" || open[1].Failures != 0 {
		t.Errorf("after a failed attempt it is %+v", r)
	}
	p.Apply(outcome(open[1], 3, event.NotificationDelivered))
	p.Apply(outcome(open[2], 4, event.NotificationAbandoned))
	p.Apply(outcome(open[2], 5, event.NotificationDelivered))
	if left := p.OpenRequests(); !slices.Equal(ids(left), ids(open[:1])) || p.RepeatedOutcomes() != 1 {
		t.Errorf("open are %v, %d outcomes were repeated", ids(left), p.RepeatedOutcomes())
	}
	want := deliver.Last{Time: 3000, Thread: "t1"}
	if got := p.World().Sent(deliver.GroupKey{Contact: "bob", Channel: "email", Group: "root=h"}); got != want {
		t.Errorf("the group's newest message: %+v, want %+v", got, want)
	}
}

// Whoever waits for what became of a request hears it once, with the request.
func TestWhatIsSettledIsTold(t *testing.T) {
	p := projection.New(set(2))
	p.Apply(telling(p, "h!s0", 1, "PROBLEM"))
	open := p.OpenRequests()
	var told []string
	p.OnSettled(func(r *deliver.Pending, e *event.Event) {
		told = append(told, fmt.Sprint(r.ID == open[1].ID, " ", e.Kind))
	})
	p.Apply(outcome(open[1], 2, event.NotificationFailed))
	p.Apply(outcome(open[1], 3, event.NotificationDelivered))
	p.Apply(outcome(open[1], 4, event.NotificationDelivered))
	if want := []string{"true notification.delivered"}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}

// The epochs of those who deliver are of another membership than those of decisions.
func TestTheEpochOfAnOutcomeFencesNothing(t *testing.T) {
	p := projection.New(set(2))
	p.Apply(telling(p, "h!s0", 1, "PROBLEM"))
	before := p.Epoch()
	done := outcome(p.OpenRequests()[0], 2, event.NotificationDelivered)
	done.Epoch = before + 1000
	p.Apply(done)
	if p.Epoch() != before || p.Apply(telling(p, "h!s0", 3, "RECOVERY")) != fold.Accepted {
		t.Errorf("the epoch is %d, was %d", p.Epoch(), before)
	}
}

// Only what the log accepted is a request.
func TestARefusedEventAsksForNothing(t *testing.T) {
	p := projection.New(set(2))
	p.Apply(decision(p, "h!s0", 1, object.OK, object.Hard))
	e := telling(p, "h!s0", 2, "PROBLEM")
	e.Prev = 77
	if o := p.Apply(e); o != fold.Conflict || len(p.OpenRequests()) != 0 {
		t.Errorf("%s leaves %v open", o, ids(p.OpenRequests()))
	}
	p.Apply(telling(p, "h!s1", 3, "PROBLEM"))
	if o := p.Apply(telling(p, "h!s1", 3, "PROBLEM")); o != fold.Repeated || len(p.OpenRequests()) != 3 {
		t.Errorf("%s leaves %d open", o, len(p.OpenRequests()))
	}
}

// script draws events about a few objects, some of which tell, and outcomes.
func script(t *rapid.T) []*event.Event {
	p, events := projection.New(set(3)), []*event.Event(nil)
	known := []*deliver.Pending{}
	for i := range rapid.IntRange(0, 60).Draw(t, "events") {
		seq, id := uint64(i+1), object.ServiceID("h", fmt.Sprint("s", rapid.IntRange(0, 2).Draw(t, "svc")))
		var e *event.Event
		switch rapid.IntRange(0, 5).Draw(t, "what") {
		case 0:
			e = decision(p, id, seq, object.OK, object.Hard)
		case 1, 2:
			e = telling(p, id, seq, rapid.SampledFrom([]string{"PROBLEM", "RECOVERY", "CUSTOM"}).Draw(t, "kind"))
		default:
			if len(known) == 0 {
				continue
			}
			k := rapid.SampledFrom([]event.Kind{event.NotificationDelivered, event.NotificationFailed, event.NotificationAbandoned}).Draw(t, "outcome")
			e = outcome(rapid.SampledFrom(known).Draw(t, "request"), seq, k)
		}
		p.Apply(e)
		events = append(events, e)
		known = append(known, p.OpenRequests()...)
	}
	return events
}

// A snapshot and the tail behind it give what the whole log gives, also where the
// snapshot was ahead of its position.
func TestRequestsOfASnapshotAndTheTailAreThoseOfTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := script(t)
		whole := projection.New(set(3))
		for _, e := range events {
			whole.Apply(e)
		}
		cut := rapid.IntRange(0, len(events)).Draw(t, "cut")
		behind := rapid.IntRange(0, cut).Draw(t, "position")
		first := projection.New(set(3))
		for _, e := range events[:cut] {
			first.Apply(e)
		}
		_, data := first.Encode()
		second := projection.New(set(3))
		at := journal.Position{}
		if behind > 0 {
			at.Log = events[behind-1].Seq
		}
		if err := second.Restore(at, data); err != nil {
			t.Fatal(err)
		}
		for _, e := range events[behind:] {
			second.Apply(e)
		}
		if got, want := requestsOf(second), requestsOf(whole); got != want {
			t.Fatalf("snapshot and tail\n%s\nwhole\n%s", got, want)
		}
	})
}

// requestsOf returns everything about the requests as text.
func requestsOf(p *projection.Projection) string {
	var text strings.Builder
	fmt.Fprintln(&text, p.RepeatedOutcomes(), p.GroupSent(deliver.GroupKey{Contact: "bob", Channel: "email", Group: "root=h"}))
	for _, r := range p.OpenRequests() {
		fmt.Fprintln(&text, r.ID, r.Seq, r.Time, r.Since, r.Root, r.Failures, r.Reason, string(event.AppendJSON(nil, r.Event)))
	}
	return text.String()
}

// Whoever begins to watch at any time, with the fold going on, misses nothing and
// hears nothing twice.
func TestWatchingHasNoGap(t *testing.T) {
	p := projection.New(set(3))
	mirror, order := map[string]bool{}, sync.Mutex{}
	started, done := make(chan bool), make(chan bool)
	go func() {
		defer close(done)
		for seq := uint64(1); seq <= 400; seq++ {
			if open := p.OpenRequests(); seq%3 == 0 && len(open) > 0 {
				p.Apply(outcome(open[0], seq, event.NotificationDelivered))
			} else {
				p.Apply(telling(p, object.ServiceID("h", fmt.Sprint("s", seq%3)), seq, "PROBLEM"))
			}
			if seq == 50 {
				close(started)
			}
		}
	}()
	<-started
	order.Lock() // what comes before the first list is known waits for it
	open, cancel := p.WatchRequests(func(added []*deliver.Pending, ended []string) {
		order.Lock()
		defer order.Unlock()
		for _, r := range added {
			if mirror[r.ID] {
				t.Errorf("%s was added twice", r.ID)
			}
			mirror[r.ID] = true
		}
		for _, id := range ended {
			if !mirror[id] {
				t.Errorf("%s ended and was not open", id)
			}
			delete(mirror, id)
		}
	})
	for _, r := range open {
		mirror[r.ID] = true
	}
	order.Unlock()
	<-done
	all := p.OpenRequests()
	for _, r := range all {
		if !mirror[r.ID] {
			t.Errorf("%s is open and was not told", r.ID)
		}
	}
	if len(all) != len(mirror) {
		t.Errorf("%d are open, the watcher has %d", len(all), len(mirror))
	}
	cancel()
	p.Apply(telling(p, "h!s0", 401, "PROBLEM"))
	if len(mirror) != len(all) {
		t.Error("it was called after it had cancelled")
	}
}

// A request that a snapshot brings back is told to whoever watches already.
func TestRestoringTellsTheWatchers(t *testing.T) {
	p := projection.New(set(1))
	p.Apply(telling(p, "h!s0", 1, "PROBLEM"))
	at, data := p.Encode()
	q := projection.New(set(1))
	var heard []string
	_, cancel := q.WatchRequests(func(added []*deliver.Pending, _ []string) { heard = append(heard, ids(added)...) })
	defer cancel()
	if err := q.Restore(at, data); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(heard, ids(p.OpenRequests())) {
		t.Errorf("heard of %v", heard)
	}
}

// More than one record of a snapshot may be needed.
func TestManyOpenRequestsSurviveASnapshot(t *testing.T) {
	p := projection.New(set(0))
	long := make([]byte, 8<<10)
	for i := range long {
		long[i] = 'a' + byte(i*7%23)
	}
	for seq := range uint64(200) {
		e := telling(p, object.ID(fmt.Sprint("host", seq)), seq+1, "PROBLEM")
		e.Measure.Long = string(long)
		p.Apply(e)
	}
	at, data := p.Encode()
	q := projection.New(set(0))
	if err := q.Restore(at, data); err != nil {
		t.Fatal(err)
	}
	if got, want := requestsOf(q), requestsOf(p); got != want || len(q.OpenRequests()) != 600 {
		t.Errorf("%d are open after it", len(q.OpenRequests()))
	}
}

// Nearly every event tells nobody; the fold of requests must not be felt there.
func TestEventsWithoutNotesCostTheRequestsNothing(t *testing.T) {
	e := &event.Event{Kind: event.CheckResult}
	if n := testing.AllocsPerRun(100, func() {
		if deliver.Concerns(e) {
			t.Error("it concerns the requests")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
