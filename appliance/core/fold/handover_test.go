package fold_test

import (
	"bytes"
	"fmt"
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// The traces of the handover protocol at the level of the fold.
func TestHandoverTraces(t *testing.T) {
	type w struct{ at, epoch, prev uint64 }
	tests := []struct {
		name  string
		log   []w
		want  string // outcome of every event, first letters
		last  uint64
		fence uint64
	}{
		{"T2 the second append on the same base is a conflict for everybody", []w{{1, 1, 0}, {2, 2, 0}}, "AC", 1, 2},
		{"T8 the attempt that was decided twice counts once", []w{{1, 1, 0}, {2, 1, 1}, {3, 2, 1}, {4, 2, 2}}, "AACA", 4, 2},
		{"T13 of two first events the first stays", []w{{1, 1, 0}, {2, 1, 0}, {3, 1, 1}}, "ACA", 3, 1},
		{"T14 a lost conflict still raises the fence", []w{{1, 1, 0}, {2, 2, 0}, {3, 1, 1}, {4, 2, 1}}, "ACSA", 4, 2},
		{"T22 a stale event behind a newer epoch", []w{{1, 2, 0}, {2, 1, 0}}, "AS", 1, 2},
		{"T24 stale and conflicting events in the middle", []w{{1, 2, 0}, {2, 1, 1}, {3, 2, 0}, {4, 3, 1}, {5, 2, 4}, {6, 3, 4}}, "ASCASA", 6, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var s fold.State
			var got bytes.Buffer
			for i, ev := range tt.log {
				e := event.Event{Stream: event.Log, Seq: ev.at, Epoch: ev.epoch, Prev: ev.prev, Status: &event.Status{Attempt: int32(ev.at)}}
				// A reader that starts from a snapshot of any prefix (T22) or
				// replays it (T24) must go the same way.
				var fresh fold.State
				if err := fold.DecodeState(fold.AppendState(nil, &s), &fresh); err != nil {
					t.Fatal(err)
				}
				var o, fromSnapshot fold.Outcome
				s, o = fold.Apply(s, &e)
				fresh, fromSnapshot = fold.Apply(fresh, &e)
				if o != fromSnapshot || digest(s) != digest(fresh) {
					t.Fatalf("event %d: %s and from a snapshot %s", i, o, fromSnapshot)
				}
				fmt.Fprintf(&got, "%c", o.String()[0]-'a'+'A')
			}
			if got.String() != tt.want || s.Last != tt.last || s.Fence != tt.fence || s.Status.Attempt != int32(tt.last) {
				t.Errorf("outcomes %s, last %d, fence %d, state of %d; want %s, %d, %d", &got, s.Last, s.Fence, s.Status.Attempt, tt.want, tt.last, tt.fence)
			}
		})
	}
}

// T23: the fold has no config and no clock; the writer's limits are in the event.
func TestReadersWithOtherConfigsFoldTheSame(t *testing.T) {
	few := &object.Object{ID: "a", Rule: &object.Rule{Attempts: 1}}
	many := &object.Object{ID: "a", Rule: &object.Rule{Attempts: 9}}
	e := event.Event{Stream: event.Log, Seq: 1, Epoch: 1, Status: &event.Status{Checked: true, Type: object.Soft, Attempt: 2, MaxAttempts: 3}}
	a, _ := fold.Apply(fold.New(few), &e)
	b, _ := fold.Apply(fold.New(many), &e)
	if digest(a) != digest(b) {
		t.Errorf("%s and %s", digest(a), digest(b))
	}
}

// T9: two engines decide the last attempt on the same base. The second append
// is a conflict; decided again on the new base it is no transition.
func TestTwoEnginesMakeOneHardTransition(t *testing.T) {
	env, s := probed()
	must(t, env, s, result(object.Critical), started)
	must(t, env, s, result(object.Critical), started)
	a, b := *env, *env
	a.Writer, b.Writer, b.Epoch = "a", "b", 2
	byA, errA := fold.Decide(&a, s, result(object.Critical), started)
	byB, errB := fold.Decide(&b, s, result(object.Critical), started)
	if errA != nil || errB != nil || !byA.Log.Transition || !byB.Log.Transition {
		t.Fatal(errA, errB, byA.Log.Transition, byB.Log.Transition)
	}
	var outcomes [2]fold.Outcome
	for i, d := range []*fold.Decision{&byA, &byB} {
		d.Log.Seq = s.Sub + 1
		*s, outcomes[i] = fold.Apply(*s, &d.Log)
	}
	if outcomes != [2]fold.Outcome{fold.Accepted, fold.Conflict} {
		t.Fatalf("outcomes %v", outcomes)
	}
	again := must(t, &b, s, result(object.Critical), started)
	if again.Log.Transition || brief("web01!http", s) != "C H3" {
		t.Errorf("decided again: transition %t, %s", again.Log.Transition, brief("web01!http", s))
	}
}

// S121: a new owner goes on where the previous one stopped, with nothing but
// what it has folded.
func TestATakeoverContinuesTheSoftAttempts(t *testing.T) {
	env, s := probed()
	must(t, env, s, result(object.Critical), started)
	heir := *env
	heir.Writer, heir.Epoch = "b", 2
	d := must(t, &heir, s, result(object.Critical), started)
	if brief("web01!http", s) != "C S2" || s.Fence != 2 || s.Measure.N != 2 || d.Log.Prev != 1 {
		t.Errorf("%s, fence %d, result %d, base %d", brief("web01!http", s), s.Fence, s.Measure.N, d.Log.Prev)
	}
	if _, err := fold.Decide(env, s, result(object.Critical), started); err == nil {
		t.Error("the previous owner still decides")
	}
}

// What operators did goes over to the new owner too: a downtime ends and an
// acknowledgement expires although the engine that took them has gone.
func TestATakeoverContinuesWhatOperatorsDid(t *testing.T) {
	env, s := probed()
	env.ID = "d"
	must(t, env, s, result(object.Critical), started)
	must(t, env, s, fold.Acknowledge{Kind: object.AckSticky, Text: "x", Expires: started + 50}, started)
	must(t, env, s, window("a", 0, 0.050, 0), started)
	must(t, env, s, fold.SetNotificationNumber{Number: 3}, started)
	heir := *env
	heir.Writer, heir.Epoch = "b", 2
	must(t, &heir, s, result(object.Critical), started+10)
	if s.Status.Ack != object.AckSticky || s.Status.DowntimeDepth != 1 || s.Status.NotificationNumber != 3 || brief("web01!http", s) != "C S2" {
		t.Errorf("taken over as %+v", s.Status)
	}
	if work, at := fold.Due(&heir, s, started+50); work != fold.PassTime || at != started+50 {
		t.Errorf("due is %s at %d", work, at-started)
	}
	must(t, &heir, s, fold.Tick{}, started+50)
	if s.Status.Ack != object.AckNone || s.Status.DowntimeDepth != 0 || s.Status.Extra != nil {
		t.Errorf("after its time %+v", s.Status)
	}
}
