package event

import (
	"fmt"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/wire"
)

// Decode reads one event as AppendJSON writes it into *e, whose Stream and Seq
// stay. Unknown keys are skipped and unknown kinds kept, so that an older
// build survives a newer one. An error wraps a *wire.SyntaxError that says
// where; *e is then unusable.
func Decode(data []byte, e *Event) error {
	*e = Event{Stream: e.Stream, Seq: e.Seq}
	s := wire.Scan(data)
	for s.Begin('{'); s.More('}'); {
		if key := s.Key(); !decodeEnvelope(&s, key, e) {
			decodeBody(&s, key, e)
		}
	}
	if err := s.End(); err != nil {
		return fmt.Errorf("decode event: %w", err)
	}
	return nil
}

func decodeEnvelope(s *wire.Scanner, key []byte, e *Event) bool {
	switch string(key) {
	case "v":
		e.Version = int(s.Int(32))
	case "id":
		e.ID = s.String()
	case "k":
		e.Kind = kindOf(s.Text())
	case "o":
		e.Object = object.ID(s.String())
	case "e":
		e.Epoch = s.Uint(64)
	case "w":
		e.Writer = s.String()
	case "i":
		e.Instance = s.String()
	case "p":
		e.Prev = s.Uint(64)
	case "t":
		e.Time = object.Time(s.Int(64))
	default:
		return false
	}
	return true
}

func decodeBody(s *wire.Scanner, key []byte, e *Event) {
	switch string(key) {
	case "m":
		e.Measure = new(Measure)
		ReadMeasure(s, e.Measure)
	case "s":
		e.Status = new(Status)
		ReadStatus(s, e.Status)
	case "tr":
		e.Transition = s.Bool()
	case "was":
		e.Was = new(Was)
		readWas(s, e.Was)
	case "also":
		e.Also = nil
		for s.Begin('['); s.More(']'); {
			e.Also = append(e.Also, kindOf(s.Text()))
		}
	case "n":
		e.Notes = readNotes(s)
	case "by":
		e.Author = s.String()
	case "x":
		e.Text = s.String()
	case "f":
		e.Facts = readFacts(s)
	case "pr":
		e.Program = new(Program)
		ReadProgram(s, e.Program)
	default:
		s.Skip()
	}
}

// kindOf returns the kind without allocating for those that are frequent.
func kindOf(text []byte) Kind {
	switch string(text) {
	case string(CheckResult):
		return CheckResult
	case string(FlappingStarted):
		return FlappingStarted
	case string(FlappingStopped):
		return FlappingStopped
	case string(AckCleared):
		return AckCleared
	case string(NotificationIntended):
		return NotificationIntended
	case string(NotificationSuppressed):
		return NotificationSuppressed
	}
	return Kind(text)
}

func readFacts(s *wire.Scanner) map[string]string {
	var facts map[string]string
	for s.Begin('{'); s.More('}'); {
		key := string(s.Key())
		if facts == nil {
			facts = map[string]string{}
		}
		facts[key] = s.String()
	}
	return facts
}

func readWas(s *wire.Scanner, w *Was) {
	for s.Begin('{'); s.More('}'); {
		switch string(s.Key()) {
		case "s":
			w.State = object.State(s.Uint(8))
		case "t":
			w.Type = object.StateType(s.Uint(8))
		case "a":
			w.Attempt = int32(s.Int(32))
		case "c":
			w.Checked = s.Bool()
		default:
			s.Skip()
		}
	}
}

// ReadMeasure reads a measure as AppendMeasure writes it; package fold uses it
// for snapshots. Errors stay in the scanner.
func ReadMeasure(s *wire.Scanner, m *Measure) {
	for s.Begin('{'); s.More('}'); {
		switch string(s.Key()) {
		case "e":
			m.Epoch = s.Uint(64)
		case "n":
			m.N = s.Uint(64)
		case "s":
			m.State = object.State(s.Uint(8))
		case "pa":
			m.Passive = s.Bool()
		case "lc":
			m.LastCheck = object.Time(s.Int(64))
		case "nc":
			m.NextCheck = object.Time(s.Int(64))
		case "r":
			m.Ring = s.Uint(64)
		case "rt":
			m.RingTime = object.Time(s.Int(64))
		case "la":
			m.Latency = s.Int(64)
		case "ex":
			m.Took = s.Int(64)
		case "o":
			m.Output = s.String()
		case "l":
			m.Long = s.String()
		case "pd":
			m.Perfdata = s.String()
		case "ls":
			readLastIn(s, m)
		default:
			s.Skip()
		}
	}
}

func readLastIn(s *wire.Scanner, m *Measure) {
	m.LastIn = [4]object.Time{}
	i := 0
	for s.Begin('['); s.More(']'); i++ {
		if t := s.Int(64); i < len(m.LastIn) {
			m.LastIn[i] = object.Time(t)
		}
	}
}
