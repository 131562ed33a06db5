package program_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
)

const now = object.Time(1_780_000_000_000)

// always is a period that never ends.
type always string

func (p always) Name() string                           { return string(p) }
func (p always) String() string                         { return string(p) }
func (p always) Window(object.Time) (bool, object.Time) { return true, 0 }

// environment is a host with a service in a group, a contact and a period.
func environment() *program.Env {
	host := &object.Object{ID: "web", Rule: &object.Rule{}, Groups: []string{"front"}}
	service := &object.Object{ID: "web!http", Host: host, Rule: &object.Rule{}}
	set := object.NewSet("g", object.DefaultSettings(), []*object.Object{host, service})
	set.Periods = map[string]object.Period{"24x7": always("24x7"), "work": always("work")}
	set.Contacts = map[string]*object.Contact{"ops": {Name: "ops", Vars: map[string]string{"PAGER": "1"}}, "dev": {Name: "dev"}}
	return &program.Env{Set: set, Downtime: 7, Epoch: 3, Writer: "a", Instance: "i", ID: "d1"}
}

// do decides a command and folds what comes of it.
func do(t testing.TB, env *program.Env, s *program.State, c program.Command, at object.Time) fold.Decision {
	t.Helper()
	d, err := program.Decide(env, s, c, at)
	if err != nil {
		t.Fatal(err)
	}
	if d.HasLog {
		d.Log.Seq = s.Sub + 1
		next, outcome := program.Apply(*s, &d.Log)
		if outcome != fold.Accepted {
			t.Fatalf("%s is %s", d.Log.Kind, outcome)
		}
		*s = next
	}
	return d
}

func TestSwitchesOfTheProgram(t *testing.T) {
	env, s := environment(), program.State{}
	both := object.ProgramNotifications | object.ProgramObsessHosts // on and off in the config
	d := do(t, env, &s, program.Switch{What: both, On: true, Author: "ann"}, now)
	want := []event.Setting{{Name: "obsess_hosts", Value: "on", Author: "ann", Time: now}}
	if s.Switches.On != object.ProgramObsessHosts || s.Switches.Off != 0 || !reflect.DeepEqual(s.Switches.Settings, want) {
		t.Errorf("only what the config has off is set against it: %+v", s.Switches)
	}
	if e := &d.Log; e.Kind != event.SettingChanged || e.Object != "" || e.Author != "ann" || e.Epoch != 3 || e.ID != "d1" ||
		e.Facts["topic"] != "program" || e.Facts["switch"] != "notifications,obsess_hosts" || e.Facts["to"] != "on" {
		t.Errorf("event %+v", e)
	}
	if d := do(t, env, &s, program.Switch{What: both, On: true, Author: "bob"}, now+1); d.HasLog {
		t.Error("what is on already was written again")
	}
	do(t, env, &s, program.Switch{What: both, Author: "bob"}, now+2)
	effective := program.Effective(env.Set.Settings, &s)
	if effective.On.Has(object.ProgramNotifications) || effective.On.Has(object.ProgramObsessHosts) || !effective.On.Has(object.ProgramPerfdata) {
		t.Errorf("effective %b with %+v", effective.On, s.Switches)
	}
	if got := s.Switches.Settings; len(got) != 1 || got[0].Name != "notifications" || got[0].Value != "off" || got[0].Author != "bob" {
		t.Errorf("settings %+v", got)
	}
	do(t, env, &s, program.Switch{What: both, On: true}, now+3)
	do(t, env, &s, program.Switch{What: object.ProgramObsessHosts}, now+4)
	if !reflect.DeepEqual(s.Switches, event.Switches{}) {
		t.Errorf("as configured again, and yet %+v", s.Switches)
	}
}

func TestNamesOfSwitches(t *testing.T) {
	var all object.Program
	var names []string
	for bit := object.Program(1); bit <= object.ProgramObsessServices; bit <<= 1 {
		name := program.Names(bit)
		if name == "" || strings.Contains(name, ",") || slices.Contains(names, name) {
			t.Errorf("%b is called %q, beside %q", bit, name, names)
		}
		all, names = all|bit, append(names, name)
	}
	if got := program.Names(all); got != strings.Join(names, ",") {
		t.Errorf("all of them are called %q, want %q", got, names)
	}
}

