package bus

import (
	"fmt"
	"strings"
	"time"
	_ "unsafe" // for the name of the server's variable
)

// serverBars is how long the server's leader lets nobody in under a name that was taken
// out: a member that was removed and still runs must learn of it instead of coming back.
// A server that reads the removal again at its start counts from then.
//
//go:linkname serverBars github.com/nats-io/nats-server/v2/server.peerRemoveTimeout
var serverBars time.Duration

// Barred returns the names that this member saw taken out of the cluster so lately that
// they cannot come back yet, each with the time that is left.
func (b *Bus) Barred() map[string]time.Duration {
	if !b.Clustered() {
		return nil
	}
	return b.embed.peering.barred(time.Now())
}

func (p *peering) barred(now time.Time) map[string]time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all map[string]time.Duration
	for name, at := range p.taken {
		left := serverBars - now.Sub(at)
		if left <= 0 {
			delete(p.taken, name)
			continue
		}
		if all == nil {
			all = map[string]time.Duration{}
		}
		all[name] = left
	}
	return all
}

// take notes who was taken out, unless that is known.
func (p *peering) take(name string) {
	p.folders.left(name)
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, known := p.taken[name]; known {
		return
	}
	if p.taken == nil {
		p.taken = map[string]time.Time{}
	}
	p.taken[name] = time.Now()
}

// readmitted forgets that a member was taken out.
func (p *peering) readmitted(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.taken, name)
}

// outside tells whether the cluster's own list of its members is without this one: it
// follows their leader and was not let in yet.
func (v view) outside() bool { return v.Size > 0 && len(v.Members) > v.Size }

// warnOfBar says once that the members do not let this one in yet.
func (n *newcomers) warnOfBar() {
	const text = "a name that was taken out of the cluster"
	if n.told == text {
		return
	}
	n.told = text
	n.p.b.log.Warn("the cluster does not let this member in yet: a name that was taken out can come back when five minutes are over; it is let in by itself then",
		"cluster", n.p.at.Name, "member", n.p.server.Name())
	n.p.b.waits(n.p.waitsForBar())
}

// waitsForBar says what a start waits for that is outside.
func (p *peering) waitsForBar() string {
	return "waiting to be let into the cluster " + p.at.Name + ", which takes back a name that was taken out after five minutes"
}

// waitsFor says what the start waits for, for the log.
func (p *peering) waitsFor() string {
	var v view
	if p.server != nil {
		v = p.look()
	}
	return p.waitsWith(v)
}

// waitsWith says what a start waits for while the members stand as they do.
func (p *peering) waitsWith(v view) string {
	switch {
	case v.outside():
		return p.waitsForBar()
	case v.Size > 0 && 2*v.Online > v.Size:
		return "waiting for the members of the cluster " + p.at.Name + " to choose a leader"
	case v.Size > 0 && len(v.away()) > 0:
		return fmt.Sprintf("waiting for a quorum of the cluster %s: %d of %d members can be reached; start %s", p.at.Name, v.Online, v.Size, strings.Join(v.away(), " and "))
	}
	return "waiting for a quorum of the cluster " + p.at.Name + "; start the other members"
}
