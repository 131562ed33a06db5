package fold_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// measures draws from few numbers and contents, so that equal ones are frequent.
func measures() *rapid.Generator[*event.Measure] {
	return rapid.Custom(func(t *rapid.T) *event.Measure {
		return &event.Measure{
			Epoch: rapid.Uint64Range(0, 3).Draw(t, "epoch"), N: rapid.Uint64Range(0, 4).Draw(t, "n"),
			State: object.State(rapid.IntRange(0, 3).Draw(t, "state")), Ring: rapid.Uint64Range(0, 1<<42-1).Draw(t, "ring"),
			Output: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "output"),
		}
	})
}

// logs draws what a log might hold about one object: a right chain with stale,
// conflicting and foreign events in between.
func logs() *rapid.Generator[[]event.Event] {
	return rapid.Custom(func(t *rapid.T) []event.Event {
		var log []event.Event
		var last uint64
		for seq := uint64(1); seq <= uint64(rapid.IntRange(0, 12).Draw(t, "length")); seq++ {
			e := event.Event{
				Stream: event.Log, Seq: seq, Kind: event.CheckResult, Object: "a",
				Epoch: rapid.Uint64Range(1, 3).Draw(t, "epoch"),
				Prev:  rapid.SampledFrom([]uint64{last, last, last, 0, seq - 1}).Draw(t, "prev"),
			}
			if rapid.IntRange(0, 9).Draw(t, "foreign") > 0 {
				e.Status = &event.Status{Checked: true, Attempt: int32(seq), State: object.State(seq % 4)}
				e.Measure = measures().Draw(t, "measure")
			}
			if e.Prev == last {
				last = seq
			}
			log = append(log, e)
		}
		return log
	})
}

func resultStreams() *rapid.Generator[[]event.Event] {
	return rapid.Custom(func(t *rapid.T) []event.Event {
		var out []event.Event
		for i, m := range rapid.SliceOfN(measures(), 0, 8).Draw(t, "measures") {
			out = append(out, event.Event{
				Stream: event.Results, Seq: uint64(i + 1), Kind: event.CheckResult, Object: "a",
				Epoch: m.Epoch, Measure: m,
			})
		}
		return out
	})
}

// merge draws an order of both streams that keeps the order within each.
func merge(t *rapid.T, a, b []event.Event, label string) []event.Event {
	var out []event.Event
	for len(a) > 0 || len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && rapid.Bool().Draw(t, label) {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return out
}

func foldAll(s fold.State, events []event.Event) (fold.State, [5]int) {
	var outcomes [5]int
	for i := range events {
		var o fold.Outcome
		s, o = fold.Apply(s, &events[i])
		outcomes[o]++
	}
	return s, outcomes
}

func digest(s fold.State) string { return string(fold.AppendState(nil, &s)) }

// Every reader of the same prefix holds the same state and has counted the same.
func TestEqualPrefixesGiveEqualStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := merge(t, logs().Draw(t, "log"), resultStreams().Draw(t, "results"), "order")
		var live, replay fold.State
		for i := range events {
			live, _ = fold.Apply(live, &events[i])
			var counted [5]int
			replay, counted = foldAll(fold.State{}, events[:i+1])
			if digest(live) != digest(replay) {
				t.Fatalf("at %d live %s, replayed %s (%v)", i, digest(live), digest(replay), counted)
			}
		}
	})
}

func TestSnapshotAndTailGiveTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := merge(t, logs().Draw(t, "log"), resultStreams().Draw(t, "results"), "order")
		cut := rapid.IntRange(0, len(events)).Draw(t, "cut")
		whole, _ := foldAll(fold.State{}, events)
		head, _ := foldAll(fold.State{}, events[:cut])
		var restored fold.State
		if err := fold.DecodeState(fold.AppendState(nil, &head), &restored); err != nil {
			t.Fatal(err)
		}
		// The tail may reach back over the cut: what is in already is skipped.
		back := rapid.IntRange(0, cut).Draw(t, "back")
		got, _ := foldAll(restored, events[back:])
		if digest(got) != digest(whole) {
			t.Fatalf("cut at %d, tail from %d: %s, want %s", cut, back, digest(got), digest(whole))
		}
	})
}

