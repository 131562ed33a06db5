package view

import (
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Strip says how the delivery of notifications goes.
type Strip struct {
	Tone     string
	Headline string
	Detail   string
	Given    Link // what was given up lately, "" = nothing
	Broken   string
	Channels []Channel
}

// Channel is how one kind of channel does.
type Channel struct {
	Name    string
	Badge   Badge
	Sent    When
	Failing When   // zero = it works
	GaveUp  When   // zero = messages arrive since
	Reason  string // of the last failure
	Open    string // how many requests wait for it, "" = none
}

// Delivery is what is known of the delivery.
type Delivery struct {
	Known    bool // whether requests are open is known
	Open     int
	Due      int
	InFlight int
	Oldest   object.Time
	Channels []ChannelState
	// Abandoned is how many notifications were given up in the last day, since when
	// the first of them.
	Abandoned      int
	AbandonedSince object.Time
	Broken         bool // the log, which would say more, cannot be read
}

// ChannelState is how one kind of channel does.
type ChannelState struct {
	Name    string
	Sent    object.Time // last success
	Failing object.Time // since when nothing but failures; 0 = it works
	GaveUp  object.Time // when a message was given up and none was delivered since; 0 = none was
	Reason  string
	Open    int
}

// late is how long a request may be open before the strip is in trouble.
const late = 5 * time.Minute

// NewStrip fills the strip.
func NewStrip(d Delivery, now time.Time) Strip {
	s := Strip{Tone: "ok", Headline: "Nothing waits to be delivered"}
	failing := 0
	for _, c := range d.Channels {
		s.Channels = append(s.Channels, newChannel(c, now))
		if c.Failing != 0 {
			failing++
		}
	}
	switch {
	case !d.Known:
		s.Tone, s.Headline = "pending", "Whether anything waits is not known here"
	case d.Open > 0:
		s.Headline = Count(d.Open, "message waits", "messages wait") + " to be delivered"
		age := now.Sub(d.Oldest.Std())
		if d.Oldest != 0 {
			s.Detail = "the oldest for " + Span(age)
		}
		if s.Tone = "pending"; d.Oldest != 0 && age > late {
			s.Tone = "warn"
		}
		if d.InFlight > 0 {
			s.Detail = joined(s.Detail, Number(d.InFlight)+" being sent now")
		}
	}
	if failing > 0 {
		if s.Tone = "crit"; d.Open == 0 {
			s.Headline, s.Detail = Count(failing, "channel fails", "channels fail"), unopened(d.Known)
		} else {
			s.Detail = joined(s.Detail, Count(failing, "channel fails", "channels fail"))
		}
	}
	if d.Abandoned > 0 {
		s.Tone = "crit"
		s.Given = Link{
			Label: Count(d.Abandoned, "notification was", "notifications were") + " given up since " + clock(d.AbandonedSince, now), URL: abandonedURL,
		}
		if failing == 0 && d.Open == 0 {
			s.Headline, s.Detail = "Not everybody was reached", unopened(d.Known)
		}
	}
	if d.Broken {
		s.Broken = "The event log cannot be read now: what was delivered and what was given up is not known."
	}
	return s
}

// unopened says that no request is open, behind worse news.
func unopened(known bool) string {
	if !known {
		return "whether anything waits is not known here"
	}
	return "nothing waits to be delivered"
}

func joined(a, b string) string { return strings.TrimPrefix(a+", "+b, ", ") }

func newChannel(c ChannelState, now time.Time) Channel {
	v := Channel{Name: c.Name, Badge: Badge{Name: "WORKS", Tone: "ok"}, Sent: NewWhen(c.Sent, now), Reason: c.Reason}
	switch {
	case c.Failing != 0:
		v.Badge, v.Failing = Badge{Name: "FAILS", Tone: "crit"}, NewWhen(c.Failing, now)
	case c.GaveUp > c.Sent:
		v.Badge, v.GaveUp = Badge{Name: "GAVE UP", Tone: "crit"}, NewWhen(c.GaveUp, now)
	case c.Sent == 0:
		v.Badge, v.Reason = Badge{Name: "UNUSED", Tone: "pending"}, ""
	default:
		v.Reason = ""
	}
	if c.Open > 0 {
		v.Open = Number(c.Open) + " waiting"
	}
	return v
}

// NewChannels tells from outcomes, newest first, how kinds of channels do; sorted by
// name.
func NewChannels(outcomes []event.Event) []ChannelState {
	byName := map[string]*ChannelState{}
	for i := range outcomes {
		e := &outcomes[i]
		name, _, _ := strings.Cut(e.Facts[event.FactChannel], ":")
		if name == "" {
			continue
		}
		c := byName[name]
		if c == nil {
			c = &ChannelState{Name: name}
			byName[name] = c
		}
		switch {
		case e.Kind == event.NotificationDelivered:
			c.Sent = max(c.Sent, e.Time)
		case e.Kind == event.NotificationAbandoned && e.Facts[event.FactAttempts] == "1":
			// Refused for good at once may be the recipient's matter alone: it does
			// not count as a failure, but nobody got that message.
			if c.Sent == 0 && c.GaveUp == 0 {
				c.GaveUp, c.Reason = e.Time, first(c.Reason, e.Facts[event.FactReason])
			}
		case c.Sent == 0: // no success since
			if e.Kind == event.NotificationAbandoned {
				c.GaveUp = max(c.GaveUp, e.Time)
			}
			c.Failing, c.Reason = e.Time, first(c.Reason, e.Facts[event.FactReason])
		}
	}
	out := make([]ChannelState, 0, len(byName))
	for _, c := range byName {
		out = append(out, *c)
	}
	slices.SortFunc(out, func(a, b ChannelState) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// GaveUpToo takes over from the log which channels gave messages up, and those that
// the process does not know of because nothing went over them since it began.
func GaveUpToo(own, log []ChannelState) []ChannelState {
	for _, c := range log {
		i := slices.IndexFunc(own, func(o ChannelState) bool { return o.Name == c.Name })
		switch {
		case i < 0:
			own = append(own, c)
		case c.GaveUp > own[i].Sent:
			own[i].GaveUp, own[i].Reason = c.GaveUp, first(own[i].Reason, c.Reason)
		}
	}
	return own
}

// Canary is how the dead man's switch stands.
type Canary struct {
	Show   bool
	Badge  Badge
	Last   When
	Every  string
	Hop    string
	Reason string
}

// Banner says on every page that the canary has stopped, and where.
func (c Canary) Banner() []Banner {
	if !c.Show || c.Badge.Tone != "crit" {
		return nil
	}
	text := "The canary has stopped: it is not proven that anybody would be told of a problem."
	if c.Hop != "" {
		text = "The canary has stopped at " + c.Hop + ": " + c.Reason + "."
	}
	return []Banner{{Text: text, Link: Link{Label: "See the canary", URL: "/status"}}}
}

// NewCanary says how a canary stands that goes round every so often; a round is
// late when two should have been completed.
func NewCanary(every time.Duration, last, started time.Time, hop, reason string, now time.Time) Canary {
	c := Canary{Show: true, Badge: Badge{Name: "ALIVE", Tone: "ok"}, Every: Span(every), Last: NewWhen(0, now), Hop: hop, Reason: reason}
	if !last.IsZero() {
		c.Last = NewWhen(object.At(last), now)
		started = last
	}
	switch overdue := now.Sub(started) > 2*every; {
	case overdue || hop != "" && now.Sub(started) > every:
		c.Badge = Badge{Name: "LATE", Tone: "crit"}
	case last.IsZero():
		c.Badge = Badge{Name: "WAITING", Tone: "pending"}
	}
	return c
}
