package deliver

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/wire"
)

// AppendOpen appends what is open as compact JSON and returns the longer slice. Equal
// ones give equal bytes. Each event stands there once, with what is open of it.
func AppendOpen(dst []byte, o *Open) []byte {
	dst = wire.Open(dst)
	dst = wire.Uint(dst, "u", o.seq)
	dst = wire.Int(dst, "t", o.newest)
	dst = wire.Uint(dst, "r", o.repeated)
	dst = appendSent(dst, o)
	dst = appendIncidents(dst, o)
	all := o.All()
	if len(all) > 0 {
		dst = append(wire.Key(dst, "e"), '[')
		for i := 0; i < len(all); {
			n := i + 1
			for n < len(all) && all[n].Event == all[i].Event {
				n++
			}
			dst = appendEvent(comma(dst, i), all[i:n])
			i = n
		}
		dst = append(dst, ']')
	}
	return wire.Close(dst)
}

func comma(dst []byte, i int) []byte {
	if i > 0 {
		return append(dst, ',')
	}
	return dst
}

// appendEvent appends an event and what is open of it.
func appendEvent(dst []byte, all []*Pending) []byte {
	dst = wire.Open(dst)
	dst = wire.Uint(dst, "u", all[0].Seq)
	dst = event.AppendJSON(wire.Key(dst, "ev"), all[0].Event)
	dst = append(wire.Key(dst, "p"), '[')
	for i, p := range all {
		dst = wire.Open(comma(dst, i))
		dst = wire.Int(dst, "i", p.order)
		dst = wire.Int(dst, "pb", p.Since)
		dst = wire.Text(dst, "rt", p.Root)
		dst = wire.Int(dst, "f", p.Failures)
		dst = wire.Text(dst, "w", p.Reason)
		dst = wire.Close(wire.Text(dst, "by", p.By))
	}
	return wire.Close(append(dst, ']'))
}

func appendSent(dst []byte, o *Open) []byte {
	keys := slices.SortedFunc(maps.Keys(o.sent), func(a, b GroupKey) int {
		return cmp.Or(strings.Compare(a.Contact, b.Contact), strings.Compare(a.Channel, b.Channel), strings.Compare(a.Group, b.Group))
	})
	dst = append(wire.Key(dst, "s"), '[')
	n := 0
	for _, k := range keys {
		if o.Sent(k) == (Last{}) {
			continue
		}
		dst = wire.Open(comma(dst, n))
		dst = wire.Text(dst, "c", k.Contact)
		dst = wire.Text(dst, "ch", k.Channel)
		dst = wire.Text(dst, "g", k.Group)
		dst = wire.Int(dst, "t", o.sent[k].at)
		dst = wire.Close(wire.Text(dst, "th", o.sent[k].thread))
		n++
	}
	return append(dst, ']')
}

func appendIncidents(dst []byte, o *Open) []byte {
	dst = append(wire.Key(dst, "i"), '[')
	n := 0
	for _, id := range slices.Sorted(maps.Keys(o.incident)) {
		i := o.incident[id]
		if i.at.Add(memoryOf) <= o.newest {
			continue
		}
		dst = wire.Open(comma(dst, n))
		dst = wire.Text(dst, "o", id)
		dst = wire.Int(dst, "pb", i.since)
		dst = wire.Text(dst, "rt", i.root)
		dst = wire.Close(wire.Int(dst, "t", i.at))
		n++
	}
	return append(dst, ']')
}

// DecodeOpen reads what AppendOpen wrote. An error says where; *o is then unusable.
func DecodeOpen(data []byte, o *Open) error {
	*o = Open{pending: map[string]*Pending{}, incident: map[object.ID]incident{}, sent: map[GroupKey]sending{}}
	s := wire.Scan(data)
	for s.Begin('{'); s.More('}'); {
		switch string(s.Key()) {
		case "u":
			o.seq = s.Uint(64)
		case "t":
			o.newest = object.Time(s.Int(64))
		case "r":
			o.repeated = s.Uint(64)
		case "s":
			readSent(&s, o)
		case "i":
			readIncidents(&s, o)
		case "e":
			for s.Begin('['); s.More(']'); {
				readEvent(&s, o)
			}
		default:
			s.Skip()
		}
	}
	if err := s.End(); err != nil {
		return fmt.Errorf("decode open requests: %w", err)
	}
	return nil
}

// saved is what a snapshot says of a request beside its event.
type saved struct {
	order, failures int
	since           object.Time
	root            object.ID
	reason, by      string
}

// readEvent reads an event with what is open of it.
func readEvent(s *wire.Scanner, o *Open) {
	e, open := new(event.Event), []saved(nil)
	for s.Begin('{'); s.More('}'); {
		switch string(s.Key()) {
		case "u":
			e.Seq = s.Uint(64)
		case "ev":
			if raw := s.Raw(); s.Err() == nil {
				if err := event.Decode(raw, e); err != nil {
					s.Fail("an event")
				}
			}
		case "p":
			for s.Begin('['); s.More(']'); {
				open = append(open, readSaved(s))
			}
		default:
			s.Skip()
		}
	}
	if s.Err() != nil {
		return
	}
	all := pending(e)
	for _, r := range open {
		if r.order < 0 || r.order >= len(all) {
			s.Fail("a request of the event")
			return
		}
		p := all[r.order]
		p.Since, p.Root, p.Failures, p.Reason, p.By = r.since, r.root, r.failures, r.reason, r.by
		o.pending[p.ID] = p
	}
}

func readSaved(s *wire.Scanner) (r saved) {
	for s.Begin('{'); s.More('}'); {
		switch string(s.Key()) {
		case "i":
			r.order = int(s.Int(32))
		case "pb":
			r.since = object.Time(s.Int(64))
		case "rt":
			r.root = object.ID(s.String())
		case "f":
			r.failures = int(s.Int(64))
		case "w":
			r.reason = s.String()
		case "by":
			r.by = s.String()
		default:
			s.Skip()
		}
	}
	return r
}

func readSent(s *wire.Scanner, o *Open) {
	for s.Begin('['); s.More(']'); {
		var k GroupKey
		var v sending
		for s.Begin('{'); s.More('}'); {
			switch string(s.Key()) {
			case "c":
				k.Contact = s.String()
			case "ch":
				k.Channel = s.String()
			case "g":
				k.Group = s.String()
			case "t":
				v.at = object.Time(s.Int(64))
			case "th":
				v.thread = s.String()
			default:
				s.Skip()
			}
		}
		o.sent[k] = v
	}
}

func readIncidents(s *wire.Scanner, o *Open) {
	for s.Begin('['); s.More(']'); {
		var id object.ID
		var v incident
		for s.Begin('{'); s.More('}'); {
			switch string(s.Key()) {
			case "o":
				id = object.ID(s.String())
			case "pb":
				v.since = object.Time(s.Int(64))
			case "rt":
				v.root = object.ID(s.String())
			case "t":
				v.at = object.Time(s.Int(64))
			default:
				s.Skip()
			}
		}
		o.incident[id] = v
	}
}
