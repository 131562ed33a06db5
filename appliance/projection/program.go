package projection

import (
	"encoding/binary"
	"maps"
	"slices"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/core/wire"
)

// Program returns what operators set for the whole program, as far as it is
// folded. It is never nil and never changed.
func (p *Projection) Program() *program.State { return p.program.Load() }

// applyProgram folds an event about the whole program.
func (p *Projection) applyProgram(e *event.Event) fold.Outcome {
	old := p.program.Load()
	if e.Stream != event.Log || e.Seq <= old.Sub {
		return fold.Repeated
	}
	next := foldProgram(*old, e)
	p.program.Store(&next)
	if r := e.Program.Rule; r != nil {
		p.index.mu.Lock()
		p.index.highest.Downtime = max(p.index.highest.Downtime, r.Number)
		p.index.mu.Unlock()
	}
	return fold.Accepted
}

// appendProgram appends the program's state for a snapshot: the position, then
// its parts one by one, as events carry them.
func appendProgram(dst []byte, s *program.State) []byte {
	dst = binary.AppendUvarint(dst, s.Sub)
	dst = binary.AppendUvarint(dst, uint64(1+len(s.Contacts)+len(s.Rules)))
	part := func(p event.Program) { dst = appendRecord(dst, event.AppendProgram(nil, &p)) }
	part(event.Program{Switches: &s.Switches})
	for _, name := range slices.Sorted(maps.Keys(s.Contacts)) {
		c := s.Contacts[name]
		part(event.Program{Contact: &c})
	}
	for _, id := range slices.Sorted(maps.Keys(s.Rules)) {
		r := s.Rules[id]
		part(event.Program{Rule: &r})
	}
	return dst
}

// program reads what appendProgram wrote.
func (r *reader) program() *program.State {
	s := &program.State{Sub: r.number(), Contacts: map[string]event.ContactStatus{}, Rules: map[string]event.DowntimeRule{}}
	for n := r.number(); n > 0 && r.err == nil; n-- {
		var part event.Program
		sc := wire.Scan(r.record())
		event.ReadProgram(&sc, &part)
		if err := sc.End(); err != nil && r.err == nil {
			r.err = err
		}
		switch {
		case part.Switches != nil:
			s.Switches = *part.Switches
		case part.Contact != nil:
			s.Contacts[part.Contact.Name] = *part.Contact
		case part.Rule != nil:
			s.Rules[part.Rule.ID] = *part.Rule
		}
	}
	return s
}

func appendRecord(dst, record []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(record))), record...)
}

// foldProgram takes in an event; the parts of a state are replaced, never changed.
func foldProgram(s program.State, e *event.Event) program.State {
	s.Sub = e.Seq
	if sw := e.Program.Switches; sw != nil {
		s.Switches = *sw
	}
	if c := e.Program.Contact; c != nil {
		all := maps.Clone(s.Contacts)
		if all == nil {
			all = map[string]event.ContactStatus{}
		}
		all[c.Name] = *c
		s.Contacts = all
	}
	r, gone := e.Program.Rule, e.Program.RuleGone
	if r == nil && gone == "" {
		return s
	}
	all := maps.Clone(s.Rules)
	if all == nil {
		all = map[string]event.DowntimeRule{}
	}
	delete(all, gone)
	if r != nil {
		all[r.ID] = *r
	}
	s.Rules = all
	return s
}
