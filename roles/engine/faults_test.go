package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/roles/engine"
)

// faulty is a journal whose append and follow can be made to go wrong.
type faulty struct {
	journal.Journal
	append func(e *event.Event, expect uint64, done journal.Done) bool
	follow atomic.Pointer[error]
	cancel chan struct{}
	hangs  atomic.Bool // snapshots are not answered
}

func (f *faulty) SaveSnapshot(ctx context.Context, at journal.Position, data []byte) error {
	if f.hangs.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return f.Journal.SaveSnapshot(ctx, at, data)
}

func (f *faulty) Append(e *event.Event, expect uint64, done journal.Done) {
	if f.append != nil && f.append(e, expect, done) {
		return
	}
	f.Journal.Append(e, expect, done)
}

func (f *faulty) Follow(ctx context.Context, from journal.Position, fn func([]event.Event) error, caughtUp func()) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-f.cancel:
			stop()
		case <-ctx.Done():
		}
	}()
	err := f.Journal.Follow(ctx, from, fn, caughtUp)
	if e := f.follow.Load(); e != nil {
		return *e
	}
	return err
}

func critical(engine.Job) fold.Result { return fold.Result{State: object.Critical, Output: "broken"} }

// T12: the acknowledgement of an append that landed is lost. The retry is
// refused, and the engine finds its event on the tail instead of deciding again.
func TestALostAcknowledgementDoesNotDoubleATransition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &faulty{Journal: newJournal()}
		lost := 0
		j.append = func(e *event.Event, expect uint64, done journal.Done) bool {
			if e.Object == "" || lost > 0 {
				return false
			}
			lost++
			j.Journal.Append(e, expect, func(uint64, error) { done(0, journal.ErrUnknown) })
			return true
		}
		g := start(t, site(1, 1), j, &runner{answer: critical})
		time.Sleep(5 * time.Minute)
		events, _ := g.j.History(t.Context(), journal.Query{Object: "h0!s0"})
		if lost != 1 || len(events) != 3 {
			t.Errorf("%d events with %d lost acknowledgement, want soft 1, soft 2, hard 3", len(events), lost)
		}
		g.end()
	})
}

func TestAnAppendThatFailsIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &faulty{Journal: newJournal()}
		failed := 0
		j.append = func(e *event.Event, _ uint64, done journal.Done) bool {
			if e.Object == "" || failed >= 4 {
				return false
			}
			failed++
			done(0, errors.New("no space left on device"))
			return true
		}
		g := start(t, site(1, 1), j, &runner{answer: critical})
		time.Sleep(3 * time.Minute)
		if st := g.status("h0!s0"); st.State != object.Critical || st.Attempt != 3 {
			t.Errorf("after %d failed appends: %+v, want hard CRITICAL", failed, st)
		}
		g.end()
	})
}

// forgetful takes a measurement and loses it, as a stream does that is not synced for each.
type forgetful struct {
	journal.Journal
	forgot atomic.Int64
}

func (f *forgetful) Record(ctx context.Context, e *event.Event, done journal.Done) error {
	if e.Measure.N == 2 && f.forgot.Add(1) == 1 {
		go done(1, nil)
		return nil
	}
	return f.Journal.Record(ctx, e, done)
}

func TestAMeasurementThatTheLogLostIsRecordedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &forgetful{Journal: newJournal()}
		g := start(t, site(1, 1), j, &runner{})
		for j.forgot.Load() == 0 {
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		if n := g.p.State("h0!s0").Measure.N; n < 2 || j.forgot.Load() != 2 {
			t.Errorf("%d results are counted and the second was recorded %d times, want at least 2 and 2", n, j.forgot.Load())
		}
		g.end()
	})
}

