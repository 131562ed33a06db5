package event

import (
	"slices"
	"strconv"

	"jaque.sh/jaque/appliance/core/wire"
)

// AppendJSON appends the event as compact JSON and returns the longer slice.
// Stream and Seq are not encoded, zero values are left out, and equal events
// give equal bytes.
func AppendJSON(dst []byte, e *Event) []byte {
	dst = wire.Open(dst)
	dst = wire.Int(dst, "v", e.Version)
	dst = wire.Text(dst, "id", e.ID)
	dst = wire.Text(dst, "k", e.Kind)
	if len(e.Also) > 0 {
		dst = append(wire.Key(dst, "also"), '[')
		for i, k := range e.Also {
			dst = wire.String(comma(dst, i), string(k))
		}
		dst = append(dst, ']')
	}
	dst = wire.Text(dst, "o", e.Object)
	dst = wire.Uint(dst, "e", e.Epoch)
	dst = wire.Text(dst, "w", e.Writer)
	dst = wire.Text(dst, "i", e.Instance)
	dst = wire.Uint(dst, "p", e.Prev)
	dst = wire.Int(dst, "t", e.Time)
	dst = wire.Bool(dst, "tr", e.Transition)
	if e.Was != nil {
		dst = appendWas(wire.Key(dst, "was"), e.Was)
	}
	if e.Status != nil {
		dst = AppendStatus(wire.Key(dst, "s"), e.Status)
	}
	if e.Measure != nil {
		dst = AppendMeasure(wire.Key(dst, "m"), e.Measure)
	}
	if e.Program != nil {
		dst = AppendProgram(wire.Key(dst, "pr"), e.Program)
	}
	dst = appendNotes(dst, e.Notes)
	dst = wire.Text(dst, "by", e.Author)
	dst = wire.Text(dst, "x", e.Text)
	dst = appendFacts(dst, e.Facts)
	return wire.Close(dst)
}

func comma(dst []byte, i int) []byte {
	if i > 0 {
		return append(dst, ',')
	}
	return dst
}

