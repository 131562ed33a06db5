package projection_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
)

// with makes a decision after which an object has these downtimes and comments.
func with(p *projection.Projection, id object.ID, seq uint64, downtimes []event.Downtime, comments ...event.Comment) *event.Event {
	e := decision(p, id, seq, object.OK, object.Hard)
	if len(downtimes)+len(comments) > 0 {
		e.Status.Extra = &event.Extra{Downtimes: downtimes, Comments: comments}
	}
	return e
}

func TestObjectsAreFoundByWhatOperatorsReferTo(t *testing.T) {
	p := projection.New(set(3))
	p.Apply(with(p, "h!s0", 1, []event.Downtime{{ID: "d1", Number: 7, Comment: 3, End: 99_000}}, event.Comment{ID: "c1", Number: 4}))
	p.Apply(with(p, "h!s1", 2, []event.Downtime{{ID: "d2", Number: 8, Trigger: "d1"}}))
	p.Apply(with(p, "h!s2", 3, []event.Downtime{{ID: "d3", Number: 9, Trigger: "d1"}, {ID: "r@5", Rule: "r", Started: 5, End: 99_000}}))
	for what, got := range map[string][]object.ID{
		"with d1":         p.WithDowntime("d1"),
		"triggered by d1": p.TriggeredBy("d1"),
		"of rule r":       p.OfRule("r"),
		"with nothing":    p.WithDowntime("d9"),
		"triggered":       p.Triggered(),
	} {
		want := map[string][]object.ID{
			"with d1": {"h!s0"}, "triggered by d1": {"h!s1", "h!s2"}, "of rule r": {"h!s2"}, "triggered": {"h!s1", "h!s2"},
		}[what]
		if !slices.Equal(got, want) {
			t.Errorf("objects %s: %v, want %v", what, got, want)
		}
	}
	if id, ok := p.DowntimeNumbered(8); !ok || id != "h!s1" {
		t.Errorf("downtime 8 is of %q, %t", id, ok)
	}
	for _, n := range []uint64{3, 4} {
		if id, ok := p.CommentNumbered(n); !ok || id != "h!s0" {
			t.Errorf("comment %d is of %q, %t", n, id, ok)
		}
	}
	is := func(want object.ID) func(object.ID) bool { return func(id object.ID) bool { return id == want } }
	if !p.AnyOfRule("r", is("h!s2")) || p.AnyOfRule("r", is("h!s1")) || p.AnyOfRule("q", is("h!s2")) {
		t.Error("the rule's object is not found, or another one is")
	}
	if tr := p.Trigger("r@5"); !tr.Known || tr.Started != 5 {
		t.Errorf("trigger r@5: %+v, want one that runs since 5", tr)
	}
	p.Apply(with(p, "h!s0", 4, nil))
	if _, ok := p.DowntimeNumbered(7); ok || p.Trigger("d1").Known {
		t.Error("a downtime that is gone is still found")
	}
	if n := p.Numbers(); n != (projection.Numbers{Comment: 4, Downtime: 9}) {
		t.Errorf("highest numbers %+v, want 4 and 9 also after they are gone", n)
	}
	if p.Look("h!s9") != nil || p.Look("h!s1") == nil {
		t.Error("Look knows an object nothing was heard of, or not one that has a state")
	}
}

func TestOnlyOccurrencesThatWentBeforeTheirEndAreRemembered(t *testing.T) {
	p := projection.New(set(3))
	d := []event.Downtime{{ID: "r@1", Rule: "r", Start: 1, End: 5000}}
	p.Apply(with(p, "h!s0", 1, d))
	p.Apply(with(p, "h!s1", 2, d))
	p.Apply(with(p, "h!s2", 3, []event.Downtime{{ID: "own", End: 5000}}))
	p.Apply(with(p, "h!s0", 4, nil)) // at 4 s, before its end
	p.Apply(with(p, "h!s2", 5, nil))
	p.Apply(with(p, "h!s1", 6, nil)) // at 6 s, behind its end
	if !p.Dropped("h!s0", "r@1", 5000) || p.Dropped("h!s0", "r@1", 6000) {
		t.Error("the occurrence that was cancelled is not known, or counts for another end")
	}
	if p.Dropped("h!s1", "r@1", 5000) || p.Dropped("h!s2", "own", 5000) {
		t.Error("an occurrence that ended, or a downtime without a rule, counts as dropped")
	}
}

// What would be over anyway is forgotten, or a year of cancelled nights would fill
// the memory.
func TestDroppedOccurrencesAreForgottenWhenTheyAreOver(t *testing.T) {
	p := projection.New(set(3))
	at := func(n uint64) string { return fmt.Sprint("r@", n) }
	for n := range uint64(2000) {
		end := object.Time(1000*2*n + 60_000) // a minute behind the decision
		p.Apply(with(p, "h!s0", 2*n+1, []event.Downtime{{ID: at(n), Rule: "r", Number: n + 1, End: end}}))
		p.Apply(with(p, "h!s0", 2*n+2, nil))
	}
	old, young := uint64(1), uint64(1999)
	if p.Dropped("h!s0", at(old), object.Time(1000*2*old+60_000)) || !p.Dropped("h!s0", at(young), object.Time(1000*2*young+60_000)) {
		t.Error("want the first forgotten and the last known")
	}
	if _, data := p.Encode(); len(data) > 4096 {
		t.Errorf("a snapshot takes %d bytes, want only what is not over", len(data))
	}
}

