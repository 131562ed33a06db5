package deliver_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

func TestARequestKeepsWhatAMessageNeeds(t *testing.T) {
	l := &log{}
	e := l.event(ask{id: "a!x", contacts: []string{"ada", "bob"}})
	e.Measure = &event.Measure{Output: strings.Repeat("ü", 3000), Long: strings.Repeat("l", 9000), Perfdata: "a=1"}
	e.Text = strings.Repeat("t", 5000)
	e.Notes[0].People[0].Gates = append(e.Notes[0].People[0].Gates, event.Gate{Name: "chosen", Verdict: event.GatePassed, Why: "on call"})
	e.Notes = append([]event.Note{{Kind: "RECOVERY", By: "told", Gates: []event.Gate{{Name: "told"}}}}, e.Notes...)
	before := string(event.AppendJSON(nil, e))
	all, _ := l.open.Apply(e)
	if len(all) != 2 || all[0].Event != all[1].Event || all[0].Event == e {
		t.Fatalf("%d requests", len(all))
	}
	m := all[0].Event.Measure
	if len(m.Output) != 4096 || !utf8.ValidString(m.Output) || len(m.Long) != 8192 || m.Perfdata != "a=1" || len(all[0].Event.Text) != 4096 {
		t.Errorf("output %d, long %d, text %d bytes", len(m.Output), len(m.Long), len(all[0].Event.Text))
	}
	if n := all[0].Event.Notes; len(n) != 1 || n[0].Gates != nil || len(n[0].People) != 2 ||
		len(n[0].People[0].Gates) != 1 || n[0].People[0].Gates[0].Why != "on call" || n[0].People[1].Gates != nil {
		t.Errorf("the notes are %+v", n)
	}
	if string(event.AppendJSON(nil, e)) != before {
		t.Error("the event itself was changed")
	}
	ids := requestIDs(all)
	for i, r := range e.Requests() {
		if r.ID != ids[i] {
			t.Errorf("%s became %s", r.ID, ids[i])
		}
	}
}

// A recovery says nothing of the problem that is over; the fold remembers it.
func TestARecoveryKnowsItsProblem(t *testing.T) {
	for _, c := range []struct {
		name  string
		asks  []ask
		group string // in whose message the problem was told; "" = it was not yet
		since int
		root  object.ID
	}{
		{"the root that the problem had", []ask{{id: "h!x", second: 5, root: "sw1", group: byRoot}}, "", 5, "sw1"},
		{"the root in whose message the problem went out", []ask{{id: "h!x", second: 5, group: byRoot}}, "root=sw1", 5, "sw1"},
		{"a message of its own is no root", []ask{{id: "h!x", second: 5, group: byRoot}}, "root=h!x", 5, ""},
		{"a repetition without a root has the last word", []ask{{id: "h!x", second: 5, root: "sw1", group: byRoot}, {id: "h!x", second: 90, problem: 5, group: byRoot}}, "", 5, ""},
		{"the problem was never told", nil, "", 0, ""},
		{"a problem of more than a month ago", []ask{{id: "h!x", second: 5 - 31*86400, root: "sw1", group: byRoot}}, "", 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, p := &log{}, deliver.NewPlanner(deliver.Limits{})
			for _, a := range c.asks {
				add(l, p, false, a)
			}
			if c.group != "" {
				root, _ := strings.CutPrefix(c.group, "root=")
				b, _ := p.Take(at(60), (&world{roots: map[object.ID]object.ID{"h!x": object.ID(root)}}).look())
				l.outcome(b, 0, event.NotificationDelivered, at(60))
			}
			r := l.ask(ask{id: "h!x", second: 100, kind: "RECOVERY", group: byRoot})[0]
			want := object.Time(0)
			if c.since != 0 {
				want = at(c.since)
			}
			if r.Since != want || r.Root != c.root {
				t.Errorf("since %d behind %q, want %d behind %q", r.Since, r.Root, want, c.root)
			}
		})
	}
}

func TestWhatAGroupSentIsForgottenAfterADay(t *testing.T) {
	l, p := &log{}, deliver.NewPlanner(deliver.Limits{})
	add(l, p, false, ask{id: "sw1", group: byRoot})
	b, _ := p.Take(at(30), nil)
	l.outcome(b, 0, event.NotificationDelivered, at(31))
	add(l, p, false, ask{id: "a!x", second: 90000, group: byRoot})
	k := deliver.GroupKey{Contact: "ada", Channel: "email", Group: "root=sw1"}
	if got := l.open.Sent(k); got != (deliver.Last{}) {
		t.Errorf("more than a day before the newest event it is %+v", got)
	}
	fresh := &log{}
	add(fresh, p, false, ask{id: "sw1", second: 60, group: byRoot})
	fresh.outcome(b, 0, event.NotificationDelivered, at(61))
	if got := fresh.open.Sent(k); got.Time != at(61) || got.Thread != b.Thread {
		t.Errorf("it is %+v", got)
	}
}

