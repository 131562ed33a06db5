package deliver_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// fail lets the planner go on by its own Next until a second; no message arrives,
// each attempt takes so many seconds.
func fail(p *deliver.Planner, w *world, from, to, takes int) (out []string) {
	for now := at(from); now <= at(to); {
		var under []*deliver.Batch
		for b, ok := p.Take(now, w.look()); ok; b, ok = p.Take(now, w.look()) {
			out = append(out, outgoing(now, b))
			under = append(under, b)
		}
		if len(under) > 0 {
			now = max(now, now.Add(time.Duration(takes)*time.Second))
		}
		for _, b := range under {
			if b.Expired {
				p.Abandoned(b)
			} else {
				p.Failed(b, now, 0)
			}
		}
		next := p.Next(now)
		if next == 0 {
			break
		}
		now = max(next, now+1)
	}
	return out
}

func TestWaitingUsesUpNothingOfTheDeadline(t *testing.T) {
	const deadline = 5 * time.Second
	rate := map[string]deliver.Rate{"email": {Messages: 1, Per: time.Minute}}
	cases := []struct {
		name   string
		limits deliver.Limits
		asks   []ask
		want   []string
	}{
		{
			"for the first message of the group",
			deliver.Limits{Deadline: deadline},
			[]ask{{id: "a!x", group: byRoot}},
			[]string{"0:30 ada/email [root=a!x]: a!x"},
		},
		{
			"for the next message of the group",
			deliver.Limits{Deadline: deadline},
			[]ask{{id: "a!x", root: "a", group: byRoot}, {id: "a!x", second: 40, root: "a", kind: "RECOVERY", group: byRoot}},
			[]string{"0:30 ada/email [root=a]: a!x", "5:30 ada/email [root=a]: a!x RECOVERY"},
		},
		{
			"for the rate of the channel",
			deliver.Limits{Deadline: deadline, Rates: rate},
			[]ask{{id: "a!x"}, {id: "b!x", second: 1}, {id: "c!x", second: 2}},
			[]string{"0:00 ada/email []: a!x", "1:00 ada/email [rate]: b!x, c!x"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l, p, w := &log{}, deliver.NewPlanner(c.limits), &world{}
			var got []string
			last := 0
			for _, a := range c.asks {
				out, _ := run(p, w, last, a.second)
				got, last = append(got, out...), a.second
				add(l, p, false, a)
			}
			out, _ := run(p, w, last, 7200)
			wantOut(t, append(got, out...), c.want...)
		})
	}
	t.Run("for a message that is under way", func(t *testing.T) {
		l, p, w := &log{}, deliver.NewPlanner(deliver.Limits{Deadline: deadline, Queue: 1}), &world{}
		add(l, p, false, ask{id: "a!x"}, ask{id: "b!x"})
		first, _ := p.Take(at(0), w.look())
		if _, ok := p.Take(at(60), w.look()); ok {
			t.Fatal("there was no place")
		}
		p.Done(first, at(60))
		out, _ := run(p, w, 60, 7200)
		wantOut(t, out, "1:00 ada/email []: b!x")
	})
}

func TestTheDeadlineCountsFromTheFirstAttempt(t *testing.T) {
	l, p, w := &log{}, deliver.NewPlanner(deliver.Limits{Deadline: 20 * time.Second}), &world{}
	add(l, p, false, ask{id: "a!x", group: byRoot})
	out := fail(p, w, 0, 7200, 0)
	wantOut(t, out, "0:30 ada/email [root=a!x]: a!x", "0:34 ada/email attempt 2 [root=a!x]: a!x", "0:45 ada/email attempt 3 [root=a!x]: a!x",
		"0:50 ada/email expired attempt 3 [root=a!x]: a!x")
	// An attempt that takes longer than the deadline is the only one.
	add(l, p, false, ask{id: "b!x", second: 7200})
	wantOut(t, fail(p, w, 7200, 9000, 30), "120:00 ada/email []: b!x", "120:30 ada/email expired []: b!x")
}

