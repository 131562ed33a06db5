package queue

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// Both implementations pass the same contract, each case in its own time.
func TestQueue(t *testing.T) {
	for _, c := range contract {
		t.Run(c.name, func(t *testing.T) { inBubbles(t, c.run) })
	}
	t.Logf("%d cases with %d implementations", len(contract), len(implementations))
}

var contract = []struct {
	name string
	run  func(t *testing.T, q Queue)
}{
	{"a result comes back to the engine that asked", roundTrip},
	{"workers take the items of their own zones", zones},
	{"a worker never holds more than it can run", backPressure},
	{"an item of a worker that died is redone by another one", redelivery},
	{"an item that takes longer than the lease stays with its worker", longItem},
	{"an item that is given back goes to another worker at once", givenBack},
	{"a zone without workers is named when the item's life is over", nobody},
	{"what waited past its life is never executed", nothingStale},
	{"a zone that has long been deserted is not waited for", deserted},
	{"a worker that began and died is named", lostWorker},
	{"a second result of an item is not accepted", acceptedOnce},
	{"a worker that leaves finishes what it has and gets nothing more", drained},
	{"a wait ends with its context and with its engine", endedWaits},
	{"workers are known with their zones, capacity and load", fleetKnown},
	{"a worker without zones or capacity is refused", refusedWorkers},
}

func roundTrip(t *testing.T, q Queue) {
	a, b := dispatcher(t, q, "engine-a"), dispatcher(t, q, "engine b")
	go work(source(t, q, inZone("w1", "dmz", 4)), "w1", 20*time.Millisecond, newDiary())
	for i, d := range []Dispatcher{a, b} {
		r, err := d.Do(t.Context(), item("dmz", i))
		if err != nil || r.State != object.Warning || r.Output != "by w1" || r.Worker != "w1" || r.Took != 20_000 {
			t.Errorf("engine %d: %+v, %v", i, r, err)
		}
	}
}

func zones(t *testing.T, q Queue) {
	d, b := dispatcher(t, q, "e"), newDiary()
	go work(source(t, q, inZone("w1", "dmz", 4)), "w1", time.Millisecond, b)
	go work(source(t, q, Worker{ID: "w2", Zones: []string{"büro 2.OG", "default", "default"}, Capacity: 4}), "w2", time.Millisecond, b)
	items := []*Item{item("dmz", 1), item("dmz", 2), item("default", 3), item("büro 2.OG", 4)}
	out := ask(t.Context(), d, items...)
	for range items {
		o := <-out
		want := map[string]string{"dmz": "w1"}[o.item.Zone]
		if want == "" {
			want = "w2"
		}
		if o.err != nil || o.result.Worker != want || b.times(o.item.ID) != 1 {
			t.Errorf("item of zone %s: %+v, %v, executed %d times", o.item.Zone, o.result, o.err, b.times(o.item.ID))
		}
	}
}

func backPressure(t *testing.T, q Queue) {
	d := dispatcher(t, q, "e")
	s := source(t, q, inZone("w1", "dmz", 3))
	items := make([]*Item, 8)
	for i := range items {
		items[i] = item("dmz", i)
	}
	out := ask(t.Context(), d, items...)
	for done := 0; done < len(items); {
		time.Sleep(time.Second)
		synctest.Wait()
		n := len(s.Items())
		if want := min(3, len(items)-done); n != want {
			t.Fatalf("after %d answers the worker has %d items, want %d", done, n, want)
		}
		for range n {
			if err := (<-s.Items()).Answer(t.Context(), &Result{}); err != nil {
				t.Fatal(err)
			}
			done++
		}
	}
	for range items {
		if o := <-out; o.err != nil {
			t.Error(o.err)
		}
	}
}

func redelivery(t *testing.T, q Queue) {
	d, b := dispatcher(t, q, "e"), newDiary()
	dying := source(t, q, inZone("w1", "dmz", 4))
	out := ask(t.Context(), d, item("dmz", 1))
	began := time.Now()
	held := <-dying.Items()
	vanish(dying)
	go work(source(t, q, inZone("w2", "dmz", 4)), "w2", time.Second, b)
	o := <-out
	if o.err != nil || o.result.Worker != "w2" || b.times(held.Item().ID) != 1 {
		t.Fatalf("%+v, %v", o.result, o.err)
	}
	if took := time.Since(began); took > o.item.Timeout {
		t.Errorf("redone after %s, want within its timeout of %s", took, o.item.Timeout)
	}
}

