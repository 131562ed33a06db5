package rehearse_test

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/rehearse"
	"jaque.sh/jaque/appliance/rule/rehearse/trial"
)

// begin is when trials start: a time at which all periods of them are fresh.
const begin = object.Time(1_767_225_600_000) // 2026-01-01

// flip turns one gate around, a moment before the decision in which it has blocked:
// by a change of the config from then on, or by what an operator or a check does.
type flip struct {
	gate   notify.Gate
	at     object.Time
	config func(*object.Set)
	acts   []rehearse.Act
}

// flipped is a scene with gates turned around.
type flipped struct {
	trial *trial.Trial
	flips []flip
}

func (f *flipped) run() *rehearse.Outcome {
	s := f.trial.Scene()
	times := map[object.Time]bool{}
	for _, x := range f.flips {
		times[x.at] = true
	}
	acts := slices.Clone(s.Acts)
	for at := range times {
		set := f.trial.Set()
		for _, x := range f.flips {
			if x.at <= at && x.config != nil {
				x.config(set)
			}
		}
		acts = append(acts, rehearse.Act{At: at, Set: set})
	}
	// A check that proves a problem finds everything else turned around.
	for _, last := range []bool{false, true} {
		for _, x := range f.flips {
			if (x.gate == proof) == last {
				acts = append(acts, x.acts...)
			}
		}
	}
	slices.SortStableFunc(acts, func(a, b rehearse.Act) int { return cmp.Compare(a.At, b.At) })
	s.Acts = acts
	return rehearse.Run(s, deliver.Limits{})
}

// policies lets every policy of an object be changed without those of others.
func policies(id object.ID, change func(*object.Set, *object.Notification)) func(*object.Set) {
	return func(set *object.Set) {
		o := set.Get(id)
		at := &o.Notify
		for *at != nil {
			n := **at
			change(set, &n)
			*at = &n
			at = &n.Else
		}
	}
}

// gateOf returns the gate that a verdict names. Who is passed over while others are
// told before the interval is over is not chosen because of the interval.
func gateOf(e *rehearse.Entry) notify.Gate {
	if e.Gate == string(notify.GateChosen) && strings.HasPrefix(e.Why, "the interval still runs") {
		return notify.GateInterval
	}
	if e.Gate == string(notify.GateHost) && strings.Contains(e.Why, "was not checked since") {
		return proof
	}
	return notify.Gate(e.Gate)
}

// proof stands for the gate of the host while the host is up and the service was not
// checked since: another check opens it than one of the host.
const proof notify.Gate = "proof"

