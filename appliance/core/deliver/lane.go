package deliver

import (
	"cmp"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// laneKey names a way to a person. Heartbeats have lanes of their own, which nothing
// holds up.
type laneKey struct {
	contact, channel string
	heartbeat        bool
}

// lane is everything that waits for one contact over one channel.
type lane struct {
	key   laneKey
	kind  *kind
	units map[string]*unit
	due   heap[*unit] // those of which no message is taken, and those that failed

	rate  Rate
	sent  []object.Time // the newest messages, oldest first: at most as many as rate allows
	pause object.Time   // until when the channel has asked to be left alone
	freed object.Time   // what was due before this had to wait for the limit

	next   object.Time  // when something can be taken
	flying int          // messages that are taken
	fails  bool         // the newest attempt failed
	heard  bool         // an attempt of this process came back
	in     *heap[*lane] // where it waits; nil = nowhere
	place  int
}

// kind is all lanes over one kind of channel.
type kind struct {
	name   string
	next   heap[*lane] // in which something waits that may be taken
	late   heap[*lane] // the same of lanes that fail, where those come last
	flying int         // messages that are taken
	doubt  int         // of them those that are on lanes that fail
	fails  bool        // the newest attempt that came back failed, and those since the last success
	yield  object.Time // when one of late last went before others
}

// patience is how long a lane that fails waits for others; then one of each kind of
// channel goes before them in as much time.
const patience = time.Minute

// first returns the lane from which the next message is taken, nil if there is none:
// the one that is due first, but those that fail after all others.
func (p *Planner) first(now object.Time) *lane {
	var well, late *lane
	for _, k := range p.kinds {
		if k.next.len() > 0 && p.room(k) {
			if l := k.next.first(); well == nil || l.before(well) {
				well = l
			}
		}
		if k.late.len() > 0 && p.spare(k, now) {
			if l := k.late.first(); late == nil || l.sooner(late, now) {
				late = l
			}
		}
	}
	switch {
	case well == nil:
		return late
	case late == nil:
		return well
	case late.next > now:
		if late.before(well) {
			return late
		}
		return well
	case well.next > now || !p.yielded && late.next.Add(patience) <= now && late.kind.yield.Add(patience) <= now:
		return late
	}
	return well
}

// room tells whether there is a place for a lane of the kind that does not fail.
func (p *Planner) room(k *kind) bool {
	well, l := k.flying-k.doubt, &p.limits
	if l.Failing > 0 && l.Queue > 1 && p.flying >= l.Queue-1 && well > 0 {
		return false
	}
	// Where a kind has a single place, what fails has another one.
	return l.PerKind <= 0 || k.flying < l.PerKind || l.PerKind == 1 && well == 0
}

// spare tells whether there is a place for a lane of the kind that fails: the last one
// only if it has waited for long.
func (p *Planner) spare(k *kind, now object.Time) bool {
	if q := p.limits.Queue; q > 1 && p.flying >= q-1 && k.late.first().next.Add(patience) > now {
		return false
	}
	return k.doubt == 0 && p.doubt < p.limits.Failing && (p.limits.PerKind <= 1 || k.flying < p.limits.PerKind)
}

// fly takes a message of the lane into account that is under way from now on.
func (p *Planner) fly(l *lane, now object.Time) (doubt bool) {
	l.flying++
	l.kind.flying++
	if l.in != &l.kind.late {
		p.yielded = false
		return false
	}
	l.kind.doubt++
	p.doubt++
	for _, k := range p.kinds {
		if k.next.len() > 0 && p.room(k) && k.next.first().next <= now {
			p.yielded, l.kind.yield = true, now
		}
	}
	return true
}

// heardOf notes what became of the newest attempt on a lane.
func (p *Planner) heardOf(l *lane, fails bool) {
	if l != nil {
		l.heard, l.fails = true, fails
		p.settleLane(l)
	}
}

// kind returns the kind of a channel.
func (p *Planner) kind(channel string) *kind {
	name := kindOf(channel)
	k := p.kinds[name]
	if k == nil {
		lanes := heap[*lane]{less: (*lane).before, place: func(l *lane) *int { return &l.place }}
		k = &kind{name: name, next: lanes, late: lanes}
		p.kinds[name] = k
	}
	return k
}

// sooner tells whether a lane that fails comes before another one: a heartbeat that is
// due has little time.
func (l *lane) sooner(o *lane, now object.Time) bool {
	hurry := func(l *lane) bool { return l.key.heartbeat && l.next <= now }
	if hurry(l) != hurry(o) {
		return hurry(l)
	}
	return l.before(o)
}

func (l *lane) before(o *lane) bool {
	return cmp.Or(cmp.Compare(l.next, o.next), cmp.Compare(l.due.first().due, o.due.first().due),
		l.due.first().members.first().p.compare(o.due.first().members.first().p),
		strings.Compare(l.key.contact, o.key.contact), strings.Compare(l.key.channel, o.key.channel)) < 0
}

// laneKey returns the key of a request's lane.
func (p *Planner) laneKey(r *Pending) laneKey { return laneKey{r.Contact, r.Channel, heartbeat(r)} }

// lane returns the lane of a request.
func (p *Planner) lane(r *Pending) *lane {
	k := p.laneKey(r)
	l := p.lanes[k]
	if l == nil {
		l = &lane{key: k, kind: p.kind(k.channel), units: map[string]*unit{}, place: -1}
		l.due = heap[*unit]{less: (*unit).before, place: func(u *unit) *int { return &u.inLane }}
		if !k.heartbeat {
			l.rate = p.limits.rate(k.channel)
		}
		p.lanes[k] = l
	}
	return l
}

// settleLane puts a lane where it belongs after it has changed.
func (p *Planner) settleLane(l *lane) {
	if l.in != nil {
		l.in.remove(l)
		l.in = nil
	}
	if l.due.len() == 0 || p.limits.PerWay > 0 && l.flying >= p.limits.PerWay {
		return
	}
	l.next = max(l.due.first().due, l.free())
	if l.in = &l.kind.next; l.fails && p.limits.Failing > 0 {
		l.in = &l.kind.late
	}
	l.in.push(l)
}

// free returns from when on the limit lets a message through.
func (l *lane) free() object.Time {
	if !l.rate.bounds() || len(l.sent) < l.rate.Messages {
		return l.pause
	}
	return max(l.pause, l.sent[0].Add(l.rate.Per))
}

// limit replaces the rate.
func (l *lane) limit(r Rate) {
	l.rate = r
	if !r.bounds() {
		l.sent = nil
	}
	l.sent = l.sent[max(0, len(l.sent)-max(0, r.Messages)):]
}

// rest keeps the lane quiet until a time.
func (l *lane) rest(until object.Time) {
	l.pause = max(l.pause, until)
	l.freed = max(l.freed, until)
}

// count takes a message into account that goes out now.
func (l *lane) count(now object.Time) {
	if !l.rate.bounds() {
		return
	}
	if len(l.sent) == l.rate.Messages {
		copy(l.sent, l.sent[1:])
		l.sent = l.sent[:len(l.sent)-1]
	}
	l.sent = append(l.sent, now)
	if at := l.free(); at > now {
		l.freed = max(l.freed, at)
	}
}

// left returns how many messages the limit lets through now.
func (l *lane) left(now object.Time) int {
	if !l.rate.bounds() {
		return maxRequests
	}
	n := l.rate.Messages - len(l.sent)
	for _, t := range l.sent {
		if t.Add(l.rate.Per) > now {
			break
		}
		n++
	}
	return n
}

// merged takes those units out of the lane that the limit puts into one message:
// what it made wait and, if it lets just one more message through, all that is
// due. Nil if that is not more than one.
func (l *lane) merged(now object.Time) []*unit {
	last, n := l.left(now) == 1, 0
	var all []*unit
	for l.due.len() > 0 {
		u := l.due.first()
		if u.due > now || !last && u.due >= l.freed {
			break
		}
		all = append(all, l.due.pop())
		if n += u.members.len(); n >= maxRequests {
			break
		}
	}
	if len(all) == 1 {
		l.due.push(all[0])
		return nil
	}
	return all
}
