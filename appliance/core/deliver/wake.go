package deliver

import (
	"slices"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

const (
	// wakeStep keeps messages to one contact over one channel apart that are tried
	// again because others got through, wakeSpread those to different contacts.
	wakeStep   = time.Second
	wakeSpread = 3000 // ms
)

// wake has what failed over a kind of channel tried again soon, because something
// else got through: the server is there again. A message that fails all the same,
// because something is wrong with its contact, is left to its own times for a while.
func (p *Planner) wake(k *kind, now object.Time) {
	for key, l := range p.lanes {
		if l.kind != k || key.heartbeat {
			continue
		}
		var failed []*unit
		for _, u := range l.due.items {
			if u.retry && (u.woken == 0 || u.woken.Add(maxBackoff) <= now) {
				failed = append(failed, u)
			}
		}
		slices.SortFunc(failed, func(a, b *unit) int {
			if a.before(b) {
				return -1
			}
			return 1
		})
		at := max(now, l.pause) + object.Time(spread(key.contact+"/"+key.channel)%wakeSpread)
		for _, u := range failed {
			at = at.Add(wakeStep)
			if u.again > at {
				u.again, u.woken = at, now
				p.wait(u)
			}
		}
	}
}

// wait puts a message that failed where it belongs by its new time, and what waits
// behind it.
func (p *Planner) wait(failed *unit) {
	p.settle(failed)
	for _, e := range failed.members.items {
		if next := failed.lane.units[e.group]; next != nil && e.group != "" {
			p.settle(next)
		}
	}
}
