package handover

import "testing"

// The traces of the handover protocol (§9) that can be told of engines, log and store.
// Each ends with everybody at the end of the log. Where engines used to go wrong, the
// same steps are told of them too, so that the test proves that it would see it.

func TestTraceT01TheViewChangesWhileAnAppendIsUnderWay(t *testing.T) {
	steps := []string{"B starts", "B registers", "A decides", "A adopts view 2", "w(A,1,0) lands", "A consumes 1", "B consumes 1"}
	ofTwo(t, rules{}).do(steps...).ends("w(A,1,0) accepted", "{1}", "{1}")
	ofTwo(t, legacy()).do(steps...).ends("w(A,1,0) accepted", "{1}", "{}", agree)
}

func TestTraceT02TheNewOwnerWritesBeforeItHasReadTheOldOnesEvent(t *testing.T) {
	steps := []string{"B starts", "B registers", "A decides", "B decides", "w(A,1,0) lands", "w(B,2,0) lands", "A adopts view 2"}
	x := ofTwo(t, rules{}).do(steps...).do("B is told the last position").read()
	x.do("w(B,2,1) lands").ends("w(A,1,0) accepted, w(B,2,1) accepted", "{1 2}", "{1 2}")
	ofTwo(t, rules{noCAS: true}).do(steps...).ends("w(A,1,0) accepted, w(B,2,0) conflict", "{1}", "{1}", allAccepted)
	old := atomically(threeRules())
	old.noFence = true
	ofTwo(t, old).do("B starts", "B registers", "A decides", "B decides", "A adopts view 2").
		ends("w(A,1,0) accepted, w(B,2,0) accepted", "{2}", "{1}", agree)
}

func TestTraceT03TheNewOwnerTakesOverWhatItHasNotReadYet(t *testing.T) {
	steps := []string{"B starts", "A decides", "w(A,1,0) lands", "A consumes 1", "B registers", "A adopts view 2", "B consumes 1"}
	ofTwo(t, rules{}).do(steps...).ends("w(A,1,0) accepted", "{1}", "{1}")
	old := threeRules()
	old.skip = skipOwned
	ofTwo(t, old).do(steps...).ends("w(A,1,0) accepted", "{1}", "{}", agree)
}

func TestTraceT04WhoIsBehindDoesNotWrite(t *testing.T) {
	steps := []string{"B starts", "B registers", "B decides", "w(B,2,0) lands", "A consumes 1"}
	x := ofTwo(t, rules{}).do(steps...).not("A decides")
	if view, fence := x.epoch(0); view != 1 || fence != 2 {
		t.Errorf("A acts on epoch %d and has seen %d, want 1 and 2", view, fence)
	}
	x.do("A adopts view 2").not("A decides").ends("w(B,2,0) accepted", "{1}", "{1}")
	old := atomically(threeRules())
	old.noGuard = true
	ofTwo(t, old).do("B starts", "B registers", "B decides", "A consumes 1", "A decides", "A adopts view 2").
		ends("w(B,2,0) accepted, w(A,1,1) accepted", "{2}", "{1}", agree)
}

func TestTraceT05AnOldAppendArrivesBehindTheNewOwnersEvent(t *testing.T) {
	steps := []string{"B starts", "B registers", "A decides", "A adopts view 2", "B decides", "w(B,2,0) lands", "A consumes 1", "w(A,1,0) lands"}
	x := ofTwo(t, rules{}).do(steps...)
	// A asks for the last position, finds that it has read it, and owns nothing any more.
	x.do("A is told the last position").not("A decides", "A sends again").ends("w(B,2,0) accepted", "{1}", "{1}")
	ofTwo(t, threeRules()).do(steps...).ends("w(B,2,0) accepted, w(A,1,0) accepted", "{2}", "{1}", agree)
}

func TestTraceT06AnAppendTimesOutAndLands(t *testing.T) {
	steps := []string{"A decides", "w(A,1,0) times out", "the ghost of w(A,1,0) lands", "B starts", "B registers", "A adopts view 2", "A consumes 1"}
	ofTwo(t, rules{}).do(steps...).not("A sends again").ends("w(A,1,0) accepted", "{1}", "{1}")
	old := threeRules()
	old.noGhosts = false
	for _, skip := range []skip{skipWriter, skipInstance} {
		old.skip = skip
		ofTwo(t, old).do(steps...).ends("w(A,1,0) accepted", "{}", "{1}", agree)
	}
}

func TestTraceT07AnAppendOfAnEarlierRunLands(t *testing.T) {
	steps := []string{"A decides", "A crashes", "A starts", "A registers", "the ghost of w(A,1,0) lands", "A consumes 1"}
	ofTwo(t, rules{}).do(steps...).do("B starts").ends("w(A,1,0) accepted", "{1}", "{1}")
	// If A wrote first, the log refuses it.
	ofTwo(t, rules{}).do(steps[:4]...).do("A decides", "w(A,2,0) lands", "the ghost of w(A,1,0) lands", "B starts").
		ends("w(A,2,0) accepted", "{1}", "{1}")
	old := threeRules()
	old.noGhosts = false
	ofTwo(t, old).do(steps...).do("B starts").ends("w(A,1,0) accepted", "{}", "{1}", truth)
}