// turn returns what turns around the gate that has blocked a verdict; ok is false for
// one that only the verdict about the problem itself can.
func turn(e *rehearse.Entry, at object.Time) (f flip, ok bool) {
	host := object.HostID(e.Object.Host())
	f = flip{gate: gateOf(e), at: at}
	do := func(id object.ID, c fold.Command) {
		f.acts = append(f.acts, rehearse.Act{At: at, Object: id, Command: c})
	}
	tell := func(c program.Command) { f.acts = append(f.acts, rehearse.Act{At: at, Program: c}) }
	contact := func(change func(*object.ContactNotification)) {
		f.config = func(set *object.Set) { change(set.Contacts[e.Contact].Notify) }
	}
	policy := func(change func(*object.Notification)) {
		f.config = policies(e.Object, func(_ *object.Set, n *object.Notification) { change(n) })
	}
	switch f.gate {
	case notify.GateProgram:
		tell(program.Switch{What: object.ProgramNotifications, On: true, Author: "op"})
	case notify.GatePolicy:
		policy(func(n *object.Notification) { n.States, n.Period = 0, nil })
	case notify.GatePeriod:
		do(e.Object, fold.Tune{Name: event.SettingNotePeriod, Value: "always", Author: "op"})
	case notify.GateSwitch:
		do(e.Object, fold.Switch{What: object.SwitchNotifications, On: true, Author: "op"})
	case notify.GateOption:
		policy(func(n *object.Notification) { n.Options = object.NoteAll })
	case notify.GateHard:
		if e.Kind == string(notify.Recovery) {
			do(e.Object, fold.Result{State: object.Down, Output: "submitted, so hard at once"})
		} else {
			do(e.Object, fold.Tune{Name: event.SettingAttempts, Value: "1", Author: "op"})
		}
	case notify.GateAcknowledged:
		do(e.Object, fold.RemoveAcknowledgement{Author: "op"})
	case notify.GateDependency:
		f.config = func(set *object.Set) { set.Get(e.Object).Depends, set.Get(host).Depends = nil, nil }
	case notify.GateDelay:
		policy(func(n *object.Notification) { n.FirstDelay = 0 })
	case notify.GateFlapping:
		do(e.Object, fold.Switch{What: object.SwitchFlapDetection, Author: "op"})
	case notify.GateDowntime, notify.GateFlexible:
		do(e.Object, fold.CancelDowntimes{All: true, Author: "op"})
	case notify.GateHostDowntime:
		do(host, fold.CancelDowntimes{All: true, Author: "op"})
	case notify.GateRepeat, notify.GateInterval:
		do(e.Object, fold.DelayNotification{Until: at, Author: "op"})
	case notify.GateHost:
		// At the last moment, for the host's services are checked when it comes back.
		do(host, fold.Result{State: object.Up, Output: "submitted"})
	case proof:
		f.config = func(set *object.Set) {
			rule := *set.Get(e.Object).Rule
			rule.Passive = true
			set.Get(e.Object).Rule = &rule
		}
		do(e.Object, fold.Result{State: e.State, Output: "submitted"})
	case notify.GateChosen:
		f.config = policies(e.Object, func(set *object.Set, n *object.Notification) {
			n.Contacts = with(n.Contacts, set.Contacts[e.Contact])
			n.Steps = slices.Clone(n.Steps)
			for i := range n.Steps {
				s := *n.Steps[i]
				s.Contacts = with(s.Contacts, set.Contacts[e.Contact])
				n.Steps[i] = &s
			}
		})
	case notify.GateImportance:
		policy(func(n *object.Notification) { n.Importance = 9 })
	case notify.GateContactSwitch:
		tell(program.SwitchContact{Name: e.Contact, Hosts: true, Services: true, On: true, Author: "op"})
	case notify.GateContactPeriod:
		contact(func(n *object.ContactNotification) { n.Hosts.Period, n.Services.Period = nil, nil })
	case notify.GateContactOption, notify.GateContactProblem:
		contact(func(n *object.ContactNotification) {
			n.Hosts.Options, n.Services.Options = object.NoteAll, object.NoteAll
		})
	default:
		return f, false
	}
	return f, true
}

