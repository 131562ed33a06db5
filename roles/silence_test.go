package roles

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
)

func TestADashboardSaysThatNoEngineWrites(t *testing.T) {
	const night = `periods: night: ranges: ["00:00-06:00"]
`
	for _, c := range []struct {
		name, site string
		after      time.Duration // of silence after which it is said; 0 = never
	}{
		{"objects that are checked often", `hosts: {a: {check: icmp: {}, interval: "20s", timeout: "10s"}, b: {check: icmp: {}, interval: "10m"}}`, 40 * time.Second},
		{"the shortest interval is long", `hosts: a: {check: icmp: {}, interval: "5m", timeout: "10s"}`, 10 * time.Minute},
		{"an interval of a second", `hosts: a: {check: icmp: {}, interval: "1s", timeout: "1s"}`, quietAtLeast},
		{"a check that may take long", `hosts: a: {check: icmp: {}, interval: "20s", timeout: "2m"}`, 140 * time.Second},
		{"nothing is checked", `hosts: a: check: passive: {}`, 0},
		{"nothing is checked in the daytime", night + `hosts: a: {check: icmp: {}, interval: "20s", check_period: "night"}`, 0},
		{"an object that is checked without end beside", night + `hosts: {a: {check: icmp: {}, interval: "20s", check_period: "night"}, b: {check: icmp: {}, interval: "2m", timeout: "10s"}}`, 4 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			loaded, problems := config.Load(folder(t, "package site\n"+c.site+"\n"), config.Options{AllZonesLocal: true})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			synctest.Test(t, func(t *testing.T) {
				var live atomic.Bool
				s := newSilence(projection.New(loaded.Set), &live)
				pause(t.Context(), time.Hour)
				if said := s.trouble(); said != nil {
					t.Errorf("before the log was read: %q", said)
				}
				live.Store(true)
				for range 3 {
					s.hear(&event.Event{})
					began := time.Now()
					if c.after == 0 {
						pause(t.Context(), 24*time.Hour)
						if said := s.trouble(); said != nil {
							t.Fatalf("nothing has to come, and it says %q", said)
						}
						continue
					}
					pause(t.Context(), c.after-lookAtRules)
					if said := s.trouble(); said != nil {
						t.Fatalf("%s before: %q", lookAtRules, said)
					}
					pause(t.Context(), lookAtRules)
					said := strings.Join(s.trouble(), " ")
					want := "No engine has written since " + began.Format("15:04:05") + ". What is shown may be old; is an engine running?"
					if said != want {
						t.Fatalf("after %s: %q, want %q", c.after, said, want)
					}
				}
				s.hear(&event.Event{})
				if said := s.trouble(); said != nil {
					t.Errorf("an event came, and it says %q", said)
				}
			})
		})
	}
}

// Only what an engine is sure to execute is waited for.
func TestWhatOperatorsSwitchOffIsNotWaitedFor(t *testing.T) {
	host := &object.Object{ID: "a", Name: "a", Rule: &object.Rule{Active: true, Interval: time.Minute, Timeout: time.Second, Check: object.Check{Kind: object.CheckICMP}}}
	own := &object.Object{ID: config.CanaryHost, Name: config.CanaryHost, Rule: host.Rule}
	settings := object.DefaultSettings()
	if d := quietFor(host, settings, &fold.State{}); d != 2*time.Minute {
		t.Errorf("a host as configured: %s", d)
	}
	if d := quietFor(own, settings, &fold.State{}); d != 0 {
		t.Errorf("the host of jaque's own objects: %s", d)
	}
	for _, name := range []string{event.SettingInterval, event.SettingCheckPeriod} {
		st := &fold.State{}
		st.Status.Extra = &event.Extra{Settings: []event.Setting{{Name: name, Value: "x"}}}
		if d := quietFor(host, settings, st); d != 0 {
			t.Errorf("its %s was set: %s", name, d)
		}
	}
	slow := *host.Rule
	slow.Retry = 3 * time.Minute
	if d := quietFor(&object.Object{ID: "a", Name: "a", Rule: &slow}, settings, &fold.State{}); d != 6*time.Minute {
		t.Errorf("its soft problems are checked every 3 minutes: %s", d)
	}
	behind := &object.Object{ID: "a", Name: "a", Rule: host.Rule, Depends: []*object.Dependency{{}}}
	if d := quietFor(behind, settings, &fold.State{}); d != 0 {
		t.Errorf("it is not checked while another object fails: %s", d)
	}
	settings.On &^= object.ProgramHostChecks
	if d := quietFor(host, settings, &fold.State{}); d != 0 {
		t.Errorf("checks of hosts are off: %s", d)
	}
}
