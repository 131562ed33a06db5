package notify_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// hours is a period of every day, from one hour to another, UTC.
type hours struct{ from, to int64 }

func (h hours) Name() string   { return "hours" }
func (h hours) String() string { return "hours" }

func (h hours) Window(at object.Time) (bool, object.Time) {
	const hour, day = 3600e3, 86400e3
	midnight, since := int64(at)/day*day, int64(at)%day
	switch {
	case since < h.from*hour:
		return false, object.Time(midnight + h.from*hour)
	case since < h.to*hour:
		return true, object.Time(midnight + h.to*hour)
	}
	return false, object.Time(midnight + day + h.from*hour)
}

const noon object.Time = 11574*86400e3 + 12*3600e3

func periods() *rapid.Generator[object.Period] {
	return rapid.SampledFrom([]object.Period{nil, nil, hours{8, 18}, hours{20, 22}, hours{0, 24}})
}

func options() *rapid.Generator[object.NoteOptions] {
	return rapid.OneOf(rapid.Just(object.NoteAll), rapid.Map(rapid.Uint8Range(0, uint8(object.NoteAll)), func(v uint8) object.NoteOptions {
		return object.NoteOptions(v)
	}))
}

func durations() *rapid.Generator[time.Duration] {
	return rapid.SampledFrom([]time.Duration{0, 0, 5 * time.Minute, time.Hour, 5 * time.Hour})
}

func contacts(t *rapid.T) []*object.Contact {
	var all []*object.Contact
	for _, name := range []string{"ada", "bob", "cai", "dan"} {
		c := &object.Contact{Name: name, Notify: &object.ContactNotification{Importance: rapid.IntRange(0, 1).Draw(t, "importance")}}
		for _, k := range []object.Kind{object.Host, object.Service} {
			*c.Notify.Of(k) = object.Reach{Off: rapid.IntRange(0, 5).Draw(t, "off") == 0, Options: options().Draw(t, "wants"), Period: periods().Draw(t, "period")}
		}
		all = append(all, c)
	}
	return all
}

func some(t *rapid.T, all []*object.Contact) []*object.Contact {
	var few []*object.Contact
	for _, c := range all {
		if rapid.Bool().Draw(t, "named") {
			few = append(few, c)
		}
	}
	return few
}

func notification(t *rapid.T, all []*object.Contact) *object.Notification {
	n := &object.Notification{
		Contacts: some(t, all), Options: options().Draw(t, "options"), FirstDelay: durations().Draw(t, "delay"), Importance: 1,
		FromFirst: rapid.Bool().Draw(t, "from first"), ToTold: rapid.Bool().Draw(t, "to told"), Timed: true,
	}
	for range rapid.IntRange(0, 3).Draw(t, "steps") {
		s := &object.Step{
			Name: "step", Contacts: some(t, all), First: rapid.Int32Range(0, 3).Draw(t, "first"), Last: rapid.Int32Range(0, 4).Draw(t, "last"),
			After: durations().Draw(t, "after"), Interval: durations().Draw(t, "interval"), Options: object.NoteAll,
			Period: periods().Draw(t, "step period"), Adds: rapid.Bool().Draw(t, "adds"),
		}
		n.Steps = append(n.Steps, s)
	}
	return n
}

