package event

import (
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/wire"
)

func appendNotes(dst []byte, all []Note) []byte {
	if len(all) == 0 {
		return dst
	}
	dst = append(wire.Key(dst, "n"), '[')
	for i := range all {
		dst = appendNote(comma(dst, i), &all[i])
	}
	return append(dst, ']')
}

func appendNote(dst []byte, n *Note) []byte {
	dst = wire.Open(dst)
	dst = wire.Text(dst, "k", n.Kind)
	dst = wire.Bool(dst, "s", n.Send)
	dst = wire.Text(dst, "by", n.By)
	dst = wire.Int(dst, "u", n.Until)
	dst = wire.Int(dst, "nr", n.Number)
	dst = wire.Text(dst, "p", n.Policy)
	dst = appendTexts(dst, "st", n.Steps)
	dst = wire.Text(dst, "gb", n.Group.By)
	dst = wire.Int(dst, "gw", n.Group.Wait.Milliseconds())
	dst = wire.Int(dst, "gi", n.Group.Interval.Milliseconds())
	dst = appendGates(dst, n.Gates)
	if len(n.People) > 0 {
		dst = append(wire.Key(dst, "c"), '[')
		for i := range n.People {
			p := &n.People[i]
			dst = wire.Open(comma(dst, i))
			dst = wire.Text(dst, "n", p.Name)
			dst = wire.Bool(dst, "t", p.Told)
			dst = wire.Text(dst, "by", p.By)
			dst = appendTexts(dst, "ch", p.Channels)
			dst = wire.Close(appendGates(dst, p.Gates))
		}
		dst = append(dst, ']')
	}
	return wire.Close(dst)
}

func appendTexts(dst []byte, key string, all []string) []byte {
	if len(all) == 0 {
		return dst
	}
	dst = append(wire.Key(dst, key), '[')
	for i, s := range all {
		dst = wire.String(comma(dst, i), s)
	}
	return append(dst, ']')
}

// verdictMarks stand behind a gate's name and in front of its reason. The name of a
// gate holds none of them.
const verdictMarks = " +-"

// appendGates writes each gate as one text, since a note has twenty of them:
// "hard+", "acknowledgement-the problem is acknowledged", "delay " for one that was
// not reached.
func appendGates(dst []byte, all []Gate) []byte {
	if len(all) == 0 {
		return dst
	}
	dst = append(wire.Key(dst, "g"), '[')
	for i, g := range all {
		dst = wire.String(comma(dst, i), g.Name+verdictMarks[g.Verdict:g.Verdict+1]+g.Why)
	}
	return append(dst, ']')
}

func readNotes(s *wire.Scanner) (all []Note) {
	for s.Begin('['); s.More(']'); {
		var n Note
		for s.Begin('{'); s.More('}'); {
			readNote(s, s.Key(), &n)
		}
		all = append(all, n)
	}
	return all
}

func readNote(s *wire.Scanner, key []byte, n *Note) {
	switch string(key) {
	case "k":
		n.Kind = s.String()
	case "s":
		n.Send = s.Bool()
	case "by":
		n.By = s.String()
	case "u":
		n.Until = object.Time(s.Int(64))
	case "nr":
		n.Number = int32(s.Int(32))
	case "p":
		n.Policy = s.String()
	case "st":
		n.Steps = readTexts(s)
	case "gb":
		n.Group.By = object.GroupBy(s.String())
	case "gw":
		n.Group.Wait = milliseconds(s.Int(64))
	case "gi":
		n.Group.Interval = milliseconds(s.Int(64))
	case "g":
		n.Gates = readGates(s)
	case "c":
		for s.Begin('['); s.More(']'); {
			n.People = append(n.People, readPerson(s))
		}
	default:
		s.Skip()
	}
}

// mostMilliseconds is how many fit into a duration.
const mostMilliseconds = int64(1<<63-1) / int64(time.Millisecond)

func milliseconds(n int64) time.Duration {
	return time.Duration(max(-mostMilliseconds, min(n, mostMilliseconds))) * time.Millisecond
}

func readPerson(s *wire.Scanner) (p Person) {
	for s.Begin('{'); s.More('}'); {
		switch string(s.Key()) {
		case "n":
			p.Name = s.String()
		case "t":
			p.Told = s.Bool()
		case "by":
			p.By = s.String()
		case "ch":
			p.Channels = readTexts(s)
		case "g":
			p.Gates = readGates(s)
		default:
			s.Skip()
		}
	}
	return p
}

func readTexts(s *wire.Scanner) (all []string) {
	for s.Begin('['); s.More(']'); {
		all = append(all, s.String())
	}
	return all
}

func readGates(s *wire.Scanner) (all []Gate) {
	for s.Begin('['); s.More(']'); {
		text := s.String()
		g := Gate{Name: text}
		if i := strings.IndexAny(text, verdictMarks); i >= 0 {
			g = Gate{text[:i], GateVerdict(strings.IndexByte(verdictMarks, text[i])), text[i+1:]}
		}
		all = append(all, g)
	}
	return all
}
