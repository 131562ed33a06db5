package throttle

import (
	"sync"
	"time"
)

// Interval is how long a line of one kind keeps further ones of its kind back.
const Interval = time.Minute

// most bounds the kinds that are told apart: whoever causes lines may name them.
const most = 64

// Lines decides which lines are written. The zero Lines are ready; its methods may be
// called from any goroutine.
type Lines struct {
	mu   sync.Mutex
	seen map[string]*line
}

// line is what is known of the lines of one kind.
type line struct {
	at   time.Time // of the last one that was written
	left int       // left out since then
}

// Let tells whether a line of a kind is to be written now, and how many of its kind
// were left out since the last one. Kinds beyond the first 64 of a minute count as
// one.
func (l *Lines) Let(kind string) (left int, ok bool) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.line(kind, now)
	if !k.at.IsZero() && now.Sub(k.at) < Interval {
		k.left++
		return 0, false
	}
	left, k.left, k.at = k.left, 0, now
	return left, true
}

// line returns that of a kind, new if it is not known.
func (l *Lines) line(kind string, now time.Time) *line {
	if k := l.seen[kind]; k != nil {
		return k
	}
	if l.seen == nil {
		l.seen = map[string]*line{}
	}
	if len(l.seen) >= most {
		for other, k := range l.seen {
			if now.Sub(k.at) >= Interval && k.left == 0 {
				delete(l.seen, other)
			}
		}
	}
	const rest = ""
	if len(l.seen) >= most {
		if k := l.seen[rest]; k != nil {
			return k
		}
		kind = rest // one more than most, once
	}
	k := &line{}
	l.seen[kind] = k
	return k
}
