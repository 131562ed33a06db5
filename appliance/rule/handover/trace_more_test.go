package handover

import (
	"bytes"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
)

func TestTraceT16TheLogHoldsANewerEpochThanTheStore(t *testing.T) {
	ahead := func(r rules) *tale {
		x := ofTwo(t, r)
		x.w = world{nviews: 1, lost: true}
		x.w.views[0] = record{epoch: 1, members: 1}
		return x
	}
	event57 := func(x *tale) entry {
		d := x.m.decide(&held{}, 1, 57)
		return entry{writer: 1, epoch: 57, prev: d.prev, body: d.body}
	}
	x := ahead(rules{noLineage: true})
	x.w.append(event57(x))
	x.do("A starts", "A registers")
	if view, seen := x.epoch(0); view != 58 || seen != 57 {
		t.Errorf("A registers under epoch %d and has seen %d, want 58 and 57", view, seen)
	}
	// The event arrives only when A has registered.
	for _, repaired := range []bool{true, false} {
		x = ahead(rules{noLineage: true, noRepair: !repaired})
		x.w.send(event57(x))
		x.do("A starts", "A registers", "the ghost of w(B,57,0) lands", "A consumes 1").not("A decides")
		if !repaired {
			x.not("A repairs the epoch")
			continue
		}
		x.do("A repairs the epoch", "A decides", "w(A,58,1) lands", "B starts").
			ends("w(B,57,0) accepted, w(A,58,1) accepted", "{1 2}", "{1 2}")
	}
}

func TestTraceT17TheStoreIsEmptied(t *testing.T) {
	steps := []string{"the store is emptied", "B starts", "B registers", "A decides", "w(A,1,0) lands"}
	x := ofTwo(t, rules{resets: 1}).do(steps...)
	if view, _ := x.epoch(1); view <= 1 {
		t.Errorf("B registers under epoch %d, want one above A's", view)
	}
	x.do("A adopts view 2")
	if !x.m.gone(&x.w, 0) {
		t.Error("A goes on although the record went on without it")
	}
	x.do("B consumes 1", "B decides", "w(B,2,1) lands").ends("w(A,1,0) accepted, w(B,2,1) accepted", "{1 2}", "{1 2}")
	ofTwo(t, rules{resets: 1, noLineage: true, noFloor: true}).do(steps...).do("B consumes 1", "B decides", "w(B,1,1) lands").
		ends("w(A,1,0) accepted, w(B,1,1) accepted", "{1 2}", "{1 2}", oneWriter)
}

func TestTraceT18AnEngineSleepsLongerThanItsHeartbeatLasts(t *testing.T) {
	x := ofTwo(t, rules{}).do("A decides", "A is cut off", "B starts", "B registers", "A is expired", "B adopts view 3",
		"B decides", "w(B,3,0) lands", "w(A,1,0) lands", "A is told the last position", "A is healed")
	// It was refused; A decides again when it has read what refused it, and owns nothing.
	x.do("A adopts view 3").not("A decides")
	if !x.m.gone(&x.w, 0) {
		t.Error("A goes on although it was expired")
	}
	x.do("A consumes 1").not("w(A,1,1) lands").ends("w(B,3,0) accepted", "{1}", "{1}")
	// It has not heard of that yet when it wakes: the log tells it.
	x = ofTwo(t, rules{}).do("A decides", "A is cut off", "B starts", "B registers", "A is expired", "B adopts view 3",
		"B decides", "w(B,3,0) lands", "w(A,1,0) lands", "A is told the last position", "A consumes 1").not("A decides")
	x.ends("w(B,3,0) accepted", "{1}", "{1}")
}

// T21 at the level of the write: the log compares with 0 where retention has removed
// every event of the object.
func TestTraceT21TheObjectsEventsWereRemoved(t *testing.T) {
	st := fold.State{Status: event.Status{Attempt: 2}, Last: 5, Sub: 5, Fence: 3}
	refusals, compared := 0, uint64(0)
	w := Write{}.Begin(event.Log, st.Sub).Sent()
	for w.Expect != compared {
		if refusals++; refusals > 1 {
			t.Fatal("refused again and again")
		}
		var next Next
		if w, next = w.Refused(); next.Do != Ask {
			t.Fatalf("after a refusal: %s", next.Do)
		}
		if w, next = w.Last(0, compared, &st); next.Do != Decide {
			t.Fatalf("told that nothing is there: %s", next.Do)
		}
		w = w.Begin(event.Log, next.Base).Sent()
	}
	e := event.Event{Stream: event.Log, Seq: 9, Epoch: 3, Prev: st.Last, Status: &event.Status{Attempt: 3}}
	st, outcome := fold.Apply(st, &e)
	if w, next := w.Seen(true, &e, outcome, &st); outcome != fold.Accepted || next.Do != Done || w.Tries != 2 {
		t.Errorf("%s, %s after %d tries", outcome, next.Do, w.Tries)
	}
}