func longItem(t *testing.T, q Queue) {
	d, b := dispatcher(t, q, "e"), newDiary()
	go work(source(t, q, inZone("w1", "dmz", 4)), "w1", 29*time.Second, b)
	go work(source(t, q, inZone("w2", "dmz", 4)), "w2", 29*time.Second, b)
	it := item("dmz", 1)
	if _, err := d.Do(t.Context(), it); err != nil || b.times(it.ID) != 1 {
		t.Errorf("executed %d times, %v", b.times(it.ID), err)
	}
}

func givenBack(t *testing.T, q Queue) {
	d, b := dispatcher(t, q, "e"), newDiary()
	s := source(t, q, inZone("w1", "dmz", 4)) // it still asks for three more
	out := ask(t.Context(), d, item("dmz", 1))
	<-s.Items()
	go work(source(t, q, inZone("w2", "dmz", 1)), "w2", 0, b)
	began := time.Now()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if o := <-out; o.err != nil || o.result.Worker != "w2" || time.Since(began) > 2*time.Second {
		t.Errorf("%+v after %s, %v", o.result, time.Since(began), o.err)
	}
}

func nobody(t *testing.T, q Queue) {
	d := dispatcher(t, q, "e")
	began := time.Now()
	_, err := d.Do(t.Context(), item("dmz", 1))
	var open *Unanswered
	if !errors.As(err, &open) || open.Live != 0 || !strings.Contains(err.Error(), "no worker serves zone dmz") {
		t.Errorf("error %v", err)
	}
	if took := time.Since(began); took < 30*time.Second || took > 31*time.Second {
		t.Errorf("said after %s, want when its life of 30 s is over", took)
	}
}

func nothingStale(t *testing.T, q Queue) {
	d, b := dispatcher(t, q, "e"), newDiary()
	out := ask(t.Context(), d, item("dmz", 1), item("dmz", 2))
	for range 2 {
		if o := <-out; o.err == nil {
			t.Fatal("an answer without a worker")
		}
	}
	time.Sleep(2 * time.Second) // the server counts whole seconds
	go work(source(t, q, inZone("w1", "dmz", 4)), "w1", 0, b)
	time.Sleep(20 * time.Second)
	if len(b.runs) > 0 {
		t.Errorf("executed %v though nobody waits", b.runs)
	}
	it := item("dmz", 3)
	if _, err := d.Do(t.Context(), it); err != nil || len(b.runs) != 1 {
		t.Errorf("a fresh item: executed %v, %v", b.runs, err)
	}
}