// S120: what is skipped is a position that is in already, not a writer's name.
func TestAPositionThatComesTwiceCountsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := merge(t, logs().Draw(t, "log"), resultStreams().Draw(t, "results"), "order")
		once, _ := foldAll(fold.State{}, events)
		var twice fold.State
		for i := range events {
			twice, _ = fold.Apply(twice, &events[i])
			again := rapid.IntRange(0, i).Draw(t, "again")
			after, outcome := fold.Apply(twice, &events[again])
			if digest(after) != digest(twice) {
				t.Fatalf("event %d came again as %s and changed %s to %s", again, outcome, digest(twice), digest(after))
			}
		}
		if digest(once) != digest(twice) {
			t.Fatalf("once %s, twice %s", digest(once), digest(twice))
		}
	})
}

func TestTheOrderOfTheTwoStreamsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log, results := logs().Draw(t, "log"), resultStreams().Draw(t, "results")
		a, _ := foldAll(fold.State{}, merge(t, log, results, "one order"))
		b, _ := foldAll(fold.State{}, merge(t, log, results, "another order"))
		if digest(a) != digest(b) {
			t.Fatalf("%s and %s", digest(a), digest(b))
		}
	})
}

func TestUnrelatedObjectsAreIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := logs().Draw(t, "log of a"), logs().Draw(t, "log of b")
		for i := range b {
			b[i].Object = "b"
		}
		states := map[object.ID]fold.State{}
		for _, e := range merge(t, a, b, "order") {
			states[e.Object], _ = fold.Apply(states[e.Object], &e)
		}
		for id, log := range map[object.ID][]event.Event{"a": a, "b": b} {
			if alone, _ := foldAll(fold.State{}, log); digest(alone) != digest(states[id]) {
				t.Fatalf("%s alone %s, beside the other %s", id, digest(alone), digest(states[id]))
			}
		}
	})
}

// S117
func TestAStaleEpochNeverChangesTheStatus(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, _ := foldAll(fold.State{}, logs().Draw(t, "log"))
		e := event.Event{Stream: event.Log, Seq: s.Sub + 1, Prev: s.Last, Status: &event.Status{Attempt: 99}}
		e.Epoch = rapid.Uint64Range(0, 4).Draw(t, "epoch")
		after, outcome := fold.Apply(s, &e)
		if stale := e.Epoch < s.Fence; stale != (outcome == fold.Stale) || stale && after.Status != s.Status {
			t.Fatalf("epoch %d at fence %d is %s and gives %+v", e.Epoch, s.Fence, outcome, after.Status)
		}
	})
}

// commands draws any command, also ones that will be refused.
func commands() *rapid.Generator[fold.Command] {
	return rapid.Custom(func(t *rapid.T) fold.Command {
		switch rapid.IntRange(0, 10).Draw(t, "command") {
		case 0:
			return fold.SampleHost{}
		case 1:
			return fold.Switch{What: object.Switches(rapid.IntRange(0, 63).Draw(t, "what")), On: rapid.Bool().Draw(t, "on")}
		case 2:
			return fold.SetProgramSwitches{}
		case 3:
			return fold.ClearFlapping{}
		case 4:
			return fold.Reroot{}
		}
		return fold.Result{
			State:   object.State(rapid.IntRange(0, 4).Draw(t, "state")),
			Passive: rapid.Bool().Draw(t, "passive"), Expired: rapid.Bool().Draw(t, "expired"),
		}
	})
}