// with returns contacts and one more.
func with(all []*object.Contact, c *object.Contact) []*object.Contact {
	if slices.Contains(all, c) {
		return all
	}
	all = append(slices.Clone(all), c)
	slices.SortFunc(all, func(a, b *object.Contact) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// verdicts returns those about a contact and a kind in a span, the newest last.
func verdicts(out *rehearse.Outcome, like *rehearse.Entry, from, to object.Time) (all []rehearse.Entry) {
	for _, e := range out.Entries {
		if e.Object == like.Object && e.Contact == like.Contact && e.Kind == like.Kind && e.Time >= from && e.Time <= to {
			all = append(all, e)
		}
	}
	return all
}

// ofProblem returns the newest verdict about the problem whose recovery a verdict is
// about. Where the policy for the problem did not name the contact it is one that
// says so.
func ofProblem(out *rehearse.Outcome, recovery *rehearse.Entry) (problem rehearse.Entry, ok bool) {
	for _, e := range out.Entries {
		if e.Object != recovery.Object || e.Kind != string(notify.Problem) || e.Time >= recovery.Time {
			continue
		}
		if e.Contact == recovery.Contact || e.Time != problem.Time {
			problem = e
		}
	}
	if problem.Contact != recovery.Contact {
		problem.Contact, problem.Told, problem.Gate = recovery.Contact, false, string(notify.GateChosen)
	}
	return problem, problem.Time != 0 && !problem.Told
}

// ofTold tells whether a verdict may hang on who was told of the problem.
func ofTold(e *rehearse.Entry) bool {
	gate := notify.Gate(e.Gate)
	return e.Kind == string(notify.Recovery) && (gate == notify.GateChosen || gate == notify.GateContactProblem)
}

// open turns gates around, always the one that has blocked, until a contact is told
// what a verdict has kept from him. It fails the test if a gate blocks again that was
// turned around, or if the verdict is lost.
func (f *flipped) open(t *testing.T, seed int, e *rehearse.Entry, depth int) bool {
	t.Helper()
	turned := map[notify.Gate]int{}
	now, from := *e, e.Time-1
	for {
		gate := gateOf(&now)
		x, ok := turn(&now, min(now.Time, e.Time)-1)
		switch {
		case turned[gate] > 1, turned[gate] > 0 && !ofTold(&now), depth > 3:
			t.Errorf("scenario %d: %+v\n the gate %s was turned around and blocks again: %+v", seed, *e, gate, now)
			return false
		case !ok || turned[gate] > 0:
			// Nobody, or not the contact, was told of the problem: that is turned around.
			problem, ok := ofProblem(f.run(), &now)
			if !ok {
				t.Errorf("scenario %d: %+v\n was told of the problem, or the problem has no verdict", seed, now)
				return false
			}
			if !f.open(t, seed, &problem, depth+1) {
				return false
			}
			from = problem.Time // the recovery may have been told to others before
		default:
			f.flips = append(f.flips, x)
		}
		turned[gate]++
		// What is turned around a moment before may have been told of there already.
		all := verdicts(f.run(), e, from, e.Time)
		if len(all) == 0 {
			t.Errorf("scenario %d: %+v\n has no verdict any more after %s was turned around", seed, *e, gate)
			return false
		}
		if slices.ContainsFunc(all, func(e rehearse.Entry) bool { return e.Told }) {
			return true
		}
		now = all[len(all)-1]
		for _, e := range all {
			if turned[gateOf(&e)] == 0 {
				now = e
			}
		}
	}
}

// decidedBefore returns the verdict that a recovery which is decided again for others
// refers to, and any other verdict as it is.
func decidedBefore(entries []rehearse.Entry, e rehearse.Entry) rehearse.Entry {
	if !strings.HasPrefix(e.Why, "the recovery was decided before") {
		return e
	}
	for _, before := range slices.Backward(entries) {
		if before.Object == e.Object && before.Contact == e.Contact && before.Kind == e.Kind && before.Time < e.Time {
			return before
		}
	}
	return e
}

func TestTurningTheNamedGateAroundMakesTheRehearsalSend(t *testing.T) {
	byGate, held := map[string]int{}, 0
	for seed := 1; seed <= *scenarios && !t.Failed(); seed++ {
		rnd := rand.New(rand.NewPCG(uint64(seed), 5))
		tr := trial.New(begin, rnd.IntN)
		entries := rehearse.Run(tr.Scene(), deliver.Limits{}).Entries
		for range min(len(entries), 12) {
			e := entries[rnd.IntN(len(entries))]
			e = decidedBefore(entries, e)
			if e.Told || e.Contact == "" {
				continue
			}
			held++
			byGate[e.Gate]++
			f := &flipped{trial: tr}
			if !f.open(t, seed, &e, 0) {
				break
			}
		}
	}
	t.Logf("%d scenarios, %d verdicts turned around", *scenarios, held)
	for _, gate := range slices.Sorted(maps.Keys(byGate)) {
		t.Logf("%5d %s", byGate[gate], gate)
	}
}
