package fold_test

import (
	"cmp"
	"reflect"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// hourly is a period that is open in the first half of each hour.
type hourly struct{}

func (hourly) Name() string   { return "hourly" }
func (hourly) String() string { return "hourly" }
func (hourly) Window(at object.Time) (bool, object.Time) {
	const hour = 3_600_000
	if in := at % hour; in >= hour/2 {
		return false, at - in + hour
	}
	return true, at - at%hour + hour/2
}

func tunable() (*fold.Env, *fold.State) {
	env, s := probed()
	env.Periods = map[string]object.Period{"hourly": hourly{}}
	env.Object.Vars = map[string]string{"PORT": "80", "OS": "linux"}
	return env, s
}

func TestASwitchSaysWhoSetItAndWhen(t *testing.T) {
	env, s := probed() // passive and active on, flap detection off
	what := object.SwitchPassive | object.SwitchNotifications
	must(t, env, s, fold.Switch{What: what, Author: "ann"}, started)
	want := []event.Setting{
		{Name: "notifications", Value: "off", Config: "on", Author: "ann", Time: started},
		{Name: "passive_checks", Value: "off", Config: "on", Author: "ann", Time: started},
	}
	if x := s.Status.Extra; !reflect.DeepEqual(x.Settings, want) || x.Modified != 1|4 {
		t.Errorf("%+v", x)
	}
	must(t, env, s, fold.Switch{What: what | object.SwitchPerfdata, Author: "bob"}, started+1)
	if x := s.Status.Extra; len(x.Settings) != 3 || x.Settings[0] != want[0] || x.Settings[2].Author != "bob" || x.Modified != 1|4|64 {
		t.Errorf("who was first is not the author any more: %+v", x)
	}
	must(t, env, s, fold.Switch{What: what | object.SwitchPerfdata, On: true}, started+2)
	if x := s.Status.Extra; x.Settings != nil || x.Modified != 1|4|64 || s.Status.Off|s.Status.On != 0 {
		t.Errorf("as configured again: %+v", x)
	}
	must(t, env, s, fold.SetModified{Author: "ann"}, started+3)
	if s.Status.Extra != nil {
		t.Errorf("nothing is left to say, and yet %+v", s.Status.Extra)
	}
}

func TestTheBitsOfModifiedAttributes(t *testing.T) {
	for want, c := range map[uint32]fold.Command{
		1:      fold.Switch{What: object.SwitchNotifications},
		2:      fold.Switch{What: object.SwitchActive},
		4:      fold.Switch{What: object.SwitchPassive},
		8:      fold.Switch{What: object.SwitchEventHandler},
		16:     fold.Switch{What: object.SwitchFlapDetection, On: true},
		64:     fold.Switch{What: object.SwitchPerfdata},
		128:    fold.Switch{What: object.SwitchObsess},
		1024:   fold.Tune{Name: "interval", Value: "10m"},
		2048:   fold.Tune{Name: "retry", Value: "10m"},
		4096:   fold.Tune{Name: "attempts", Value: "9"},
		16384:  fold.Tune{Name: "check_period", Value: "hourly"},
		32768:  fold.Tune{Name: "var._port", Value: "8080"},
		65536:  fold.Tune{Name: "notification_period", Value: "hourly"},
		131072: fold.Tune{Name: "event_handler_period", Value: "hourly"},
		99:     fold.SetModified{Bits: 99},
	} {
		env, s := tunable()
		d := must(t, env, s, c, started)
		if x := s.Status.Extra; x.Modified != want || d.Log.Kind != event.SettingChanged {
			t.Errorf("%+v sets %d, want %d", c, x.Modified, want)
		}
	}
}

func TestASettingIsKeptAndSetBack(t *testing.T) {
	for _, tt := range []struct{ name, value, kept, config string }{
		{"interval", "90s", "1m30s", interval.String()},
		{"interval", "0s", "0s", interval.String()},
		{"retry", "5s", "5s", retry.String()},
		{"attempts", "07", "7", "3"},
		{"check_period", "hourly", "hourly", ""},
		{"notification_period", "hourly", "hourly", ""},
		{"event_handler_period", "hourly", "hourly", ""},
		{"var.PORT", "8443", "8443", "80"},
	} {
		env, s := tunable()
		d := must(t, env, s, fold.Tune{Name: tt.name, Value: tt.value, Author: "ann"}, started)
		want := event.Setting{Name: tt.name, Value: tt.kept, Config: cmp.Or(tt.config, "always"), Author: "ann", Time: started}
		if got := s.Status.Extra.Settings; len(got) != 1 || got[0] != want || d.Log.Facts["setting"] != tt.name || d.Log.Facts["to"] != tt.value {
			t.Errorf("%s=%s is kept as %+v, event %v", tt.name, tt.value, got, d.Log.Facts)
		}
		if d = must(t, env, s, fold.Tune{Name: tt.name, Value: tt.value, Author: "bob"}, started+1); d.HasLog {
			t.Errorf("%s: the same value was written again", tt.name)
		}
		must(t, env, s, fold.Tune{Name: tt.name, Value: tt.config}, started+2)
		if got := s.Status.Extra; got.Settings != nil || got.Modified == 0 {
			t.Errorf("%s as configured again is kept as %+v", tt.name, got)
		}
		if d = must(t, env, s, fold.Tune{Name: tt.name}, started+3); d.HasLog {
			t.Errorf("%s: what is as configured was set back", tt.name)
		}
	}
	// The value of the config sets the bit all the same.
	env, s := tunable()
	must(t, env, s, fold.Tune{Name: "attempts", Value: "3"}, started)
	if x := s.Status.Extra; x.Modified != 4096 || x.Settings != nil {
		t.Errorf("%+v", x)
	}
}

func TestSettingsThatAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		give fold.Command
		text string
	}{
		"an unknown setting":           {fold.Tune{Name: "mood", Value: "x"}, "use interval, retry, attempts"},
		"an interval without a unit":   {fold.Tune{Name: "interval", Value: "90"}, `"90" is no interval; write a duration`},
		"an interval below nothing":    {fold.Tune{Name: "interval", Value: "-1s"}, "is no interval"},
		"an interval of ages":          {fold.Tune{Name: "retry", Value: "9000h"}, "is no retry"},
		"no attempts":                  {fold.Tune{Name: "attempts", Value: "0"}, "write a number from 1"},
		"attempts that are no number":  {fold.Tune{Name: "attempts", Value: "many"}, "is no number of attempts"},
		"an unknown period":            {fold.Tune{Name: "check_period", Value: "bogus"}, `no period "bogus" in the config; use hourly`},
		"an unknown variable":          {fold.Tune{Name: "var.CAR", Value: "x"}, `no custom variable "CAR"; use OS, PORT`},
		"a value without end":          {fold.Tune{Name: "var.OS", Value: strings.Repeat("x", 5000)}, "of 5000 bytes; write at most 4096"},
		"a time before the beginning":  {fold.DelayNotification{Until: -1}, "milliseconds since 1970"},
		"less than no notifications":   {fold.SetNotificationNumber{Number: -1}, "use 0 or more"},
		"an author without end":        {fold.Switch{What: object.SwitchPassive, Author: strings.Repeat("x", 5000)}, "of 5000 bytes"},
		"a notification without words": {fold.Notify{}, "a notification needs a text"},
	} {
		env, s := tunable()
		if _, err := fold.Decide(env, s, tt.give, started); err == nil || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v, want %q", name, err, tt.text)
		}
	}
}

