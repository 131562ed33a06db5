package roles

import (
	"context"
	"time"

	"jaque.sh/jaque/appliance/canary"
	"jaque.sh/jaque/appliance/core/object"
)

// stop is where the canary stands still, as was found when somebody looked last.
type stop struct {
	hop    canary.Hop
	reason string
	looked time.Time   // when the reason was found
	told   object.Time // when the log of the process was told; 0 = it goes on
}

// How often it is looked whether the canary goes on, and why it does not.
const (
	lookForStop   = time.Second
	lookForReason = 10 * time.Second
)

// lookOut says once in the log of the process that the canary has stopped, and once
// that it goes on, until ctx ends.
func (c *canaryWatch) lookOut(ctx context.Context) {
	tick := time.NewTicker(lookForStop)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			c.look()
		}
	}
}

func (c *canaryWatch) look() {
	s, now := c.now(), object.At(time.Now())
	c.mu.Lock()
	told := c.stop.told
	c.mu.Unlock()
	switch {
	case s.Hop != "":
		reason := c.known(s.Hop)
		if told == 0 {
			c.log.Warn("the canary has stopped: it is not proven that notifications arrive", "hop", string(s.Hop), "reason", reason)
			c.tell(now)
		}
	case told == 0:
	case !s.Enabled:
		c.tell(0)
	case s.Last > told:
		c.log.Info("the canary goes on: a round is complete again", "stopped", now.Sub(told).Round(time.Second))
		c.tell(0)
	}
}

func (c *canaryWatch) tell(at object.Time) {
	c.mu.Lock()
	c.stop.told = at
	c.mu.Unlock()
}

// known returns why a round has stopped at a hop. It is looked for now and then: every
// page asks, and the answer may need the event log.
func (c *canaryWatch) known(h canary.Hop) string {
	c.mu.Lock()
	was := c.stop
	c.mu.Unlock()
	if was.hop == h && time.Since(was.looked) < lookForReason {
		return was.reason
	}
	reason := c.reason(h)
	c.mu.Lock()
	c.stop.hop, c.stop.reason, c.stop.looked = h, reason, time.Now()
	c.mu.Unlock()
	return reason
}
