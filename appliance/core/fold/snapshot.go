package fold

import (
	"fmt"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/wire"
)

// AppendState appends a state as compact JSON and returns the longer slice.
// Equal states give equal bytes, so they serve as a digest too.
func AppendState(dst []byte, s *State) []byte {
	dst = wire.Open(dst)
	dst = event.AppendStatus(wire.Key(dst, "s"), &s.Status)
	dst = event.AppendMeasure(wire.Key(dst, "m"), &s.Measure)
	dst = wire.Uint(dst, "l", s.Last)
	dst = wire.Uint(dst, "u", s.Sub)
	dst = wire.Uint(dst, "f", s.Fence)
	return wire.Close(dst)
}

// DecodeState reads a state as AppendState writes it. An error wraps a
// *wire.SyntaxError that says where; *s is then unusable.
func DecodeState(data []byte, s *State) error {
	*s = State{}
	sc := wire.Scan(data)
	for sc.Begin('{'); sc.More('}'); {
		switch string(sc.Key()) {
		case "s":
			event.ReadStatus(&sc, &s.Status)
		case "m":
			event.ReadMeasure(&sc, &s.Measure)
		case "l":
			s.Last = sc.Uint(64)
		case "u":
			s.Sub = sc.Uint(64)
		case "f":
			s.Fence = sc.Uint(64)
		default:
			sc.Skip()
		}
	}
	if err := sc.End(); err != nil {
		return fmt.Errorf("decode state: %w", err)
	}
	return nil
}
