package message

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// words says what an entry is about, and how bad that is.
func (e *Entry) words(m *Message) {
	e.Tone, e.rank = "calm", 2
	switch e.Kind {
	case problem:
		e.Says = e.Title + " is " + e.State
		e.Tone = stateTone(e.State)
		e.rank = 2 + toneRank(e.Tone)
	case recovery:
		e.Says = e.recovered()
		e.Tone, e.rank = stateTone(e.State), 0
	case acknowledgement:
		e.Says = who(e.Author) + " acknowledged that " + e.Title + " is " + e.State
	case flapStart:
		e.Says = e.Title + " is flapping: its state changes all the time"
		e.Tone, e.rank = "warn", 3
	case flapStop:
		e.Says, e.rank = e.Title+" flaps no more, it is "+e.State, 1
	case flapDisabled:
		e.Says, e.rank = e.Title+" is no longer watched for flapping, it is "+e.State, 1
	case downStart:
		e.Says = "A downtime of " + e.Title + " has begun"
		if !e.Downtime.IsZero() {
			e.Says += ", until " + clockTime(e.Downtime, m.at(m.Now))
		}
	case downEnd:
		e.Says = "The downtime of " + e.Title + " is over, it is " + e.State
	case downCancelled:
		e.Says = "The downtime of " + e.Title + " was cancelled, it is " + e.State
	case custom:
		e.Says = who(e.Author) + " has a message about " + e.Title + ", which is " + e.State
		e.rank = 3
	case heartbeat:
		e.Says = "All is well: " + e.Title + " was checked, decided on and told"
		if stateTone(e.State) != "ok" {
			e.Says = e.Title + " was checked, decided on and told, it is " + e.State
		}
		e.Tone, e.rank = stateTone(e.State), 0
	default:
		e.Says = strings.TrimSpace(e.Kind + " " + e.Title + " is " + e.State)
	}
}

func (e *Entry) recovered() string {
	switch {
	case e.Brief && e.Was != "" && e.Lasted > 0:
		return e.Title + " was " + e.Was + " for " + span(e.Lasted) + " and is " + e.State + " again"
	case e.Brief && e.Was != "":
		return e.Title + " was " + e.Was + " and is " + e.State + " again"
	case e.Lasted > 0:
		return e.Title + " is " + e.State + " again after " + span(e.Lasted)
	}
	return e.Title + " is " + e.State + " again"
}

// who names somebody, or nobody in particular.
func who(author string) string {
	if author == "" {
		return "somebody"
	}
	return author
}

// stateTone maps a state to what colours it.
func stateTone(state string) string {
	switch state {
	case "OK", "UP":
		return "ok"
	case "WARNING":
		return "warn"
	case "CRITICAL", "DOWN":
		return "crit"
	case "UNKNOWN", "UNREACHABLE":
		return "unknown"
	}
	return "calm"
}

// toneRank sorts tones, the worst highest.
func toneRank(tone string) int {
	return slices.Index([]string{"calm", "ok", "warn", "unknown", "crit"}, tone)
}

// tag begins a subject. Problems shout their state, the rest stands in brackets so
// that nobody takes it for one.
func (e *Entry) tag() string {
	switch e.Kind {
	case problem:
		return e.State + ":"
	case recovery:
		return "[RECOVERED]"
	case acknowledgement:
		return "[ACKNOWLEDGED]"
	case flapStart:
		return "[FLAPPING]"
	case flapStop, flapDisabled:
		return "[FLAPPING OVER]"
	case downStart:
		return "[DOWNTIME]"
	case downEnd:
		return "[DOWNTIME OVER]"
	case downCancelled:
		return "[DOWNTIME CANCELLED]"
	case custom:
		return "[MESSAGE]"
	case heartbeat:
		return "[HEARTBEAT]"
	}
	return "[" + e.Kind + "]"
}

// about is what follows the tag in the subject of a message about one object.
func (e *Entry) about() string {
	switch e.Kind {
	case problem:
		return e.Title
	case recovery:
		return e.Says
	case acknowledgement:
		return e.Title + " is " + e.State + ", " + who(e.Author) + " knows"
	case downStart, custom:
		if e.Text != "" {
			return e.Title + ": " + e.Text
		}
	}
	return e.Title + " is " + e.State
}

// headline says what the message is about, for the subject and in one sentence.
func (d *Data) headline() (subject, sentence string) {
	first := &d.Items[0]
	others := d.Count - 1
	switch {
	case d.Count == 1:
		return first.tag() + " " + first.about(), first.Says
	case d.Root != "" && first.Object == d.Root:
		return first.tag() + " " + first.Title + ", " + d.Behind + " behind it", first.Says + ", " + d.Behind + " behind it"
	case d.Root != "" && first.Kind == problem:
		return "DOWN: " + d.Behind + " behind " + d.Root, d.Root + " is DOWN and explains " + plural(d.Count, "problem") + " behind it"
	}
	return first.tag() + " " + first.Title + " and " + strconv.Itoa(others) + " more", first.Says + ", and " + strconv.Itoa(others) + " more"
}

// behind counts services and hosts.
func behind(hosts, services int) string {
	switch {
	case hosts == 0 && services == 0:
		return ""
	case hosts == 0:
		return plural(services, "service")
	case services == 0:
		return plural(hosts, "host")
	}
	return plural(hosts, "host") + " and " + plural(services, "service")
}

// plural writes a number with a noun whose plural ends in s.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// span writes a length as people say it, with two units at most.
func span(d time.Duration) string {
	part := func(n time.Duration, one string) string {
		if n == 0 {
			return ""
		}
		if one == "day" {
			return " " + plural(int(n), one)
		}
		return " " + strconv.Itoa(int(n)) + " " + one
	}
	d = max(d, 0)
	const day = 24 * time.Hour
	var text string
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " s"
	case d < time.Hour:
		text = part(d/time.Minute, "min")
		if d < 10*time.Minute {
			text += part(d%time.Minute/time.Second, "s")
		}
	case d < day:
		text = part(d/time.Hour, "h") + part(d%time.Hour/time.Minute, "min")
	default:
		text = part(d/day, "day") + part(d%day/time.Hour, "h")
	}
	return strings.TrimSpace(text)
}

// clock writes an instant with its zone.
func clock(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Format("2006-01-02 15:04:05 MST")
}

// clockTime writes an instant without the day if that is today.
func clockTime(t, now time.Time) string {
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04 MST")
	}
	return t.Format("2006-01-02 15:04 MST")
}

// list joins names as people do.
func list(names []string, limit int) string {
	switch n := len(names); {
	case n == 0:
		return ""
	case n == 1:
		return names[0]
	case n > limit:
		return strings.Join(names[:limit], ", ") + " and " + strconv.Itoa(n-limit) + " more"
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}
