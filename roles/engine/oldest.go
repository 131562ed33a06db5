package engine

import (
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// Appends are watched one by one too: while the log answers for all other objects, one that
// hangs would hold back the results and commands of its object, and nobody would know.

const (
	// oldestLook is how often the oldest append is looked for.
	oldestLook = object.Time(time.Second / time.Millisecond)
	// oldestPatience is how long one object may wait before that is called trouble: longer
	// than it takes to choose another leader, and to record a lost measurement again.
	oldestPatience = time.Minute
)

// unanswered is the decision that has waited longest for the log.
type unanswered struct {
	object object.ID
	since  object.Time // when it was first sent
	many   int         // objects that have waited for so long that it is trouble
}

// noteOldest looks from time to time which decision has waited longest.
func (e *Engine) noteOldest(now object.Time) {
	s := &e.state
	if ago := now - s.oldestLooked; ago >= 0 && ago < oldestLook { // else the clock was set back
		return
	}
	s.oldestLooked = now
	var old *unanswered
	for key, p := range s.pending {
		if p.since == 0 || p.behind {
			continue
		}
		if old == nil {
			old = &unanswered{since: p.since}
		}
		if p.since <= old.since {
			old.object, old.since = s.entries[key].id(), p.since
		}
		if now.Sub(p.since) > oldestPatience {
			old.many++
		}
	}
	e.oldest.Store(old)
}

// waited returns for how long the oldest decision has waited for the log, 0 = none waits.
func (e *Engine) waited() time.Duration {
	old := e.oldest.Load()
	if old == nil {
		return 0
	}
	return max(0, object.At(time.Now()).Sub(old.since))
}

// hanging says in a sentence that some objects wait for the log while it has answered for
// others, "" if none does.
func (e *Engine) hanging() string {
	old, waited := e.oldest.Load(), e.waited()
	if old == nil || waited <= oldestPatience || object.Time(e.stuck.Load()) <= old.since {
		return ""
	}
	others := ""
	if old.many > 1 {
		others = fmt.Sprintf(" and %d other objects", old.many-1)
	}
	return fmt.Sprintf("the log has not confirmed for %s what was decided about %s%s; their results and commands wait", waited.Truncate(time.Second), old.object, others)
}
