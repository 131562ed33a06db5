package projection_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
)

func set(services int) *object.Set {
	rule := &object.Rule{Name: "r", Attempts: 3, Check: object.Check{Kind: object.CheckPassive}}
	h := &object.Object{ID: "h", Name: "h", Rule: rule}
	all := []*object.Object{h}
	for i := range services {
		name := fmt.Sprint("s", i)
		all = append(all, &object.Object{ID: object.ServiceID("h", name), Name: name, Host: h, Rule: rule})
	}
	return object.NewSet("g", object.DefaultSettings(), all)
}

// decision makes the next accepted log event of an object.
func decision(p *projection.Projection, id object.ID, seq uint64, st object.State, typ object.StateType) *event.Event {
	old := p.State(id)
	return &event.Event{
		Stream: event.Log, Seq: seq, Version: 1, ID: fmt.Sprint("d", seq), Kind: event.CheckResult, Object: id,
		Epoch: 7, Prev: old.Last, Time: object.Time(1000 * seq), Transition: true,
		Status:  &event.Status{State: st, Type: typ, Checked: true, Attempt: 1, MaxAttempts: 3},
		Measure: &event.Measure{Epoch: 7, N: old.Measure.N + 1, State: st, Output: "out " + string(id), LastCheck: object.Time(seq)},
	}
}

func TestCountersFollowEveryChange(t *testing.T) {
	p := projection.New(set(3))
	if c := p.Counts(); c.PendingHosts != 1 || c.PendingServices != 3 {
		t.Fatalf("at first %+v, want one host and three services pending", c)
	}
	p.Apply(decision(p, "h", 1, object.Up, object.Hard))
	p.Apply(decision(p, "h!s0", 2, object.Critical, object.Soft))
	p.Apply(decision(p, "h!s1", 3, object.Warning, object.Hard))
	c := p.Counts()
	if c.Hosts[object.Up] != 1 || c.Services[object.Critical] != 1 || c.Services[object.Warning] != 1 || c.PendingServices != 1 {
		t.Errorf("counts %+v", c)
	}
	if c.UnhandledServices != 1 {
		t.Errorf("%d unhandled services, want the hard WARNING alone", c.UnhandledServices)
	}
	p.Apply(decision(p, "h!s1", 4, object.OK, object.Hard))
	if c := p.Counts(); c.UnhandledServices != 0 || c.Services[object.OK] != 1 || c.Services[object.Warning] != 0 {
		t.Errorf("after the recovery %+v", c)
	}
}

// Counting step by step gives what counting anew gives, whatever happened.
func TestCountersEqualARecount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := projection.New(set(4))
		for seq := range uint64(rapid.IntRange(0, 60).Draw(t, "events")) {
			id := object.ServiceID("h", fmt.Sprint("s", rapid.IntRange(0, 5).Draw(t, "svc")))
			e := decision(p, id, seq+1, object.State(rapid.IntRange(0, 3).Draw(t, "state")), object.StateType(rapid.IntRange(0, 1).Draw(t, "type")))
			e.Status.Flapping = rapid.Bool().Draw(t, "flapping")
			e.Status.DowntimeDepth = int32(rapid.IntRange(0, 1).Draw(t, "downtime"))
			e.Status.Ack = object.AckKind(rapid.IntRange(0, 2).Draw(t, "ack"))
			p.Apply(e)
		}
		got := p.Counts()
		p.Replace(p.Set())
		if want := p.Counts(); got != want {
			t.Fatalf("counted step by step %+v, counted anew %+v", got, want)
		}
	})
}

func TestASnapshotRestoresEveryStateAndThePosition(t *testing.T) {
	p := projection.New(set(5))
	for seq := range uint64(20) {
		p.Apply(decision(p, object.ServiceID("h", fmt.Sprint("s", seq%7)), seq+1, object.State(seq%4), object.Hard))
	}
	at, data := p.Encode()
	if at != (journal.Position{Log: 20}) {
		t.Fatalf("position %+v, want log 20", at)
	}
	q := projection.New(set(5))
	if err := q.Restore(at, data); err != nil {
		t.Fatal(err)
	}
	for i := range 7 { // s5 and s6 are not configured and must come back too
		id := object.ServiceID("h", fmt.Sprint("s", i))
		if got, want := *q.State(id), *p.State(id); got != want {
			t.Errorf("%s: %+v, want %+v", id, got, want)
		}
	}
	if q.Position() != at || q.Epoch() != 7 || q.Newest() != p.Newest() || q.Counts() != p.Counts() {
		t.Errorf("restored position %+v epoch %d newest %d counts %+v", q.Position(), q.Epoch(), q.Newest(), q.Counts())
	}
}

