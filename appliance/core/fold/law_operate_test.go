package fold_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// day draws what operators ask for, sensible or not, among ticks and results.
func day(t *rapid.T, now object.Time) fold.Command {
	soon := func(label string) object.Time {
		return now + object.Time(rapid.SampledFrom([]int{-100_000, -1, 0, 1, 20_000, 90_000, 400_000}).Draw(t, label))
	}
	maybe := func(label string) object.Time {
		return rapid.SampledFrom([]object.Time{0, 0, soon(label)}).Draw(t, label+" or never")
	}
	yes := func(label string) bool { return rapid.Bool().Draw(t, label) }
	name := rapid.SampledFrom([]string{"", "x", "y", "z"})
	switch rapid.IntRange(0, 14).Draw(t, "what") {
	case 0, 1, 2:
		return fold.Tick{}
	case 3:
		kind := object.AckKind(rapid.IntRange(0, 2).Draw(t, "kind"))
		return fold.Acknowledge{Kind: kind, Notify: yes("notify"), Persistent: yes("persistent"), Expires: maybe("expires"), Text: "ack"}
	case 4:
		return fold.RemoveAcknowledgement{}
	case 5:
		return fold.AddComment{Text: name.Draw(t, "text"), Expires: maybe("expires"), Persistent: yes("persistent")}
	case 6:
		return fold.RemoveComments{Number: uint64(rapid.IntRange(0, 4).Draw(t, "number"))}
	case 7, 8:
		w := event.Downtime{ID: name.Draw(t, "id"), Start: soon("start"), End: soon("end"), Trigger: name.Draw(t, "trigger"), Text: "w"}
		w.Duration = rapid.SampledFrom([]object.Time{0, 0, 1, 30_000, -1}).Draw(t, "duration")
		return fold.ScheduleDowntime{Downtime: w}
	case 9:
		return fold.CancelDowntimes{ID: name.Draw(t, "id"), All: yes("all")}
	case 10:
		setting := rapid.SampledFrom([]string{"interval", "retry", "attempts", "check_period", "var.OS", "mood"}).Draw(t, "setting")
		return fold.Tune{Name: setting, Value: rapid.SampledFrom([]string{"", "1", "4", "90s", "hourly"}).Draw(t, "value")}
	case 11:
		return fold.Reschedule{At: soon("at"), Forced: yes("forced")}
	case 12:
		return fold.SetModified{Bits: uint32(rapid.IntRange(0, 2).Draw(t, "bits"))}
	case 13:
		return rapid.SampledFrom([]fold.Command{
			fold.Notify{Text: "n"}, fold.DelayNotification{Until: now + 5}, fold.SetNotificationNumber{Number: 2},
		}).Draw(t, "notification")
	}
	return commands().Draw(t, "command")
}

// run draws a script for one object and calls look after each of its decisions
// with the state before; it returns the log.
func run(t *rapid.T, look func(*fold.Env, *fold.State, fold.Command, *fold.Decision, *fold.State, object.Time)) (log []event.Event) {
	env := environments().Draw(t, "env")
	env.Epoch = 1
	env.Periods = map[string]object.Period{"hourly": hourly{}}
	env.Object.Vars = map[string]string{"OS": "linux"}
	var far fold.Trigger // a downtime of another object, called z
	env.Trigger = func(id string) fold.Trigger {
		if id == "z" {
			return far
		}
		return fold.Trigger{}
	}
	s := fold.New(env.Object)
	seq, now := uint64(0), object.Time(1e12)
	for i := range rapid.IntRange(1, 25).Draw(t, "length") {
		now += object.Time(rapid.IntRange(0, 60_000).Draw(t, "later"))
		if rapid.IntRange(0, 3).Draw(t, "elsewhere") == 0 {
			far = rapid.SampledFrom([]fold.Trigger{{}, {Known: true}, {Known: true, Started: now - 1}, {Known: true, Started: now + 9000}}).Draw(t, "trigger")
		}
		if rapid.IntRange(0, 7).Draw(t, "reload") == 0 {
			rule := *env.Object.Rule
			rule.Interval = rapid.SampledFrom([]time.Duration{time.Minute, time.Hour}).Draw(t, "interval")
			rule.Passive = rapid.Bool().Draw(t, "takes results")
			env.Object.Rule = &rule
		}
		switch rapid.IntRange(0, 11).Draw(t, "process") {
		case 0:
			env.Started = now
		case 1:
			env.Periods = map[string]object.Period{}
		case 2:
			env.Periods = map[string]object.Period{"hourly": hourly{}}
		}
		env.ID, env.Comment, env.Downtime = fmt.Sprint("d", i), uint64(i+1), uint64(i+1)
		c := day(t, now)
		before := s
		d, err := fold.Decide(env, &s, c, now)
		if err != nil {
			continue
		}
		seq = emit(t, &s, &d, seq)
		if d.HasLog {
			log = append(log, d.Log)
		} else if d.HasResult {
			log = append(log, d.Result)
		}
		look(env, &before, c, &d, &s, now)
	}
	return log
}