// inputs draws decisions to be made: most of what can stand in the way does so
// now and then.
func inputs() *rapid.Generator[*notify.Input] {
	return rapid.Custom(func(t *rapid.T) *notify.Input {
		rarely := func(label string) bool { return rapid.IntRange(0, 7).Draw(t, label) == 0 }
		all := contacts(t)
		settings := object.DefaultSettings()
		if rarely("program off") {
			settings.On &^= object.ProgramNotifications
		}
		host := &object.Object{ID: "h", Name: "h", Rule: &object.Rule{}}
		o := &object.Object{ID: "h!s", Name: "s", Host: host, Notify: notification(t, all), Rule: &object.Rule{
			NotePeriod: periods().Draw(t, "note period"), NoteInterval: durations().Draw(t, "note interval"), Volatile: rarely("volatile"),
		}}
		ago := func(label string) object.Time {
			return noon - object.Time(rapid.Int64Range(0, 600).Draw(t, label))*60e3
		}
		st := &event.Status{State: object.State(rapid.IntRange(0, 3).Draw(t, "state")), Checked: true, LastHardChange: ago("hard change"), Flapping: rarely("flaps")}
		if rarely("soft") {
			st.Type = object.Soft
		}
		if rarely("ack") {
			st.Ack = object.AckSticky
		}
		if rarely("downtime") {
			st.DowntimeDepth = 1
		}
		if rarely("off") {
			st.Off = object.SwitchNotifications
		}
		in := &notify.Input{
			Object: o, Status: st, Host: &event.Status{}, Settings: &settings, Now: noon, Started: noon - 86400e3, Known: map[string]*object.Contact{},
			Flexible: rarely("flexible"), Contacts: map[string]event.ContactStatus{"ada": {ServiceOff: rarely("ada off")}},
		}
		if rarely("host") {
			in.Host.State = object.Down
		}
		if rarely("host downtime") {
			in.Host.DowntimeDepth = 1
		}
		if rarely("dependency") {
			in.Failed = "master"
		}
		for _, c := range all {
			in.Known[c.Name] = c
		}
		in.Kind = notify.Problem
		if st.State == object.OK {
			in.Kind = notify.Recovery
		}
		if rapid.IntRange(0, 2).Draw(t, "other") == 0 {
			in.Kind = rapid.SampledFrom([]notify.Kind{notify.Acknowledgement, notify.FlappingStart, notify.DowntimeStart, notify.DowntimeEnd, notify.Custom}).Draw(t, "kind")
		}
		in.Forced, in.Broadcast = in.Kind == notify.Custom && rarely("forced"), in.Kind == notify.Custom && rarely("broadcast")
		in.Fields = memory(t, ago)
		return in
	})
}

func memory(t *rapid.T, ago func(string) object.Time) notify.Fields {
	f := notify.Fields{Hard: ago("hard")}
	if rapid.Bool().Draw(t, "told before") {
		f.Number, f.Last = rapid.Int32Range(1, 4).Draw(t, "number"), ago("last")
		f.Notified = object.StateMask(rapid.Uint8Range(1, 7).Draw(t, "notified") << 1)
		f.Next = rapid.SampledFrom([]object.Time{0, notify.Never, noon - 60e3, noon + 60e3}).Draw(t, "next")
		f.Told = []string{"ada", "cai"}
	}
	return f
}

// Every contact that is named has exactly one verdict, and it says what the gates
// say: everything before the one that blocks has passed, nothing after it was asked.
func TestEveryContactHasOneVerdict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "in")
		out := notify.Decide(in)
		object := reached(t, out.Gates)
		if out.By != object {
			t.Fatalf("by %q, the gates say %q", out.By, object)
		}
		var names []string
		for _, c := range out.Contacts {
			names = append(names, c.Name)
			by := reached(t, c.Gates)
			if out.By != "" && out.By != notify.GateContacts {
				by = out.By
			}
			if c.By != by || c.Told != (by == "") {
				t.Fatalf("%s: by %q, told %v, the gates say %q", c.Name, c.By, c.Told, by)
			}
		}
		if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
			t.Fatalf("contacts %q", names)
		}
		for _, name := range named(in) {
			if !slices.Contains(names, name) {
				t.Fatalf("no verdict about %s", name)
			}
		}
		if out.Send != (out.Told() != nil) || out.Send != (out.By == "") {
			t.Fatalf("send %v, told %q, by %q", out.Send, out.Told(), out.By)
		}
	})
}

// reached returns the gate that blocks and complains of what is out of order.
func reached(t *rapid.T, gates []notify.Check) notify.Gate {
	by := notify.Gate("")
	asked := true
	for _, g := range gates {
		if g.Verdict == notify.NotReached {
			asked = false
			continue
		}
		if !asked || by != "" || g.Why == "" {
			t.Fatalf("%s is %s (%q) after %q", g.Gate, g.Verdict, g.Why, by)
		}
		if g.Verdict == notify.Blocked {
			by = g.Gate
		}
	}
	return by
}

func named(in *notify.Input) []string {
	var names []string
	for _, c := range in.Object.Notify.Contacts {
		names = append(names, c.Name)
	}
	for _, s := range in.Object.Notify.Steps {
		for _, c := range s.Contacts {
			names = append(names, c.Name)
		}
	}
	return names
}

