package explain

import (
	"fmt"
	"slices"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// How far ahead is looked: so many notifications, and so long. Of so many that go on
// to the end of that time it is said that they go on.
const (
	aheadMost = 2000
	aheadLong = 7 * 24 * time.Hour
	aheadMany = 100
)

// ahead foretells the notifications of a problem to come, as long as nothing happens
// to it. Those that only check results tell are told as soon as they may be.
func (a *asking) ahead() {
	if a.o.Notify == nil || a.in.Kind != notify.Problem || a.o.Notify.Heartbeat {
		return
	}
	l := a.lapse(a.at, a.supposed())
	own := *a.o
	own.Notify = timed(own.Notify)
	l.env.Object = &own
	all, n := &a.answer.Ahead, 0
	end := l.run(a.at.Add(aheadLong), func() bool {
		for i := range l.notes {
			if note := &l.notes[i]; note.Send && note.Kind == string(notify.Problem) {
				*all = further(*all, note, l.now)
				n++
			}
		}
		return n < aheadMost
	})
	switch {
	case len(*all) == 0:
	case !end:
		a.answer.Caveats = append(a.answer.Caveats, fmt.Sprintf("what is to come is looked at until %s only: what follows may be different", stamp(l.now)))
	case n >= aheadMany:
		(*all)[len(*all)-1].More = true
	}
}

// timed returns policies that tell people as soon as their time has come.
func timed(n *object.Notification) *object.Notification {
	if n == nil {
		return nil
	}
	own := *n
	own.Timed, own.Else = true, timed(n.Else)
	return &own
}

// further adds a notification to the last entry, if it tells the same people by
// the same steps, else a new entry.
func further(all []Ahead, note *event.Note, at object.Time) []Ahead {
	var told []string
	for _, p := range note.People {
		if p.Told {
			told = append(told, p.Name)
		}
	}
	if n := len(all); n > 0 {
		if last := &all[n-1]; slices.Equal(last.Told, told) && slices.Equal(last.Steps, note.Steps) {
			last.Last, last.Times = at, last.Times+1
			return all
		}
	}
	return append(all, Ahead{At: at, Last: at, Number: note.Number, Times: 1, Steps: note.Steps, Told: told})
}