// Whatever operators do, what an object holds is consistent, nothing is left
// undone by a tick, and what is planned for later is later.
func TestOperatorsKeepTheInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limited := false // anew, and not judged since
		run(t, func(env *fold.Env, _ *fold.State, c fold.Command, _ *fold.Decision, s *fold.State, now object.Time) {
			switch c := c.(type) {
			case fold.Tune:
				limited = limited || c.Name == event.SettingAttempts
			case fold.Result:
				limited = false
			}
			if !limited {
				invariants(t, env.Object, s)
			}
			consistent(t, s)
			if _, tick := c.(fold.Tick); !tick {
				return
			}
			if next := fold.NextTick(env, s, now); next != 0 && next <= now {
				t.Fatalf("after a tick at %d the next is at %d: %+v", now, next, s.Status.Extra)
			}
			again, err := fold.Decide(env, s, fold.Tick{}, now)
			if err != nil || again.HasLog || again.HasResult {
				t.Fatalf("a second tick: %v, %+v", err, again.Log)
			}
		})
	})
}

// farAhead is up to where it is known what time does; behind that it is asked again.
const farAhead = 10 * 3600e3

// A tick changes nothing before the instant that is foretold, and something then.
func TestTheNextTickIsForetold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run(t, func(env *fold.Env, _ *fold.State, _ fold.Command, _ *fold.Decision, s *fold.State, now object.Time) {
			next, ask := fold.NextTick(env, s, now), fold.NextAsk(env, s, now)
			if next != 0 && (ask == 0 || ask > max(next, now)) || (next != 0 && next <= now) != (ask != 0 && ask <= now) {
				t.Fatalf("what time does is foretold for %d, and asked for again at %d", next, ask)
			}
			if next == 0 {
				next = now + 1e9
			} else if d, err := fold.Decide(env, s, fold.Tick{}, max(next, now)); err != nil || !d.HasLog && next < now+farAhead {
				t.Fatalf("foretold for %d, and nothing happens: %v, %+v", next, err, s.Status.Extra)
			}
			if next <= now {
				return
			}
			if d, err := fold.Decide(env, s, fold.Tick{}, next-1); err != nil || d.HasLog {
				t.Fatalf("foretold for %d, and before %s happens: %v, %+v", next, d.Log.Kind, err, s.Status.Extra)
			}
		})
	})
}

func consistent(t *rapid.T, s *fold.State) {
	fail := func(rule string) { t.Fatalf("%s: %+v with %+v", rule, s.Status, s.Status.Extra) }
	if s.Status.Ack != object.AckNone && s.Status.State == object.OK {
		fail("only a problem is acknowledged")
	}
	x := s.Status.Extra
	if x == nil {
		if s.Status.DowntimeDepth != 0 || s.Status.Ack != object.AckNone || s.Status.On|s.Status.Off != 0 {
			fail("what was set says by whom")
		}
		return
	}
	if len(x.Comments)+len(x.Downtimes)+len(x.Settings) == 0 && x.Modified == 0 && x.CheckAt == 0 && s.Status.Ack == object.AckNone {
		fail("what is empty is not kept")
	}
	running := int32(0)
	ids := map[string]bool{}
	for _, w := range x.Downtimes {
		ids[w.ID] = true
		if w.Started != 0 {
			running++
		}
	}
	if running != s.Status.DowntimeDepth {
		fail("the depth is the number of running downtimes")
	}
	if len(ids) != len(x.Downtimes) {
		fail("a downtime stands once")
	}
	sorted := slices.IsSortedFunc(x.Settings, func(a, b event.Setting) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	if !sorted || len(slices.CompactFunc(slices.Clone(x.Settings), func(a, b event.Setting) bool { return a.Name == b.Name })) != len(x.Settings) {
		fail("settings are sorted and stand once")
	}
}

// The same command on the same state is decided in the same way, and no state is
// ever changed in place: an earlier one stays what it was.
func TestDecisionsAreRepeatable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var earlier []fold.State
		var digests []string
		run(t, func(env *fold.Env, before *fold.State, c fold.Command, d *fold.Decision, after *fold.State, now object.Time) {
			again, err := fold.Decide(env, before, c, now)
			if err != nil || again.HasLog != d.HasLog || !bytes.Equal(event.AppendJSON(nil, &again.Log), event.AppendJSON(nil, &d.Log)) {
				t.Fatalf("%T was decided as %s and then as %s (%v)", c, event.AppendJSON(nil, &d.Log), event.AppendJSON(nil, &again.Log), err)
			}
			earlier, digests = append(earlier, *before, *after), append(digests, digest(*before), digest(*after))
		})
		for i := range earlier {
			if digest(earlier[i]) != digests[i] {
				t.Fatalf("state %d was %s and is %s", i, digests[i], digest(earlier[i]))
			}
		}
	})
}

// Every reader of a log that operators wrote has the same state, from a snapshot
// and the tail too, and what comes twice counts once.
func TestALogOfOperatorsFoldsTheSameForEveryReader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := run(t, func(*fold.Env, *fold.State, fold.Command, *fold.Decision, *fold.State, object.Time) {})
		whole, _ := foldAll(fold.State{}, log)
		cut := rapid.IntRange(0, len(log)).Draw(t, "cut")
		head, _ := foldAll(fold.State{}, log[:cut])
		var restored fold.State
		if err := fold.DecodeState(fold.AppendState(nil, &head), &restored); err != nil {
			t.Fatal(err)
		}
		if digest(restored) != digest(head) {
			t.Fatalf("read back as %s, want %s", digest(restored), digest(head))
		}
		got, _ := foldAll(restored, log[rapid.IntRange(0, cut).Draw(t, "back"):])
		if digest(got) != digest(whole) {
			t.Fatalf("snapshot and tail give %s, want %s", digest(got), digest(whole))
		}
	})
}
