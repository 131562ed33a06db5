package bus

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// How often a member looks whether its copies of the streams are full, until they were all
// full once and from then on, and how long one that was full may lack something until that
// is worth a word: under load, and while a leader is chosen, that is so for a moment.
const (
	fillPause    = time.Second
	fullPause    = 2 * time.Second
	lackPatience = 15 * time.Second
	// voicelessPatience is how long there may be no quorum: choosing a leader takes up to
	// two seconds and a moment.
	voicelessPatience = 5 * time.Second
)

// copies is what a member knows of its own copies of the streams.
type copies struct {
	full  map[string]bool      // streams of which this member had everything once since its start
	once  bool                 // it had everything of all of them at the same time
	since map[string]time.Time // since when a copy lacks something
	lacks []string             // streams whose copies are not full, as people are told
}

// readiness is what a member of a cluster tells of itself to whoever restarts members one
// after the other.
type readiness struct {
	mu        sync.Mutex
	lacks     []string  // streams of which its copy is not full
	voiceless time.Time // since when there is no quorum; zero = there is one
}

// hear takes in whether there is a quorum.
func (r *readiness) hear(quorum bool, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if quorum {
		r.voiceless = time.Time{}
	} else if r.voiceless.IsZero() {
		r.voiceless = now
	}
}

// lack takes in which copies are not full.
func (r *readiness) lack(streams []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lacks = streams
}

func (r *readiness) now() (lacks []string, voiceless time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lacks, r.voiceless
}

// keptAt tells whether a member keeps a copy of a stream, or is to have one, and whether
// that is full, by what the stream's leader says. While there are fewer copies than wanted
// anybody may be the one who gets the next: a stream is set to have one more before it is
// known where that will be.
func (s StreamStatus) keptAt(member string, wanted int) (keeps, full bool) {
	if s.Leader == member {
		return true, true
	}
	for _, r := range s.Others {
		if r.Name == member {
			return true, s.Leader != "" && r.Current && !r.Offline
		}
	}
	copies := len(s.Others)
	if s.Leader != "" {
		copies++
	}
	return copies < wanted, false
}

// look takes in which streams this member keeps now, or is to keep, and which of their
// copies lack something. It tells whether all have become full, for the first time, and
// whether what people are told is another than before.
func (c *copies) look(keeps, lacking []string, now time.Time) (first, changed bool) {
	if c.since == nil {
		c.since = map[string]time.Time{}
	}
	for name := range c.since {
		if !slices.Contains(lacking, name) {
			delete(c.since, name)
		}
	}
	var told []string
	for _, name := range lacking {
		if _, known := c.since[name]; !known {
			c.since[name] = now
		}
		if !c.once || now.Sub(c.since[name]) >= lackPatience {
			told = append(told, name)
		}
	}
	if !c.once && len(keeps) > 0 && len(lacking) == 0 {
		c.once, first = true, true
	}
	slices.Sort(told)
	changed = !slices.Equal(told, c.lacks)
	c.lacks = told
	return first, changed
}