func environments() *rapid.Generator[*fold.Env] {
	return rapid.Custom(func(t *rapid.T) *fold.Env {
		rule := &object.Rule{
			Interval: 60e9, Retry: 10e9, Attempts: rapid.IntRange(1, 4).Draw(t, "attempts"), Active: true,
			Check:   object.Check{Kind: object.CheckDummy},
			Passive: rapid.Bool().Draw(t, "passive on"), Volatile: rapid.Bool().Draw(t, "volatile"),
			FlapDetection: rapid.Bool().Draw(t, "flap detection"), Freshness: 300e9,
		}
		settings := object.DefaultSettings()
		if !rapid.Bool().Draw(t, "program flap detection") {
			settings.On &^= object.ProgramFlapDetection
		}
		settings.PassiveHostsAreSoft = rapid.Bool().Draw(t, "soft")
		settings.TranslatePassiveHosts = rapid.Bool().Draw(t, "translate")
		host := &object.Object{ID: "h", Name: "h", Rule: rule}
		env := &fold.Env{Object: host, Settings: &settings, Epoch: rapid.Uint64Range(0, 3).Draw(t, "epoch"), Started: 1e12}
		if rapid.Bool().Draw(t, "service") {
			env.Object = &object.Object{ID: "h!s", Name: "s", Host: host, Rule: rule}
			env.Host = &fold.State{Status: event.Status{State: object.State(rapid.IntRange(0, 2).Draw(t, "host"))}}
			host.Services = []*object.Object{env.Object}
		} else if rapid.Bool().Draw(t, "has parents") {
			host.Parents = []*object.Object{{ID: "p"}}
			env.ParentsUp = rapid.IntRange(0, 1).Draw(t, "parents up")
		}
		env.Object.Notify = policies().Draw(t, "policy")
		env.Known = map[string]*object.Contact{"ann": {Name: "ann"}, "bob": {Name: "bob"}}
		rule.NoteInterval = rapid.SampledFrom([]time.Duration{0, time.Minute, 150 * time.Second}).Draw(t, "note interval")
		return env
	})
}

// Whatever Decide wants written is accepted by the fold, the measurement beside
// a decision is in it already, and the state keeps its invariants.
func TestDecideNeverEmitsWhatApplyIgnores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		env := environments().Draw(t, "env")
		s := fold.New(env.Object)
		seq, now := uint64(0), object.Time(1e12)
		for range rapid.IntRange(1, 30).Draw(t, "commands") {
			env.Epoch = rapid.Uint64Range(1, 3).Draw(t, "epoch")
			now += object.Time(rapid.IntRange(0, 100000).Draw(t, "later"))
			before := digest(s)
			d, err := fold.Decide(env, &s, commands().Draw(t, "command"), now)
			if digest(s) != before {
				t.Fatal("Decide changed the state it was given")
			}
			if err != nil {
				if d.HasLog || d.HasResult {
					t.Fatalf("refused with %v and yet wrote something", err)
				}
				continue
			}
			seq = emit(t, &s, &d, seq)
			invariants(t, env.Object, &s)
		}
	})
}

func emit(t *rapid.T, s *fold.State, d *fold.Decision, seq uint64) uint64 {
	want := fold.Accepted
	for _, e := range []struct {
		has bool
		e   *event.Event
	}{{d.HasLog, &d.Log}, {d.HasResult, &d.Result}} {
		if !e.has {
			continue
		}
		seq++
		e.e.Seq = seq
		next, outcome := fold.Apply(*s, e.e)
		if outcome != want {
			t.Fatalf("%s on the stream %s: %s, want %s", e.e.Kind, e.e.Stream, outcome, want)
		}
		*s = next
		want = fold.Repeated
	}
	return seq
}

func invariants(t *rapid.T, o *object.Object, s *fold.State) {
	st := &s.Status
	fail := func(rule string) { t.Fatalf("%s: %+v", rule, *st) }
	switch {
	case !st.Checked:
	case st.Attempt < 1 || st.Attempt > st.MaxAttempts:
		fail("an attempt lies between 1 and the limit")
	case st.State == object.OK && st.Attempt != 1:
		fail("what is fine has attempt 1")
	case o.Kind() == object.Service && st.State == object.OK && st.Type != object.Hard:
		fail("a service that is OK is hard")
	case st.Type == object.Hard && st.LastHard != st.State:
		fail("a hard state is the last hard state")
	case (st.Problem == 0) != (st.State == object.OK):
		fail("exactly a problem has a start")
	case st.Type == object.Soft && st.State != object.OK && st.Attempt >= st.MaxAttempts:
		fail("a soft problem has attempts left")
	}
}
