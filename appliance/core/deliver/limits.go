package deliver

import (
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// Limits bound what goes out.
type Limits struct {
	// Deadline is how long after its first attempt a request is tried; 0 = a day.
	// Waiting for its group, for a rate or for a place does not use it up.
	Deadline time.Duration
	// Rates bound the messages to one contact over a channel, by the channel's name
	// in front of a colon. What has none is not bounded.
	Rates map[string]Rate
	// Queue is how many messages may be taken and not yet given back; 0 = any number.
	Queue int
	// PerWay is how many of them may be to one contact over one channel, PerKind how
	// many over one kind of channel; 0 = any number. They keep places for others
	// while a server does not answer.
	PerWay, PerKind int
	// Failing is how many of them may be on ways whose newest attempt failed, one over
	// each kind of channel; 0 = any number, and nothing of what follows. They come
	// after all others, and the last place of Queue is not for a kind of channel that
	// has one already.
	Failing int
}

// Rate is the most messages in any time of a length. Unless both are positive it is
// no bound.
type Rate struct {
	Messages int
	Per      time.Duration
}

func (r Rate) bounds() bool { return r.Messages > 0 && r.Per > 0 }

const (
	day = 24 * time.Hour
	// firstBackoff doubles with each attempt up to maxBackoff.
	firstBackoff = 5 * time.Second
	maxBackoff   = 10 * time.Minute
	// firstBeat and maxBeat are the same for a heartbeat, which has little time.
	firstBeat = time.Second
	maxBeat   = time.Minute
	// usualRound is how far apart the rounds of a heartbeat are that does not say so.
	usualRound = 5 * time.Minute
	// maxPause bounds how long a channel may ask to be left alone.
	maxPause = time.Hour
	// maxRequests bounds one message.
	maxRequests = 5000
)

// rate returns the bound of a channel.
func (l *Limits) rate(channel string) Rate {
	return l.Rates[kindOf(channel)]
}

// kindOf is the kind of a channel by its name.
func kindOf(channel string) string {
	kind, _, _ := strings.Cut(channel, ":")
	return kind
}

func (l *Limits) deadline(t object.Time) object.Time {
	if l.Deadline <= 0 {
		return t.Add(day)
	}
	return t.Add(l.Deadline)
}

// World is what a plan looks at beside the requests. Functions that are nil know
// nothing.
type World struct {
	Status func(object.ID) *event.Status  // an object's present state, nil = not known
	Object func(object.ID) *object.Object // nil = the config does not have it
	Sent   func(GroupKey) Last            // what earlier processes sent
	// Seen returns when the newest check of a host began, 0 = there was none. Without
	// it no problem waits for the hosts in front of it to be looked at.
	Seen func(object.ID) object.Time
}

func (w *World) status(id object.ID) *event.Status {
	if w == nil || w.Status == nil {
		return nil
	}
	return w.Status(id)
}

func (w *World) object(id object.ID) *object.Object {
	if w == nil || w.Object == nil {
		return nil
	}
	return w.Object(id)
}

func (w *World) sent(k GroupKey) Last {
	if w == nil || w.Sent == nil {
		return Last{}
	}
	return w.Sent(k)
}

// heartbeat tells whether a request proves that messages arrive: it waits for
// nothing and counts for no limit.
func heartbeat(p *Pending) bool { return p.Note.Kind == string(notify.Heartbeat) }

// round is how long after its event a heartbeat is over, because the next one begins.
func round(p *Pending) time.Duration {
	if p.Note.Until > p.Time {
		return p.Note.Until.Sub(p.Time)
	}
	return usualRound
}

// backoff returns how long after a failed attempt the next one comes. Up to a fifth
// more or less, by the message's id, keeps those apart that failed together.
func backoff(id string, attempt int, heartbeat bool) time.Duration {
	first, d := firstBackoff, maxBackoff
	if heartbeat {
		first, d = firstBeat, maxBeat
	}
	if n := attempt - 1; n < 10 {
		d = min(d, first<<max(0, n))
	}
	more := (spread(id) + uint32(attempt)*2654435761) % 401
	return d * time.Duration(800+more) / 1000
}

// spread is a number by a name, to keep things apart without chance.
func spread(name string) (n uint32) {
	for i := range len(name) {
		n = n*31 + uint32(name[i])
	}
	return n
}
