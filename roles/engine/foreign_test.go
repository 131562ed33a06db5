package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
)

// Something that is no event stands behind the last decision about an object: the next
// one is written behind it.
func TestAnObjectGoesOnBehindWhatIsNoEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &covered{Journal: newJournal()}
		g := start(t, site(1, 1), j, &runner{answer: critical})
		for g.status("h0!s0").Type != object.Soft {
			time.Sleep(time.Second)
		}
		j.on.Store(true)
		time.Sleep(3 * time.Minute)
		if st := g.status("h0!s0"); st.Attempt != 3 || st.Type != object.Hard {
			t.Errorf("status %+v, want the hard problem", st)
		}
		if n := j.refused.Load(); n == 0 || n > 3 {
			t.Errorf("%d appends were refused, want one or two", n)
		}
		g.end()
	})
}

// covered compares with a position that holds no event, until the next append.
type covered struct {
	journal.Journal
	on      atomic.Bool
	refused atomic.Int64
}

const cover = 1 << 40 // far behind every event

func (c *covered) Append(ev *event.Event, expect uint64, done journal.Done) {
	if ev.Object == "" || !c.on.Load() {
		c.Journal.Append(ev, expect, done)
		return
	}
	if expect != cover {
		c.refused.Add(1)
		done(0, journal.ErrConflict)
		return
	}
	c.on.Store(false)
	last, _, _ := c.Journal.LastOf(context.Background(), ev.Object)
	c.Journal.Append(ev, last, done)
}

func (c *covered) LastOf(ctx context.Context, id object.ID) (last, compared uint64, err error) {
	last, compared, err = c.Journal.LastOf(ctx, id)
	if c.on.Load() {
		compared = cover
	}
	return last, compared, err
}
