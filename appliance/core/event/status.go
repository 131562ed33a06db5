package event

import (
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/wire"
)

// ReadStatus reads a status as AppendStatus writes it; package fold uses it for
// snapshots. Errors stay in the scanner.
func ReadStatus(s *wire.Scanner, st *Status) {
	for s.Begin('{'); s.More('}'); {
		if key := s.Key(); !readCondition(s, key, st) {
			readHandling(s, key, st)
		}
	}
}

// readCondition reads what results decide.
func readCondition(s *wire.Scanner, key []byte, st *Status) bool {
	switch string(key) {
	case "s":
		st.State = object.State(s.Uint(8))
	case "t":
		st.Type = object.StateType(s.Uint(8))
	case "c":
		st.Checked = s.Bool()
	case "fl":
		st.Flapping = s.Bool()
	case "a":
		st.Attempt = int32(s.Int(32))
	case "ma":
		st.MaxAttempts = int32(s.Int(32))
	case "lh":
		st.LastHard = object.State(s.Uint(8))
	case "lc":
		st.LastChange = object.Time(s.Int(64))
	case "lhc":
		st.LastHardChange = object.Time(s.Int(64))
	case "pb":
		st.Problem = object.Time(s.Int(64))
	case "rt":
		st.Root = object.ID(s.String())
	default:
		return false
	}
	return true
}

// readHandling reads what people and notifications decide.
func readHandling(s *wire.Scanner, key []byte, st *Status) {
	switch string(key) {
	case "ak":
		st.Ack = object.AckKind(s.Uint(8))
	case "ax":
		st.AckExpires = object.Time(s.Int(64))
	case "dd":
		st.DowntimeDepth = int32(s.Int(32))
	case "nn":
		st.NotificationNumber = int32(s.Int(32))
	case "nd":
		st.Notified = object.StateMask(s.Uint(8))
	case "ln":
		st.LastNotification = object.Time(s.Int(64))
	case "nx":
		st.NextNotification = object.Time(s.Int(64))
	case "hd":
		st.Hard = object.Time(s.Int(64))
	case "to":
		st.Told = s.String()
	case "off":
		st.Off = object.Switches(s.Uint(16))
	case "on":
		st.On = object.Switches(s.Uint(16))
	case "x":
		st.Extra = new(Extra)
		readExtra(s, st.Extra)
	default:
		s.Skip()
	}
}

func readExtra(s *wire.Scanner, x *Extra) {
	for s.Begin('{'); s.More('}'); {
		switch string(s.Key()) {
		case "aa":
			x.AckAuthor = s.String()
		case "at":
			x.AckText = s.String()
		case "aw":
			x.AckTime = object.Time(s.Int(64))
		case "ca":
			x.CheckAt = object.Time(s.Int(64))
		case "cf":
			x.CheckForced = s.Bool()
		case "md":
			x.Modified = uint32(s.Uint(32))
		case "st":
			x.Settings = readSettings(s)
		case "c":
			x.Comments = nil
			for s.Begin('['); s.More(']'); {
				x.Comments = append(x.Comments, readComment(s))
			}
		case "d":
			x.Downtimes = nil
			for s.Begin('['); s.More(']'); {
				x.Downtimes = append(x.Downtimes, readDowntime(s))
			}
		default:
			s.Skip()
		}
	}
}

func readComment(s *wire.Scanner) (c Comment) {
	for s.Begin('{'); s.More('}'); {
		switch string(s.Key()) {
		case "id":
			c.ID = s.String()
		case "n":
			c.Number = s.Uint(64)
		case "k":
			c.Kind = s.String()
		case "by":
			c.Author = s.String()
		case "x":
			c.Text = s.String()
		case "t":
			c.Time = object.Time(s.Int(64))
		case "ex":
			c.Expires = object.Time(s.Int(64))
		case "p":
			c.Persistent = s.Bool()
		default:
			s.Skip()
		}
	}
	return c
}

func readDowntime(s *wire.Scanner) (d Downtime) {
	for s.Begin('{'); s.More('}'); {
		switch string(s.Key()) {
		case "id":
			d.ID = s.String()
		case "n":
			d.Number = s.Uint(64)
		case "cn":
			d.Comment = s.Uint(64)
		case "by":
			d.Author = s.String()
		case "x":
			d.Text = s.String()
		case "t":
			d.Entry = object.Time(s.Int(64))
		case "s":
			d.Start = object.Time(s.Int(64))
		case "e":
			d.End = object.Time(s.Int(64))
		case "d":
			d.Duration = object.Time(s.Int(64))
		case "tr":
			d.Trigger = s.String()
		case "ru":
			d.Rule = s.String()
		case "st":
			d.Started = object.Time(s.Int(64))
		default:
			s.Skip()
		}
	}
	return d
}
