package wire

import (
	"strconv"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
)

// handled are the columns about what operators did. Most objects have nothing of
// it, so nothing of it may cost much.
var handled = []Column{
	{"acknowledgement", "acknowledgement", "who took care of the problem and how, null = nobody", func(b []byte, i *projection.Item, _ *Context) []byte {
		return appendAck(b, &i.State.Status)
	}},
	{"in_downtime", "boolean", "a downtime of the object or of its host runs", func(b []byte, i *projection.Item, c *Context) []byte {
		return strconv.AppendBool(b, i.State.Status.DowntimeDepth > 0 || c.hostDown(i.Object))
	}},
	{"downtimes", "integer", "downtimes that are scheduled or run", func(b []byte, i *projection.Item, _ *Context) []byte {
		return appendCount(b, i.State.Status.Extra, func(x *event.Extra) int { return len(x.Downtimes) })
	}},
	{"comments", "integer", "comments of operators", func(b []byte, i *projection.Item, _ *Context) []byte {
		return appendCount(b, i.State.Status.Extra, func(x *event.Extra) int { return len(x.Comments) })
	}},
	{"root", "string", "host that is down and explains the problem, empty = none", func(b []byte, i *projection.Item, _ *Context) []byte {
		return AppendString(b, string(i.State.Status.Root))
	}},
	{"settings", "settings", "what operators set against the configuration", func(b []byte, i *projection.Item, _ *Context) []byte {
		return appendSettings(b, i.State.Status.Extra)
	}},
	{"check_period", "string", "period of the scheduled checks, empty = always", func(b []byte, i *projection.Item, c *Context) []byte {
		return AppendString(b, c.checkPeriod(i))
	}},
	{"freshness", "number", "seconds after which a missing result is a problem, 0 = never", func(b []byte, i *projection.Item, c *Context) []byte {
		return AppendMicros(b, c.freshness(i))
	}},
	{"stale", "boolean", "the newest result only says that none arrived in time, or may be old because no engine writes", func(b []byte, i *projection.Item, c *Context) []byte {
		return strconv.AppendBool(b, Stale(i) || c.Old && i.State.Status.Checked)
	}},
}

// Stale tells whether the newest result of an object without a check of its own
// is jaque's, because nobody submitted one in time.
func Stale(i *projection.Item) bool {
	kind := i.Object.Rule.Check.Kind
	return (kind == object.CheckPassive || kind == object.CheckNone) && i.State.Status.Checked && !i.State.Measure.Passive
}

func appendCount(b []byte, x *event.Extra, count func(*event.Extra) int) []byte {
	if x == nil {
		return append(b, '0')
	}
	return strconv.AppendInt(b, int64(count(x)), 10)
}

func appendAck(b []byte, s *event.Status) []byte {
	if s.Ack == object.AckNone {
		return append(b, "null"...)
	}
	var x event.Extra
	if s.Extra != nil {
		x = *s.Extra
	}
	b = append(append(append(b, `{"kind":"`...), AckName(s.Ack)...), `","author":`...)
	b = append(AppendString(b, x.AckAuthor), `,"comment":`...)
	b = append(AppendString(b, x.AckText), `,"time":`...)
	b = append(AppendTime(b, x.AckTime), `,"expires":`...)
	return append(AppendTime(b, s.AckExpires), '}')
}

// AckName returns the kind of an acknowledgement as the API says it.
func AckName(k object.AckKind) string {
	if k == object.AckSticky {
		return "sticky"
	}
	return "normal"
}

func appendSettings(b []byte, x *event.Extra) []byte {
	b = append(b, '[')
	if x != nil {
		for i := range x.Settings {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendSetting(b, &x.Settings[i])
		}
	}
	return append(b, ']')
}

func appendSetting(b []byte, s *event.Setting) []byte {
	b = append(AppendString(append(b, `{"name":`...), s.Name), `,"value":`...)
	b = append(AppendString(b, s.Value), `,"author":`...)
	b = append(AppendString(b, s.Author), `,"time":`...)
	return append(AppendTime(b, s.Time), '}')
}

// hostDown tells whether a service's host is in a downtime. Items of a list
// come host by host, so the last answer is kept.
func (c *Context) hostDown(o *object.Object) bool {
	if o.Host == nil || c.State == nil {
		return false
	}
	if c.host != o.Host {
		s := c.State(o.Host.ID)
		c.host, c.down = o.Host, s != nil && s.Status.DowntimeDepth > 0
	}
	return c.down
}

func (c *Context) checkPeriod(i *projection.Item) string {
	if chosen, ok := i.State.Status.Setting(event.SettingCheckPeriod); ok && (c.Set == nil || c.Set.Periods[chosen] != nil) {
		return chosen
	}
	if p := i.Object.Rule.CheckPeriod; p != nil {
		return p.Name()
	}
	return ""
}

// freshness returns microseconds.
func (c *Context) freshness(i *projection.Item) int64 {
	if c.Set == nil {
		return i.Object.Rule.Freshness.Microseconds()
	}
	if c.env == nil {
		c.env = &fold.Env{Settings: &c.Set.Settings, Periods: c.Set.Periods}
	}
	if !c.Set.Settings.Freshness(i.Object.Kind()) {
		return 0
	}
	c.env.Object = i.Object
	return fold.Threshold(c.env, i.State).Microseconds()
}
