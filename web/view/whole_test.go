package view

import (
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/sample"
)

func TestWhatIsOffForTheWholeProgramIsSaid(t *testing.T) {
	at := object.At(sample.Now)
	set := func(off, on object.Program, names ...string) *event.Switches {
		s := &event.Switches{Off: off, On: on}
		for _, n := range names {
			s.Settings = append(s.Settings, event.Setting{Name: n, Value: "off", Author: "jo", Time: at})
		}
		return s
	}
	const all = object.ProgramDefault
	for name, c := range map[string]struct {
		config   object.Program
		switches *event.Switches
		want     string
	}{
		"all is on":                         {all, set(0, 0), ""},
		"somebody turned one off":           {all, set(object.ProgramNotifications, 0, "notifications"), "Notifications are off for the whole program since " + NewWhen(at, sample.Now).Text + ", by jo."},
		"one that is alone":                 {all, set(object.ProgramFlapDetection, 0, "flap_detection"), "Flap detection is off for the whole program since " + NewWhen(at, sample.Now).Text + ", by jo."},
		"nobody knows who it was":           {all, set(object.ProgramEventHandlers, 0), "Event handlers are off for the whole program."},
		"several":                           {all, set(object.ProgramNotifications|object.ProgramHostChecks, 0), "Off for the whole program: active checks of hosts, notifications."},
		"the config turned off what counts": {all &^ object.ProgramNotifications, set(0, 0), "Notifications are off for the whole program, as configured."},
		"the config turned off the rest":    {all &^ object.ProgramPerfdata, set(0, 0), ""},
		"it is on against the config":       {all &^ object.ProgramNotifications, set(0, object.ProgramNotifications), ""},
	} {
		got := ""
		for _, b := range OffBanners(c.config, c.switches, sample.Now) {
			got += b.Text
			if b.Link.URL != "/settings" {
				t.Errorf("%s: leads to %q", name, b.Link.URL)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestSwitchesUnderTheWholeProgramAreMarked(t *testing.T) {
	s := sample.Office()
	for id, want := range map[object.ID][]bool{"web01": {true, false, true, false, false}, "web01!http": {false, false, true, false, false}} {
		i, _ := s.Projection.Get(id)
		for n, v := range under(NewSwitches(i, sample.Now), i.Object.Kind(), object.ProgramHostChecks|object.ProgramNotifications) {
			if v.Whole != want[n] {
				t.Errorf("%s: %s is marked: %v", id, v.Label, v.Whole)
			}
		}
	}
}
