package service

import (
	"context"
	"fmt"
	"time"
)

// haste is an end that may not take its time.
type haste struct {
	within time.Duration
	half   time.Time // until when those that stop last wait for the others
	end    time.Time // what has not returned by then is cut off
}

// FailFast is Fail for an end that may not take its time, because other processes have
// taken over what this one did: every part is told to stop at once and not one after
// the other, those that stop last (Service.Last) when nobody needs them any more or half
// of the time is over, and what has not returned within the time is cut off. It returns
// err.
func FailFast(ctx context.Context, err error, within time.Duration) error {
	if p, ok := ctx.Value(groupPart{}).(*part); ok && ctx.Err() == nil {
		now := time.Now()
		p.group.hurry(&haste{within: within, half: now.Add(within / 2), end: now.Add(within)})
	}
	return Fail(ctx, err)
}

// Hurried tells the service whose context this is whether the process ends in a hurry:
// then it waits for nothing that may not come. It is false without a group.
func Hurried(ctx context.Context) bool {
	p, ok := ctx.Value(groupPart{}).(*part)
	return ok && p.group.haste.Load() != nil
}

// hurry takes in that the process must end soon; the first one says when.
func (g *Group) hurry(h *haste) {
	if g.haste.CompareAndSwap(nil, h) {
		close(g.hurried)
	}
}

// mayStop returns once the process stops and nothing uses the part any more, or once
// it hurries.
func (p *part) mayStop(stopping context.Context) {
	<-stopping.Done()
	for _, user := range p.users {
		select {
		case <-user.done:
			continue
		case <-p.group.hurried:
		}
		if !p.Last {
			return
		}
		select {
		case <-user.done:
		case <-time.After(time.Until(p.group.haste.Load().half)):
			return
		}
	}
}

// unstopped is the error of a service that has not returned in time.
type unstopped struct {
	after, within time.Duration // within = 0: nothing hurried
}

func (u *unstopped) Error() string {
	if u.within > 0 {
		return fmt.Sprintf("it was cut off after %s, because the process had to end within %s", u.after.Round(time.Millisecond), u.within)
	}
	return fmt.Sprintf("it did not stop within %s", u.after.Round(time.Millisecond))
}

// giveUp is the error of a service that has not returned for so long.
func (p *part) giveUp(after time.Duration) error {
	u := &unstopped{after: after}
	if h := p.group.haste.Load(); h != nil && !time.Now().Before(h.end) {
		u.within = h.within
	}
	return u
}