func TestTheProgramsStateFollowsItsEvents(t *testing.T) {
	p := projection.New(set(1))
	apply := func(seq uint64, pr event.Program) fold.Outcome {
		return p.Apply(&event.Event{Stream: event.Log, Seq: seq, Kind: event.SettingChanged, Facts: map[string]string{"topic": "program"}, Program: &pr})
	}
	apply(1, event.Program{Switches: &event.Switches{Off: object.ProgramNotifications}})
	before := p.Program()
	apply(2, event.Program{Rule: &event.DowntimeRule{ID: "r", Number: 12, Group: "web"}})
	apply(3, event.Program{Contact: &event.ContactStatus{Name: "maria", HostOff: true}})
	if out := apply(2, event.Program{RuleGone: "r"}); out != fold.Repeated {
		t.Errorf("an older position is %v, want repeated", out)
	}
	got := p.Program()
	if got.Switches.Off != object.ProgramNotifications || got.Rules["r"].Group != "web" || !got.Contacts["maria"].HostOff || got.Sub != 3 {
		t.Errorf("state %+v", got)
	}
	if len(before.Rules) != 0 || p.Numbers().Downtime != 12 {
		t.Errorf("a state was changed in place (%+v), or the rule's number is not known", before)
	}
	apply(4, event.Program{RuleGone: "r"})
	if len(p.Program().Rules) != 0 || len(got.Rules) != 1 {
		t.Error("the rule is still there, or was taken out of a state that somebody reads")
	}
}

// everything reads all that a projection knows beside the states.
func everything(p *projection.Projection) string {
	s := fmt.Sprintf("%+v %+v", *p.Program(), p.Numbers())
	for id := range p.Extras() {
		s += " " + string(id)
	}
	for n := range uint64(120) {
		d, _ := p.DowntimeNumbered(n)
		c, _ := p.CommentNumbered(n)
		s += fmt.Sprint(" ", d, c)
	}
	for _, id := range []string{"a", "b", "c"} {
		s += fmt.Sprint(p.WithDowntime(id), p.TriggeredBy(id), slices.Sorted(slices.Values(p.OfRule(id))), p.Trigger(id), p.Dropped("h!s0", id, 70_000))
	}
	return s + fmt.Sprint(p.RuleIDs(), p.Triggered())
}

// Whatever happened, a snapshot restores what was kept step by step.
func TestASnapshotRestoresTheIndexAndTheProgram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := projection.New(set(3))
		name := rapid.SampledFrom([]string{"", "a", "b", "c"})
		for seq := range uint64(rapid.IntRange(0, 30).Draw(t, "events")) {
			if rapid.IntRange(0, 3).Draw(t, "what") == 0 {
				p.Apply(&event.Event{Stream: event.Log, Seq: seq + 1, Program: &event.Program{
					Rule:     &event.DowntimeRule{ID: "r" + name.Draw(t, "put"), Number: rapid.Uint64Range(0, 50).Draw(t, "number")},
					RuleGone: "r" + name.Draw(t, "gone"), Contact: &event.ContactStatus{Name: name.Draw(t, "contact"), Modified: uint32(seq)},
				}})
				continue
			}
			var all []event.Downtime
			for i := range rapid.IntRange(0, 3).Draw(t, "downtimes") {
				all = append(all, event.Downtime{
					ID: []string{"a", "b", "c"}[i], Number: seq*3 + uint64(i), Trigger: name.Draw(t, "trigger"), Rule: name.Draw(t, "rule"), End: 70_000,
				})
			}
			p.Apply(with(p, object.ServiceID("h", fmt.Sprint("s", rapid.IntRange(0, 2).Draw(t, "svc"))), seq+1, all, event.Comment{Number: 30 + seq}))
		}
		at, data := p.Encode()
		q := projection.New(set(3))
		if err := q.Restore(at, data); err != nil {
			t.Fatal(err)
		}
		if got, want := everything(q), everything(p); got != want {
			t.Fatalf("restored\n%s\nwas\n%s", got, want)
		}
	})
}

// A newer build goes on from what an older one has written.
func TestSnapshotsOfOlderFormatsAreRead(t *testing.T) {
	for _, file := range []string{"snapshot-1.s2", "snapshot-2.s2"} {
		t.Run(file, func(t *testing.T) {
			data, err := os.ReadFile("testdata/" + file)
			if err != nil {
				t.Fatal(err)
			}
			q := projection.New(set(3))
			if err := q.Restore(journal.Position{Log: 9}, data); err != nil {
				t.Fatal(err)
			}
			// Every third of nine events was about s0; the last has seq 7 and state 6 % 4.
			st := q.State("h!s0")
			if st.Last != 7 || st.Status.State != object.Critical || st.Status.Extra.Comments[0].Text != "disk ordered" {
				t.Errorf("the state is %+v", st.Status)
			}
			if id, ok := q.DowntimeNumbered(7); !ok || id != "h!s0" || q.Numbers().Downtime != 7 || q.Program() == nil {
				t.Errorf("downtime 7 is of %q, %t; numbers %+v", id, ok, q.Numbers())
			}
			if open := q.OpenRequests(); len(open) != 0 || q.Position().Log != 9 || q.Epoch() != 7 {
				t.Errorf("%d open requests, position %+v, epoch %d", len(open), q.Position(), q.Epoch())
			}
		})
	}
}

// Objects without comments and downtimes cost the index nothing.
func TestTheIndexHoldsOnlyWhatIsThere(t *testing.T) {
	p := projection.New(set(3))
	n := testing.AllocsPerRun(100, func() {
		for id := range p.Extras() {
			t.Errorf("%s is listed", id)
		}
	})
	if n > 4 {
		t.Errorf("listing nothing takes %v allocations", n)
	}
}
