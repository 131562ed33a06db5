package view

import (
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
)

// Badge is a state as shown: a word, a shape and a colour, of which any one
// would be enough.
type Badge struct {
	Name string // CRITICAL
	Tone string // ok, warn, crit, unknown, pending: names shape and colour
	Soft bool
}

// NewBadge returns the badge of an item.
func NewBadge(i projection.Item) Badge {
	return badge(i.Object.Kind(), &i.State.Status)
}

func badge(k object.Kind, s *event.Status) Badge {
	if !s.Checked {
		return Badge{Name: "PENDING", Tone: "pending"}
	}
	return Badge{Name: s.State.Name(k), Tone: Tone(k, s.State), Soft: s.Type == object.Soft && s.State != object.OK}
}

// Tone returns the tone of a state that was checked.
func Tone(k object.Kind, s object.State) string {
	if k == object.Host {
		return [...]string{"ok", "crit", "unknown", "unknown"}[min(s, 3)]
	}
	return [...]string{"ok", "warn", "crit", "unknown"}[min(s, 3)]
}

// Marks returns what else is to know at a glance about a state.
func Marks(s *event.Status) []string {
	var m []string
	if s.Ack != object.AckNone {
		m = append(m, "acknowledged")
	}
	if s.DowntimeDepth > 0 {
		m = append(m, "in downtime")
	}
	if s.Flapping {
		m = append(m, "flapping")
	}
	return m
}
