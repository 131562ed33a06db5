package deliver_test

import (
	"fmt"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/object"
)

// outage lets messages to contacts fail until a second and returns it: the next
// attempts are minutes away then.
func outage(t *testing.T, l *log, p *deliver.Planner, w *world, messages int, contacts ...string) (second int) {
	t.Helper()
	for i := range messages {
		add(l, p, false, ask{id: object.ServiceID(fmt.Sprint("h", i), "x"), second: i, contacts: contacts})
	}
	fail(p, w, 0, 3600, 0)
	for second = 3601; p.Next(at(second)) < at(second+60); second += 60 {
		fail(p, w, second, second+60, 0)
	}
	return second
}

func TestAfterAnOutageWhatFailedGoesOutSoon(t *testing.T) {
	l, w := &log{}, &world{}
	p := deliver.NewPlanner(deliver.Limits{PerWay: 1})
	second := outage(t, l, p, w, 3, "ada", "bob", "ada/telegram")
	add(l, p, false, ask{id: "new!x", second: second, contacts: []string{"cai"}})
	out, all := run(p, w, second, second+8)
	if len(out) != 7 {
		t.Fatalf("within eight seconds go out %q", out)
	}
	last := map[string]object.Time{}
	for now := at(second); len(all) > 0; all = all[1:] {
		b := all[0]
		if b.Channel != "email" {
			t.Errorf("telegram is as it was, and %s goes out", outgoing(now, b))
		}
		last[b.Contact]++
	}
	if last["ada"] != 3 || last["bob"] != 3 || last["cai"] != 1 {
		t.Errorf("messages by contact: %v", last)
	}
	wantOut(t, minutes(out[1:]), "attempt", "attempt", "attempt", "attempt", "attempt", "attempt")
}

// minutes holds that no two messages to one contact are in the same second, and
// tells of each whether it was tried before.
func minutes(out []string) (all []string) {
	seen := map[string]bool{}
	for _, s := range out {
		var when, who, mark string
		fmt.Sscan(s, &when, &who, &mark)
		if seen[when+who] {
			mark = "two at " + when
		}
		seen[when+who] = true
		all = append(all, mark)
	}
	return all
}

// Nothing gets through to bob, but everything to the others: that somebody else has
// mail does not make jaque knock at bob's door each time.
func TestAContactThatFailsAloneIsNotTriedWithEverySuccess(t *testing.T) {
	l, w := &log{}, &world{}
	p := deliver.NewPlanner(deliver.Limits{})
	add(l, p, false, ask{id: "bad!x", contacts: []string{"bob"}})
	tries := 0
	for second := 0; second < 3600; second++ {
		if second%5 == 0 {
			add(l, p, false, ask{id: object.ServiceID(fmt.Sprint("h", second), "x"), second: second})
		}
		for b, ok := p.Take(at(second), w.look()); ok; b, ok = p.Take(at(second), w.look()) {
			if b.Contact == "bob" {
				tries++
				p.Failed(b, at(second), 0)
			} else {
				p.Done(b, at(second))
			}
		}
	}
	if tries < 10 || tries > 22 {
		t.Errorf("%d attempts in an hour", tries)
	}
}

func TestAPauseThatWasAskedForHoldsWhateverGetsThrough(t *testing.T) {
	l, w := &log{}, &world{}
	p := deliver.NewPlanner(deliver.Limits{})
	add(l, p, false, ask{id: "a!x"}, ask{id: "b!x", second: 1, contacts: []string{"bob"}})
	b, _ := p.Take(at(0), w.look())
	p.Failed(b, at(0), 10*time.Minute)
	out, _ := run(p, w, 1, 599)
	wantOut(t, out, "0:01 bob/email []: b!x")
	if out, _ = run(p, w, 600, 700); len(out) != 1 {
		t.Errorf("then go out %q", out)
	}
}
