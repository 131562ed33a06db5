package replay

import (
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// What operators had set for the whole program belongs to an instant too.
func TestAnInstantTellsTheProgramAsItWas(t *testing.T) {
	w := newWorld(memory(), 1)
	put := func(at object.Time, p event.Program) {
		done := make(chan error, 1)
		e := &event.Event{Version: 1, Kind: event.SettingChanged, Time: at, Facts: map[string]string{"topic": "program"}, Program: &p}
		w.Append(e, 0, func(_ uint64, err error) { done <- err })
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	put(noon, event.Program{Switches: &event.Switches{Off: object.ProgramNotifications}})
	put(noon+1000, event.Program{Rule: &event.DowntimeRule{ID: "r", Group: "web"}})
	put(noon+2000, event.Program{RuleGone: "r", Switches: &event.Switches{}})
	for at, want := range map[object.Time]struct {
		off   object.Program
		rules int
	}{noon - 1: {}, noon: {object.ProgramNotifications, 0}, noon + 1500: {object.ProgramNotifications, 1}, noon + 2000: {}} {
		p, err := w.replayer().At(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Program(); got.Switches.Off != want.off || len(got.Rules) != want.rules {
			t.Errorf("%d ms behind noon: %+v, want %+v", at-noon, got, want)
		}
	}
}
