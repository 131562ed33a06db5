package chain_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/rule/chain"
)

// w is one decision about web01 in a table.
func w(writer string, epoch, prev uint64) *event.Event {
	return &event.Event{Kind: event.CheckResult, Object: "web01", Epoch: epoch, Writer: writer, Instance: writer + "1", Prev: prev, Status: &event.Status{}}
}

// about is w with something changed.
func about(e *event.Event, change func(*event.Event)) *event.Event {
	change(e)
	return e
}

// told is a decision that asks for a notification to ops.
func told(prev uint64) *event.Event {
	return about(w("a", 1, prev), func(e *event.Event) {
		e.ID = "told"
		e.Notes = []event.Note{{Kind: "PROBLEM", Send: true, Number: 1, People: []event.Person{{Name: "ops", Told: true, Channels: []string{"mail"}}}}}
	})
}

// became is an outcome of that request.
func became(k event.Kind) *event.Event {
	return &event.Event{
		Kind: k, Object: "web01", Epoch: 1, Writer: "notifier", Instance: "n1",
		Facts: map[string]string{event.FactRequest: "web01/0/1/PROBLEM/told/ops/mail"},
	}
}

func system(topic string) *event.Event {
	return &event.Event{Kind: event.ConfigLoaded, Epoch: 1, Writer: "a", Instance: "a1", Facts: map[string]string{"topic": topic}}
}

// entry is one position of a log in a table: an event, or why there is none.
type entry struct {
	*event.Event
	subject string
	foreign bool
	broken  bool
	removed uint64 // so many positions are gone
	missing uint64 // so many positions are gone, and nobody knows why
	at      uint64 // another position than the next one
}

func on(events ...*event.Event) (all []entry) {
	for _, e := range events {
		all = append(all, entry{Event: e})
	}
	return all
}

// add hands an event over as it was read as a whole.
func add(v *chain.Verifier, subject []byte, e *event.Event) {
	x := chain.Entry{Seq: e.Seq, Subject: subject, Whole: e}
	x.Of(e)
	v.Add(&x)
}

// verify hands the entries over from a position on.
func verify(first uint64, log []entry) chain.Report {
	var v chain.Verifier
	seq := first
	for _, x := range log {
		switch {
		case x.foreign:
			v.Foreign(seq)
		case x.broken:
			v.Unreadable(seq, errors.New("not JSON"))
		case x.removed > 0:
			v.Removed(seq, seq+x.removed-1, "retention")
			seq += x.removed
			continue
		case x.missing > 0:
			seq += x.missing
			continue
		default:
			e := *x.Event
			if e.ID == "" {
				e.ID = fmt.Sprint("id-", seq)
			}
			if e.Seq = seq; x.at != 0 {
				e.Seq = x.at
			}
			var subject []byte
			if x.subject != "" {
				subject = []byte(x.subject)
			}
			add(&v, subject, &e)
		}
		seq++
	}
	return v.Report()
}

// found writes a report's violations as rule@position.
func found(r *chain.Report) string {
	var all []string
	for _, v := range r.Violations {
		all = append(all, fmt.Sprintf("%s@%d", v.Rule, v.Seq))
	}
	return strings.Join(all, " ")
}