func TestSwitchesOfContacts(t *testing.T) {
	env, s := environment(), program.State{}
	do(t, env, &s, program.SwitchContact{Name: "ops", Hosts: true, Services: true, Author: "ann"}, now)
	c := s.Contacts["ops"]
	if !c.HostOff || !c.ServiceOff || c.HostModified != 1 || c.ServiceModified != 1 || len(c.Settings) != 2 || c.Settings[0].Author != "ann" {
		t.Errorf("off: %+v", c)
	}
	if d := do(t, env, &s, program.SwitchContact{Name: "ops", Services: true}, now); d.HasLog {
		t.Error("what is off already was written again")
	}
	d := do(t, env, &s, program.SwitchContact{Name: "ops", Hosts: true, Services: true, On: true}, now)
	if c = s.Contacts["ops"]; c.HostOff || c.ServiceOff || c.HostModified != 1 || c.Settings != nil {
		t.Errorf("on again: %+v", c)
	}
	if d.Log.Facts["contact"] != "ops" || d.Log.Facts["to"] != "on" {
		t.Errorf("facts %v", d.Log.Facts)
	}
	zero := uint32(0)
	do(t, env, &s, program.SetContactModified{Name: "ops", HostBits: &zero, SvcBits: &zero}, now)
	if len(s.Contacts) != 0 {
		t.Errorf("a contact as configured is kept: %+v", s.Contacts)
	}
}

func TestSettingsOfContacts(t *testing.T) {
	env, s := environment(), program.State{}
	do(t, env, &s, program.TuneContact{Name: "ops", Setting: program.HostNotePeriod, Value: "work", Author: "ann"}, now)
	do(t, env, &s, program.TuneContact{Name: "ops", Setting: program.ServiceNotePeriod, Value: "24x7", Author: "ann"}, now)
	do(t, env, &s, program.TuneContact{Name: "ops", Setting: "var._pager", Value: "2", Author: "ann"}, now)
	c := s.Contacts["ops"]
	if c.HostModified != 1<<16 || c.ServiceModified != 1<<16 || c.Modified != 1<<15 || len(c.Settings) != 3 || c.Settings[2].Name != "var.PAGER" {
		t.Errorf("%+v", c)
	}
	if d := do(t, env, &s, program.TuneContact{Name: "ops", Setting: "var.PAGER", Value: "2"}, now); d.HasLog {
		t.Error("the same value was written again")
	}
	do(t, env, &s, program.TuneContact{Name: "ops", Setting: "var.PAGER", Value: "1"}, now)
	do(t, env, &s, program.TuneContact{Name: "ops", Setting: program.HostNotePeriod}, now)
	if c = s.Contacts["ops"]; len(c.Settings) != 1 || c.Modified != 1<<15 {
		t.Errorf("set back: %+v", c)
	}
	if d := do(t, env, &s, program.TuneContact{Name: "dev", Setting: program.HostNotePeriod}, now); d.HasLog {
		t.Error("what was never set was set back")
	}
	bits := uint32(5)
	do(t, env, &s, program.SetContactModified{Name: "dev", Bits: &bits}, now)
	if s.Contacts["dev"].Modified != 5 {
		t.Errorf("%+v", s.Contacts["dev"])
	}
}

func weekly() event.DowntimeRule {
	return event.DowntimeRule{Group: "front", Text: "patches", Author: "ann", Ranges: []string{"sunday 02:00-04:00"}, Zone: "Europe/Berlin"}
}

