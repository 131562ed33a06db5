package ingress

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
)

func TestHowFarACommandIs(t *testing.T) {
	const id = "ABCDEFGH"
	own := func(ids ...string) func(*Tracker) {
		return func(tr *Tracker) {
			for _, id := range ids {
				tr.See(&event.Event{ID: id, Kind: event.AckSet})
			}
		}
	}
	said := func(refused, unknown int) func(*Tracker) {
		return func(tr *Tracker) {
			tr.Ended(Outcome{ID: id, Total: 3, Refused: refused, Unknown: unknown, Failures: []Failure{{Object: "b", Why: "no such object"}}})
		}
	}
	rejected := func(refused int) func(*Tracker) {
		return func(tr *Tracker) {
			tr.See(&event.Event{ID: "x-1", Kind: event.CommandRejected, Text: "no such object", Facts: map[string]string{
				FactCommand: id, FactTotal: "3", FactRefused: strconv.Itoa(refused), FactObject: "b",
			}})
		}
	}
	tests := []struct {
		name    string
		actions int
		news    []func(*Tracker)
		after   time.Duration
		stage   Stage
		applied int
	}{
		{"nothing was heard yet", 1, nil, time.Second, Submitted, 0},
		{"nothing was heard for half a minute", 1, nil, 30 * time.Second, Unconfirmed, 0},
		{"its event is on the log", 1, []func(*Tracker){own(id)}, 0, Applied, 1},
		{"its event came late", 1, []func(*Tracker){own(id)}, time.Hour, Applied, 1},
		{"another command's event is on the log", 1, []func(*Tracker){own("HGFEDCBA", id+"x", id+".0")}, 0, Submitted, 0},
		{"some of many are on the log, one of them on both streams", 3, []func(*Tracker){own(id+".0", id+".2", id+".2", id, id+".3", id+".zz")}, 0, Submitted, 2},
		{"all of many are on the log", 3, []func(*Tracker){own(id+".0", id+".1", id+".2")}, 0, Applied, 3},
		{"some are on the log and nothing more was heard", 3, []func(*Tracker){own(id + ".0")}, time.Minute, Partly, 1},
		{"the engine says that all is done, the log may be read a moment later", 3, []func(*Tracker){said(0, 0)}, 0, Submitted, 0},
		{"the engine says that all is done, and nothing changed", 3, []func(*Tracker){said(0, 0)}, time.Second, Applied, 3},
		{"the engine says that all was refused", 3, []func(*Tracker){said(3, 0)}, 0, Refused, 0},
		{"the engine says that one was refused, the others are on the log", 3, []func(*Tracker){own(id+".0", id+".2"), said(1, 0)}, 0, Partly, 2},
		{"the engine does not know", 3, []func(*Tracker){said(0, 3)}, 0, Unconfirmed, 0},
		{"the engine does not know, the log does", 3, []func(*Tracker){said(0, 3), own(id+".0", id+".1", id+".2")}, 0, Applied, 3},
		{"the log says that all was refused", 3, []func(*Tracker){rejected(3)}, 0, Refused, 0},
		{"the log says it after the engine did", 3, []func(*Tracker){said(3, 0), rejected(1)}, 0, Refused, 0},
		{"the log tells of a number that cannot be", 3, []func(*Tracker){rejected(-7)}, 0, Submitted, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			now := time.Unix(1_800_000_000, 0)
			tr := NewTracker(func() time.Time { return now })
			tr.Add(id, tt.actions)
			for _, do := range tt.news {
				do(tr)
			}
			now = now.Add(tt.after)
			p, ok := tr.Look(id)
			if !ok || p.Stage != tt.stage || p.Applied != tt.applied || p.Applied+p.Refused+p.Unknown > p.Total {
				t.Errorf("%+v (%t), want %s with %d applied", p, ok, tt.stage, tt.applied)
			}
			if p.Refused > 0 && (len(p.Failures) != 1 || p.Failures[0].Why != "no such object" || p.Failures[0].Object != "b") {
				t.Errorf("the reason is %+v", p.Failures)
			}
		})
	}
	t.Logf("%d cases", len(tests))
}

func TestTheOldestCommandsAreForgotten(t *testing.T) {
	tr := NewTracker(time.Now)
	for i := range Tracked + 5 {
		tr.Add(fmt.Sprint("command-", i), 1)
	}
	for i, want := range map[int]bool{0: false, 4: false, 5: true, Tracked + 4: true} {
		if _, ok := tr.Look(fmt.Sprint("command-", i)); ok != want {
			t.Errorf("command %d is known: %t, want %t", i, ok, want)
		}
	}
	if n := tr.open.Load(); n != Tracked {
		t.Errorf("%d are watched for, want %d", n, Tracked)
	}
}

func TestACommandThatWasNotTakenIsForgotten(t *testing.T) {
	tr := NewTracker(time.Now)
	tr.Add("command-1", 1)
	tr.Add("command-2", 1)
	tr.Drop("command-1")
	tr.Drop("command-1")
	if _, ok := tr.Look("command-1"); ok || tr.open.Load() != 1 || len(tr.order) != 1 {
		t.Errorf("it is known: %t; %d are watched for, %d in order", ok, tr.open.Load(), len(tr.order))
	}
	tr.See(&event.Event{ID: "command-2"})
	tr.Drop("command-2")
	if tr.open.Load() != 0 {
		t.Errorf("%d are watched for, want none", tr.open.Load())
	}
}
