package view

import (
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
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

// Marks returns what else is to know at a glance about an item.
func Marks(i projection.Item) []string {
	var m []string
	s := &i.State.Status
	if s.Ack != object.AckNone {
		m = append(m, "acknowledged")
	}
	if s.DowntimeDepth > 0 {
		m = append(m, "in downtime")
	}
	if s.Flapping {
		m = append(m, "flapping")
	}
	passive := i.Object.Rule.Check.Kind == object.CheckPassive
	switch off := !fold.Enabled(i.Object, s, object.SwitchActive) && !passive; {
	case off && i.Object.Rule.Check.Kind != object.CheckNone && i.Object.Rule.Check.Kind != "":
		m = append(m, "checks off")
	case passive && !fold.Enabled(i.Object, s, object.SwitchPassive):
		m = append(m, "results refused")
	}
	if !fold.Enabled(i.Object, s, object.SwitchNotifications) {
		m = append(m, "notifications off")
	}
	if n := remarks(s.Extra); n > 0 {
		m = append(m, Count(n, "comment", "comments"))
	}
	return m
}

// remarks counts what operators said beside the acknowledgement.
func remarks(x *event.Extra) (n int) {
	if x == nil {
		return 0
	}
	for i := range x.Comments {
		if x.Comments[i].Kind != event.CommentAcknowledgement {
			n++
		}
	}
	return n
}
