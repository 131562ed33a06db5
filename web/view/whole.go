package view

import (
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// heeded are the switches of the whole program that are said to be off on every
// page even if the config turned them off: without them nobody learns of a
// problem.
const heeded = object.ProgramHostChecks | object.ProgramServiceChecks | object.ProgramNotifications

// OffBanners returns what is to be said on every page about switches of the
// whole program that are off: those that operators turned off, and those of
// heeded.
func OffBanners(config object.Program, s *event.Switches, now time.Time) []Banner {
	var off []Switch
	for n, v := range NewProgramSwitches(config, s, now) {
		if !v.On && (v.Changed || heeded.Has(programBits[n])) {
			off = append(off, v)
		}
	}
	if len(off) == 0 {
		return nil
	}
	b := Banner{Link: Link{Label: "See the settings", URL: "/settings"}}
	if len(off) > 1 {
		names := make([]string, len(off))
		for i, v := range off {
			names[i] = strings.ToLower(v.Label[:1]) + v.Label[1:]
		}
		b.Text = "Off for the whole program: " + strings.Join(names, ", ") + "."
		return []Banner{b}
	}
	v := off[0]
	b.Text = v.Label + " " + isOrAre(v.Label) + " off for the whole program"
	switch {
	case !v.Changed:
		b.Text += ", as configured"
	case v.When.Machine != "":
		b.Text += " since " + v.When.Text
	}
	if v.Changed && v.Author != "" {
		b.Text += ", by " + v.Author
	}
	b.Text += "."
	return []Banner{b}
}

func isOrAre(label string) string {
	if first, _, _ := strings.Cut(label, " "); slices.Contains([]string{"Flap", "Performance", "Freshness"}, first) {
		return "is"
	}
	return "are"
}

// wholeBits are the switches of the whole program above objectSwitches: of hosts
// and of services; constant.
var wholeBits = [][2]object.Program{
	{object.ProgramHostChecks, object.ProgramServiceChecks},
	{object.ProgramPassiveHosts, object.ProgramPassiveServices},
	{object.ProgramNotifications, object.ProgramNotifications},
	{object.ProgramEventHandlers, object.ProgramEventHandlers},
	{object.ProgramFlapDetection, object.ProgramFlapDetection},
}

// under marks the switches of an object that change nothing as long as the same
// is off for the whole program.
func under(list []Switch, k object.Kind, off object.Program) []Switch {
	at := 0
	if k == object.Service {
		at = 1
	}
	for n := range list {
		list[n].Whole = off&wholeBits[n][at] != 0
	}
	return list
}