func appendFacts(dst []byte, facts map[string]string) []byte {
	if len(facts) == 0 {
		return dst
	}
	keys := make([]string, 0, len(facts))
	for k := range facts {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	dst = wire.Open(wire.Key(dst, "f"))
	for i, k := range keys {
		dst = append(wire.String(comma(dst, i), k), ':')
		dst = wire.String(dst, facts[k])
	}
	return wire.Close(dst)
}

func appendWas(dst []byte, w *Was) []byte {
	dst = wire.Open(dst)
	dst = wire.Uint(dst, "s", w.State)
	dst = wire.Uint(dst, "t", w.Type)
	dst = wire.Int(dst, "a", w.Attempt)
	dst = wire.Bool(dst, "c", w.Checked)
	return wire.Close(dst)
}

// AppendStatus appends a status as compact JSON; package fold uses it for
// snapshots.
func AppendStatus(dst []byte, s *Status) []byte {
	dst = wire.Open(dst)
	dst = wire.Uint(dst, "s", s.State)
	dst = wire.Uint(dst, "t", s.Type)
	dst = wire.Bool(dst, "c", s.Checked)
	dst = wire.Bool(dst, "fl", s.Flapping)
	dst = wire.Int(dst, "a", s.Attempt)
	dst = wire.Int(dst, "ma", s.MaxAttempts)
	dst = wire.Uint(dst, "lh", s.LastHard)
	dst = wire.Int(dst, "lc", s.LastChange)
	dst = wire.Int(dst, "lhc", s.LastHardChange)
	dst = wire.Int(dst, "pb", s.Problem)
	dst = wire.Text(dst, "rt", s.Root)
	dst = wire.Uint(dst, "ak", s.Ack)
	dst = wire.Int(dst, "ax", s.AckExpires)
	dst = wire.Int(dst, "dd", s.DowntimeDepth)
	dst = wire.Int(dst, "nn", s.NotificationNumber)
	dst = wire.Uint(dst, "nd", s.Notified)
	dst = wire.Int(dst, "ln", s.LastNotification)
	dst = wire.Int(dst, "nx", s.NextNotification)
	dst = wire.Int(dst, "hd", s.Hard)
	dst = wire.Text(dst, "to", s.Told)
	dst = wire.Uint(dst, "off", s.Off)
	dst = wire.Uint(dst, "on", s.On)
	if s.Extra != nil {
		dst = appendExtra(wire.Key(dst, "x"), s.Extra)
	}
	return wire.Close(dst)
}

func appendExtra(dst []byte, x *Extra) []byte {
	dst = wire.Open(dst)
	dst = wire.Text(dst, "aa", x.AckAuthor)
	dst = wire.Text(dst, "at", x.AckText)
	dst = wire.Int(dst, "aw", x.AckTime)
	dst = wire.Int(dst, "ca", x.CheckAt)
	dst = wire.Bool(dst, "cf", x.CheckForced)
	dst = wire.Uint(dst, "md", x.Modified)
	if len(x.Comments) > 0 {
		dst = append(wire.Key(dst, "c"), '[')
		for i := range x.Comments {
			dst = appendComment(comma(dst, i), &x.Comments[i])
		}
		dst = append(dst, ']')
	}
	if len(x.Downtimes) > 0 {
		dst = append(wire.Key(dst, "d"), '[')
		for i := range x.Downtimes {
			dst = appendDowntime(comma(dst, i), &x.Downtimes[i])
		}
		dst = append(dst, ']')
	}
	dst = appendSettings(dst, x.Settings)
	return wire.Close(dst)
}

func appendComment(dst []byte, c *Comment) []byte {
	dst = wire.Open(dst)
	dst = wire.Text(dst, "id", c.ID)
	dst = wire.Uint(dst, "n", c.Number)
	dst = wire.Text(dst, "k", c.Kind)
	dst = wire.Text(dst, "by", c.Author)
	dst = wire.Text(dst, "x", c.Text)
	dst = wire.Int(dst, "t", c.Time)
	dst = wire.Int(dst, "ex", c.Expires)
	dst = wire.Bool(dst, "p", c.Persistent)
	return wire.Close(dst)
}

func appendDowntime(dst []byte, d *Downtime) []byte {
	dst = wire.Open(dst)
	dst = wire.Text(dst, "id", d.ID)
	dst = wire.Uint(dst, "n", d.Number)
	dst = wire.Uint(dst, "cn", d.Comment)
	dst = wire.Text(dst, "by", d.Author)
	dst = wire.Text(dst, "x", d.Text)
	dst = wire.Int(dst, "t", d.Entry)
	dst = wire.Int(dst, "s", d.Start)
	dst = wire.Int(dst, "e", d.End)
	dst = wire.Int(dst, "d", d.Duration)
	dst = wire.Text(dst, "tr", d.Trigger)
	dst = wire.Text(dst, "ru", d.Rule)
	dst = wire.Int(dst, "st", d.Started)
	return wire.Close(dst)
}

// AppendMeasure appends a measure as compact JSON; package fold uses it for
// snapshots.
func AppendMeasure(dst []byte, m *Measure) []byte {
	dst = wire.Open(dst)
	dst = wire.Uint(dst, "e", m.Epoch)
	dst = wire.Uint(dst, "n", m.N)
	dst = wire.Uint(dst, "s", m.State)
	dst = wire.Bool(dst, "pa", m.Passive)
	dst = wire.Int(dst, "lc", m.LastCheck)
	dst = wire.Int(dst, "nc", m.NextCheck)
	dst = wire.Uint(dst, "r", m.Ring)
	dst = wire.Int(dst, "rt", m.RingTime)
	dst = wire.Int(dst, "la", m.Latency)
	dst = wire.Int(dst, "ex", m.Took)
	dst = wire.Text(dst, "o", m.Output)
	dst = wire.Text(dst, "l", m.Long)
	dst = wire.Text(dst, "pd", m.Perfdata)
	dst = appendLastIn(dst, m)
	return wire.Close(dst)
}

// appendLastIn leaves out the states at the end that never were.
func appendLastIn(dst []byte, m *Measure) []byte {
	n := len(m.LastIn)
	for n > 0 && m.LastIn[n-1] == 0 {
		n--
	}
	if n == 0 {
		return dst
	}
	dst = append(wire.Key(dst, "ls"), '[')
	for i, t := range m.LastIn[:n] {
		dst = strconv.AppendInt(comma(dst, i), int64(t), 10)
	}
	return append(dst, ']')
}
