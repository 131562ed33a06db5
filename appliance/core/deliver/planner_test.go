package deliver_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/object"
)

// root changes what explains an object's problem.
type root struct {
	second int
	id     object.ID
	root   object.ID
}

func TestWhatGoesOutTogetherAndWhen(t *testing.T) {
	byHost := object.Grouping{By: object.GroupHost, Wait: 10 * time.Second, Interval: time.Minute}
	byPolicy := object.Grouping{By: object.GroupPolicy, Wait: 10 * time.Second, Interval: time.Minute}
	bySite := object.Grouping{By: "label:site", Wait: 10 * time.Second, Interval: time.Minute}
	cases := []struct {
		name  string
		asks  []ask
		roots []root
		want  []string
	}{
		{
			"what is not grouped goes at once, each by itself",
			[]ask{{id: "a!x", second: 1}, {id: "b!x", second: 1}, {id: "a!x", second: 2, kind: "RECOVERY"}},
			nil,
			[]string{"0:01 ada/email []: a!x", "0:01 ada/email []: b!x", "0:02 ada/email []: a!x RECOVERY"},
		},
		{
			"a service that failed before its host was known to be down goes out with the host",
			[]ask{{id: "web!http", second: 0, group: byRoot}, {id: "web", second: 20, group: byRoot}},
			[]root{{20, "web!http", "web"}},
			[]string{"0:30 ada/email [root=web]: web!http, web"},
		},
		{
			"a service whose host is found to be down just before its own message joins the one of the host",
			[]ask{{id: "web", second: 0, group: byRoot}, {id: "web!http", second: 5, group: byRoot}},
			[]root{{29, "web!http", "web"}},
			[]string{"0:30 ada/email [root=web]: web, web!http"},
		},
		{
			"what comes after a group's message waits for the interval",
			[]ask{
				{id: "sw1", group: byRoot},
				{id: "h1", second: 5, root: "sw1", group: byRoot},
				{id: "h2", second: 40, root: "sw1", group: byRoot},
				{id: "h3", second: 300, root: "sw1", group: byRoot},
				{id: "h4", second: 331, root: "sw1", group: byRoot},
			},
			nil,
			[]string{"0:30 ada/email [root=sw1]: sw1, h1", "5:30 ada/email [root=sw1]: h2, h3", "10:30 ada/email [root=sw1]: h4"},
		},
		{
			"independent problems go each by itself",
			[]ask{{id: "a!x", group: byRoot}, {id: "b!x", second: 1, group: byRoot}, {id: "c", second: 2, group: byRoot}},
			nil,
			[]string{"0:30 ada/email [root=a!x]: a!x", "0:31 ada/email [root=b!x]: b!x", "0:32 ada/email [root=c]: c"},
		},
		{
			"a problem that came and went is one message",
			[]ask{{id: "a!x", group: byRoot}, {id: "a!x", second: 20, kind: "RECOVERY", group: byRoot}},
			nil,
			[]string{"0:30 ada/email [root=a!x]: a!x, a!x RECOVERY"},
		},
		{
			"an older request follows when a newer one of its object shows the root",
			[]ask{{id: "h1", group: byRoot}, {id: "sw1", second: 8, group: byRoot}, {id: "h1", second: 8, root: "sw1", problem: 1, group: byRoot}},
			[]root{{8, "h1", "sw1"}},
			[]string{"0:30 ada/email [root=sw1]: h1, sw1, h1"},
		},
		{
			"the recoveries behind a root go out with the root's",
			[]ask{
				{id: "sw1", group: byRoot},
				{id: "h1", second: 1, root: "sw1", group: byRoot},
				{id: "h2", second: 2, root: "sw1", group: byRoot},
				{id: "sw1", second: 900, kind: "RECOVERY", group: byRoot},
				{id: "h1", second: 905, kind: "RECOVERY", group: byRoot},
				{id: "h2", second: 910, kind: "RECOVERY", group: byRoot},
			},
			nil,
			[]string{"0:30 ada/email [root=sw1]: sw1, h1, h2", "15:30 ada/email [root=sw1]: sw1 RECOVERY, h1 RECOVERY, h2 RECOVERY"},
		},
		{
			"a service that nothing explains has no interval: each change of it goes out after the wait",
			[]ask{{id: "a!x", group: byRoot}, {id: "a!x", second: 40, problem: 1, group: byRoot}, {id: "a!x", second: 75, kind: "RECOVERY", group: byRoot}},
			nil,
			[]string{"0:30 ada/email [root=a!x]: a!x", "1:10 ada/email [root=a!x]: a!x", "1:45 ada/email [root=a!x]: a!x RECOVERY"},
		},
		{
			"a host with nothing behind it has none either, until something fails behind it",
			[]ask{
				{id: "sw1", group: byRoot},
				{id: "sw1", second: 31, kind: "RECOVERY", group: byRoot},
				{id: "sw1", second: 70, group: byRoot},
				{id: "h1", second: 71, root: "sw1", group: byRoot},
				{id: "sw1", second: 400, kind: "RECOVERY", group: byRoot},
				{id: "sw1", second: 500, group: byRoot},
			},
			nil,
			[]string{"0:30 ada/email [root=sw1]: sw1", "1:01 ada/email [root=sw1]: sw1 RECOVERY", "5:30 ada/email [root=sw1]: sw1, h1", "10:30 ada/email [root=sw1]: sw1 RECOVERY, sw1"},
		},
		{
			"what somebody has to say of one object goes out at once, before what waits",
			[]ask{{id: "a!x", group: byRoot}, {id: "a!x", second: 2, kind: "ACKNOWLEDGEMENT", group: byRoot}, {id: "a!x", second: 3, kind: "CUSTOM", group: byRoot}},
			nil,
			[]string{"0:02 ada/email [root=a!x]: a!x ACKNOWLEDGEMENT", "0:03 ada/email [root=a!x]: a!x CUSTOM", "0:30 ada/email [root=a!x]: a!x"},
		},
		{
			"in a group of several too, and the interval counts on as if it had not",
			[]ask{
				{id: "sw1", group: byRoot},
				{id: "h1", second: 1, root: "sw1", group: byRoot},
				{id: "h2", second: 40, root: "sw1", group: byRoot},
				{id: "h1", second: 50, root: "sw1", kind: "CUSTOM", group: byRoot},
				{id: "h2", second: 55, root: "sw1", kind: "ACKNOWLEDGEMENT", group: byRoot},
			},
			[]root{{0, "h1", "sw1"}, {0, "h2", "sw1"}},
			[]string{"0:30 ada/email [root=sw1]: sw1, h1", "0:50 ada/email [root=sw1]: h1 CUSTOM", "1:20 ada/email [root=sw1]: h2 ACKNOWLEDGEMENT", "5:30 ada/email [root=sw1]: h2"},
		},
		{
			"nor does it wait for the interval of a host or a policy",
			[]ask{{id: "a!x", group: byHost}, {id: "a!x", second: 20, group: byHost}, {id: "a!y", second: 21, kind: "CUSTOM", group: byHost}},
			nil,
			[]string{"0:10 ada/email [host=a]: a!x", "0:21 ada/email [host=a]: a!y CUSTOM", "1:10 ada/email [host=a]: a!x"},
		},
		{
			"by host, whatever the root",
			[]ask{{id: "a!x", root: "sw1", group: byHost}, {id: "a!y", second: 1, group: byHost}, {id: "a", second: 2, group: byHost}, {id: "b!x", second: 3, group: byHost}},
			nil,
			[]string{"0:10 ada/email [host=a]: a!x, a!y, a", "0:13 ada/email [host=b]: b!x"},
		},
		{
			"by policy",
			[]ask{{id: "a!x", policy: "ops", group: byPolicy}, {id: "b!x", second: 1, policy: "ops", group: byPolicy}, {id: "c!x", second: 2, policy: "db", group: byPolicy}},
			nil,
			[]string{"0:10 ada/email [policy=ops]: a!x, b!x", "0:12 ada/email [policy=db]: c!x"},
		},
		{
			"by a label; those without it, and those that left the config, are one group",
			[]ask{{id: "a!x", group: bySite}, {id: "b!x", second: 1, group: bySite}, {id: "c!x", second: 2, group: bySite}, {id: "d!x", second: 3, group: bySite}, {id: "gone", second: 4, group: bySite}},
			nil,
			[]string{"0:10 ada/email [label:site=berlin]: a!x, b!x", "0:12 ada/email [label:site=]: c!x, d!x, gone"},
		},
		{
			"another way to group is another message",
			[]ask{{id: "a", group: byHost}, {id: "a!x", second: 1, policy: "ops", group: byPolicy}, {id: "a!y", second: 2, group: byRoot}},
			nil,
			[]string{"0:10 ada/email [host=a]: a", "0:11 ada/email [policy=ops]: a!x", "0:32 ada/email [root=a!y]: a!y"},
		},
		{
			"each contact and channel has its own",
			[]ask{{id: "a!x", group: byRoot, contacts: []string{"ada", "ada/telegram", "bob"}}, {id: "a!x", second: 10, kind: "RECOVERY", group: byRoot, contacts: []string{"ada"}}},
			nil,
			[]string{"0:30 ada/email [root=a!x]: a!x, a!x RECOVERY", "0:30 ada/telegram [root=a!x]: a!x", "0:30 bob/email [root=a!x]: a!x"},
		},
		{
			"a heartbeat waits for nothing",
			[]ask{{id: "canary", kind: "HEARTBEAT", group: byHost}, {id: "canary", second: 3, kind: "HEARTBEAT", group: byHost}},
			nil,
			[]string{"0:00 ada/email []: canary HEARTBEAT", "0:03 ada/email []: canary HEARTBEAT"},
		},
		{
			"a way to group that this build does not know is none",
			[]ask{{id: "a!x", group: object.Grouping{By: "moon", Wait: time.Minute}}},
			nil,
			[]string{"0:00 ada/email []: a!x"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l, p := &log{}, deliver.NewPlanner(deliver.Limits{})
			w := &world{roots: map[object.ID]object.ID{}, labels: map[object.ID]map[string]string{
				"a!x": {"site": "berlin"}, "b!x": {"site": "berlin"}, "c!x": {}, "d!x": {"role": "db"},
			}}
			var got []string
			second := 0
			until := func(to int) {
				out, _ := run(p, w, second, to)
				got, second = append(got, out...), to
			}
			roots := c.roots
			for _, a := range c.asks {
				for len(roots) > 0 && roots[0].second <= a.second {
					until(roots[0].second)
					w.roots[roots[0].id] = roots[0].root
					roots = roots[1:]
				}
				until(a.second)
				for _, r := range l.ask(a) {
					p.Add(r, false)
				}
			}
			for _, r := range roots {
				until(r.second)
				w.roots[r.id] = r.root
			}
			until(7200)
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
	t.Logf("%d cases", len(cases))
}

// add hands the requests of asks to a planner.
func add(l *log, p *deliver.Planner, repeat bool, asks ...ask) (all []*deliver.Pending) {
	for _, a := range asks {
		for _, r := range l.ask(a) {
			p.Add(r, repeat)
			all = append(all, r)
		}
		p.Pass(at(a.second)) // they come when they happen
	}
	return all
}

func wantOut(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTheLastMessageThatTheLimitAllowsTakesAllThatIsDue(t *testing.T) {
	l := &log{}
	p := deliver.NewPlanner(deliver.Limits{Rates: map[string]deliver.Rate{"email": {Messages: 3, Per: time.Minute}}})
	add(l, p, false, ask{id: "a!x", second: 1}, ask{id: "b!x", second: 1}, ask{id: "c!x", second: 1}, ask{id: "d!x", second: 1},
		ask{id: "e!x", second: 20}, ask{id: "f!x", second: 30, group: byRoot}, ask{id: "g!x", second: 61}, ask{id: "canary", second: 2, kind: "HEARTBEAT"},
		ask{id: "h!x", second: 90, contacts: []string{"ada/telegram"}})
	out, all := run(p, &world{}, 0, 7200)
	wantOut(t, out,
		"0:01 ada/email []: a!x", "0:01 ada/email []: b!x", "0:01 ada/email [rate]: c!x, d!x",
		"0:02 ada/email []: canary HEARTBEAT",
		"1:01 ada/email [rate]: e!x, f!x", "1:01 ada/email []: g!x", "1:30 ada/telegram []: h!x")
	if g := all[4].GroupOf(1); g != "root=f!x" || all[4].GroupOf(0) != "" {
		t.Errorf("f!x is of the group %q", g)
	}
}

func TestAFailedMessageIsTriedAgainWithTheSameRequests(t *testing.T) {
	l, w := &log{}, &world{}
	p := deliver.NewPlanner(deliver.Limits{})
	add(l, p, false, ask{id: "sw1", group: byRoot}, ask{id: "h1", second: 1, root: "sw1", group: byRoot})
	first, _ := p.Take(at(30), w.look())
	now, ids, thread := at(30), first.ID, first.Thread
	add(l, p, false, ask{id: "h2", second: 31, root: "sw1", group: byRoot})
	b := first
	for attempt, want := range []int{5, 10, 20, 40, 80, 160, 320, 600, 600} {
		again := p.Failed(b, now, 0)
		if d := again.Sub(now); d < time.Duration(want)*800*time.Millisecond || d > time.Duration(want)*1200*time.Millisecond {
			t.Errorf("after attempt %d it is tried %v later, want %d s and a fifth more or less", attempt+1, d, want)
		}
		if now = again; now >= at(330) {
			// The interval has let the next message of the group go meanwhile.
			if other, ok := p.Take(at(330), w.look()); ok {
				wantOut(t, []string{outgoing(at(330), other)}, "5:30 ada/email [root=sw1]: h2")
				p.Abandoned(other) // had it arrived, this one would be tried at once
			}
		}
		if _, ok := p.Take(now-1, w.look()); ok {
			t.Fatal("it was tried too early")
		}
		b, _ = p.Take(now, w.look())
		if b == nil || b.ID != ids || b.Thread != thread || b.Attempt != attempt+2 || len(b.Requests) != 2 || b.Group != "root=sw1" || b.Root != "sw1" {
			t.Fatalf("tried again: %+v", b)
		}
	}
	p.End(b.Requests[0].ID)
	again := p.Failed(b, now, 0)
	if b, _ = p.Take(again, w.look()); len(b.Requests) != 1 || b.ID == ids || b.Requests[0].Event.Object != "h1" {
		t.Errorf("after the end of one of the requests: %+v", b)
	}
	p.Done(b, again)
	if s := p.Waiting(again); s.Open != 0 || s.InFlight != 0 || s.Oldest != 0 || p.Next(again) != 0 {
		t.Errorf("left are %+v", s)
	}
}

func TestAPauseThatTheChannelAsksForHoldsForTheContact(t *testing.T) {
	l, w := &log{}, &world{}
	p := deliver.NewPlanner(deliver.Limits{})
	add(l, p, false, ask{id: "a!x", second: 0}, ask{id: "b!x", second: 10}, ask{id: "c!x", second: 20}, ask{id: "canary", second: 30, kind: "HEARTBEAT"}, ask{id: "d!x", second: 40, contacts: []string{"bob"}})
	b, _ := p.Take(at(0), w.look())
	if again := p.Failed(b, at(0), 2*time.Minute); again != at(120) {
		t.Errorf("it is tried again at %v", again.Sub(start))
	}
	out, _ := run(p, w, 1, 7200)
	wantOut(t, out, "0:30 ada/email []: canary HEARTBEAT", "0:40 bob/email []: d!x", "2:00 ada/email [rate]: b!x, c!x", "2:00 ada/email attempt 2 []: a!x")
	add(l, p, false, ask{id: "a!x", second: 7200})
	b, _ = p.Take(at(7200), w.look())
	if again := p.Failed(b, at(7200), 1000*time.Hour); again != at(7200+3600) {
		t.Errorf("a pause of a thousand hours lasts %v", again.Sub(at(7200)))
	}
}

func TestWhatIsTooOldIsGivenUp(t *testing.T) {
	l, w := &log{}, &world{}
	p := deliver.NewPlanner(deliver.Limits{Deadline: time.Hour})
	add(l, p, false, ask{id: "sw1", group: byRoot}, ask{id: "h1", second: 10, root: "sw1", group: byRoot})
	b, _ := p.Take(at(30), w.look())
	add(l, p, false, ask{id: "h2", second: 40, root: "sw1", group: byRoot})
	p.Failed(b, at(3599), 0)
	out, _ := run(p, w, 3600, 7200)
	wantOut(t, out, "60:00 ada/email [root=sw1]: h2", "60:01 ada/email attempt 2 [root=sw1]: sw1, h1")
	add(l, p, false, ask{id: "a!x", second: 7200}, ask{id: "b!x", second: 7201})
	first, _ := p.Take(at(7200), w.look())
	second, _ := p.Take(at(7201), w.look())
	p.Failed(first, at(7202), 0)
	p.Failed(second, at(7202), time.Hour)
	p.SetLimits(deliver.Limits{Deadline: 10 * time.Second})
	out, _ = run(p, w, 7202, 9000)
	wantOut(t, out, "120:10 ada/email expired []: a!x", "120:11 ada/email expired []: b!x")
}

func TestNothingElseOfAGroupGoesOutWhileAMessageIsUnderWay(t *testing.T) {
	l, w := &log{}, &world{}
	p := deliver.NewPlanner(deliver.Limits{})
	add(l, p, false, ask{id: "a!x"}, ask{id: "a!x", second: 1, kind: "RECOVERY"}, ask{id: "b!x", second: 2})
	b, _ := p.Take(at(0), w.look())
	other, _ := p.Take(at(60), w.look())
	if other == nil || other.Requests[0].Event.Object != "b!x" {
		t.Fatalf("beside it goes %+v", other)
	}
	if more, ok := p.Take(at(60), w.look()); ok || p.Next(at(60)) != 0 {
		t.Errorf("beside both goes %+v; next %d", more, p.Next(at(60)))
	}
	p.Done(b, at(61))
	if b, _ = p.Take(at(61), w.look()); b == nil || b.Requests[0].Note.Kind != "RECOVERY" {
		t.Errorf("behind it goes %+v", b)
	}
}

func TestTheQueueBoundsWhatIsUnderWay(t *testing.T) {
	l, w := &log{}, &world{}
	p := deliver.NewPlanner(deliver.Limits{Queue: 2})
	add(l, p, false, ask{id: "a!x"}, ask{id: "b!x"}, ask{id: "c!x"})
	first, _ := p.Take(at(1), w.look())
	p.Take(at(1), w.look())
	if _, ok := p.Take(at(1), w.look()); ok || p.Next(at(1)) != 0 {
		t.Error("a third was taken")
	}
	if s := p.Waiting(at(1)); s.InFlight != 2 || s.Due != 1 || s.Open != 3 || s.PerChannel["email"] != 3 || s.Oldest != at(0) {
		t.Errorf("waiting are %+v", s)
	}
	p.Abandoned(first)
	if _, ok := p.Take(at(1), w.look()); !ok {
		t.Error("there is room again and nothing comes")
	}
}

func TestAMessageHoldsFiveThousandRequests(t *testing.T) {
	l := &log{}
	p := deliver.NewPlanner(deliver.Limits{})
	for range 5003 {
		add(l, p, false, ask{id: "a!x", group: byRoot})
	}
	_, all := run(p, &world{}, 0, 3600)
	if len(all) != 2 || len(all[0].Requests) != 5000 || len(all[1].Requests) != 3 || all[1].Thread != all[0].Thread {
		t.Errorf("%d messages", len(all))
	}
}

func TestAfterARestartWhatWasDueIsMarked(t *testing.T) {
	l, w := &log{}, &world{}
	p := deliver.NewPlanner(deliver.Limits{})
	add(l, p, false, ask{id: "a!x"}, ask{id: "b!x", second: 10, group: byRoot}, ask{id: "c!x", second: 80, group: byRoot},
		ask{id: "d!x", second: 85, group: object.Grouping{By: object.GroupHost, Wait: 30 * time.Second}},
		ask{id: "sw1", second: 1, group: byRoot}, ask{id: "h1", second: 2, root: "sw1", group: byRoot}, ask{id: "h2", second: 95, root: "sw1", group: byRoot})
	b, _ := p.Take(at(90), w.look())
	for b.Group != "root=sw1" {
		b, _ = p.Take(at(90), w.look())
	}
	// The message of sw1 went out at 91, the process died with one of two outcomes.
	l.outcome(b, 0, "notification.delivered", at(91))
	w.sent = l.open.Sent
	q := deliver.NewPlanner(deliver.Limits{})
	for _, r := range l.open.All() {
		q.Add(r, true)
	}
	out, _ := run(q, w, 100, 3600)
	wantOut(t, out,
		"1:40 ada/email repeat []: a!x", "1:40 ada/email repeat [root=b!x]: b!x", "1:50 ada/email repeat [root=c!x]: c!x", // sw1 may have been its root
		"1:55 ada/email [host=d]: d!x",
		"6:31 ada/email repeat [root=sw1]: h1, h2")
}

// All messages about one incident are one thread, another incident is another.
func TestThreads(t *testing.T) {
	l, w := &log{}, &world{roots: map[object.ID]object.ID{}, problems: map[object.ID]object.Time{"sw1": at(1)}}
	p := deliver.NewPlanner(deliver.Limits{})
	add(l, p, false, ask{id: "h1", second: 0, root: "sw1", group: byRoot}, ask{id: "sw1", second: 1, group: byRoot}, ask{id: "h2", second: 60, root: "sw1", group: byRoot})
	_, all := run(p, w, 0, 500)
	w.problems["sw1"] = 0
	add(l, p, false, ask{id: "h1", second: 900, kind: "RECOVERY", group: byRoot}, ask{id: "sw1", second: 901, kind: "RECOVERY", group: byRoot})
	_, more := run(p, w, 900, 2000)
	for _, b := range append(all, more...) {
		if b.Thread != all[0].Thread {
			t.Errorf("%s is in another thread", outgoing(0, b))
		}
	}
	w.problems["sw1"] = at(5000)
	add(l, p, false, ask{id: "sw1", second: 5000, group: byRoot})
	if _, next := run(p, w, 5000, 6000); next[0].Thread == all[0].Thread {
		t.Error("another failure of the switch is in the same thread")
	}
	// A service by itself, grouped or not.
	for _, g := range []object.Grouping{byRoot, {}} {
		var all []*deliver.Batch
		for _, a := range []ask{{second: 7000}, {second: 8000, problem: 7000}, {second: 9000, kind: "RECOVERY"}, {second: 10000}} {
			a.id, a.group = "a!x", g
			add(l, p, false, a)
			_, some := run(p, w, a.second, a.second+500)
			all = append(all, some...)
		}
		if len(all) != 4 || all[0].Thread != all[1].Thread || all[0].Thread != all[2].Thread || all[0].Thread == all[3].Thread {
			t.Errorf("threads of a service by %q: %d messages", g.By, len(all))
		}
	}
}