// A snapshot taken while the fold goes on holds states ahead of its position;
// the tail behind the position is then repeated without effect.
func TestATailThatIsInASnapshotAlreadyIsRepeatedWithoutEffect(t *testing.T) {
	p := projection.New(set(1))
	events := []*event.Event{}
	for seq := range uint64(3) {
		e := decision(p, "h!s0", seq+1, object.State(seq), object.Hard)
		events = append(events, e)
		p.Apply(e)
	}
	_, data := p.Encode()
	q := projection.New(set(1))
	if err := q.Restore(journal.Position{Log: 1}, data); err != nil {
		t.Fatal(err)
	}
	for _, e := range events[1:] {
		if o := q.Apply(e); o != fold.Repeated {
			t.Errorf("event %d: %s, want repeated", e.Seq, o)
		}
	}
	if *q.State("h!s0") != *p.State("h!s0") {
		t.Error("the state changed")
	}
}

func TestADamagedSnapshotIsRefusedAndChangesNothing(t *testing.T) {
	p := projection.New(set(2))
	p.Apply(decision(p, "h!s0", 1, object.Critical, object.Hard))
	at, data := p.Encode()
	for name, bad := range map[string][]byte{
		"empty": nil, "text": []byte("hello"), "cut": data[:len(data)/2],
		"flipped": append(append([]byte{}, data[:len(data)-9]...), append([]byte{data[len(data)-9] ^ 0x40}, data[len(data)-8:]...)...),
	} {
		q := projection.New(set(2))
		if err := q.Restore(at, bad); err == nil {
			t.Errorf("%s: no error", name)
		}
		if q.State("h!s0").Status.Checked || q.Position() != (journal.Position{}) {
			t.Errorf("%s: the projection changed", name)
		}
	}
}

func TestASlowSubscriberIsDroppedAndAFastOneSeesAll(t *testing.T) {
	p := projection.New(set(1))
	slow, fast := p.Subscribe(1), p.Subscribe(10)
	for seq := range uint64(3) {
		p.Apply(decision(p, "h!s0", seq+1, object.State(seq), object.Hard))
	}
	if n := len(drain(slow)); n != 1 {
		t.Errorf("the slow one got %d events before its channel closed, want 1", n)
	}
	fast.Close()
	fast.Close()
	var ids []string
	for _, e := range drain(fast) {
		ids = append(ids, e.ID)
	}
	if strings.Join(ids, " ") != "d1 d2 d3" {
		t.Errorf("the fast one got %v", ids)
	}
}

func drain(s *projection.Subscription) (out []*event.Event) {
	for e := range s.C {
		out = append(out, e)
	}
	return out
}

// Switching by what was added and removed counts as counting anew does.
func TestASwitchCountsWhatChangedAndNothingElse(t *testing.T) {
	p := projection.New(set(4))
	for seq := range uint64(8) {
		p.Apply(decision(p, object.ServiceID("h", fmt.Sprint("s", seq)), seq+1, object.State(seq%4), object.Hard))
	}
	p.Switch(set(6), []object.ID{"h!s4", "h!s5"}, nil)
	check := func(what string) {
		t.Helper()
		got, problems := p.Counts(), len(p.Problems())
		p.Replace(p.Set())
		if want := p.Counts(); got != want || problems != len(p.Problems()) {
			t.Errorf("%s: %+v and %d problems, counted anew %+v and %d", what, got, problems, want, len(p.Problems()))
		}
	}
	check("two services whose states were known are added")
	if st := p.State("h!s5"); st.Status.State != object.Warning {
		t.Errorf("the added service is %v, want its state from before", st.Status.State)
	}
	p.Switch(set(1), nil, []object.ID{"h!s1", "h!s2", "h!s3", "h!s4", "h!s5"})
	check("five are removed")
}