func TestDowntimesForManyObjects(t *testing.T) {
	env, s := environment(), program.State{}
	d := do(t, env, &s, program.PutRule{Rule: weekly()}, now)
	got := s.Rules["d1"]
	if got.Number != 7 || got.Entry != now || got.Group != "front" || d.Log.Kind != event.DowntimeScheduled || d.Log.Facts["downtime"] != "d1" {
		t.Errorf("%+v, %+v", got, d.Log)
	}
	env.ID, env.Downtime = "d2", 8
	if d := do(t, env, &s, program.PutRule{Rule: got}, now+1); d.HasLog {
		t.Error("the same was written again")
	}
	other := weekly()
	other.ID, other.Text = "d1", "more patches"
	do(t, env, &s, program.PutRule{Rule: other}, now+1)
	if got = s.Rules["d1"]; len(s.Rules) != 1 || got.Number != 7 || got.Entry != now || got.Text != "more patches" {
		t.Errorf("replaced by %+v", got)
	}
	once := event.DowntimeRule{Object: "web", WithServices: true, Text: "disk", Start: now - 5, End: now + 5}
	do(t, env, &s, program.PutRule{Rule: once}, now+2)
	if d := do(t, env, &s, program.RemoveRule{ID: "d2", Over: true}, now+9); d.Log.Kind != event.DowntimeEnded || d.Log.Text != "disk" {
		t.Errorf("over: %+v", d.Log)
	}
	if d := do(t, env, &s, program.RemoveRule{ID: "d2", Over: true}, now+9); d.HasLog {
		t.Error("what is gone ended again")
	}
	if d := do(t, env, &s, program.RemoveRule{ID: "d1", Author: "bob"}, now+9); d.Log.Kind != event.DowntimeCancelled || d.Log.Author != "bob" || s.Rules != nil {
		t.Errorf("cancelled: %+v, left %v", d.Log, s.Rules)
	}
}

