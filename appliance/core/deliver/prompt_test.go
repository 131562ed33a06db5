package deliver_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// The problem of a service could not be sent and waits for its next attempt. What
// comes then is not told before it, and does not wait as long either.
func TestWhatHappenedFirstIsToldFirst(t *testing.T) {
	l, w := &log{}, &world{}
	p := deliver.NewPlanner(deliver.Limits{PerWay: 1})
	add(l, p, false, ask{id: "a!x", group: byRoot})
	b, _ := p.Take(at(30), w.look())
	now := at(30)
	for range 8 {
		again := p.Failed(b, now, 0)
		if b, _ = p.Take(again, w.look()); b == nil {
			t.Fatal("it is not tried again")
		}
		now = again
	}
	again := p.Failed(b, now, 0)
	second := int(now-start)/1000 + 1
	if again < at(second+400) {
		t.Fatalf("it is tried again after %v", again.Sub(now))
	}
	add(l, p, false, ask{id: "a!x", second: second, kind: "RECOVERY", group: byRoot})
	if next := p.Next(at(second)); next > at(second) { // the world has not been looked at
		t.Errorf("next is %v", next.Sub(now))
	}
	if b, ok := p.Take(at(second), w.look()); ok {
		t.Fatalf("too early goes %s", outgoing(at(second), b))
	}
	b, _ = p.Take(at(second+30), w.look())
	if b == nil || b.Attempt != 10 {
		t.Fatalf("first goes %+v", b)
	}
	if other, ok := p.Take(at(second+30), w.look()); ok {
		t.Fatalf("beside it goes %s", outgoing(now, other))
	}
	again = p.Failed(b, at(second+30), 0)
	if other, ok := p.Take(again-1, w.look()); ok {
		t.Fatalf("before it goes %s", outgoing(now, other))
	}
	b, _ = p.Take(again, w.look())
	p.Done(b, again)
	if b, _ = p.Take(again, w.look()); b == nil || b.Requests[0].Note.Kind != "RECOVERY" {
		t.Fatalf("behind it goes %+v", b)
	}
}

func TestWhatIsGivenUpHoldsNothingUp(t *testing.T) {
	l, w := &log{}, &world{}
	p := deliver.NewPlanner(deliver.Limits{PerWay: 1})
	old := add(l, p, false, ask{id: "a!x", group: byRoot})
	b, _ := p.Take(at(30), w.look())
	p.Failed(b, at(30), 20*60*1e9) // the other side wants twenty minutes
	add(l, p, false, ask{id: "a!x", second: 31, kind: "RECOVERY", group: byRoot, contacts: []string{"ada", "bob"}})
	out, _ := run(p, w, 31, 100)
	wantOut(t, out, "1:01 bob/email [root=a!x]: a!x RECOVERY")
	p.End(old[0].ID)
	out, _ = run(p, w, 100, 7200)
	wantOut(t, out, "20:30 ada/email [root=a!x]: a!x RECOVERY")
}

// Somebody acknowledges everything behind a switch, one by one.
func TestAcknowledgingAStormIsNoStorm(t *testing.T) {
	l, p := &log{}, deliver.NewPlanner(deliver.Limits{})
	w := &world{roots: map[object.ID]object.ID{}}
	var out []*deliver.Batch
	for i := range 5000 {
		id := object.ServiceID(fmt.Sprint("host", i/10), fmt.Sprint("s", i%10))
		w.roots[id] = "sw1"
		second := i / 1000
		_, some := run(p, w, second, second)
		out = append(out, some...)
		add(l, p, false, ask{id: id, second: second, root: "sw1", kind: "ACKNOWLEDGEMENT", group: byRoot})
	}
	_, some := run(p, w, 5, 3600)
	if out = append(out, some...); len(out) > 3 {
		t.Errorf("%d messages", len(out))
	}
}

