package oncall

import (
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// layer is a rotation.
type layer struct {
	source   Source
	zone     *time.Location
	contacts []string
	clock    int64 // second of the day at which hand-overs are
	first    int64 // number of the day of the start
	// cycle is after how many days hand-overs repeat, and days those within a cycle
	// that have one: 0 is the day of the start, ascending, at least one.
	cycle int64
	days  []int64
	only  object.Period

	start  int64       // in seconds
	filled object.Time // when somebody is on call for the first time
}

// at returns whose turn it is. Of a layer without anybody the contact is "" and
// the turn ends when it has somebody again.
func (l *layer) at(at object.Time) Turn {
	second := seconds(at)
	if second < l.start {
		return Turn{Until: l.filled}
	}
	n, next := l.turn(second)
	turn := Turn{l.contacts[n%int64(len(l.contacts))], l.source, milliseconds(next)}
	if l.only == nil {
		return turn
	}
	inside, until := l.only.Window(at)
	if !inside {
		return Turn{Until: until}
	}
	turn.Until = earlier(turn.Until, until)
	return turn
}

// turn returns the number of the turn at a second that is not before the start,
// and when the next one begins. The first turn is 0.
func (l *layer) turn(second int64) (n, next int64) {
	shown := second + offset(l.zone, second)
	day := floor(shown, daySeconds)
	if shown-day*daySeconds < l.clock {
		day--
	}
	n = l.handovers(max(day-l.first, 0))
	// In the second pass of an hour the clock shows a time from before a hand-over
	// that has taken place. Where a day is skipped there may be several at once.
	for {
		next = reach(l.zone, (l.first+l.day(n+1))*daySeconds+l.clock)
		if next > second {
			return n, next
		}
		n++
	}
}

// handovers returns how many there are after the start until a day, that one
// included; days are counted from the start.
func (l *layer) handovers(day int64) int64 {
	cycles := day / l.cycle
	n := cycles * int64(len(l.days))
	for _, d := range l.days {
		if d <= day-cycles*l.cycle {
			n++
		}
	}
	return n - l.atStart()
}

// day returns the day of the n-th hand-over after the start, n from 1; the inverse
// of handovers.
func (l *layer) day(n int64) int64 {
	n += l.atStart() - 1
	k := int64(len(l.days))
	return n/k*l.cycle + l.days[n%k]
}

// atStart returns 1 if the start is one of the hand-overs, else 0.
func (l *layer) atStart() int64 {
	if l.days[0] == 0 {
		return 1
	}
	return 0
}