// T9: another writer's event lands between decision and append. The append is
// refused and the job is decided again on what holds now.
func TestARefusedAppendIsDecidedAgainOnTheNewState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &faulty{Journal: newJournal()}
		raced := false
		j.append = func(e *event.Event, expect uint64, done journal.Done) bool {
			if e.Object == "" || raced || e.Status == nil || e.Status.Attempt != 2 {
				return false
			}
			raced = true
			other := *e
			status := *e.Status
			other.ID, other.Writer, other.Status = "other-1", "e0", &status
			j.Journal.Append(&other, expect, func(uint64, error) {
				j.Journal.Append(e, expect, done)
			})
			return true
		}
		g := start(t, site(1, 1), j, &runner{answer: critical})
		time.Sleep(3 * time.Minute)
		events, _ := g.j.History(t.Context(), journal.Query{Object: "h0!s0"})
		var attempts []int32
		for i := len(events) - 1; i >= 0; i-- {
			attempts = append(attempts, events[i].Status.Attempt)
		}
		if len(attempts) != 3 || attempts[1] != 2 || attempts[2] != 3 || events[1].Writer != "e0" {
			t.Errorf("attempts on the log are %v, want 1, 2 by the other writer, 3", attempts)
		}
		g.end()
	})
}

// T16: the log holds an epoch above the engine's view. It repairs its epoch and
// goes on writing.
func TestANewerEpochOnTheLogIsRepaired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		g := start(t, site(1, 1), j, &runner{answer: critical})
		ahead := g.e.View().Epoch + 1000
		st := &event.Status{State: object.OK, Checked: true, Attempt: 1, MaxAttempts: 3}
		j.Append(&event.Event{
			Version: 1, ID: "foreign", Kind: event.CheckResult, Object: "h0!s0", Epoch: ahead, Writer: "e0",
			Time: object.At(time.Now()), Status: st, Measure: &event.Measure{Epoch: ahead, N: 1},
		}, 0, func(uint64, error) {})
		time.Sleep(3 * time.Minute)
		if got := g.status("h0!s0"); got.State != object.Critical {
			t.Errorf("state %+v, want the engine's own CRITICAL on top of the foreign event", got)
		}
		if e := g.e.View().Epoch; e <= ahead { // S122
			t.Errorf("epoch %d, want above %d", e, ahead)
		}
		g.end()
	})
}

// T21: retention has emptied the object's subject while its state is known.
func TestAnEmptiedSubjectIsWrittenWithItsNewBase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &emptied{Journal: newJournal()}
		g := start(t, site(1, 1), j, &runner{answer: critical})
		for g.status("h0!s0").Type != object.Soft {
			time.Sleep(time.Second)
		}
		j.from.Store(true)
		time.Sleep(3 * time.Minute)
		if st := g.status("h0!s0"); st.Attempt != 3 || st.Type != object.Hard {
			t.Errorf("status %+v, want the hard problem", st)
		}
		if n := j.refused.Load(); n == 0 || n > 3 {
			t.Errorf("%d appends were refused, want one or two", n)
		}
		g.end()
	})
}

// emptied compares with position 0 from a moment on, as a server does whose
// retention removed every event of a subject.
type emptied struct {
	journal.Journal
	from    atomic.Bool
	refused atomic.Int64
	last    atomic.Uint64
}

func (e *emptied) Append(ev *event.Event, expect uint64, done journal.Done) {
	if !e.from.Load() || ev.Object == "" || e.last.Load() != 0 {
		e.Journal.Append(ev, expect, done)
		return
	}
	if expect != 0 {
		e.refused.Add(1)
		done(0, journal.ErrConflict)
		return
	}
	real, _, _ := e.Journal.LastOf(context.Background(), ev.Object)
	e.Journal.Append(ev, real, func(seq uint64, err error) {
		e.last.Store(seq)
		done(seq, err)
	})
}

func (e *emptied) LastOf(ctx context.Context, id object.ID) (last, compared uint64, err error) {
	if e.from.Load() && e.last.Load() == 0 {
		return 0, 0, nil
	}
	return e.Journal.LastOf(ctx, id)
}

// S133: a log follower that stops by itself ends the engine.
func TestAFollowerThatEndsEndsTheEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &faulty{Journal: newJournal(), cancel: make(chan struct{})}
		g := start(t, site(1, 1), j, &runner{})
		close(j.cancel)
		err := <-g.done
		if err == nil || !strings.Contains(err.Error(), "follow") {
			t.Errorf("the engine returned %v, want an error that names the follower", err)
		}
		g.stop()
	})
}

