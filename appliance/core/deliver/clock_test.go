package deliver_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// fataler is a test of either kind.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// goesOut has a request come at a time and returns when it goes out, if it does within two
// hours; each attempt until then fails.
func goesOut(t fataler, p *deliver.Planner, w *world, r *deliver.Pending, now object.Time, fails int) (object.Time, *deliver.Batch) {
	t.Helper()
	p.Add(r, false)
	p.Pass(now)
	for end := now.Add(2 * time.Hour); now <= end; {
		for b, ok := p.Take(now, w.look()); ok; b, ok = p.Take(now, w.look()) {
			if b.Expired {
				t.Fatal("it is given up")
			}
			if fails--; fails < 0 {
				return now, b
			}
			p.Failed(b, now, 0)
		}
		next := p.Next(now)
		if next == 0 {
			break
		}
		now = max(next, now+1)
	}
	t.Fatal("it does not go out")
	return 0, nil
}

func TestAClockThatIsAheadHoldsNoMessageUp(t *testing.T) {
	cases := []struct {
		name    string
		off     int // seconds by which the clock of the writer is ahead
		ask     ask
		after   time.Duration // it came
		threads bool          // the message has the thread that it would have by its event
	}{
		{"an hour ahead, alone", 3600, ask{id: "a!x"}, 0, true},
		{"an hour ahead, in a group", 3600, ask{id: "a!x", group: byRoot}, 30 * time.Second, true},
		{"a day ahead, in a group", 86400, ask{id: "a!x", group: byRoot}, 30 * time.Second, true},
		{"ten seconds ahead, in a group", 10, ask{id: "a!x", group: byRoot}, 30 * time.Second, true},
		{"an hour ahead, what a person has said", 3600, ask{id: "a!x", kind: "CUSTOM", group: byRoot}, 0, false},
		{"an hour ahead, a heartbeat", 3600, ask{id: "canary", kind: "HEARTBEAT"}, 0, false},
		{"as it should be, in a group", 0, ask{id: "a!x", group: byRoot}, 30 * time.Second, true},
		{"ten seconds behind, in a group", -10, ask{id: "a!x", group: byRoot}, 20 * time.Second, true},
		{"an hour behind, in a group", -3600, ask{id: "a!x", group: byRoot}, 0, true},
		{"a day behind, alone", -86400, ask{id: "a!x"}, 0, true},
		{"a day behind, a heartbeat", -86400, ask{id: "canary", kind: "HEARTBEAT"}, 0, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l, now := &log{}, at(0)
			c.ask.second = c.off
			r := l.ask(c.ask)[0]
			sent, b := goesOut(t, deliver.NewPlanner(deliver.Limits{}), &world{}, r, now, 0)
			if sent.Sub(now) != c.after {
				t.Errorf("it goes out after %v, want %v", sent.Sub(now), c.after)
			}
			other := deliver.NewPlanner(deliver.Limits{})
			_, same := goesOut(t, other, &world{}, r, r.Time, 0)
			if b.ID != same.ID || c.threads && b.Thread != same.Thread {
				t.Error("the message has another ID or thread than where no clock is off")
			}
		})
	}
	t.Logf("%d cases", len(cases))
}

// Whatever the clock of a writer says, and that of who sent the group's last message: a
// notification goes out within its group's wait and interval, and one that fails is tried
// again as ever.
func TestWhateverAWritersClockSaysAMessageGoesOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		off := rapid.IntRange(-400*86400, 400*86400)
		l, w := &log{}, &world{}
		g := grouping().Draw(t, "group")
		if rapid.Bool().Draw(t, "sent before") {
			l.ask(ask{id: "b!x"})
			last := at(off.Draw(t, "clock of who sent the last message"))
			w.sent = func(deliver.GroupKey) deliver.Last { return deliver.Last{Time: last, Thread: "before"} }
		}
		a := ask{
			id: "a!x", second: off.Draw(t, "clock of the writer"), group: g,
			kind: rapid.SampledFrom([]string{"", "RECOVERY", "CUSTOM", "ACKNOWLEDGEMENT", "HEARTBEAT"}).Draw(t, "kind"),
		}
		a.problem = a.second - rapid.IntRange(0, 600).Draw(t, "age of the problem")
		fails := rapid.IntRange(0, 3).Draw(t, "failures")
		p := deliver.NewPlanner(deliver.Limits{})
		sent, b := goesOut(t, p, w, l.ask(a)[0], at(0), fails)
		most := max(g.Wait, 0) + max(g.Interval, 0) + time.Duration(fails*fails)*10*time.Second
		if sent < at(0) || sent.Sub(at(0)) > most {
			t.Fatalf("it goes out after %v, want at most %v", sent.Sub(at(0)), most)
		}
		if oldest := p.Waiting(sent).Oldest; oldest > sent {
			t.Fatalf("the oldest is of %v from now", oldest.Sub(sent))
		}
		p.Done(b, sent)
	})
}

