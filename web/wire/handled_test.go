package wire

import (
	"encoding/json"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
)

type always string

func (p always) Name() string                           { return string(p) }
func (p always) String() string                         { return string(p) }
func (p always) Window(object.Time) (bool, object.Time) { return true, 0 }

// written returns one column of an item.
func written(t *testing.T, name string, i *projection.Item, c *Context) string {
	t.Helper()
	cols, err := Pick(i.Object.Kind(), name)
	if err != nil {
		t.Fatal(err)
	}
	return string(cols[0].add(nil, i, c))
}

func TestColumnsAboutOperatorsSayWhatHolds(t *testing.T) {
	host := &object.Object{ID: "h", Name: "h", Rule: &object.Rule{Attempts: 1, Check: object.Check{Kind: object.CheckNone}}}
	passive := &object.Rule{
		Attempts: 1, Passive: true, Interval: time.Minute, FreshAuto: true, CheckPeriod: always("night"), Check: object.Check{Kind: object.CheckPassive},
	}
	service := &object.Object{ID: "h!s", Name: "s", Host: host, Rule: passive}
	set := object.NewSet("g", object.DefaultSettings(), []*object.Object{host, service})
	set.Periods = map[string]object.Period{"day": always("day"), "night": always("night")}
	down := &fold.State{Status: event.Status{DowntimeDepth: 2}}
	for _, c := range []struct {
		name, column, want string
		change             func(s *event.Status, m *event.Measure, c *Context)
	}{
		{"nobody acknowledged", "acknowledgement", "null", nil},
		{
			"an acknowledgement that ends", "acknowledgement", `{"kind":"normal","author":"eva","comment":"\u003cx\u003e","time":"1970-01-01T00:00:01.000Z","expires":"1970-01-01T00:00:02.000Z"}`,
			func(s *event.Status, _ *event.Measure, _ *Context) {
				s.Ack, s.AckExpires, s.Extra = object.AckNormal, 2000, &event.Extra{AckAuthor: "eva", AckText: "<x>", AckTime: 1000}
			},
		},
		{
			"an acknowledgement without a word", "acknowledgement", `{"kind":"sticky","author":"","comment":"","time":null,"expires":null}`,
			func(s *event.Status, _ *event.Measure, _ *Context) { s.Ack = object.AckSticky },
		},
		{"no downtime", "in_downtime", "false", nil},
		{"a downtime of its own", "in_downtime", "true", func(s *event.Status, _ *event.Measure, _ *Context) { s.DowntimeDepth = 1 }},
		{"a downtime of its host", "in_downtime", "true", func(_ *event.Status, _ *event.Measure, c *Context) {
			c.State = func(object.ID) *fold.State { return down }
		}},
		{"nothing known of its host", "in_downtime", "false", func(_ *event.Status, _ *event.Measure, c *Context) {
			c.State = func(object.ID) *fold.State { return nil }
		}},
		{"the root of its problem", "root", `"sw1"`, func(s *event.Status, _ *event.Measure, _ *Context) { s.Root = "sw1" }},
		{"the period of the config", "check_period", `"night"`, nil},
		{"another period", "check_period", `"day"`, func(s *event.Status, _ *event.Measure, _ *Context) {
			s.Extra = &event.Extra{Settings: []event.Setting{{Name: event.SettingCheckPeriod, Value: "day"}}}
		}},
		{"a period that is gone", "check_period", `"night"`, func(s *event.Status, _ *event.Measure, _ *Context) {
			s.Extra = &event.Extra{Settings: []event.Setting{{Name: event.SettingCheckPeriod, Value: "dusk"}}}
		}},
		{
			"two settings", "settings", `[{"name":"a","value":"1","author":"","time":null},{"name":"b","value":"2","author":"","time":null}]`,
			func(s *event.Status, _ *event.Measure, _ *Context) {
				s.Extra = &event.Extra{Settings: []event.Setting{{Name: "a", Value: "1"}, {Name: "b", Value: "2"}}}
			},
		},
		{"a freshness that follows from the interval", "freshness", "75.25", func(_ *event.Status, m *event.Measure, _ *Context) { m.Latency = 250_000 }},
		{"a freshness that the program switched off", "freshness", "0", func(_ *event.Status, _ *event.Measure, c *Context) {
			off := *set
			off.Settings.On &^= object.ProgramServiceFreshness
			c.Set = &off
		}},
		{"only the object is known", "freshness", "0", func(_ *event.Status, _ *event.Measure, c *Context) { c.Set = nil }},
		{"a result that somebody submitted", "stale", "false", func(s *event.Status, m *event.Measure, _ *Context) { s.Checked, m.Passive = true, true }},
		{"one that nobody did", "stale", "true", func(s *event.Status, _ *event.Measure, _ *Context) { s.Checked = true }},
		{"none at all", "stale", "false", nil},
		{"one that may be old, since nothing arrives", "stale", "true", func(s *event.Status, m *event.Measure, c *Context) {
			s.Checked, m.Passive, c.Old = true, true, true
		}},
		{"none at all, and nothing arrives", "stale", "false", func(_ *event.Status, _ *event.Measure, c *Context) { c.Old = true }},
	} {
		st := &fold.State{}
		ctx := &Context{Set: set}
		if c.change != nil {
			c.change(&st.Status, &st.Measure, ctx)
		}
		if got := written(t, c.column, &projection.Item{Object: service, State: st}, ctx); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// The downtime of a host is looked up once for all of its services.
func TestAHostIsLookedAtOnce(t *testing.T) {
	rule := &object.Rule{Attempts: 1}
	hosts := []*object.Object{{ID: "a", Name: "a", Rule: rule}, {ID: "b", Name: "b", Rule: rule}}
	looked := 0
	c := &Context{State: func(id object.ID) *fold.State {
		looked++
		s := &fold.State{}
		if id == "b" {
			s.Status.DowntimeDepth = 1
		}
		return s
	}}
	for n := range 6 {
		h := hosts[n/3]
		item := projection.Item{Object: &object.Object{ID: object.ServiceID(h.Name, "s"), Name: "s", Host: h, Rule: rule}, State: &fold.State{}}
		if got, want := written(t, "in_downtime", &item, c), map[string]string{"a": "false", "b": "true"}[h.Name]; got != want {
			t.Errorf("a service of %s: %s", h.Name, got)
		}
	}
	if looked != 2 {
		t.Errorf("looked at hosts %d times", looked)
	}
}

// What most objects have nothing of costs no memory.
func TestColumnsAboutOperatorsAllocateNothing(t *testing.T) {
	rule := &object.Rule{Attempts: 1}
	host := &object.Object{ID: "a", Name: "a", Rule: rule}
	item := projection.Item{Object: &object.Object{ID: "a!s", Name: "s", Host: host, Rule: rule}, State: &fold.State{}}
	c := &Context{State: func(object.ID) *fold.State { return item.State }, Set: object.NewSet("g", object.DefaultSettings(), nil)}
	b := make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(100, func() { b = AppendItem(b[:0], &item, handled, c) }); n > 0 {
		t.Errorf("%v allocations for one item", n)
	}
}

func TestTimesAreReadAsTheyAreWritten(t *testing.T) {
	for _, want := range []Time{0, 1, 1_772_366_400_123} {
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got := Time(5)
		if err := json.Unmarshal(data, &got); err != nil || got != want {
			t.Errorf("%s became %d, %v", data, got, err)
		}
	}
	var got Time
	if err := json.Unmarshal([]byte(`"yesterday"`), &got); err == nil {
		t.Error("a word was read as a time")
	}
}

func TestDowntimesSayTheirKind(t *testing.T) {
	for want, d := range map[string]event.Downtime{
		"fixed": {}, "flexible": {Duration: 1000}, "triggered": {Trigger: "d1", Duration: 1000},
	} {
		if got := FromDowntime("h", &d); got.Kind != want || (want != "fixed") != (got.Flexible == 1) {
			t.Errorf("%s: %+v", want, got)
		}
	}
}