func TestVerifierFindsWhatBreaksAnInvariant(t *testing.T) {
	other := func(e *event.Event) { e.Object = "web02" }
	tests := []struct {
		name  string
		first uint64 // position of the first entry; 0 = 1
		log   []entry
		want  string
	}{
		{"a chain of one writer", 0, on(w("a", 1, 0), w("a", 1, 1), w("a", 1, 2)), ""},
		{"a takeover", 0, on(w("a", 1, 0), w("b", 2, 1), w("b", 2, 2), w("a", 3, 3)), ""},
		{"two objects do not mix", 0, on(w("a", 3, 0), about(w("b", 1, 0), other), w("a", 3, 1), about(w("b", 1, 2), other)), ""},
		{"an epoch that goes back", 0, on(w("a", 1, 0), w("b", 2, 1), w("a", 1, 2)), "epoch@3"},
		{"an epoch that goes back behind a conflict, which raises the fence", 0, on(w("a", 1, 0), w("b", 2, 0), w("a", 1, 1)), "epoch@3"},
		{"two writers in one epoch", 0, on(w("a", 1, 0), w("b", 1, 1)), "writer@2"},
		{"two writers in one epoch, one discarded", 0, on(w("a", 1, 0), w("b", 1, 0)), "writer@2"},
		{"two processes of one engine in one epoch", 0, on(w("a", 1, 0), about(w("a", 1, 1), func(e *event.Event) { e.Instance = "a2" })), "writer@2"},
		{"one engine started again under a newer epoch", 0, on(w("a", 1, 0), about(w("a", 2, 1), func(e *event.Event) { e.Instance = "a2" })), ""},
		{"an event that nobody has signed", 0, on(w("", 1, 0)), "writer@1"},
		{"two decisions on one base: the second is a conflict and no violation", 0, on(w("a", 1, 0), w("b", 2, 0), w("b", 2, 1)), ""},
		{"a decision on a discarded event", 0, on(w("a", 1, 0), w("b", 2, 0), w("b", 2, 2)), "chain@3"},
		{"a decision on a position of another object", 0, on(w("a", 1, 0), about(w("a", 1, 0), other), w("a", 1, 2)), "chain@3"},
		{"a decision on its own position", 0, on(w("a", 1, 0), w("a", 1, 2)), "chain@2"},
		{"a decision on a position to come", 0, on(w("a", 1, 0), w("a", 1, 9)), "chain@2"},
		{"a first event with a base in a whole log", 0, on(w("a", 1, 7)), "chain@1"},
		{"a first event whose base retention has removed", 100, on(w("a", 1, 7)), ""},
		{"a first event with a base that must be there", 100, on(about(w("a", 1, 0), other), w("a", 1, 100)), "chain@101"},
		{"a conflict on a base that retention has removed", 100, on(w("a", 1, 7), w("b", 2, 7)), ""},
		{"a conflict on a base of long ago", 0, on(w("a", 1, 0), w("a", 1, 1), w("a", 1, 2), w("a", 1, 3), w("a", 1, 4), w("a", 1, 5), w("b", 2, 1)), ""},
		{"a conflict between bases that are remembered", 0, on(w("a", 1, 0), about(w("a", 1, 0), other), w("a", 1, 1), w("b", 2, 2)), "chain@4"},
		{"one decision accepted twice", 0, on(about(w("a", 1, 0), func(e *event.Event) { e.ID = "x" }), about(w("a", 1, 1), func(e *event.Event) { e.ID = "x" })), "twice@2"},
		{"one decision on the log twice, discarded once", 0, on(about(w("a", 1, 0), func(e *event.Event) { e.ID = "x" }), about(w("a", 1, 0), func(e *event.Event) { e.ID = "x" })), ""},
		{"one notification asked for twice", 0, on(told(0), told(1)), "twice@2 twice@2"},
		{"a request and its outcome", 0, on(told(0), became(event.NotificationFailed), became(event.NotificationDelivered)), ""},
		{"two outcomes of one request", 0, on(told(0), became(event.NotificationDelivered), became(event.NotificationDelivered)), ""},
		{"an outcome of nothing", 0, on(became(event.NotificationDelivered)), "outcome@1"},
		{"an outcome in front of its request", 0, on(became(event.NotificationAbandoned), told(0)), "outcome@1"},
		{"an outcome of a request that was discarded", 0, on(w("a", 1, 0), told(0), became(event.NotificationDelivered)), "outcome@3"},
		{"an outcome whose request retention may have removed", 100, on(became(event.NotificationDelivered)), ""},
		{"an outcome without a request", 100, on(about(became(event.NotificationFailed), func(e *event.Event) { e.Facts = nil })), "outcome@100"},
		{"an event handler's outcome asks for nothing", 0, on(about(became(event.HandlerRan), func(e *event.Event) { e.Facts = nil })), ""},
		{"events on their subjects", 0, []entry{{Event: w("a", 1, 0), subject: "web01"}, {Event: told(1), subject: "web01"}, {Event: became(event.NotificationDelivered), subject: "web01.outcome"}, {Event: system("config"), subject: "_system.config"}}, ""},
		{"a decision on another object's subject", 0, []entry{{Event: w("a", 1, 0), subject: "web02"}}, "subject@1"},
		{"an outcome on the object's subject", 0, []entry{{Event: told(0)}, {Event: became(event.NotificationDelivered), subject: "web01"}}, "subject@2"},
		{"an event of the system elsewhere", 0, []entry{{Event: system("config"), subject: "_system.other"}}, "subject@1"},
		{"positions that are missing", 0, []entry{{Event: w("a", 1, 0)}, {missing: 3}, {Event: w("a", 1, 1)}}, "gap@2"},
		{"positions whose loss was accepted", 0, []entry{{Event: w("a", 1, 0)}, {removed: 3}, {Event: w("a", 1, 1)}}, ""},
		{"a position that comes again", 0, []entry{{Event: w("a", 1, 0)}, {Event: w("a", 1, 1)}, {Event: w("a", 1, 2), at: 2}}, "gap@2"},
		{"an event that cannot be read", 0, []entry{{Event: w("a", 1, 0)}, {broken: true}, {Event: w("a", 1, 1)}}, "decode@2"},
		{"a message that is no event", 0, []entry{{Event: w("a", 1, 0)}, {foreign: true}, {Event: w("a", 1, 1)}}, ""},
	}
	shown := map[chain.Rule]bool{}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := verify(max(tt.first, 1), tt.log)
			if got := found(&r); got != tt.want {
				t.Errorf("found %q, want %q: %v", got, tt.want, r.Violations)
			}
			if r.Clean() != (tt.want == "") || r.Count() != uint64(len(r.Violations)) {
				t.Errorf("clean %t, count %d of %d", r.Clean(), r.Count(), len(r.Violations))
			}
			for _, v := range r.Violations {
				shown[v.Rule] = true
			}
		})
	}
	for _, rule := range []chain.Rule{chain.Epoch, chain.Writer, chain.Chain, chain.Twice, chain.Outcome, chain.Subject, chain.Gap, chain.Decode} {
		if !shown[rule] {
			t.Errorf("nothing breaks %s", rule)
		}
	}
}