func TestEqualInputsGiveEqualOutcomes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "in")
		before := *in
		status, fields := *in.Status, in.Fields
		fields.Told = slices.Clone(fields.Told)
		one, two := notify.Decide(in), notify.Decide(in)
		if !reflect.DeepEqual(one, two) {
			t.Fatalf("%+v, then %+v", one, two)
		}
		if !reflect.DeepEqual(before, *in) || status != *in.Status || !reflect.DeepEqual(fields, in.Fields) {
			t.Fatal("the input has changed")
		}
	})
}

// Whoever takes away what a gate names gets one gate further, until people are
// told.
func TestTakingAwayWhatBlocksMakesItSend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "in")
		lifted := map[notify.Gate]bool{}
		for range 30 {
			out := notify.Decide(in)
			if out.Send {
				return
			}
			if lifted[out.By] && out.By != notify.GateContacts {
				t.Fatalf("%s still blocks: %s", out.By, out.Why())
			}
			lifted[out.By] = true
			if out.By != notify.GateContacts {
				lift(in, out.By)
			} else if !liftContact(in, &out) {
				return // nobody could be told
			}
		}
		t.Fatal("nobody is told although nothing should block any more")
	})
}

// lift takes away what a gate of the object has named.
func lift(in *notify.Input, g notify.Gate) {
	n, rule, st := *in.Object.Notify, *in.Object.Rule, in.Status
	in.Object.Notify, in.Object.Rule = &n, &rule
	switch g {
	case notify.GateProgram:
		in.Settings.On |= object.ProgramNotifications
	case notify.GatePeriod:
		rule.NotePeriod = nil
	case notify.GateSwitch:
		st.Off = 0
	case notify.GateProblem:
		st.State = object.Critical
	case notify.GateOption:
		n.Options = object.NoteAll
	case notify.GateHard:
		st.Type = object.Hard
	case notify.GateAcknowledged:
		st.Ack = object.AckNone
	case notify.GateDependency:
		in.Failed = ""
	case notify.GateTold:
		in.Fields.Notified, in.Fields.Told = 1<<object.Critical, []string{"ada"}
	case notify.GateDelay:
		n.FirstDelay = 0
	case notify.GateFlapping:
		st.Flapping = false
	case notify.GateDowntime:
		st.DowntimeDepth = 0
	case notify.GateHostDowntime:
		in.Host.DowntimeDepth = 0
	case notify.GateFlexible:
		in.Flexible = false
	case notify.GateRepeat, notify.GateInterval:
		in.Fields.Next = 0
	case notify.GateHost:
		in.Host.State = object.Up
	}
}

// liftContact takes away what blocks the first contact that is meant, false if
// nobody is.
func liftContact(in *notify.Input, out *notify.Outcome) bool {
	for _, c := range out.Contacts {
		if c.By == notify.GateChosen || c.By == notify.GateKnown {
			continue
		}
		reach := c.Config.Notify.Of(object.Service)
		switch c.By {
		case notify.GateImportance:
			c.Config.Notify.Importance = 0
		case notify.GateContactSwitch:
			reach.Off, in.Contacts = false, nil
		case notify.GateContactPeriod:
			reach.Period = nil
		case notify.GateContactOption:
			reach.Options = object.NoteAll
		case notify.GateContactProblem:
			in.Fields.Notified, in.Fields.Told = 1<<object.Critical, []string{c.Name}
			reach.Options = object.NoteAll
		}
		return true
	}
	return false
}

// At the instant that Next returns people are told, and at none before it.
func TestNextIsTheFirstInstantAtWhichPeopleAreTold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := inputs().Draw(t, "in")
		at, kind := notify.Next(in)
		try := *in
		try.Forced, try.Broadcast = false, false
		try.Kind = notify.Problem
		if in.Status.State == object.OK {
			try.Kind = notify.Recovery
		}
		if at != 0 {
			if try.Now = at; kind != "" && (kind != try.Kind || !notify.Decide(&try).Send) {
				t.Fatalf("at %d: %s, %+v", at, kind, notify.Decide(&try))
			}
		}
		for i := range 48 {
			try.Now = noon + object.Time(i)*30*60e3
			if at != 0 && try.Now >= at {
				break
			}
			if out := notify.Decide(&try); out.Send {
				t.Fatalf("next is %d, but at %d: %q", at, try.Now, out.Told())
			}
		}
	})
}