func TestDecideRefuses(t *testing.T) {
	rule := func(change func(*event.DowntimeRule)) program.Command {
		r := event.DowntimeRule{Filter: "*", Text: "x", Start: now, End: now + 1}
		change(&r)
		return program.PutRule{Rule: r}
	}
	long := strings.Repeat("x", 5000)
	tests := []struct {
		name string
		give program.Command
		text string
	}{
		{"no command at all", nil, "unknown to this build"},
		{"a switch that does not exist", program.Switch{What: 1 << 14}, "host_checks,service_checks"},
		{"an unknown contact", program.SwitchContact{Name: "osp", Hosts: true}, `no contact "osp" in the config; use dev, ops`},
		{"notifications of nothing", program.SwitchContact{Name: "ops"}, "of hosts, of services or both"},
		{"an unknown period", program.TuneContact{Name: "ops", Setting: program.HostNotePeriod, Value: "wrok"}, `no period "wrok" in the config; use 24x7, work`},
		{"an unknown setting", program.TuneContact{Name: "ops", Setting: "mood", Value: "x"}, "var.NAME"},
		{"an unknown variable", program.TuneContact{Name: "ops", Setting: "var.CAR", Value: "x"}, `no custom variable "CAR"; use PAGER`},
		{"a value without end", program.TuneContact{Name: "ops", Setting: "var.PAGER", Value: long}, "more than 4096 bytes"},
		{"a setting of an unknown contact", program.TuneContact{Name: "x", Setting: "var.PAGER"}, `no contact "x"`},
		{"bits of an unknown contact", program.SetContactModified{Name: "x"}, `no contact "x"`},
		{"a downtime for nothing", rule(func(r *event.DowntimeRule) { r.Filter = "" }), "not for 0 of them"},
		{"a downtime for two things", rule(func(r *event.DowntimeRule) { r.Group = "front" }), "not for 2 of them"},
		{"a downtime of an unknown object", rule(func(r *event.DowntimeRule) { r.Filter, r.Object = "", "wbe" }), `no object "wbe"`},
		{"a downtime of an unknown group", rule(func(r *event.DowntimeRule) { r.Filter, r.Group = "", "font" }), `no group "font"`},
		{"services of a service", rule(func(r *event.DowntimeRule) { r.Filter, r.Object, r.WithServices = "", "web!http", true }), "only a host has services"},
		{"services of a filter", rule(func(r *event.DowntimeRule) { r.WithServices = true }), "only a host has services"},
		{"a downtime that ends before it starts", rule(func(r *event.DowntimeRule) { r.End = now - 1 }), "give a later end"},
		{"a downtime that is over", rule(func(r *event.DowntimeRule) { r.Start, r.End = now-9, now-1 }), "is over since 2026-05-28T"},
		{"a downtime without a start", rule(func(r *event.DowntimeRule) { r.Start = 0 }), "needs a start"},
		{"a downtime without an end", rule(func(r *event.DowntimeRule) { r.End = 0 }), "no time"},
		{"a recurring one that is over", rule(func(r *event.DowntimeRule) { r.Ranges, r.Start, r.End = []string{"sunday 1:00-2:00"}, 0, now-1 }), "is over"},
		{"a flexible one of less than nothing", rule(func(r *event.DowntimeRule) { r.Duration = -1000 }), "cannot last -1s"},
		{"a downtime without a text", rule(func(r *event.DowntimeRule) { r.Text = "" }), "write what it is about"},
		{"a text without end", rule(func(r *event.DowntimeRule) { r.Text = long }), "more than 4096 bytes"},
		{"a range without end", rule(func(r *event.DowntimeRule) { r.Ranges = []string{long} }), "a range of the downtime has 5000 bytes"},
		{"an author without end", rule(func(r *event.DowntimeRule) { r.Author = long }), "the author has 5000 bytes"},
		{"an author of a switch without end", program.Switch{What: object.ProgramPerfdata, Author: long}, "the author has 5000 bytes"},
		{"an author of a contact's switch without end", program.SwitchContact{Author: long}, "the author has 5000 bytes"},
		{"an author of a contact's setting without end", program.TuneContact{Author: long}, "the author has 5000 bytes"},
		{"an author of bits without end", program.SetContactModified{Author: long}, "the author has 5000 bytes"},
		{"an author of a removal without end", program.RemoveRule{Author: long}, "the author has 5000 bytes"},
		{"too many ranges", rule(func(r *event.DowntimeRule) { r.Ranges = make([]string, 101) }), "at most 100"},
		{"the removal of what is not there", program.RemoveRule{ID: "d9"}, `no downtime "d9"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := program.State{}
			d, err := program.Decide(environment(), &s, tt.give, now)
			var refusal *fold.Refusal
			if !errors.As(err, &refusal) || !strings.Contains(err.Error(), tt.text) || !strings.HasPrefix(err.Error(), "decide for the program: ") || d.HasLog {
				t.Errorf("%v, want a refusal with %q", err, tt.text)
			}
		})
	}
}

func TestTheNumberOfRulesIsBounded(t *testing.T) {
	env, s := environment(), program.State{}
	s.Rules = map[string]event.DowntimeRule{}
	for len(s.Rules) < 1000 {
		id := string(rune('a'+len(s.Rules)%26)) + strings.Repeat("x", len(s.Rules)/26)
		s.Rules[id] = event.DowntimeRule{ID: id}
	}
	if _, err := program.Decide(env, &s, program.PutRule{Rule: weekly()}, now); err == nil || !strings.Contains(err.Error(), "remove some") {
		t.Errorf("one more: %v", err)
	}
	again := weekly()
	again.ID = "a"
	if _, err := program.Decide(env, &s, program.PutRule{Rule: again}, now); err != nil {
		t.Errorf("one in the place of another: %v", err)
	}
}

func TestApplyLeavesAloneWhatIsNotForIt(t *testing.T) {
	s := program.State{Sub: 5}
	for name, e := range map[string]event.Event{
		"an event of the system without program-wide things": {Seq: 6, Kind: event.EngineJoined},
		"a measurement": {Seq: 6, Stream: event.Results, Program: &event.Program{}},
	} {
		if got, outcome := program.Apply(s, &e); outcome != fold.Unknown || !reflect.DeepEqual(got, s) {
			t.Errorf("%s: %s, %+v", name, outcome, got)
		}
	}
	if _, outcome := program.Apply(s, &event.Event{Seq: 5, Program: &event.Program{}}); outcome != fold.Repeated {
		t.Errorf("a position that is in already: %s", outcome)
	}
}

func commands() *rapid.Generator[program.Command] {
	names := rapid.SampledFrom([]string{"ops", "dev", "nobody"})
	values := rapid.SampledFrom([]string{"", "work", "1", "2"})
	return rapid.Custom(func(t *rapid.T) program.Command {
		on := rapid.Bool().Draw(t, "on")
		switch rapid.IntRange(0, 5).Draw(t, "command") {
		case 0:
			return program.Switch{What: object.Program(rapid.IntRange(0, 1<<13).Draw(t, "what")), On: on, Author: "a"}
		case 1:
			return program.SwitchContact{Name: names.Draw(t, "name"), Hosts: rapid.Bool().Draw(t, "hosts"), Services: rapid.Bool().Draw(t, "services"), On: on}
		case 2:
			setting := rapid.SampledFrom([]string{program.HostNotePeriod, program.ServiceNotePeriod, "var.PAGER"}).Draw(t, "setting")
			return program.TuneContact{Name: names.Draw(t, "name"), Setting: setting, Value: values.Draw(t, "value")}
		case 3:
			bits := uint32(rapid.IntRange(0, 3).Draw(t, "bits"))
			return program.SetContactModified{Name: names.Draw(t, "name"), Bits: &bits, HostBits: &bits}
		case 4:
			r := weekly()
			r.ID = rapid.SampledFrom([]string{"", "r1", "r2"}).Draw(t, "id")
			return program.PutRule{Rule: r}
		}
		return program.RemoveRule{ID: rapid.SampledFrom([]string{"r1", "r2"}).Draw(t, "id"), Over: on}
	})
}

// Whatever is decided, every reader of a prefix has the same state, a snapshot
// and the tail give the whole, and a position counts once.
func TestTheFoldIsTheSameForEveryReader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		env, live := environment(), program.State{}
		var log []event.Event
		for i := range rapid.IntRange(0, 20).Draw(t, "commands") {
			before := string(program.AppendState(nil, &live))
			d, err := program.Decide(env, &live, commands().Draw(t, "command"), now+object.Time(i))
			if after := string(program.AppendState(nil, &live)); after != before {
				t.Fatalf("Decide changed the state from %s to %s", before, after)
			}
			if err != nil || !d.HasLog {
				continue
			}
			d.Log.Seq = live.Sub + uint64(rapid.IntRange(1, 3).Draw(t, "gap"))
			next, outcome := program.Apply(live, &d.Log)
			if outcome != fold.Accepted || string(program.AppendState(nil, &live)) != before {
				t.Fatalf("%s is %s, or Apply changed what it was given", d.Log.Kind, outcome)
			}
			live, log = next, append(log, d.Log)
		}
		cut := rapid.IntRange(0, len(log)).Draw(t, "cut")
		head := program.State{}
		for i := range log[:cut] {
			head, _ = program.Apply(head, &log[i])
		}
		var got program.State
		if err := program.DecodeState(program.AppendState(nil, &head), &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, head) {
			t.Fatalf("read back %+v, want %+v", got, head)
		}
		for i := rapid.IntRange(0, cut).Draw(t, "back"); i < len(log); i++ {
			got, _ = program.Apply(got, &log[i])
		}
		if !reflect.DeepEqual(got, live) {
			t.Fatalf("snapshot and tail give %s, want %s", program.AppendState(nil, &got), program.AppendState(nil, &live))
		}
	})
}

func FuzzDecodeState(f *testing.F) {
	f.Add([]byte(`{"u":3,"p":[{"sw":{"off":4}},{"ct":{"n":"ops","ho":true}},{"dr":{"id":"r","r":["sunday 1:00-2:00"]}},{"dg":"r"}]}`))
	f.Add([]byte(`{"p":[{"zz":1}],"zz":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s program.State
		if program.DecodeState(data, &s) != nil {
			return
		}
		again := program.AppendState(nil, &s)
		var back program.State
		if err := program.DecodeState(again, &back); err != nil {
			t.Fatalf("%v in %s", err, again)
		}
		if third := program.AppendState(nil, &back); string(third) != string(again) {
			t.Fatalf("written as %s and then as %s", again, third)
		}
	})
}