// After a restart a host may have been told of with others, a service cannot.
func TestAfterARestartOnlyAHostHasAnInterval(t *testing.T) {
	l, w := &log{}, &world{}
	p := deliver.NewPlanner(deliver.Limits{})
	add(l, p, false, ask{id: "a!x", group: byRoot}, ask{id: "sw1", group: byRoot}, ask{id: "h1", second: 1, root: "sw1", group: byRoot})
	_, all := run(p, w, 0, 40)
	for _, b := range all {
		for i := range b.Requests {
			l.outcome(b, i, event.NotificationDelivered, at(40))
		}
	}
	w.sent = l.open.Sent
	q := deliver.NewPlanner(deliver.Limits{})
	add(l, q, false, ask{id: "a!x", second: 60, kind: "RECOVERY", group: byRoot}, ask{id: "sw1", second: 60, kind: "RECOVERY", group: byRoot})
	out, _ := run(q, w, 60, 7200)
	slices.Sort(out)
	wantOut(t, out, "1:30 ada/email [root=a!x]: a!x RECOVERY", "5:40 ada/email [root=sw1]: sw1 RECOVERY")
}

// After a restart too, what did not wait for its group does not hold the group up.
func TestACustomNotificationIsNoMessageOfItsGroup(t *testing.T) {
	for kind, want := range map[string]object.Time{"CUSTOM": 0, "ACKNOWLEDGEMENT": 0, "RECOVERY": at(9)} {
		l := &log{}
		r := l.ask(ask{id: "h1", root: "sw1", kind: kind, group: byRoot})[0]
		k := deliver.GroupKey{Contact: "ada", Channel: "email", Group: "root=sw1"}
		l.open.Apply(&event.Event{Seq: 9, Kind: event.NotificationDelivered, Object: "h1", Time: at(9), Facts: map[string]string{
			event.FactRequest: r.ID, event.FactContact: k.Contact, event.FactChannel: k.Channel, event.FactGroup: k.Group, event.FactKind: kind,
		}})
		if got := l.open.Sent(k).Time; got != want {
			t.Errorf("%s: the group's newest message went out at %d, want %d", kind, got, want)
		}
		if k.Group = ""; l.open.Sent(k).Time != at(9) || l.open.Len() != 0 {
			t.Errorf("%s: nothing went out to the contact", kind)
		}
	}
}

// What is behind a switch is told while the switch itself is not hard yet. Its own problem
// waits for the group, and not for the interval; it takes along what waits for that.
func TestThatTheRootIsDownWaitsForNoInterval(t *testing.T) {
	cases := map[string]struct {
		root  ask
		wants string
	}{
		"its first problem":           {ask{id: "sw1", second: 60}, "1:30 ada/email [root=sw1]: db!pg, sw1"},
		"its recovery":                {ask{id: "sw1", second: 60, kind: "RECOVERY"}, "5:30 ada/email [root=sw1]: db!pg, sw1 RECOVERY"},
		"another host behind it":      {ask{id: "sw2", second: 60, root: "sw1"}, "5:30 ada/email [root=sw1]: db!pg, sw2"},
		"the same in a group by host": {ask{id: "web", second: 60, group: object.Grouping{By: object.GroupHost, Wait: 10 * time.Second, Interval: time.Hour}}, "1:10 ada/email [host=web]: web"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			l, p := &log{}, deliver.NewPlanner(deliver.Limits{})
			w := &world{roots: map[object.ID]object.ID{"web!http": "sw1", "db!pg": "sw1", "sw2": "sw1"}}
			g := byRoot
			if c.root.group.By != "" {
				g = c.root.group
			}
			c.root.group = g
			add(l, p, false, ask{id: "web!http", group: g})
			first, _ := run(p, w, 0, 50)
			if len(first) != 1 {
				t.Fatalf("first go %q", first)
			}
			if g == byRoot {
				add(l, p, false, ask{id: "db!pg", second: 50, group: g})
			}
			add(l, p, false, c.root)
			out, _ := run(p, w, 50, 7200)
			wantOut(t, out, c.wants)
		})
	}
}
