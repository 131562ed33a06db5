package event

import (
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/wire"
)

// Glance is what an event says of itself without its contents: enough to follow the
// chain of an object's decisions. Its slices lie in the text that was read, or in
// buffers of its own after Of.
type Glance struct {
	Version     int
	Kind        Kind
	Epoch, Prev uint64
	ID          []byte
	Object      []byte
	Writer      []byte
	Instance    []byte
	Status      bool // it holds the object's new state
}

// Look reads one event into *g as Decode would, in a fraction of the time, because what
// it passes over is checked but not kept. False says that only Decode can tell: the
// text is no event, or the event has notes, facts or something of the program in it.
func (g *Glance) Look(data []byte) bool {
	*g = Glance{}
	s := wire.Scan(data)
	s.Skim()
	for s.Begin('{'); s.More('}'); {
		if key := s.Key(); !g.envelope(&s, key) && !g.pass(&s, key) {
			return false
		}
	}
	return s.End() == nil
}

// Of takes what the event says of itself.
func (g *Glance) Of(e *Event) {
	*g = Glance{
		Version: e.Version, Kind: e.Kind, Epoch: e.Epoch, Prev: e.Prev, Status: e.Status != nil,
		ID: append(g.ID[:0], e.ID...), Object: append(g.Object[:0], e.Object...),
		Writer: append(g.Writer[:0], e.Writer...), Instance: append(g.Instance[:0], e.Instance...),
	}
}

func (g *Glance) envelope(s *wire.Scanner, key []byte) bool {
	switch string(key) {
	case "v":
		g.Version = int(s.Int(32))
	case "id":
		g.ID = s.Text()
	case "k":
		g.Kind = kindOf(s.Text())
	case "o":
		g.Object = s.Text()
	case "e":
		g.Epoch = s.Uint(64)
	case "w":
		g.Writer = s.Text()
	case "i":
		g.Instance = s.Text()
	case "p":
		g.Prev = s.Uint(64)
	case "t":
		s.Int(64)
	default:
		return false
	}
	return true
}

// pass checks what stands in an event's body with the functions that Decode reads it
// with, so that both call the same text an event.
func (g *Glance) pass(s *wire.Scanner, key []byte) bool {
	switch string(key) {
	case "m":
		var m Measure
		ReadMeasure(s, &m)
	case "s":
		var st Status
		ReadStatus(s, &st)
		g.Status = true
	case "tr":
		s.Bool()
	case "was":
		var w Was
		readWas(s, &w)
	case "also":
		for s.Begin('['); s.More(']'); {
			s.Text()
		}
	case "by", "x":
		s.Text()
	case "n", "f", "pr":
		return false
	default:
		s.Skip()
	}
	return true
}

// About returns the object as Event.Object would be.
func (g *Glance) About() object.ID { return object.ID(g.Object) }