// Nagios moves a hard problem to its new last attempt unless it got hard at the
// first; what is soft waits for the next result.
func TestTheLimitOfAttemptsOfAProblem(t *testing.T) {
	for _, tt := range []struct {
		name    string
		results int
		set     string
		want    string
		next    string // after one more problem
	}{
		{"of a hard problem", 3, "9", "C H9", "C H9"},
		{"of a hard problem, fewer", 3, "2", "C H2", "C H2"},
		{"of a soft problem, more", 2, "4", "C S2", "C S3"},
		{"of a soft problem, fewer than it has", 2, "2", "C S2", "C H2"},
	} {
		env, s := tunable()
		for range tt.results {
			must(t, env, s, result(object.Critical), started)
		}
		must(t, env, s, fold.Tune{Name: "attempts", Value: tt.set}, started)
		if got := brief("web01!http", s); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		must(t, env, s, result(object.Critical), started)
		if got := brief("web01!http", s); got != tt.next {
			t.Errorf("%s, and one more: %s, want %s", tt.name, got, tt.next)
		}
	}
	env, s := tunable()
	env.Host = &fold.State{Status: event.Status{State: object.Down}}
	must(t, env, s, result(object.Critical), started)
	must(t, env, s, fold.Tune{Name: "attempts", Value: "9"}, started)
	if got := brief("web01!http", s); got != "C H1" || s.Status.MaxAttempts != 9 {
		t.Errorf("hard at once: %s of %d", got, s.Status.MaxAttempts)
	}
	must(t, env, s, fold.Tune{Name: "attempts"}, started)
	if s.Status.MaxAttempts != 3 {
		t.Errorf("as configured again: %d attempts", s.Status.MaxAttempts)
	}
}