func deserted(t *testing.T, q Queue) {
	d := dispatcher(t, q, "e")
	time.Sleep(2 * time.Minute)
	began := time.Now()
	_, err := d.Do(t.Context(), item("dmz", 1))
	if err == nil || !strings.Contains(err.Error(), "no worker serves zone dmz") || time.Since(began) > time.Second {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
	if d.Fleet().Deserted("dmz") < 2*time.Minute {
		t.Errorf("deserted for %s", d.Fleet().Deserted("dmz"))
	}
	go work(source(t, q, inZone("w1", "dmz", 4)), "w1", 0, newDiary())
	time.Sleep(time.Second)
	if _, err := d.Do(t.Context(), item("dmz", 1)); err != nil {
		t.Errorf("with a worker: %v", err)
	}
}

func lostWorker(t *testing.T, q Queue) {
	if _, memory := q.(*Memory); memory {
		return // a worker in the same process cannot be lost alone
	}
	d := dispatcher(t, q, "e")
	s := source(t, q, inZone("w1", "dmz", 4))
	out := ask(t.Context(), d, item("dmz", 1))
	<-s.Items()
	time.Sleep(5 * time.Second) // long enough to say who has it
	vanish(s)
	o := <-out
	if o.err == nil || !strings.Contains(o.err.Error(), "the worker was lost: w1 began") {
		t.Errorf("%v", o.err)
	}
}

func acceptedOnce(t *testing.T, q Queue) {
	d := dispatcher(t, q, "e")
	s := source(t, q, inZone("w1", "dmz", 4))
	out := ask(t.Context(), d, item("dmz", 1))
	h := <-s.Items()
	for i := range 3 {
		if err := h.Answer(t.Context(), &Result{}); err != nil {
			t.Fatalf("answer %d: %v", i, err)
		}
	}
	if o := <-out; o.err != nil {
		t.Error(o.err)
	}
	time.Sleep(time.Minute)
	if n := len(s.Items()); n != 0 {
		t.Errorf("%d items came again", n)
	}
}

func drained(t *testing.T, q Queue) {
	d, b := dispatcher(t, q, "e"), newDiary()
	s := source(t, q, inZone("w1", "dmz", 2))
	first := ask(t.Context(), d, item("dmz", 1))
	h := <-s.Items()
	s.Drain()
	time.Sleep(time.Second)
	if n := d.Fleet().Live("dmz"); n != 0 {
		t.Errorf("%d workers live in the zone, want none", n)
	}
	second := ask(t.Context(), d, item("dmz", 2))
	time.Sleep(time.Second)
	if n := len(s.Items()); n != 0 {
		t.Errorf("a worker that leaves got %d items", n)
	}
	if err := h.Answer(t.Context(), &Result{}); err != nil {
		t.Error(err)
	}
	if o := <-first; o.err != nil {
		t.Errorf("what it had: %v", o.err)
	}
	go work(source(t, q, inZone("w2", "dmz", 2)), "w2", 0, b)
	if o := <-second; o.err != nil || o.result.Worker != "w2" {
		t.Errorf("what came later: %+v, %v", o.result, o.err)
	}
}

func endedWaits(t *testing.T, q Queue) {
	d := dispatcher(t, q, "e")
	ctx, cancel := context.WithCancel(t.Context())
	stopped := ask(ctx, d, item("dmz", 1))
	closed := ask(t.Context(), d, item("dmz", 2))
	time.Sleep(time.Second)
	cancel()
	if o := <-stopped; !errors.Is(o.err, context.Canceled) {
		t.Errorf("a stopped wait: %v", o.err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if o := <-closed; !errors.Is(o.err, ErrClosed) {
		t.Errorf("a wait of an engine that closed: %v", o.err)
	}
	if d.Err() != nil {
		t.Errorf("a close is not a failure: %v", d.Err())
	}
}

func fleetKnown(t *testing.T, q Queue) {
	early := source(t, q, inZone("w2", "dmz", 4))
	d := dispatcher(t, q, "e")
	late := source(t, q, Worker{ID: "w1", Version: "1.1", Zones: []string{"dmz", "default"}, Capacity: 6})
	ask(t.Context(), d, item("default", 1))
	<-late.Items()
	time.Sleep(6 * time.Second)
	all := d.Fleet().Workers()
	if len(all) != 2 || all[0].ID != "w1" || all[0].Version != "1.1" || len(all[0].Zones) != 2 || all[0].Capacity != 6 || all[0].Running != 1 || all[1].ID != "w2" {
		t.Errorf("workers %+v", all)
	}
	if d.Fleet().Live("dmz") != 2 || d.Fleet().Live("default") != 1 || d.Fleet().Live("x") != 0 {
		t.Error("zones are served by others")
	}
	vanish(early)
	time.Sleep(20 * time.Second)
	z := d.Fleet().Zones()
	if len(z) != 2 || z[0].Zone != "default" || z[1].Workers != 1 || z[1].Capacity != 6 {
		t.Errorf("zones %+v", z)
	}
	_ = late.Close()
	time.Sleep(3 * time.Second)
	if d.Fleet().Live("default") != 0 || d.Fleet().Deserted("default") < 2*time.Second || len(d.Fleet().Zones()) != 2 {
		t.Errorf("after the last worker left: %+v, deserted for %s", d.Fleet().Zones(), d.Fleet().Deserted("default"))
	}
}

func refusedWorkers(t *testing.T, q Queue) {
	for want, w := range map[string]Worker{
		"needs a name":   inZone("", "dmz", 1),
		"serves no zone": {ID: "w", Capacity: 1},
		"capacity of 0":  inZone("w", "dmz", 0),
		"1 to 255":       inZone("w", "", 1),
	} {
		if _, err := q.Source(t.Context(), w); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}
