package period

import (
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// Period is a calendar. It never changes after it was made, so any goroutine may
// ask it.
type Period struct {
	name    string
	text    string // all of the definition
	zone    *time.Location
	lines   []line // those about certain days, in the order in which they count
	week    [7][]span
	exclude []*Period

	// constant tells that every day without a line of its own is the same: whole or
	// empty.
	constant bool
	reach    int // days after which a search finds nothing that it has not found before
	last     int // the last day with a line of its own, of those that have a last
}

var _ object.Period = (*Period)(nil)

// Name returns the name under which the config declares it.
func (p *Period) Name() string { return p.name }

// String returns the definition: name, zone, lines and what is excluded.
func (p *Period) String() string { return p.text }

// Zone returns the time zone whose clocks the lines are about.
func (p *Period) Zone() *time.Location { return p.zone }

// Without returns the period less the time in which one of others is inside.
// Others cannot hold the period itself, because it is a new one.
func (p *Period) Without(others ...*Period) *Period {
	if len(others) == 0 {
		return p
	}
	q := *p
	q.exclude = append(slices.Clone(p.exclude), others...)
	var b strings.Builder
	b.WriteString(p.text)
	for _, o := range others {
		b.WriteString("; exclude (" + o.text + ")")
	}
	q.text = b.String()
	return &q
}

// Contains tells whether an instant lies inside; it costs less than Window.
func (p *Period) Contains(at object.Time) bool {
	if !p.onClock(seconds(at)) {
		return false
	}
	for _, e := range p.exclude {
		if e.Contains(at) {
			return false
		}
	}
	return true
}

// Window tells whether the instant lies inside, and when that changes next; 0 =
// never again, as far as forty years show. Changes are whole seconds.
func (p *Period) Window(at object.Time) (inside bool, until object.Time) {
	in, change := p.window(seconds(at))
	return in, object.Time(change * 1000)
}

// seconds returns the second in which an instant lies.
func seconds(at object.Time) int64 { return floor(int64(at), 1000) }

// window is Window in seconds; 0 = never.
func (p *Period) window(at int64) (bool, int64) {
	if len(p.exclude) == 0 {
		return p.clockWindow(at)
	}
	inside, until := p.step(at)
	limit := p.searchEnd(at)
	// Every step ends where the period itself or one of the excluded changes; most
	// of these are no change of the whole.
	for until != 0 && until <= limit {
		in, next := p.step(until)
		if in != inside {
			return inside, until
		}
		until = next
	}
	return inside, 0
}

// step tells whether an instant is inside and until when that stays so at least;
// 0 = for ever.
func (p *Period) step(at int64) (bool, int64) {
	inside, until := p.clockWindow(at)
	if !inside {
		return false, until
	}
	for _, e := range p.exclude {
		in, change := e.window(at)
		if in {
			return false, earlier(until, change)
		}
		until = earlier(until, change)
	}
	return true, until
}

// earlier returns the earlier of two instants of which 0 is never.
func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// searchEnd is horizon for a period with exclusions.
func (p *Period) searchEnd(at int64) int64 {
	end := p.horizon(at)
	// Two zones change their clocks on different days, so a year shows more than a
	// week does.
	if len(p.exclude) > 0 {
		end = max(end, max(at, int64(p.last)*day)+400*day)
	}
	for _, e := range p.exclude {
		end = max(end, e.searchEnd(at))
	}
	return end
}
