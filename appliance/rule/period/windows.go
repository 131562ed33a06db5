package period

import (
	"fmt"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// Window is one stretch of time inside a period.
type Window struct {
	Start object.Time // 0 = inside for more than a year before it was asked for
	End   object.Time // exclusive; 0 = it never ends
}

// lookBack is how far the start of a window is searched, in milliseconds.
const lookBack = 400 * day * 1000

// Windows returns the next n windows of a period that end after an instant; the
// first may be open already and then has its true start. There are fewer if the
// period ends.
func Windows(p object.Period, from object.Time, n int) []Window {
	var windows []Window
	at := from
	inside, until := p.Window(at)
	if inside && n > 0 {
		windows = append(windows, Window{start(p, from), until})
	}
	for len(windows) < n && until != 0 {
		at = until
		inside, until = p.Window(at)
		if inside {
			windows = append(windows, Window{at, until})
		}
	}
	return windows
}

// start returns when the window began that is open at an instant, 0 if that is
// more than a year ago. Periods tell only what comes, so it steps back further
// and further and then forward again.
func start(p object.Period, at object.Time) object.Time {
	for back := object.Time(day * 1000); back <= lookBack; back *= 2 {
		t := at - back
		inside, until := p.Window(t)
		if inside && (until == 0 || until > at) {
			continue
		}
		for !inside || until != 0 && until <= at {
			t = until
			inside, until = p.Window(t)
		}
		return t
	}
	return 0
}

// Odd says in words what a change of the clocks does to a window: that it is
// shorter or longer than its spans say, that it opens a second time, or that the
// one before it does not take place. It is "" on an ordinary day, and for a period
// with exclusions.
func (p *Period) Odd(w Window) string {
	if w.Start == 0 || w.End == 0 || len(p.exclude) > 0 {
		return ""
	}
	from, to := seconds(w.Start), seconds(w.End)
	night := p.night(from)
	length := time.Duration(to-from) * time.Second
	if back := p.secondPass(from); back > 0 {
		return fmt.Sprintf("the clocks go back %s this %s: the window opens a second time, for %s", hours(back), night, brief(length))
	}
	moved := time.Duration(p.offset(to)-p.offset(from-1)) * time.Second
	// What the clock shows is not what the spans say: a window may begin or end in
	// an hour that does not exist.
	first, _ := p.declared(from)
	_, last := p.declared(to - 1)
	said := time.Duration(last-first) * time.Second
	switch {
	case moved == 0 || said == length:
		return p.lost(from)
	case moved > 0:
		return fmt.Sprintf("this %s is %s shorter: the window lasts %s instead of %s", night, hours(moved), brief(length), brief(said))
	}
	return fmt.Sprintf("this %s is %s longer: the window lasts %s instead of %s", night, hours(-moved), brief(length), brief(said))
}

// lost says that a span lies wholly in an hour that the clocks skip, if that
// would have been the window before the one that starts at an instant.
func (p *Period) lost(start int64) string {
	change, _ := time.Unix(start, 0).In(p.zone).ZoneBounds()
	if change.IsZero() || change.Unix() == start {
		return ""
	}
	at := change.Unix()
	// Another window between the change and this one has said it.
	if inside, until := p.clockWindow(at); inside || until != start {
		return ""
	}
	number, first := split(at + p.offset(at-1))
	_, last := split(at + p.offset(at))
	for _, s := range p.spansOf(number) {
		if first <= s.from && s.to <= last {
			d := civil(number)
			return fmt.Sprintf("the window before, on %04d-%02d-%02d, does not take place: the clocks skip %s to %s",
				d.year, d.month, d.day, clockTime(first), clockTime(last))
		}
	}
	return ""
}

// clockTime writes a second of the day as hours and minutes.
func clockTime(second int32) string {
	return fmt.Sprintf("%02d:%02d", second/3600, second/60%60)
}

// offset returns the offset of the zone in seconds.
func (p *Period) offset(at int64) int64 {
	_, offset := time.Unix(at, 0).In(p.zone).Zone()
	return int64(offset)
}

// secondPass returns how far the clocks were put back if they show the time of
// an instant for the second time, else 0.
func (p *Period) secondPass(at int64) time.Duration {
	began, _ := time.Unix(at, 0).In(p.zone).ZoneBounds()
	if began.IsZero() {
		return 0
	}
	back := p.offset(began.Unix()-1) - p.offset(at)
	if at >= began.Unix()+back {
		return 0
	}
	return time.Duration(back) * time.Second
}

// declared returns the ends of the span that an instant is in, as the line says
// them, counted from 1970 by the clock of the zone.
func (p *Period) declared(at int64) (from, to int64) {
	shown := at + p.offset(at)
	number, second := split(shown)
	for _, s := range p.spansOf(number) {
		if s.from <= second && second < s.to {
			return int64(number)*day + int64(s.from), int64(number)*day + int64(s.to)
		}
	}
	return shown, shown
}

// night returns the word for the part of the day around an instant.
func (p *Period) night(at int64) string {
	_, second := split(at + p.offset(at))
	if second >= 6*3600 && second < 18*3600 {
		return "day"
	}
	return "night"
}

// hours writes how far clocks move.
func hours(d time.Duration) string {
	if d == time.Hour {
		return "one hour"
	}
	return brief(d)
}

// brief writes a length without parts that are zero: "1h30m", "2h".
func brief(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