func TestAnotherIntervalChangesThePlan(t *testing.T) {
	env, s := tunable()
	must(t, env, s, result(object.OK), started)
	must(t, env, s, fold.Tune{Name: "interval", Value: "2h"}, started+1)
	if _, at := fold.Due(env, s, started+2); at != fold.NextSlot("web01!http", 2*time.Hour, started.Add(time.Hour)) || at != s.Measure.NextCheck {
		t.Errorf("due at %d, planned for %d", at-started, s.Measure.NextCheck-started)
	}
	must(t, env, s, fold.Tune{Name: "interval", Value: "0s"}, started+3)
	if work, at := fold.Due(env, s, started+9e9); work != fold.Nothing || at != 0 {
		t.Errorf("without an interval %s at %d", work, at)
	}
	must(t, env, s, fold.Tune{Name: "interval", Value: "1m"}, started+4)
	if work, at := fold.Due(env, s, started+4); work != fold.RunCheck || at != started+4 {
		t.Errorf("with one again %s at %d; want it now", work, at-started)
	}
}

// A reload may take away what an operator chose.
func TestAPeriodThatHasGoneIsTheConfiguredOne(t *testing.T) {
	env, s := tunable()
	must(t, env, s, fold.Tune{Name: "event_handler_period", Value: "hourly"}, started)
	if fold.HandlerPeriod(env, &s.Status) == nil {
		t.Error("what was chosen does not hold")
	}
	env.Periods = nil
	if fold.HandlerPeriod(env, &s.Status) != nil {
		t.Error("a period that has gone still holds")
	}
}

// A retry of 0, which Nagios accepts, must not make checks follow each other
// without a pause.
func TestAProblemIsRetriedWithAPause(t *testing.T) {
	for _, tt := range []struct {
		interval, retry string
		want            time.Duration
	}{{"10m", "20s", 20 * time.Second}, {"10m", "0s", 10 * time.Minute}, {"0s", "0s", time.Minute}} {
		env, s := tunable()
		must(t, env, s, fold.Tune{Name: "interval", Value: tt.interval}, started)
		must(t, env, s, fold.Tune{Name: "retry", Value: tt.retry}, started)
		must(t, env, s, result(object.Critical), started)
		if got := s.Measure.NextCheck.Sub(started); got != tt.want {
			t.Errorf("interval %s, retry %s: retried after %s, want %s", tt.interval, tt.retry, got, tt.want)
		}
	}
}

func TestAListOfNamesFitsIntoALine(t *testing.T) {
	env, s := tunable()
	env.Object.Vars = map[string]string{}
	set := func() string {
		_, err := fold.Decide(env, s, fold.Tune{Name: "var.X", Value: "1"}, started)
		return err.Error()
	}
	if got := set(); !strings.HasSuffix(got, `no custom variable "X"`) {
		t.Errorf("none: %s", got)
	}
	for _, c := range "ABCDEFGHIJKLM" {
		env.Object.Vars[string(c)] = ""
	}
	if got := set(); !strings.HasSuffix(got, "use one of A, B, C, D, E, F, G, H, I, J, K, L, …") {
		t.Errorf("many: %s", got)
	}
}

