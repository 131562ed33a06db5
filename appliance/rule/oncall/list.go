package oncall

import "jaque.sh/jaque/appliance/core/object"

// Most is how many shifts of one layer, or of a whole schedule, one question
// returns. Longer lists end there, before the time that was asked for.
const Most = 10_000

// Shift is a stretch of time with the same answer.
type Shift struct {
	Contact  string // "" = nobody
	Source   Source // of a layer without anybody its Kind is Nothing and its Name the layer's
	From, To object.Time
}

// Shifts returns the shifts of every layer between two instants, layer by layer
// as the config lists them and each by time, whether or not another layer or an
// override covers them. Those of one layer follow each other without a gap: time
// in which it has nobody is a shift too. The first and the last are cut to what
// was asked for. A layer has Most shifts at most.
func (s *Schedule) Shifts(from, to object.Time) []Shift {
	var shifts []Shift
	for i := range s.layers {
		l := &s.layers[i]
		for _, shift := range walk(from, to, l.at) {
			shift.Source.Name = l.source.Name
			shifts = append(shifts, shift)
		}
	}
	return shifts
}

// Final returns who is on call between two instants, layers and overrides put
// together, without a gap or an overlap. There are Most shifts at most.
func (s *Schedule) Final(from, to object.Time) []Shift { return walk(from, to, s.OnCall) }

// Gaps returns the stretches between two instants in which nobody is on call. The
// Source tells whether an override says so on purpose. It looks at Most shifts.
func (s *Schedule) Gaps(from, to object.Time) []Shift {
	var gaps []Shift
	for _, shift := range s.Final(from, to) {
		if shift.Contact == "" {
			gaps = append(gaps, shift)
		}
	}
	return gaps
}

// walk goes from turn to turn.
func walk(from, to object.Time, at func(object.Time) Turn) []Shift {
	var shifts []Shift
	for from < to && len(shifts) < Most {
		turn := at(from)
		end := earlier(turn.Until, to)
		shifts = append(shifts, Shift{turn.Contact, turn.Source, from, end})
		from = end
	}
	return shifts
}