func TestOutcomesThatComeTwiceAreCounted(t *testing.T) {
	l, p := &log{}, deliver.NewPlanner(deliver.Limits{})
	add(l, p, false, ask{id: "a!x"})
	b, _ := p.Take(at(1), nil)
	l.outcome(b, 0, event.NotificationFailed, at(1))
	if r := l.open.Get(b.Requests[0].ID); r.Failures != 1 || r.Reason != "refused" {
		t.Errorf("after a failure %+v", r)
	}
	for range 3 {
		l.outcome(b, 0, event.NotificationDelivered, at(2))
	}
	l.outcome(b, 0, event.NotificationFailed, at(3))
	if l.open.Len() != 0 || l.open.Repeated() != 2 {
		t.Errorf("%d open, %d outcomes repeated", l.open.Len(), l.open.Repeated())
	}
}

// What was encoded decodes to the same, and going on from it gives what the whole
// log gives.
func TestGoingOnFromASnapshotGivesTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &process{t: t, l: &log{}, now: start}
		var events []*event.Event
		whole := &deliver.Open{}
		for range rapid.IntRange(0, 40).Draw(t, "events") {
			s.now += object.Time(rapid.SampledFrom([]int{0, 1000, 60000, 50000000}).Draw(t, "later"))
			e := s.l.event(s.draw())
			if all := whole.All(); len(all) > 0 && rapid.Bool().Draw(t, "outcome") {
				r := rapid.SampledFrom(all).Draw(t, "request")
				e = &event.Event{Seq: e.Seq, Object: r.Event.Object, Time: s.now, Facts: map[string]string{
					event.FactRequest: r.ID, event.FactContact: r.Contact, event.FactChannel: r.Channel, event.FactReason: "gone",
					event.FactGroup: deliver.KeyOf(r, nil).Group, event.FactThread: "t",
				}}
				e.Kind = rapid.SampledFrom([]event.Kind{event.NotificationDelivered, event.NotificationFailed, event.NotificationAbandoned, event.HandlerRan}).Draw(t, "kind")
			}
			whole.Apply(e)
			events = append(events, e)
		}
		part := &deliver.Open{}
		cut := rapid.IntRange(0, len(events)).Draw(t, "cut")
		for _, e := range events[:cut] {
			part.Apply(e)
		}
		second := &deliver.Open{}
		data := deliver.AppendOpen(nil, part.Clone())
		if err := deliver.DecodeOpen(data, second); err != nil {
			t.Fatal(err)
		}
		if again := deliver.AppendOpen(nil, second); !bytes.Equal(again, data) {
			t.Fatalf("encoded\n%s\nand again\n%s", data, again)
		}
		for _, e := range events[rapid.IntRange(0, cut).Draw(t, "position"):] {
			second.Apply(e)
		}
		if got, want := deliver.AppendOpen(nil, second), deliver.AppendOpen(nil, whole); !bytes.Equal(got, want) {
			t.Fatalf("snapshot and tail\n%s\nwhole\n%s", got, want)
		}
	})
}

// A damaged snapshot is an error, never a crash; one that is taken is whole.
func FuzzDecodeOpen(f *testing.F) {
	l := &log{}
	for _, a := range []ask{{id: "a!x", group: byRoot, contacts: []string{"ada", "bob/telegram"}}, {id: "sw1", second: 9, root: "sw0"}} {
		l.ask(a)
	}
	data := deliver.AppendOpen(nil, &l.open)
	for _, seed := range []string{string(data), `{}`, `{"e":[{"p":[{"i":7}]}]}`, `{"e":[{"ev":{"n":[1]}}]}`, `{"s":[{"c":"a","t":-1}]}`, string(data[:len(data)/2])} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var o deliver.Open
		if deliver.DecodeOpen(data, &o) != nil {
			return
		}
		all := o.All()
		if len(all) != o.Len() || !slices.IsSortedFunc(all, func(a, b *deliver.Pending) int { return int(min(a.Seq, 1<<40)) - int(min(b.Seq, 1<<40)) }) {
			t.Errorf("%d requests, %d listed", o.Len(), len(all))
		}
		var again deliver.Open
		if err := deliver.DecodeOpen(deliver.AppendOpen(nil, &o), &again); err != nil {
			t.Errorf("what it encodes to does not decode: %v", err)
		}
	})
}