// states lets the product fold the log and returns its state after every position, as
// bytes, and the outcomes.
func (x *tale) states(from []byte, behind uint8) (all [][]byte, outcomes []fold.Outcome) {
	var s fold.State
	if from != nil {
		if err := fold.DecodeState(from, &s); err != nil {
			x.t.Fatal(err)
		}
	}
	for at := behind + 1; at <= x.w.nlog; at++ {
		e := &x.w.log[at-1]
		b := x.m.bodies[e.body]
		var outcome fold.Outcome
		s, outcome = fold.Apply(s, &event.Event{
			Stream: event.Log, Seq: uint64(at), Kind: event.CheckResult, Epoch: uint64(e.epoch), Prev: uint64(e.prev), Status: &b.status, Measure: &b.measure,
		})
		all, outcomes = append(all, fold.AppendState(nil, &s)), append(outcomes, outcome)
	}
	return all, outcomes
}

func TestTraceT22RetentionRemovesTheNewerEpochInFrontOfAStaleEvent(t *testing.T) {
	x := ofTwo(t, rules{noCAS: true}).do("B starts", "B registers", "A decides", "B decides", "w(B,2,0) lands", "w(A,1,0) lands")
	x.ends("w(B,2,0) accepted, w(A,1,0) stale", "{1}", "{1}", allAccepted, monoEpoch)
	all, _ := x.states(nil, 0)
	fresh, _ := x.states(all[0], 1) // the snapshot at 1, the log from 2
	if !bytes.Equal(fresh[0], all[1]) {
		t.Errorf("from the snapshot: %s, want %s", fresh[0], all[1])
	}
	if naked, outcomes := x.states(nil, 1); outcomes[0] != fold.Accepted || bytes.Equal(naked[0], all[1]) {
		t.Error("without the snapshot the stale event is discarded as well")
	}
}

func TestTraceT24AReplayGoesTheWayOfWhoWasThere(t *testing.T) {
	x := ofTwo(t, rules{noCAS: true}).do("B starts", "B registers", "A decides", "B decides", "w(A,1,0) lands", "w(B,2,0) lands", "A consumes 1", "A decides", "w(A,1,1) lands").
		do("B consumes 1", "B consumes 2", "w(B,2,1) lands", "B consumes 3", "B consumes 4", "B decides", "w(B,2,4) lands")
	x.ends("w(A,1,0) accepted, w(B,2,0) conflict, w(A,1,1) stale, w(B,2,1) accepted, w(B,2,4) accepted", "{1 4 5}", "{1 4 5}", allAccepted, monoEpoch)
	all, outcomes := x.states(nil, 0)
	for at := range uint8(len(all) + 1) {
		var from []byte
		if at > 0 {
			from = all[at-1]
		}
		later, again := x.states(from, at)
		for i := range later {
			if !bytes.Equal(later[i], all[int(at)+i]) || again[i] != outcomes[int(at)+i] {
				t.Errorf("started at %d, position %d: %s, want %s", at, int(at)+i+1, later[i], all[int(at)+i])
			}
		}
	}
}

func TestTraceT25AnObjectMovesTwiceWithAppendsUnderWay(t *testing.T) {
	orders := [][]string{{"A", "B", "C"}, {"A", "C", "B"}, {"B", "A", "C"}, {"B", "C", "A"}, {"C", "A", "B"}, {"C", "B", "A"}}
	for _, order := range orders {
		m := newModel(rules{}).bounded(size{3, 1, mostEvents, mostViews})
		x := &tale{t: t, m: m, w: m.first()}
		x.do("A decides", "B starts", "B registers", "B decides", "C starts", "C registers", "C decides")
		for _, who := range order {
			x.do("w(" + who + "," + map[string]string{"A": "1", "B": "2", "C": "3"}[who] + ",0) lands")
		}
		x.calm()
		log := x.log()
		if n := strings.Count(log, "accepted"); n != int(x.w.nlog) || x.w.log[0].writer != order[0][0]-'A' || x.w.log[x.w.nlog-1].writer != 2 {
			t.Errorf("landing in the order %v the log holds %s", order, log)
		}
		for e := range uint8(3) {
			if x.w.engine[e].held[0].past != x.w.engine[2].held[0].past {
				t.Errorf("%c holds %s, C %s", engineNames[e], x.held(e), x.held(2))
			}
		}
		x.do("C decides", "w(C,3,"+string('0'+rune(x.w.nlog))+") lands").read()
		if v := x.m.violated(&x.w); v != 0 {
			t.Errorf("%s violated", v)
		}
	}
}

func TestTraceT26TheNewOwnerDiesInItsTakeover(t *testing.T) {
	steps := []string{"B starts", "B registers", "B decides", "B crashes", "B is expired", "A adopts view 3"}
	ofTwo(t, rules{}).do(steps...).do("the ghost of w(B,2,0) lands", "A consumes 1", "A decides", "w(A,3,1) lands", "B starts").
		ends("w(B,2,0) accepted, w(A,3,1) accepted", "{1 2}", "{1 2}")
	ofTwo(t, rules{}).do(steps...).do("A decides", "w(A,3,0) lands", "the ghost of w(B,2,0) lands", "B starts").
		ends("w(A,3,0) accepted", "{1}", "{1}")
}

func TestTraceT27EverybodyDiesAndOneStarts(t *testing.T) {
	x := ofTwo(t, rules{}).do("B starts", "B registers", "B decides", "w(B,2,0) lands", "A crashes", "B crashes", "A starts", "A registers").
		not("A decides") // the record still lists B
	x.do("B is expired", "A adopts view 4", "A decides", "w(A,4,1) lands", "B starts").
		ends("w(B,2,0) accepted, w(A,4,1) accepted", "{1 2}", "{1 2}")
}