func TestThePeriodOfTheConfigIsKnownByItsName(t *testing.T) {
	env, s := tunable()
	env.Object.Rule.CheckPeriod = hourly{}
	must(t, env, s, fold.Tune{Name: "check_period", Value: "hourly"}, started)
	if x := s.Status.Extra; x.Settings != nil || x.Modified != 16384 {
		t.Errorf("%+v", x)
	}
}

// A reload may change what the config says. It is newer than what was set against
// it, so it counts at once, and the next tick forgets the rest.
func TestTheConfigCountsAgainOnceItChanges(t *testing.T) {
	env, s := tunable()
	for _, c := range []fold.Command{
		fold.Tune{Name: "interval", Value: "10m"},
		fold.Tune{Name: "retry", Value: "10m"},
		fold.Tune{Name: "attempts", Value: "9"},
		fold.Tune{Name: "check_period", Value: "hourly"},
		fold.Tune{Name: "notification_period", Value: "hourly"},
		fold.Tune{Name: "event_handler_period", Value: "hourly"},
		fold.Tune{Name: "var.PORT", Value: "81"},
		fold.Tune{Name: "var.OS", Value: "BSD"},
		fold.Switch{What: object.SwitchPassive | object.SwitchPerfdata},
	} {
		must(t, env, s, c, started)
	}
	if at := fold.NextTick(env, s, 0); at != 0 {
		t.Fatalf("nothing has changed, and yet there is a tick at %d", at)
	}
	always := weekdays{}
	env.Object.Rule.Interval, env.Object.Rule.Retry, env.Object.Rule.Attempts, env.Object.Rule.Passive = time.Hour, time.Second, 4, false
	env.Object.Rule.CheckPeriod, env.Object.Rule.NotePeriod, env.Object.Rule.HandlerPeriod = always, always, always
	env.Object.Vars = map[string]string{"PORT": "82", "OS": "linux"}
	if fold.HandlerPeriod(env, &s.Status) != always {
		t.Error("what was set against another config still counts")
	}
	if work, _ := fold.Due(env, s, started); work != fold.PassTime {
		t.Errorf("due is %s", work)
	}
	d := must(t, env, s, fold.Tick{}, started+1)
	want := "attempts,check_period,event_handler_period,interval,notification_period,passive_checks,retry,var.PORT"
	if d.Log.Kind != event.SettingChanged || d.Log.Facts["dropped"] != want {
		t.Errorf("%s with %v, want %s", d.Log.Kind, d.Log.Facts, want)
	}
	if x := s.Status.Extra; len(x.Settings) != 2 || s.Status.Off != object.SwitchPerfdata || s.Status.MaxAttempts != 4 || x.Modified == 0 {
		t.Errorf("left: %+v of %+v", x, s.Status)
	}
	if at := fold.NextTick(env, s, 0); at != 0 {
		t.Errorf("another tick at %d", at)
	}
}

// weekdays is a period that is always open.
type weekdays struct{}

func (weekdays) Name() string                           { return "weekdays" }
func (weekdays) String() string                         { return "weekdays" }
func (weekdays) Window(object.Time) (bool, object.Time) { return true, 0 }

// A period that a reload takes away counts no more, and nothing is left of it.
func TestAPeriodThatIsGoneIsDropped(t *testing.T) {
	for _, name := range []string{event.SettingCheckPeriod, event.SettingNotePeriod, event.SettingHandlerPeriod} {
		env, s := probed()
		env.Periods = map[string]object.Period{"hourly": hourly{}}
		must(t, env, s, fold.Tune{Name: name, Value: "hourly", Author: "ann"}, started)
		if fold.Outdated(env, &s.Status) != nil || fold.NextTick(env, s, 0) != 0 {
			t.Fatalf("%s is dropped before the reload", name)
		}
		env.Periods = map[string]object.Period{}
		if all := fold.Outdated(env, &s.Status); len(all) != 1 || all[0].Name != name {
			t.Errorf("outdated are %+v", all)
		}
		d := must(t, env, s, fold.Tick{}, started+5)
		if _, left := s.Status.Setting(name); left || d.Log.Kind != event.SettingChanged || d.Log.Facts["dropped"] != name {
			t.Errorf("%+v is left by %+v", s.Status.Extra, d.Log)
		}
	}
}