func TestReportCountsEveryMessageOnce(t *testing.T) {
	log := slices.Concat(
		on(w("a", 1, 0), told(1), became(event.NotificationFailed), became(event.NotificationDelivered), became(event.NotificationDelivered), w("b", 2, 1), w("a", 1, 2), system("config")),
		[]entry{{foreign: true}, {broken: true}, {removed: 2}},
		on(about(w("b", 2, 2), func(e *event.Event) { e.Status, e.Version = nil, event.Version+1 })))
	r := verify(1, log)
	want := chain.Report{
		First: 1, Last: 13, Events: 9, Accepted: 3, Stale: 1, Conflicts: 1, Outcomes: 3, System: 1, Foreign: 1, Unreadable: 1,
		Unknown: 1, Newer: 1, Removed: 2, Objects: 1, Requests: 1, Repeated: 1, Epoch: 2,
		Writers: map[string]uint64{"a": 4, "b": 2, "notifier": 3},
		ByRule:  map[chain.Rule]uint64{chain.Epoch: 1, chain.Decode: 1}, Violations: r.Violations,
	}
	if fmt.Sprint(r) != fmt.Sprint(want) {
		t.Errorf("report\n%+v, want\n%+v", r, want)
	}
}

func TestReportKeepsTheFirstViolationsAndCountsAll(t *testing.T) {
	v := chain.Verifier{Keep: 2}
	for seq := uint64(1); seq <= 5; seq++ {
		v.Unreadable(seq, errors.New("x"))
	}
	if r := v.Report(); len(r.Violations) != 2 || r.Count() != 5 || r.Violations[1].Seq != 2 {
		t.Errorf("%d kept, %d counted", len(r.Violations), r.Count())
	}
	if r := new(chain.Verifier).Report(); !r.Clean() {
		t.Error("nothing is not clean")
	}
}
