package oncall

import (
	"slices"
	"sort"

	"jaque.sh/jaque/appliance/core/object"
)

// Schedule says who is on call when. It never changes after it was made, so any
// goroutine may ask it.
type Schedule struct {
	name      string
	layers    []layer
	overrides []override // by time
}

// override replaces all layers for a while.
type override struct {
	from, to object.Time
	contact  string // "" = nobody
	source   Source
}

// Kind is what sort of thing puts somebody on call.
type Kind uint8

// Kinds of sources.
const (
	Nothing  Kind = iota // no layer has anybody
	Layer                // a layer has the contact
	Override             // an override names the contact, or nobody
)

// Source is why somebody is on call.
type Source struct {
	Kind   Kind
	Name   string // of the layer, also one that has nobody; of an override its times as the config says them
	Reason string // of an override, may be ""
}

// String returns the source in words for people.
func (s Source) String() string {
	switch {
	case s.Kind == Layer:
		return "layer " + s.Name
	case s.Kind == Nothing && s.Name != "":
		return "layer " + s.Name + " has nobody"
	case s.Kind == Nothing:
		return "no layer has anybody"
	case s.Reason == "":
		return "override " + s.Name
	}
	return "override " + s.Name + " (" + s.Reason + ")"
}

// Turn is who has the say at an instant.
type Turn struct {
	Contact string // "" = nobody
	Source  Source
	Until   object.Time // exclusive; 0 = never ends
}

// Name returns the name under which the config declares the schedule.
func (s *Schedule) Name() string { return s.name }

// Contacts returns everybody whom layers and overrides name, sorted.
func (s *Schedule) Contacts() []string {
	var names []string
	for i := range s.layers {
		names = append(names, s.layers[i].contacts...)
	}
	for _, o := range s.overrides {
		if o.contact != "" {
			names = append(names, o.contact)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// OnCall returns who is on call at an instant and until when that answer holds.
// The contact is "" if it is nobody. The time it takes does not depend on how far
// the start of a layer is away.
func (s *Schedule) OnCall(at object.Time) Turn {
	turn, _ := s.onCall(at)
	return turn
}

// onCall is OnCall with the index of the layer that has the say; that of an
// override is the number of layers, that of nothing -1.
func (s *Schedule) onCall(at object.Time) (Turn, int) {
	var until object.Time
	if i := s.nextOverride(at); i < len(s.overrides) {
		o := &s.overrides[i]
		if o.from <= at {
			return Turn{o.contact, o.source, o.to}, len(s.layers)
		}
		until = o.from
	}
	for i := len(s.layers) - 1; i >= 0; i-- {
		turn := s.layers[i].at(at)
		// A layer above that is empty now cuts the turn when it no longer is.
		until = earlier(until, turn.Until)
		if turn.Contact != "" {
			turn.Until = until
			return turn, i
		}
	}
	return Turn{Until: until}, -1
}

// nextOverride returns the index of the first override that ends after an
// instant.
func (s *Schedule) nextOverride(at object.Time) int {
	return sort.Search(len(s.overrides), func(i int) bool { return s.overrides[i].to > at })
}

// At returns everybody who has a say at an instant, the highest first: that one
// is on call, as OnCall says it. The others would be if it were not for those
// before them; their turns end when their own layer says. None = nobody.
func (s *Schedule) At(at object.Time) []Turn {
	first, i := s.onCall(at)
	if first.Source.Kind == Nothing {
		return nil
	}
	turns := []Turn{first}
	for i--; i >= 0; i-- {
		if turn := s.layers[i].at(at); turn.Contact != "" {
			turns = append(turns, turn)
		}
	}
	return turns
}

// earlier returns the earlier of two instants of which 0 is never.
func earlier(a, b object.Time) object.Time {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// milliseconds makes an instant of a second.
func milliseconds(second int64) object.Time { return object.Time(second * 1000) }

// seconds returns the second in which an instant lies.
func seconds(at object.Time) int64 { return floor(int64(at), 1000) }

// floor divides and rounds down, below 0 too.
func floor(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