func TestAnOldBacklogGetsOneAttempt(t *testing.T) {
	const twoDays = 48 * 3600
	l, w := &log{}, &world{}
	for _, a := range []ask{{id: "a!x"}, {id: "b!x", group: byRoot}, {id: "c!x", second: twoDays - 60}, {id: "canary", kind: "HEARTBEAT"}} {
		l.ask(a)
	}
	backlog := func() *deliver.Planner {
		p := deliver.NewPlanner(deliver.Limits{})
		for _, r := range l.open.All() {
			p.Add(r, true)
		}
		return p
	}
	out := fail(backlog(), w, twoDays, twoDays+10, 0)
	wantOut(t, out,
		"2880:00 ada/email repeat expired attempt 0 []: canary HEARTBEAT",
		"2880:00 ada/email repeat []: a!x", "2880:00 ada/email repeat [root=b!x]: b!x", "2880:00 ada/email repeat []: c!x",
		"2880:00 ada/email repeat expired []: a!x", "2880:00 ada/email repeat expired [root=b!x]: b!x",
		"2880:05 ada/email repeat attempt 2 []: c!x")
	out, _ = run(backlog(), w, twoDays, twoDays+10)
	if len(out) != 4 || slices.ContainsFunc(out[1:], func(s string) bool { return strings.Contains(s, "expired") }) {
		t.Errorf("where all is well again goes out %q", out)
	}
}

func TestAHeartbeatLastsUntilItsNextRound(t *testing.T) {
	l, p, w := &log{}, deliver.NewPlanner(deliver.Limits{Rates: map[string]deliver.Rate{"email": {Messages: 1, Per: time.Hour}}}), &world{}
	round := func(second, until int) {
		e := l.event(ask{id: "canary", second: second, kind: "HEARTBEAT", contacts: []string{"ada", "bob"}})
		e.Notes[0].Until = at(until)
		added, _ := l.open.Apply(e)
		for _, r := range added {
			p.Add(r, false)
		}
	}
	of := func(who string, all []string) []string {
		return slices.DeleteFunc(all, func(s string) bool { return !strings.Contains(s, who) })
	}
	round(0, 20)
	out := of("ada", fail(p, w, 0, 19, 0))
	wantOut(t, out, "0:00 ada/email []: canary HEARTBEAT", "0:01 ada/email attempt 2 []: canary HEARTBEAT",
		"0:02 ada/email attempt 3 []: canary HEARTBEAT", "0:06 ada/email attempt 4 []: canary HEARTBEAT", "0:15 ada/email attempt 5 []: canary HEARTBEAT")
	out, _ = run(p, w, 19, 100)
	wantOut(t, of("ada", out), "0:20 ada/email expired attempt 5 []: canary HEARTBEAT")
	// The next one comes early: the one before is over at once.
	round(100, 160)
	b, _ := p.Take(at(100), w.look())
	if b.Until != at(160) || b.Contact != "ada" {
		t.Errorf("it is of use until %v", b.Until.Sub(start))
	}
	round(130, 190)
	round(131, 191)
	p.Failed(b, at(132), 0)
	out, _ = run(p, w, 132, 7200)
	wantOut(t, of("ada", out), "2:12 ada/email expired []: canary HEARTBEAT", "2:12 ada/email expired attempt 0 []: canary HEARTBEAT", "2:12 ada/email []: canary HEARTBEAT")
	// One that does not say when it is over has five minutes.
	add(l, p, false, ask{id: "canary", second: 8000, kind: "HEARTBEAT"})
	out, _ = run(p, w, 8300, 8300)
	wantOut(t, out, "138:20 ada/email expired attempt 0 []: canary HEARTBEAT")
}

