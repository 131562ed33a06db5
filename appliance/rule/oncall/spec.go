package oncall

import (
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// Spec is a schedule as the config declares it.
type Spec struct {
	Name string
	// Zone is whose clock times are about; nil is UTC.
	Zone      *time.Location
	Layers    []LayerSpec // a later one goes before those above it
	Overrides []OverrideSpec
}

// LayerSpec is a rotation: contacts who take turns.
type LayerSpec struct {
	Name     string
	Contacts []string       // in the order of their turns; one may stand there twice
	Start    string         // day of the first turn, "2026-01-05"
	Handover string         // time of day, "09:00"
	Days     []string       // weekdays of the hand-over, "monday"; or none and Every
	Every    string         // "3 days", "2 weeks", "week"; with Days weeks only, "" is every week
	Only     object.Period  // the layer has nobody outside of it; nil = always
	Zone     *time.Location // nil is the schedule's
}

// OverrideSpec replaces whatever the layers say for a while.
type OverrideSpec struct {
	// From and To are "2026-12-24 18:00" by the clock of the schedule, or with an
	// offset "2026-12-24T18:00:00+01:00". To is exclusive.
	From, To string
	Contact  string
	Nobody   bool // instead of a contact
	Reason   string
}

// Problem is one thing that is wrong with a schedule.
type Problem struct {
	Layer    int    // index of the layer it is in, else -1
	Override int    // index of the override it is in, else -1
	Field    string // "contacts", "start", … as in the spec, in lower case; "" = none
	Text     string
}

// Problems is everything that is wrong with a schedule.
type Problems []Problem

// Error returns one line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.Text
	}
	return strings.Join(lines, "\n")
}
