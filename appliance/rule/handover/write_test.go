package handover_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/rule/handover"
)

// at is an object of which the log was read up to a position.
func at(sub uint64) *fold.State { return &fold.State{Sub: sub} }

func logged(seq uint64) *event.Event { return &event.Event{Stream: event.Log, Seq: seq} }

// life is a write that was decided at position 5 of its object and sent once.
func life() handover.Write { return handover.Write{}.Begin(event.Log, 5).Sent() }

func TestWhatFollowsFromEachAnswer(t *testing.T) {
	refused := func() handover.Write { w, _ := life().Refused(); return w }
	told := func(last, compared uint64, st *fold.State) (handover.Write, handover.Next) {
		return refused().Last(last, compared, st)
	}
	behind, _ := told(9, 9, at(5))
	measured := handover.Write{}.Begin(event.Results, 0).Sent()
	tests := []struct {
		name string
		next func() (handover.Write, handover.Next)
		want handover.Next
	}{
		{"an acknowledgement ends nothing", func() (handover.Write, handover.Next) { return life().Acked(6, at(5)) }, handover.Next{}},
		{"unless the position was read before the write began: the log knew the id", func() (handover.Write, handover.Next) { return life().Acked(4, at(5)) }, handover.Next{Do: handover.Done}},
		{"an unknown outcome sends the same again", func() (handover.Write, handover.Next) { return life().Failed() }, handover.Next{Do: handover.Repeat, After: 100 * time.Millisecond}},
		{"a refusal asks for the last position", func() (handover.Write, handover.Next) { return life().Refused() }, handover.Next{Do: handover.Ask}},
		{"that cannot be read is asked for again", func() (handover.Write, handover.Next) { return refused().Unanswered() }, handover.Next{Do: handover.Ask, After: time.Second}},
		{"the last position is ahead of the tail", func() (handover.Write, handover.Next) { return told(9, 9, at(5)) }, handover.Next{}},
		{"the last position was read", func() (handover.Write, handover.Next) { return told(9, 9, at(9)) }, handover.Next{Do: handover.Decide, Base: 9}},
		{"retention has emptied the subject", func() (handover.Write, handover.Next) { return told(0, 0, at(5)) }, handover.Next{Do: handover.Decide, Base: 0}},
		{"something that is no event stands behind", func() (handover.Write, handover.Next) { return told(5, 8, at(5)) }, handover.Next{Do: handover.Decide, Base: 8}},
		{"a position that nobody asked for", func() (handover.Write, handover.Next) { return life().Last(9, 9, at(9)) }, handover.Next{}},
		{"its event is read back", func() (handover.Write, handover.Next) { return life().Seen(true, logged(6), fold.Accepted, at(6)) }, handover.Next{Do: handover.Done}},
		{"even after a refusal", func() (handover.Write, handover.Next) { return refused().Seen(true, logged(6), fold.Accepted, at(6)) }, handover.Next{Do: handover.Done}},
		{"its event is read back and discarded", func() (handover.Write, handover.Next) { return life().Seen(true, logged(7), fold.Conflict, at(7)) }, handover.Next{Do: handover.Decide, Base: 7}},
		{"another event is no answer", func() (handover.Write, handover.Next) { return life().Seen(false, logged(6), fold.Accepted, at(6)) }, handover.Next{}},
		{"nor after a refusal while nothing is known", func() (handover.Write, handover.Next) { return refused().Seen(false, logged(6), fold.Accepted, at(6)) }, handover.Next{}},
		{"nor in front of the last position", func() (handover.Write, handover.Next) { return behind.Seen(false, logged(8), fold.Accepted, at(8)) }, handover.Next{}},
		{"the event at the last position is", func() (handover.Write, handover.Next) { return behind.Seen(false, logged(9), fold.Accepted, at(9)) }, handover.Next{Do: handover.Decide, Base: 9}},
		{"a measurement is read back", func() (handover.Write, handover.Next) {
			return measured.Seen(true, &event.Event{Stream: event.Results, Seq: 3}, fold.Accepted, at(5))
		}, handover.Next{Do: handover.Done}},
		{"a measurement that is not the newest any more", func() (handover.Write, handover.Next) {
			return measured.Seen(true, &event.Event{Stream: event.Results, Seq: 3}, fold.Repeated, at(5))
		}, handover.Next{Do: handover.Done}},
		{"the measurement beside a decision is not the decision", func() (handover.Write, handover.Next) {
			return life().Seen(true, &event.Event{Stream: event.Results, Seq: 3}, fold.Accepted, at(5))
		}, handover.Next{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, got := tt.next(); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestAJobThatIsDecidedAgainKeepsWhatItCost(t *testing.T) {
	w, _ := life().Refused()
	w, next := w.Seen(true, logged(7), fold.Stale, at(7))
	w = w.Begin(event.Log, next.Base).Sent()
	if w.Expect != 7 || w.Tries != 2 || w.Discarded != 1 {
		t.Errorf("%+v", w)
	}
	if _, next = w.Last(9, 9, at(9)); next.Do != handover.Wait {
		t.Errorf("the refusal of the last append still counts: %s", next.Do)
	}
}

func TestOnlyAMeasurementThatStaysAwayIsMissed(t *testing.T) {
	measured := handover.Write{}.Begin(event.Results, 0)
	for _, tt := range []struct {
		name  string
		write handover.Write
		since time.Duration
		want  bool
	}{
		{"a measurement after half a minute", measured, 30 * time.Second, true},
		{"a measurement a moment before", measured, 30*time.Second - 1, false},
		{"a decision is safe once it is acknowledged", life(), time.Hour, false},
	} {
		if got := tt.write.Missed(tt.since); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}

func TestThePausesDoubleUpToFiveSeconds(t *testing.T) {
	var got []time.Duration
	for tries := range 10 {
		got = append(got, handover.Backoff(tries))
	}
	want := "[0s 0s 100ms 200ms 400ms 800ms 1.6s 3.2s 5s 5s]"
	if fmt.Sprint(got) != want || handover.Backoff(1<<40) != 5*time.Second {
		t.Errorf("%v, want %s", got, want)
	}
}

// Whatever is answered and read, a job is decided again only with the tail at the
// position that was told, or behind its own discarded event.
func TestNothingIsDecidedAgainOnAnOldTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, st := life(), at(5)
		told := uint64(0)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			var next handover.Next
			own := false
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				w, next = w.Refused()
			case 1:
				w, next = w.Failed()
			case 2:
				told = rapid.Uint64Range(st.Sub, st.Sub+3).Draw(t, "last")
				w, next = w.Last(told, told, st)
			case 3:
				w, next = w.Acked(st.Sub+1, st)
			case 4:
				st.Sub++
				own = rapid.Bool().Draw(t, "own")
				w, next = w.Seen(own, logged(st.Sub), fold.Conflict, st)
			}
			if next.Do == handover.Done {
				t.Fatal("done although nothing was accepted")
			}
			if next.Do == handover.Decide {
				if !own && st.Sub < told || next.Base != st.Sub && next.Base != told {
					t.Fatalf("decided again at %d on base %d, told %d", st.Sub, next.Base, told)
				}
				w = w.Begin(event.Log, next.Base).Sent()
			}
		}
	})
}