// A service waits behind a message about the switch for minutes; once its problem is
// its own, it goes out.
func TestARootThatMovesIsSeenWithinASecond(t *testing.T) {
	moves := map[string]func(w *world){
		"the switch is well again":           func(w *world) { w.roots["web!http"] = "" },
		"it is behind another host":          func(w *world) { w.roots["web!http"] = "web" },
		"nothing moves":                      func(*world) {},
		"another object moves, and not this": func(w *world) { w.roots["db!pg"] = "db" },
	}
	want := map[string]string{"the switch is well again": "1:40 ada/email [root=web!http]: web!http", "it is behind another host": "1:40 ada/email [root=web]: web!http"}
	for name, move := range moves {
		t.Run(name, func(t *testing.T) {
			l, p := &log{}, deliver.NewPlanner(deliver.Limits{})
			w := &world{roots: map[object.ID]object.ID{"web!http": "sw1", "db!pg": "sw1"}}
			add(l, p, false, ask{id: "sw1", group: byRoot})
			first, _ := run(p, w, 0, 40)
			for _, r := range l.ask(ask{id: "web!http", second: 40, group: byRoot}) {
				p.Add(r, false)
			}
			waits, _ := run(p, w, 40, 99)
			move(w)
			out, _ := run(p, w, 99, 7200)
			if len(first) != 1 || len(waits) != 0 || len(out) != 1 {
				t.Fatalf("out went %q, %q and %q", first, waits, out)
			}
			if at := want[name]; at == "" && !strings.HasPrefix(out[0], "5:30 ") {
				t.Errorf("out went %q", out)
			} else if at != "" && strings.Replace(out[0], "1:39", "1:40", 1) != at {
				t.Errorf("out went %q, want %s", out, at)
			}
		})
	}
}

// While nothing could go out earlier by another root, nobody looks.
func TestNobodyLooksWhileItCannotMatter(t *testing.T) {
	l, p := &log{}, deliver.NewPlanner(deliver.Limits{})
	add(l, p, false, ask{id: "a!x", group: byRoot}, ask{id: "b!x", second: 1, group: object.Grouping{By: object.GroupHost, Wait: time.Minute}})
	looks := 0
	w := &deliver.World{Status: func(object.ID) *event.Status { looks++; return nil }}
	p.Take(at(1), w)
	if next := p.Next(at(1)); next != at(30) {
		t.Errorf("the next is after %v", next.Sub(at(1)))
	}
	b, _ := p.Take(at(30), w)
	p.Done(b, at(30))
	if next := p.Next(at(30)); next != at(61) || looks > 6 {
		t.Errorf("the next is after %v, with %d looks", next.Sub(at(30)), looks)
	}
}

func TestOneServerThatHangsHoldsOnlyItsPlaces(t *testing.T) {
	l, w := &log{}, &world{}
	p := deliver.NewPlanner(deliver.Limits{Queue: 4, PerWay: 1, PerKind: 2})
	for i := range 10 {
		add(l, p, false, ask{id: object.ServiceID(fmt.Sprint("h", i), "x"), second: i, contacts: []string{"ada", "bob", "cai/email:2", "ada/telegram"}})
	}
	add(l, p, false, ask{id: "canary", second: 10, kind: "HEARTBEAT", contacts: []string{"ada/canary"}})
	var under []*deliver.Batch
	var got []string
	for b, ok := p.Take(at(20), w.look()); ok; b, ok = p.Take(at(20), w.look()) {
		under, got = append(under, b), append(got, b.Contact+"/"+b.Channel)
	}
	if want := []string{"ada/email", "bob/email", "ada/telegram", "ada/canary"}; !slices.Equal(got, want) {
		t.Fatalf("under way are %q, want %q", got, want)
	}
	p.Done(under[2], at(21))
	if b, ok := p.Take(at(21), w.look()); !ok || b.Channel != "telegram" {
		t.Errorf("behind the telegram goes %+v", b)
	}
	p.Failed(under[0], at(80), 0)
	if b, ok := p.Take(at(80), w.look()); !ok || b.Channel != "email:2" && b.Contact != "ada" {
		t.Errorf("behind what failed goes %+v", b)
	}
}