// A log that answers nothing is called trouble, and nobody waits for ever.
func TestALogThatAnswersNothingIsToldAndNobodyHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &faulty{Journal: newJournal()}
		var silent atomic.Bool
		var held atomic.Pointer[func()]
		j.append = func(e *event.Event, expect uint64, done journal.Done) bool {
			if e.Object == "" || !silent.Load() {
				return false
			}
			later := func() { j.Journal.Append(e, expect, done) }
			held.Store(&later)
			return true
		}
		g := start(t, site(1, 1), j, &runner{})
		silent.Store(true)
		err := g.one("h0!s0", fold.Result{State: object.Critical, Output: "late", Start: object.At(time.Now())})
		if !errors.Is(err, engine.ErrUnconfirmed) {
			t.Errorf("a submission without an answer: %v, want ErrUnconfirmed", err)
		}
		if trouble := g.e.Trouble(); len(trouble) != 1 || !strings.Contains(trouble[0], "confirmed nothing for 15s") {
			t.Errorf("trouble %q, want one sentence about 15 s", trouble)
		}
		silent.Store(false)
		(*held.Load())()
		synctest.Wait()
		if trouble := g.e.Trouble(); len(trouble) != 0 {
			t.Errorf("trouble %q after the log answered, want none", trouble)
		}
		events, _ := g.j.History(t.Context(), journal.Query{Object: "h0!s0"})
		if len(events) == 0 || events[len(events)-1].Measure.Output != "late" {
			t.Errorf("history %+v, want the late result as its first event", events)
		}
		g.end()
	})
}

// History by kind finds the generations in which objects came and went.
func TestAReloadIsOneEventThatAlsoSaysWhatCameAndWent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, site(1, 1), newJournal(), &runner{})
		change := engine.Change{Added: []object.ID{"h1", "h1!s0"}}
		if err := g.e.Reload(t.Context(), site(2, 1), change); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		events, err := g.j.History(t.Context(), journal.Query{Kinds: []event.Kind{event.ObjectAdded}})
		if err != nil || len(events) != 1 || events[0].Kind != event.ConfigLoaded {
			t.Fatalf("history of object.added: %v, %v, want the one config.loaded", events, err)
		}
		if f := events[0].Facts; f["added"] != "2" || f["added_ids"] != "h1\nh1!s0" || f["removed"] != "0" {
			t.Errorf("facts %v", f)
		}
		all, _ := g.j.History(t.Context(), journal.Query{Kinds: []event.Kind{event.ConfigLoaded}})
		if len(all) != 2 {
			t.Errorf("%d generations on the log, want the start's and the reload's", len(all))
		}
		g.end()
	})
}

// A decision about the program whose append fails is tried again, and what waits
// behind it keeps its place.
func TestADecisionAboutTheProgramIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &faulty{Journal: newJournal()}
		failed := 0
		j.append = func(e *event.Event, _ uint64, done journal.Done) bool {
			if e.Program == nil || failed >= 3 {
				return false
			}
			failed++
			go done(0, errors.New("no space left on device"))
			return true
		}
		g := start(t, site(1, 1), j, &runner{})
		g.must("", program.Switch{What: object.ProgramNotifications, On: false, Author: "maria"},
			program.Switch{What: object.ProgramNotifications, On: true, Author: "otto"})
		events, _ := g.j.History(t.Context(), kinds(event.SettingChanged))
		if len(events) != 2 || events[0].Author != "otto" || events[1].Author != "maria" || failed != 3 {
			t.Errorf("%d events with %d failures, want both switches once and in order", len(events), failed)
		}
		g.end()
	})
}

// A stop is over in time where the log answers nothing any more.
func TestAStopDoesNotWaitForALogThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &faulty{Journal: newJournal()}
		var silent atomic.Bool
		j.append = func(*event.Event, uint64, journal.Done) bool { return silent.Load() }
		g := start(t, site(1, 1), j, &runner{})
		silent.Store(true)
		j.hangs.Store(true)
		go func() {
			_ = g.one("h0!s0", fold.Result{State: object.Critical, Output: "late", Start: object.At(time.Now())})
		}()
		time.Sleep(time.Second)
		began := time.Now()
		g.end()
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("the stop took %s", took)
		}
	})
}
