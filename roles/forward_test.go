package roles

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/forward"
	"jaque.sh/jaque/roles/engine"
	"jaque.sh/jaque/web"
)

// What another engine says is told as if this one had said it: in the same words, and
// as the same error to everybody who branches on it.
func TestWhatTheOwnerSaysIsToldAsIfThisEngineHadSaidIt(t *testing.T) {
	refusal := &fold.Refusal{Object: "web01", Reason: fold.NoProblem, Text: "it is well"}
	tests := []struct {
		name string
		err  error
	}{
		{"refused by the decision", fmt.Errorf("%w: %w", refusal, engine.ErrRefused)},
		{"refused before it", fmt.Errorf("web01 has no check that could be run: %w", engine.ErrRefused)},
		{"not there", fmt.Errorf("web01: %w", engine.ErrNotFound)},
		{"too many wait", engine.ErrBusy},
		{"not begun because too many wait", fmt.Errorf("%w: %w", engine.ErrNotBegun, engine.ErrBusy)},
		{"not confirmed", fmt.Errorf("command x after 15s: %w", engine.ErrUnconfirmed)},
		{"not owned there either", fmt.Errorf("web01: %w", engine.ErrNotOwned)},
		{"something else", errors.New("the disk burns")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := saidBy("e2", failureOf(tt.err))
			if got.Error() != tt.err.Error() {
				t.Errorf("told as %q, want %q", got, tt.err)
			}
			if a, b := forWeb(got), forWeb(tt.err); a.Error() != b.Error() || kindForWeb(a) != kindForWeb(b) {
				t.Errorf("the web tells %v, of its own %v", a, b)
			}
			if a, b := reasonOf(got), reasonOf(tt.err); a != b {
				t.Errorf("the command file counts %s, of its own %s", a, b)
			}
			if reason(got) != reason(tt.err) || isNotBegun(got) != isNotBegun(tt.err) {
				t.Errorf("told %q, not begun %t; want %q, %t", reason(got), isNotBegun(got), reason(tt.err), isNotBegun(tt.err))
			}
		})
	}
	if failureOf(nil) != nil {
		t.Error("what is done is a failure")
	}
}

func kindForWeb(err error) error {
	for _, kind := range []error{web.ErrInvalid, web.ErrUnavailable, web.ErrUnconfirmed} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return nil
}

func TestAnOwnerThatStopsOrIsGoneMeansThatTheCommandMayBeSentAgain(t *testing.T) {
	for _, err := range []error{saidBy("e2", failureOf(engine.ErrStopping)), engine.ErrNotForwarded, engine.ErrNotOwned} {
		if errors.Is(err, engine.ErrStopping) || !isNotBegun(err) || !errors.Is(forWeb(err), web.ErrUnavailable) {
			t.Errorf("%v is not told as one that was not begun", err)
		}
	}
	for _, err := range []error{context.Canceled, fmt.Errorf("wait for command x: %w", context.DeadlineExceeded)} {
		if got := saidBy("e2", failureOf(err)); isNotBegun(got) {
			t.Errorf("the owner says %v and that is told as not begun; it may still take effect", err)
		}
	}
	if got := saidBy("e2", &forward.Failure{Code: "of a later version"}); got.Error() != "of a later version" || isNotBegun(got) {
		t.Errorf("an unknown code is told as %v", got)
	}
	if got := saidBy("e2", &forward.Failure{Code: forward.Busy}); got.Error() != engine.ErrBusy.Error() || !errors.Is(got, engine.ErrBusy) {
		t.Errorf("a code alone is told as %v", got)
	}
}

// S140: what has made its hop is not sent, whoever asks.
func TestACommandIsNeverSentASecondTime(t *testing.T) {
	for _, hop := range []int{0, 2} {
		if err := (forwarder{}).Forward(t.Context(), "e2", engine.Command{ID: "x", Hop: hop}); !errors.Is(err, engine.ErrNotOwned) {
			t.Errorf("hop %d: %v, want ErrNotOwned", hop, err)
		}
	}
}

// S141: with -coordination memory and a log that no other process reaches there is one
// engine, and nothing to forward to.
func TestAnEngineThatCanMeetNoOtherForwardsNothing(t *testing.T) {
	for _, eventlog := range []string{"memory", "embedded"} {
		a := &appliance{s: Settings{Coordination: "memory", EventLog: eventlog, EngineID: "e1"}}
		if err := errors.Join(a.openForwarding(t.Context()), a.takeForwarded(t.Context())); err != nil || a.forwarder() != nil || len(a.services) > 0 {
			t.Errorf("-eventlog %s: %v, %v, %d services", eventlog, err, a.forwarder(), len(a.services))
		}
	}
}
