package engine_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/operate"
)

// wish is what an operator wants at a time behind the start of a test.
type wish struct {
	at      time.Duration
	actions []operate.Action
}

// day is an operator's day. Every wish may be repeated without harm, as an
// operator repeats one that was not answered.
func day() []wish {
	at := func(d time.Duration) object.Time {
		return object.At(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(d))
	}
	one := func(id object.ID, c fold.Command) operate.Action { return operate.Action{Object: id, Command: c} }
	all := func(p program.Command) operate.Action { return operate.Action{Program: p} }
	first := event.Downtime{ID: "a", Start: at(time.Hour), End: at(2 * time.Hour), Author: "m", Text: "first"}
	second := event.Downtime{ID: "b", Start: at(0), End: at(5 * time.Hour), Trigger: "a", Author: "m", Text: "second"}
	third := event.Downtime{ID: "c", Start: at(0), End: at(5 * time.Hour), Trigger: "b", Author: "m", Text: "third"}
	lasting := second
	lasting.ID, lasting.Duration = "e", object.Time(150*time.Minute/time.Millisecond)
	early := object.ID("h0!s0")
	return []wish{
		{time.Minute, []operate.Action{
			one(early, fold.Result{State: object.Critical, Output: "gone", Stamped: true, Start: at(58 * time.Second)}),
			one(early, fold.Result{State: object.Critical, Output: "gone", Stamped: true, Start: at(59 * time.Second)}),
			one(early, fold.Result{State: object.Critical, Output: "gone", Stamped: true, Start: at(time.Minute)}),
			one(early, fold.Acknowledge{Kind: object.AckSticky, Author: "m", Text: "on it", Expires: at(3 * time.Hour)}),
		}},
		{2 * time.Minute, []operate.Action{
			one("h0", fold.ScheduleDowntime{Downtime: first}), one("h1", fold.ScheduleDowntime{Downtime: second}),
			one("h2", fold.ScheduleDowntime{Downtime: third}), one("h2!s0", fold.ScheduleDowntime{Downtime: lasting}),
		}},
		{3 * time.Minute, []operate.Action{
			all(nightly(event.DowntimeRule{Group: "web"})),
			all(program.PutRule{Rule: event.DowntimeRule{
				ID: "once", Filter: "label.role=web host=h1", Start: at(30 * time.Minute), End: at(4 * time.Hour), Author: "m", Text: "move",
			}}),
			all(program.Switch{What: object.ProgramNotifications, On: false, Author: "m"}),
		}},
		{150 * time.Minute, []operate.Action{one("h0", fold.CancelDowntimes{Rule: "nightly", Author: "m"})}},
		{190 * time.Minute, []operate.Action{all(program.RemoveRule{ID: "once", Author: "m"})}},
	}
}

const dayEnds = 5 * time.Hour

// live runs the rest of a day from a time on.
func (g *rig) live(from time.Duration) {
	begin := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, w := range day() {
		if w.at < from {
			continue
		}
		time.Sleep(time.Until(begin.Add(w.at)))
		g.do(w.actions...) // what was done before the crash may be refused
	}
	time.Sleep(time.Until(begin.Add(dayEnds)))
}

// outcome is what is left of a day, without when and by which process.
func (g *rig) outcome() string {
	s := fmt.Sprintf("%v %d\n", g.p.Program().Switches.Off, len(g.p.Program().Rules))
	for _, o := range g.p.Set().Objects {
		st := g.status(o.ID)
		var ids []string
		for _, d := range downtimesOf(&st) {
			ids = append(ids, fmt.Sprint(d.ID, d.Started != 0))
		}
		slices.Sort(ids)
		s += fmt.Sprintln(o.ID, st.State, st.Type, st.Ack, st.DowntimeDepth, ids)
	}
	return s
}

func downtimesOf(st *event.Status) []event.Downtime {
	if st.Extra == nil {
		return nil
	}
	return st.Extra.Downtimes
}

// A process that dies between any two events leaves a log from which the next one
// comes to the same end.
func TestADeathBetweenAnyTwoEventsChangesNothingInTheEnd(t *testing.T) {
	var all []event.Event
	var want string
	synctest.Test(t, func(t *testing.T) {
		g := start(t, fleet(3, 1), newJournal(), &runner{})
		g.live(0)
		want = g.outcome()
		if st := g.status("h0!s0"); st.Type != object.Hard || st.State != object.Critical {
			t.Errorf("the day ends with %+v, want the hard problem of its morning", st)
		}
		g.end()
		all, _ = g.j.History(t.Context(), journal.Query{Limit: 10_000})
		slices.Reverse(all)
	})
	for n := range all {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(time.Until(all[n].Time.Std()))
			j := prefix(t, all[:n+1], n%2*n/2)
			g := start(t, fleet(3, 1), j, &runner{})
			g.live(all[n].Time.Std().Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).Truncate(time.Minute))
			if got := g.outcome(); got != want {
				t.Errorf("died behind event %d, %s of %q:\n%swant\n%s", n, all[n].Kind, all[n].Object, got, want)
			}
			g.end()
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d places to die", len(all))
}

// prefix returns a journal that holds these events, and a snapshot of the first of
// them, if any.
func prefix(t *testing.T, events []event.Event, snapshot int) journal.Journal {
	j := newJournal()
	last := map[object.ID]uint64{}
	for i := range events {
		e := events[i]
		done := make(chan error, 1)
		j.Append(&e, last[e.Object], func(seq uint64, err error) {
			if err == nil && e.Object != "" {
				last[e.Object] = seq
			}
			done <- err
		})
		if err := <-done; err != nil {
			t.Fatalf("event %d: %v", i, err)
		}
	}
	p := projection.New(fleet(3, 1))
	for i := range events[:snapshot] {
		p.Apply(&events[i])
	}
	if at, data := p.Encode(); snapshot > 0 {
		if err := j.SaveSnapshot(t.Context(), at, data); err != nil {
			t.Fatal(err)
		}
	}
	return j
}