func TestTraceT08AnAttemptThatIsDecidedTwiceCountsOnce(t *testing.T) {
	x := ofTwo(t, rules{}).do("A decides", "w(A,1,0) lands", "A consumes 1", "B starts", "B registers",
		"A decides", "B decides", "w(A,1,1) lands", "w(B,2,1) lands", "B is told the last position", "B consumes 2")
	if n := x.attempt(1); n != 2 {
		t.Errorf("B counts %d attempts behind A's second, want 2", n)
	}
	x.do("w(B,2,2) lands").ends("w(A,1,0) accepted, w(A,1,1) accepted, w(B,2,2) accepted", "{1 2 3}", "{1 2 3}")
	if n := x.attempt(0); n != 3 {
		t.Errorf("A counts %d attempts, want 3", n)
	}
	old := atomically(threeRules())
	legacy := ofTwo(t, old)
	legacy.m.every = true
	legacy.do("B starts", "B registers", "A decides", "B decides", "A adopts view 2").
		ends("w(A,1,0) accepted, w(B,2,0) accepted", "{1 2}", "{2}", agree)
}

func TestTraceT09OneTransitionWhereTwoDecideIt(t *testing.T) {
	x := ofTwo(t, rules{}).do("B starts", "B registers", "A decides", "w(A,1,0) lands", "B decides", "w(B,2,0) lands").
		not("w(B,2,1) lands").do("B is told the last position", "B consumes 1", "w(B,2,1) lands")
	x.ends("w(A,1,0) accepted, w(B,2,1) accepted", "{1 2}", "{1 2}")
	ofTwo(t, atomically(threeRules())).do("B starts", "B registers", "A decides", "B decides").
		ends("w(A,1,0) accepted, w(B,2,0) accepted", "{2}", "{2}", linear)
}

func TestTraceT10AnAppendIsSentTwice(t *testing.T) {
	steps := []string{"A decides", "w(A,1,0) times out", "A sends again", "B starts"}
	for _, order := range [][]string{{"w(A,1,0) lands", "the ghost of w(A,1,0) lands"}, {"the ghost of w(A,1,0) lands", "w(A,1,0) lands"}} {
		ofTwo(t, rules{}).do(steps...).do(order...).ends("w(A,1,0) accepted", "{1}", "{1}")
		ofTwo(t, rules{noCAS: true}).do(steps...).do(order...).
			ends("w(A,1,0) accepted, w(A,1,0) conflict", "{1}", "{1}", allAccepted)
	}
}

func TestTraceT11NobodyWritesInTurns(t *testing.T) {
	steps := []string{"B starts", "B registers", "B decides", "w(B,2,0) lands", "A consumes 1"}
	ofTwo(t, rules{}).do(steps...).not("A decides").do("B consumes 1", "B decides", "w(B,2,1) lands", "A consumes 2").not("A decides").
		ends("w(B,2,0) accepted, w(B,2,1) accepted", "{1 2}", "{1 2}")
	ofTwo(t, rules{noFence: true, noGuard: true}).do(steps...).
		do("A decides", "w(A,1,1) lands", "B consumes 1", "B consumes 2", "B decides", "w(B,2,2) lands").
		ends("w(B,2,0) accepted, w(A,1,1) accepted, w(B,2,2) accepted", "{1 2 3}", "{1 2 3}", monoEpoch, staleDiscarded, prefixFold, truth)
}

func TestTraceT12TheAcknowledgementIsLost(t *testing.T) {
	steps := []string{"A decides", "w(A,1,0) times out", "the ghost of w(A,1,0) lands", "A sends again", "B starts"}
	// The log knows the id, or compares first: either way A finds its event on the tail.
	for _, answer := range []string{"w(A,1,0) is known", "w(A,1,0) lands"} {
		x := ofTwo(t, rules{}).do(steps...).do(answer).not("A decides")
		if answer == "w(A,1,0) lands" {
			x.do("A is told the last position").not("A decides")
		}
		x.do("A consumes 1").not("A sends again", "A is told the last position")
		x.do("A decides", "w(A,1,1) lands").ends("w(A,1,0) accepted, w(A,1,1) accepted", "{1 2}", "{1 2}")
	}
}

func TestTraceT13OfTwoEventsWithOneBaseTheFirstStays(t *testing.T) {
	x := ofTwo(t, rules{noCAS: true}).do("A decides", "w(A,1,0) times out", "A crashes", "A starts", "A registers", "A decides",
		"w(A,2,0) lands", "the ghost of w(A,1,0) lands", "B starts")
	x.ends("w(A,2,0) accepted, w(A,1,0) stale", "{1}", "{1}", monoEpoch, allAccepted)
	x = ofTwo(t, rules{noCAS: true}).do("A decides", "w(A,1,0) times out", "A sends again", "w(A,1,0) lands", "the ghost of w(A,1,0) lands", "B starts").read()
	x.do("A decides")
	if next := x.w.net[0]; next.expect != 2 || next.prev != 1 {
		t.Errorf("the next append expects %d on base %d, want 2 and 1", next.expect, next.prev)
	}
	x.do("w(A,1,1) lands").ends("w(A,1,0) accepted, w(A,1,0) conflict, w(A,1,1) accepted", "{1 3}", "{1 3}", allAccepted)
}

func TestTraceT14ARefusedEventRaisesTheFence(t *testing.T) {
	steps := []string{"B starts", "B registers", "A decides", "B decides", "w(A,1,0) lands", "w(B,2,0) lands", "A consumes 1", "A decides", "w(A,1,1) lands"}
	x := ofTwo(t, rules{noCAS: true}).do(steps...).read().not("A decides")
	// B has decided again when it read that its event was refused, A is behind.
	x.do("w(B,2,1) lands").ends("w(A,1,0) accepted, w(B,2,0) conflict, w(A,1,1) stale, w(B,2,1) accepted", "{1 4}", "{1 4}", allAccepted, monoEpoch)
	ofTwo(t, rules{noCAS: true, noRaise: true}).do(steps...).
		ends("w(A,1,0) accepted, w(B,2,0) conflict, w(A,1,1) accepted", "{1 3}", "{1 3}", staleDiscarded, monoEpoch, allAccepted, prefixFold, truth)
}
