package program

import (
	"fmt"
	"maps"
	"slices"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/wire"
)

// AppendState appends a state as compact JSON and returns the longer slice.
// Equal states give equal bytes.
func AppendState(dst []byte, s *State) []byte {
	dst = wire.Uint(wire.Open(dst), "u", s.Sub)
	dst = append(wire.Key(dst, "p"), '[')
	dst = event.AppendProgram(dst, &event.Program{Switches: &s.Switches})
	for _, name := range slices.Sorted(maps.Keys(s.Contacts)) {
		c := s.Contacts[name]
		dst = event.AppendProgram(append(dst, ','), &event.Program{Contact: &c})
	}
	for _, id := range slices.Sorted(maps.Keys(s.Rules)) {
		r := s.Rules[id]
		dst = event.AppendProgram(append(dst, ','), &event.Program{Rule: &r})
	}
	return wire.Close(append(dst, ']'))
}

// DecodeState reads a state as AppendState writes it. An error wraps a
// *wire.SyntaxError that says where; *s is then unusable.
func DecodeState(data []byte, s *State) error {
	*s = State{}
	sc := wire.Scan(data)
	for sc.Begin('{'); sc.More('}'); {
		switch string(sc.Key()) {
		case "u":
			s.Sub = sc.Uint(64)
		case "p":
			for sc.Begin('['); sc.More(']'); {
				var part event.Program
				event.ReadProgram(&sc, &part)
				s.take(&part)
			}
		default:
			sc.Skip()
		}
	}
	if err := sc.End(); err != nil {
		return fmt.Errorf("decode program state: %w", err)
	}
	return nil
}
