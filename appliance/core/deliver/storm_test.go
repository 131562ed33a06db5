package deliver_test

import (
	"fmt"
	"testing"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/object"
)

// storm makes a switch with so many services behind it fail over some seconds, each
// told to three contacts over two channels; services fail before the switch is
// known to be down.
func storm(l *log, services, seconds int, each func(second int, all []*deliver.Pending)) {
	contacts := []string{"ada", "ada/telegram", "bob", "bob/telegram", "cai", "cai/telegram"}
	each(0, l.ask(ask{id: "sw1", group: byRoot, contacts: contacts}))
	for i := range services {
		second := i * seconds / services
		each(second, l.ask(ask{id: object.ServiceID(fmt.Sprint("host", i/10), fmt.Sprint("s", i%10)), second: second, group: byRoot, contacts: contacts}))
	}
}

// A switch takes 5,000 services with it over ten minutes, while twenty problems that
// have nothing to do with it happen elsewhere.
func TestAStormIsThreeMessagesAndHidesNothing(t *testing.T) {
	l, p := &log{}, deliver.NewPlanner(deliver.Limits{})
	w := &world{roots: map[object.ID]object.ID{}, problems: map[object.ID]object.Time{"sw1": start}}
	var out []*deliver.Batch
	second := 0
	requests := 0
	add := func(at int, all []*deliver.Pending) {
		_, some := run(p, w, second, at)
		out, second = append(out, some...), at
		for _, r := range all {
			p.Add(r, false)
		}
		requests += len(all)
	}
	storm(l, 5000, 600, func(at int, all []*deliver.Pending) {
		add(at, all)
		if id := all[0].Event.Object; id != "sw1" {
			w.roots[id] = "sw1" // known only behind the event
		}
		if at >= 30 && at%30 == 0 && w.roots[object.ID(fmt.Sprint("x", at))] == "" && at <= 600 {
			w.roots[object.ID(fmt.Sprint("x", at))] = "-"
		}
	})
	for i := range 20 {
		add(600, l.ask(ask{id: object.ServiceID(fmt.Sprint("other", i), "disk"), second: 600, group: byRoot}))
	}
	_, some := run(p, w, second, 3600)
	out = append(out, some...)
	count, alone, got := map[string]int{}, 0, 0
	for _, b := range out {
		got += len(b.Requests)
		if b.Group == "root=sw1" {
			count[b.Contact+"/"+b.Channel]++
			if b.Root != "sw1" {
				t.Errorf("a message of the storm names %q as its root", b.Root)
			}
			if b.Thread != out[0].Thread {
				t.Errorf("a message of the storm is in another thread")
			}
		} else if len(b.Requests) != 1 {
			t.Errorf("%d requests elsewhere are in one message", len(b.Requests))
		} else {
			alone++
		}
	}
	for lane, n := range count {
		if n > 3 {
			t.Errorf("%s got %d messages", lane, n)
		}
	}
	if len(count) != 6 || alone != 20 || got != requests {
		t.Errorf("%d lanes, %d problems elsewhere, %d of %d requests", len(count), alone, got, requests)
	}
}

func BenchmarkAddAndTake30000(b *testing.B) {
	l := &log{}
	var all []*deliver.Pending
	storm(l, 5000, 600, func(_ int, some []*deliver.Pending) { all = append(all, some...) })
	for _, c := range []struct {
		name string
		root object.ID
	}{{"behind one root", "sw1"}, {"each alone", ""}} {
		w := &world{roots: map[object.ID]object.ID{}}
		for _, p := range all {
			w.roots[p.Event.Object] = c.root
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p := deliver.NewPlanner(deliver.Limits{})
				for _, r := range all {
					p.Add(r, false)
				}
				if _, out := run(p, w, 0, 7200); p.Waiting(at(7200)).Open != 0 {
					b.Fatalf("%d messages, %+v left", len(out), p.Waiting(at(7200)))
				}
			}
		})
	}
}
