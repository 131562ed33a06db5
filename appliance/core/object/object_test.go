package object_test

import (
	"maps"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

func TestStatesHaveNames(t *testing.T) {
	tests := []struct {
		kind  object.Kind
		names []string
	}{
		{object.Service, []string{"OK", "WARNING", "CRITICAL", "UNKNOWN", "STATE(4)"}},
		{object.Host, []string{"UP", "DOWN", "UNREACHABLE", "STATE(3)"}},
	}
	for _, tt := range tests {
		for i, want := range tt.names {
			if got := object.State(i).Name(tt.kind); got != want {
				t.Errorf("%s state %d is called %s, want %s", tt.kind, i, got, want)
			}
			got, err := object.ParseState(tt.kind, want)
			if last := i == len(tt.names)-1; last != (err != nil) || !last && got != object.State(i) {
				t.Errorf("%s state %s is read as %d, %v", tt.kind, want, got, err)
			}
		}
	}
	if object.Hard.String() != "hard" || object.Soft.String() != "soft" {
		t.Errorf("types are called %s and %s", object.Hard, object.Soft)
	}
}

func TestTimesAreMilliseconds(t *testing.T) {
	at := time.Date(2026, 5, 28, 10, 0, 0, 123_999_999, time.FixedZone("", 7200))
	got := object.At(at)
	if got != 1779955200123 || !got.Std().Equal(at.Truncate(time.Millisecond)) {
		t.Errorf("%s is %d and comes back as %s", at, got, got.Std())
	}
	if object.At(time.Time{}) != 0 || !object.Time(0).Std().IsZero() {
		t.Error("never is not 0")
	}
	if got.Add(time.Second+time.Microsecond).Sub(got) != time.Second {
		t.Errorf("a second later is %d", got.Add(time.Second))
	}
}

func TestAWaitFromAnInstantAheadIsOver(t *testing.T) {
	now := object.Time(1e12)
	for _, c := range []struct {
		name string
		at   object.Time
		want object.Time
	}{
		{"began long ago", now.Add(-time.Hour), now.Add(-59 * time.Minute)},
		{"began a moment ago", now.Add(-time.Second), now.Add(59 * time.Second)},
		{"ahead by no more than the wait", now.Add(time.Minute), now.Add(2 * time.Minute)},
		{"ahead by more", now.Add(time.Minute) + 1, now},
	} {
		if got := c.at.Over(now, time.Minute); got != c.want {
			t.Errorf("%s: over after %s, want %s", c.name, got.Sub(now), c.want.Sub(now))
		}
	}
}

func TestSets(t *testing.T) {
	if m := object.StateMask(1<<object.Critical | 1<<object.OK); !m.Has(object.OK) || m.Has(object.Warning) {
		t.Errorf("mask %b", m)
	}
	both := object.SwitchActive | object.SwitchPassive
	if !both.Has(object.SwitchPassive) || object.SwitchPassive.Has(both) {
		t.Error("a set of switches holds another only if it holds every one")
	}
}

func TestNewSetLinksObjects(t *testing.T) {
	rule := &object.Rule{Labels: map[string]string{"role": "rule", "tier": "1"}}
	gw := &object.Object{ID: "gw", Rule: rule, Groups: []string{"net"}}
	web := &object.Object{ID: "web", Rule: &object.Rule{}, Parents: []*object.Object{gw}, Groups: []string{"net"}, Labels: map[string]string{"role": "web", "os": "linux"}}
	http := &object.Object{ID: "web!http", Host: web, Rule: rule}
	set := object.NewSet("g1", object.DefaultSettings(), []*object.Object{http, web, gw})

	if len(set.Objects) != 3 || set.Objects[0] != gw || len(set.Hosts) != 2 || set.Hosts[1] != web {
		t.Errorf("objects %v, hosts %v", set.Objects, set.Hosts)
	}
	if set.Get("web!http") != http || set.Get("nothing") != nil {
		t.Error("Get finds another object")
	}
	if len(web.Services) != 1 || web.Services[0] != http || len(gw.Children) != 1 || gw.Children[0] != web || len(set.Groups["net"]) != 2 {
		t.Error("services, children or groups are not linked")
	}
	if http.Kind() != object.Service || http.HostObject() != web || web.Kind() != object.Host || web.HostObject() != web {
		t.Error("kind or host is wrong")
	}
	want := map[string]string{"role": "rule", "tier": "1", "os": "linux"}
	if got := http.AllLabels(); !maps.Equal(got, want) {
		t.Errorf("labels %v, want %v", got, want)
	}
	for key, value := range want {
		if got, ok := http.Label(key); !ok || got != value {
			t.Errorf("label %s is %q", key, got)
		}
	}
	if _, ok := web.Label("tier"); ok {
		t.Error("a host answers to a label of its service's rule")
	}
}
