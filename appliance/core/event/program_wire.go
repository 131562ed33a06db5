package event

import (
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/wire"
)

// AppendProgram appends program-wide things as compact JSON; package program uses
// it for snapshots.
func AppendProgram(dst []byte, p *Program) []byte {
	dst = wire.Open(dst)
	if p.Switches != nil {
		dst = wire.Open(wire.Key(dst, "sw"))
		dst = wire.Uint(dst, "off", p.Switches.Off)
		dst = wire.Uint(dst, "on", p.Switches.On)
		dst = appendSettings(dst, p.Switches.Settings)
		dst = wire.Close(dst)
	}
	if p.Contact != nil {
		dst = appendContact(wire.Key(dst, "ct"), p.Contact)
	}
	if p.Rule != nil {
		dst = appendRule(wire.Key(dst, "dr"), p.Rule)
	}
	dst = wire.Text(dst, "dg", p.RuleGone)
	return wire.Close(dst)
}

func appendSettings(dst []byte, all []Setting) []byte {
	if len(all) == 0 {
		return dst
	}
	dst = append(wire.Key(dst, "st"), '[')
	for i := range all {
		s := &all[i]
		dst = wire.Open(comma(dst, i))
		dst = wire.Text(dst, "n", s.Name)
		dst = wire.Text(dst, "v", s.Value)
		dst = wire.Text(dst, "c", s.Config)
		dst = wire.Text(dst, "by", s.Author)
		dst = wire.Int(dst, "t", s.Time)
		dst = wire.Close(dst)
	}
	return append(dst, ']')
}

func appendContact(dst []byte, c *ContactStatus) []byte {
	dst = wire.Open(dst)
	dst = wire.Text(dst, "n", c.Name)
	dst = wire.Bool(dst, "ho", c.HostOff)
	dst = wire.Bool(dst, "so", c.ServiceOff)
	dst = wire.Uint(dst, "hm", c.HostModified)
	dst = wire.Uint(dst, "sm", c.ServiceModified)
	dst = wire.Uint(dst, "md", c.Modified)
	dst = appendSettings(dst, c.Settings)
	return wire.Close(dst)
}

func appendRule(dst []byte, r *DowntimeRule) []byte {
	dst = wire.Open(dst)
	dst = wire.Text(dst, "id", r.ID)
	dst = wire.Uint(dst, "n", r.Number)
	dst = wire.Text(dst, "by", r.Author)
	dst = wire.Text(dst, "x", r.Text)
	dst = wire.Int(dst, "t", r.Entry)
	dst = wire.Text(dst, "o", r.Object)
	dst = wire.Bool(dst, "ws", r.WithServices)
	dst = wire.Text(dst, "g", r.Group)
	dst = wire.Text(dst, "fi", r.Filter)
	dst = wire.Int(dst, "s", r.Start)
	dst = wire.Int(dst, "e", r.End)
	dst = wire.Int(dst, "d", r.Duration)
	if len(r.Ranges) > 0 {
		dst = append(wire.Key(dst, "r"), '[')
		for i, text := range r.Ranges {
			dst = wire.String(comma(dst, i), text)
		}
		dst = append(dst, ']')
	}
	dst = wire.Text(dst, "z", r.Zone)
	return wire.Close(dst)
}

// ReadProgram reads what AppendProgram writes; package program uses it for
// snapshots. Errors stay in the scanner.
func ReadProgram(s *wire.Scanner, p *Program) {
	for s.Begin('{'); s.More('}'); {
		switch string(s.Key()) {
		case "sw":
			p.Switches = new(Switches)
			readSwitches(s, p.Switches)
		case "ct":
			p.Contact = new(ContactStatus)
			readContact(s, p.Contact)
		case "dr":
			p.Rule = new(DowntimeRule)
			readRule(s, p.Rule)
		case "dg":
			p.RuleGone = s.String()
		default:
			s.Skip()
		}
	}
}

func readSwitches(s *wire.Scanner, w *Switches) {
	for s.Begin('{'); s.More('}'); {
		switch string(s.Key()) {
		case "off":
			w.Off = object.Program(s.Uint(16))
		case "on":
			w.On = object.Program(s.Uint(16))
		case "st":
			w.Settings = readSettings(s)
		default:
			s.Skip()
		}
	}
}

func readSettings(s *wire.Scanner) (all []Setting) {
	for s.Begin('['); s.More(']'); {
		var one Setting
		for s.Begin('{'); s.More('}'); {
			switch string(s.Key()) {
			case "n":
				one.Name = s.String()
			case "v":
				one.Value = s.String()
			case "c":
				one.Config = s.String()
			case "by":
				one.Author = s.String()
			case "t":
				one.Time = object.Time(s.Int(64))
			default:
				s.Skip()
			}
		}
		all = append(all, one)
	}
	return all
}

func readContact(s *wire.Scanner, c *ContactStatus) {
	for s.Begin('{'); s.More('}'); {
		switch string(s.Key()) {
		case "n":
			c.Name = s.String()
		case "ho":
			c.HostOff = s.Bool()
		case "so":
			c.ServiceOff = s.Bool()
		case "hm":
			c.HostModified = uint32(s.Uint(32))
		case "sm":
			c.ServiceModified = uint32(s.Uint(32))
		case "md":
			c.Modified = uint32(s.Uint(32))
		case "st":
			c.Settings = readSettings(s)
		default:
			s.Skip()
		}
	}
}

func readRule(s *wire.Scanner, r *DowntimeRule) {
	for s.Begin('{'); s.More('}'); {
		if key := s.Key(); !readRuleTarget(s, key, r) {
			readRuleTimes(s, key, r)
		}
	}
}

func readRuleTarget(s *wire.Scanner, key []byte, r *DowntimeRule) bool {
	switch string(key) {
	case "id":
		r.ID = s.String()
	case "n":
		r.Number = s.Uint(64)
	case "by":
		r.Author = s.String()
	case "x":
		r.Text = s.String()
	case "o":
		r.Object = object.ID(s.String())
	case "ws":
		r.WithServices = s.Bool()
	case "g":
		r.Group = s.String()
	case "fi":
		r.Filter = s.String()
	default:
		return false
	}
	return true
}

func readRuleTimes(s *wire.Scanner, key []byte, r *DowntimeRule) {
	switch string(key) {
	case "t":
		r.Entry = object.Time(s.Int(64))
	case "s":
		r.Start = object.Time(s.Int(64))
	case "e":
		r.End = object.Time(s.Int(64))
	case "d":
		r.Duration = object.Time(s.Int(64))
	case "r":
		r.Ranges = nil
		for s.Begin('['); s.More(']'); {
			r.Ranges = append(r.Ranges, s.String())
		}
	case "z":
		r.Zone = s.String()
	default:
		s.Skip()
	}
}
