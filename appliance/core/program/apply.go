package program

import (
	"maps"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// Apply folds one event about the whole program into its state. The newest
// position wins and one that is in already changes nothing, so that it does not
// matter where a reader begins again. The given state stays as it is.
func Apply(s State, e *event.Event) (State, fold.Outcome) {
	switch {
	case e.Stream != event.Log || e.Program == nil:
		return s, fold.Unknown
	case e.Seq != 0 && e.Seq <= s.Sub:
		return s, fold.Repeated
	}
	s.Sub = e.Seq
	s.take(e.Program)
	return s, fold.Accepted
}

// take takes in what an event or a snapshot says. Maps are replaced, not changed.
func (s *State) take(p *event.Program) {
	if p.Switches != nil {
		s.Switches = *p.Switches
	}
	if c := p.Contact; c != nil {
		s.Contacts = with(s.Contacts, c.Name, *c, !configured(c))
	}
	if p.RuleGone != "" {
		s.Rules = with(s.Rules, p.RuleGone, event.DowntimeRule{}, false)
	}
	if r := p.Rule; r != nil {
		s.Rules = with(s.Rules, r.ID, *r, true)
	}
}

// configured tells whether nothing of a contact differs from the config.
func configured(c *event.ContactStatus) bool {
	return !c.HostOff && !c.ServiceOff && c.HostModified|c.ServiceModified|c.Modified == 0 && len(c.Settings) == 0
}

// with returns a map in which a key has a value, or is gone; nil if it is empty.
func with[V any](all map[string]V, key string, v V, there bool) map[string]V {
	next := maps.Clone(all)
	if !there {
		delete(next, key)
		if len(next) == 0 {
			return nil
		}
		return next
	}
	if next == nil {
		next = map[string]V{}
	}
	next[key] = v
	return next
}

// Effective returns the settings that hold: those of the config with what
// operators set against them.
func Effective(base object.Settings, s *State) object.Settings {
	base.On = base.On&^s.Switches.Off | s.Switches.On
	return base
}