// fill watches the copies of this member until ctx ends.
func (p *peering) fill(ctx context.Context) {
	c := &copies{full: map[string]bool{}, lacks: p.declared()}
	p.b.metrics.unfilled.Set(float64(len(c.lacks)))
	began := time.Now()
	for {
		keeps, lacking, ok := p.lookAtCopies(ctx, c)
		if ctx.Err() != nil {
			return
		}
		if ok {
			first, changed := c.look(keeps, lacking, time.Now())
			p.tellCopies(c, first, changed, time.Since(began))
		}
		pause := fillPause
		if c.once {
			pause = fullPause
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// tellCopies shows how the copies are.
func (p *peering) tellCopies(c *copies, first, changed bool, took time.Duration) {
	p.b.ready.lack(c.lacks)
	p.b.metrics.unfilled.Set(float64(len(c.lacks)))
	switch {
	case first:
		p.b.log.Info("this member's copies of the streams are full", "streams", len(c.full), "took", took.Round(time.Millisecond))
	case changed && c.once && len(c.lacks) > 0:
		p.b.log.Warn("copies of streams lack something", "streams", strings.Join(c.lacks, ", "), "for", lackPatience)
	case changed && c.once:
		p.b.log.Info("this member's copies of the streams are full again")
	}
}

// declared are the streams that stand on every server.
func (p *peering) declared() []string {
	var names []string
	for _, s := range stores(p.b.names, p.b.opts.Retention) {
		names = append(names, s.stream)
	}
	return names
}

// lookAtCopies returns the streams of which this member keeps a copy or is to have one, and
// those whose copy is not full. Whether one is full for the first time is said by the leader
// of the stream, who alone knows how far it goes; afterwards by the server of this member,
// which asks nobody. It is not ok while the server follows no leader and knows nothing.
func (p *peering) lookAtCopies(ctx context.Context, c *copies) (keeps, lacking []string, ok bool) {
	sick, ok := p.sick()
	if !ok {
		return nil, nil, false
	}
	here, err := p.here()
	if err != nil {
		return nil, nil, false
	}
	for name := range c.full {
		if !slices.Contains(here, name) {
			delete(c.full, name) // it is made anew, or moved away
		}
	}
	keeps = here
	if !c.once {
		for _, name := range p.declared() {
			if !slices.Contains(keeps, name) {
				keeps = append(keeps, name)
			}
		}
	}
	isNew := func(name string) bool { return !c.full[name] }
	if slices.ContainsFunc(keeps, isNew) {
		keeps = p.askLeaders(ctx, c, keeps, sick)
	}
	for _, name := range keeps {
		if !c.full[name] || sick[name] {
			lacking = append(lacking, name)
		}
	}
	return keeps, lacking, true
}

// askLeaders notes of which streams this member has everything, as their leaders say, and
// returns which it keeps or is to keep.
func (p *peering) askLeaders(ctx context.Context, c *copies, keeps []string, sick map[string]bool) []string {
	ctx, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	self, wanted := p.server.Name(), p.look().wanted()
	for range looks { // under load there is always an append in flight
		all, err := p.list(ctx)
		for _, i := range all {
			s := p.statusOf(i)
			kept, full := s.keptAt(self, wanted)
			at := slices.Index(keeps, s.Name)
			switch {
			case kept && at < 0:
				keeps = append(keeps, s.Name)
			case !kept && at >= 0:
				keeps = slices.Delete(keeps, at, at+1)
			}
			if full && !sick[s.Name] {
				c.full[s.Name] = true
			}
		}
		isNew := func(name string) bool { return !c.full[name] }
		if err != nil || !slices.ContainsFunc(keeps, isNew) {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(looksApart):
		}
	}
	return keeps
}

// here are the streams that the server of this member has.
func (p *peering) here() ([]string, error) {
	info, err := p.server.Jsz(&server.JSzOptions{Account: server.DEFAULT_GLOBAL_ACCOUNT, Streams: true})
	if err != nil {
		return nil, fmt.Errorf("look at the streams: %w", err)
	}
	var names []string
	for _, a := range info.AccountDetails {
		for _, d := range a.Streams {
			names = append(names, d.Name)
		}
	}
	return names, nil
}

// sick are the streams whose copy at this member lacks something as far as its own server
// can tell: it is being filled, or applies what its log holds. It is not ok while the server
// does not follow the decisions about who keeps what.
func (p *peering) sick() (streams map[string]bool, ok bool) {
	streams = map[string]bool{}
	for _, e := range p.server.Healthz(&server.HealthzOptions{Account: server.DEFAULT_GLOBAL_ACCOUNT, Details: true}).Errors {
		switch e.Type {
		case server.HealthzErrorStream:
			streams[e.Stream] = true
		case server.HealthzErrorJetStream, server.HealthzErrorConn:
			return nil, false
		}
	}
	return streams, true
}

// Unready says in sentences why this member is no good reason to stop another one: there
// has been no quorum for a while, streams that it keeps have no leader, or its copies are
// not full, be it since its start or, after they were, for a while. Without a cluster it
// says nothing.
func (b *Bus) Unready() []string {
	if !b.Clustered() {
		return nil
	}
	p := b.embed.peering
	v, unled := p.lastSeen()
	lacks, voiceless := b.ready.now()
	switch {
	case !voiceless.IsZero() && time.Since(voiceless) >= voicelessPatience:
		return []string{v.noQuorum(p.at.Name)}
	case unled != "":
		return []string{unled}
	case len(lacks) == 1:
		return []string{fmt.Sprintf("this member's copy of the stream %s is not full: stop no other member until it is", lacks[0])}
	case len(lacks) > 1:
		return []string{fmt.Sprintf("this member's copies of the streams %s are not full: stop no other member until they are", strings.Join(lacks, ", "))}
	}
	return nil
}