// The deliverer's own clock is set while messages wait and fail. What goes out is the same,
// at the same distances, as if it had not been.
func TestAClockThatIsSetChangesNoDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits, g := limits().Draw(t, "limits"), grouping().Draw(t, "group")
		limits.Queue = 0
		when, by := rapid.IntRange(1, 400).Draw(t, "set at"), rapid.IntRange(-200000, 200000).Draw(t, "by")
		fails := rapid.IntRange(0, 6).Draw(t, "failures")
		life := func(by int) (out []string) {
			l, w, off, left := &log{}, &world{}, object.Time(0), fails
			p := deliver.NewPlanner(limits)
			for second := 0; second < 1500; second++ {
				if second == when {
					off = object.Time(by) * 1000
					p.Jump(off.Sub(0))
				}
				if second%50 == 0 && second < 300 {
					for _, r := range l.ask(ask{id: object.ID(fmt.Sprint("h", second/50%3, "!x")), second: second + int(off/1000), problem: 1, group: g}) {
						p.Add(r, false)
					}
				}
				now := at(second) + off
				for b, ok := p.Take(now, w.look()); ok; b, ok = p.Take(now, w.look()) {
					out = append(out, outgoing(at(second), b))
					switch left--; {
					case b.Expired:
						p.Abandoned(b)
					case left >= 0:
						p.Failed(b, now, 0)
					default:
						p.Done(b, now)
					}
				}
			}
			return out
		}
		if want, got := life(0), life(by); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("got\n%q\nwant\n%q", got, want)
		}
	})
}

// A message that was sent by a clock that was ahead is not the newest of its group for as
// long as it was, and makes nobody forget what was sent a moment ago.
func TestWhatAClockAheadHasSentIsNotTheNewestForLong(t *testing.T) {
	l := &log{}
	k := deliver.GroupKey{Contact: "ada", Channel: "email", Group: "root=sw1"}
	for i, second := range []int{10, 86400 * 2, 20} {
		l.open.Apply(&event.Event{Seq: uint64(i + 1), Kind: event.NotificationDelivered, Object: "h1", Time: at(second), Facts: map[string]string{
			event.FactContact: k.Contact, event.FactChannel: k.Channel, event.FactGroup: k.Group, event.FactThread: fmt.Sprint("t", i),
		}})
	}
	if got := l.open.Sent(k); got.Time != at(20) || got.Thread != "t2" {
		t.Errorf("the newest is %s at %v", got.Thread, got.Time.Sub(start))
	}
}

// Only who heard of a heartbeat knows that its round is over, where the clock that wrote it
// was another one.
func TestARoundThatIsOverIsGivenUpWhateverTheClockSays(t *testing.T) {
	for name, off := range map[string]int{"as it should be": 0, "an hour ahead": 3600, "an hour behind": -3600} {
		t.Run(name, func(t *testing.T) {
			l, p := &log{}, deliver.NewPlanner(deliver.Limits{})
			r := l.ask(ask{id: "canary", kind: "HEARTBEAT", second: off})[0]
			p.Add(r, false)
			p.Over(r.ID)
			p.Pass(at(100))
			newer := l.ask(ask{id: "canary", kind: "HEARTBEAT", second: off + 10})[0]
			p.Add(newer, false)
			if b, ok := p.Take(at(100), nil); !ok || !b.Expired || len(b.Requests) != 1 || b.Requests[0].ID != r.ID {
				t.Fatalf("the first that goes is %+v", b)
			}
			if b, ok := p.Take(at(100), nil); !ok || b.Expired || b.Requests[0].ID != newer.ID {
				t.Errorf("then goes %+v", b)
			}
		})
	}
}
