package deliver

import "jaque.sh/jaque/appliance/core/object"

// Stats says what a planner has.
type Stats struct {
	Open     int         // requests with the planner
	Due      int         // of them those that could go out now but for the limits
	InFlight int         // messages that are taken and not back
	Oldest   object.Time // of the events of the open requests, but not later than they came; 0 = there are none
	// PerChannel counts the open requests by channel.
	PerChannel map[string]int
}

// Waiting counts what the planner has at a time.
func (p *Planner) Waiting(now object.Time) Stats {
	s := Stats{Open: len(p.entries), InFlight: p.flying, PerChannel: map[string]int{}}
	for _, e := range p.entries {
		s.PerChannel[e.p.Channel]++
		if s.Oldest == 0 || e.from < s.Oldest {
			s.Oldest = e.from
		}
		if e.unit != nil && !e.unit.flying && e.unit.due <= now {
			s.Due++
		}
	}
	return s
}
