package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// How often the members are looked at, and the replicas of the streams.
const (
	lookPause   = 500 * time.Millisecond
	adjustPause = 2 * time.Second
	adjustWait  = 30 * time.Second // bound of one round of changes
)

// run watches the members and, while this member leads, sees to it that every stream
// has as many replicas as it can.
func (p *peering) run(ctx context.Context) {
	p.cancel = nil
	ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.b.ready.lack(p.declared())
	p.note(p.look())
	p.done.Go(func() { p.watch(ctx) })
	p.done.Go(func() { p.adjust(ctx) })
	p.done.Go(func() { p.fill(ctx) })
}

// watch notes who is there.
func (p *peering) watch(ctx context.Context) {
	tick := time.NewTicker(lookPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !p.server.JetStreamEnabled() {
			p.ended()
			return
		}
		p.note(p.look())
	}
}

// ended fails the bus because its server gave up the streams.
func (p *peering) ended() { p.b.fail(p.gaveUp()) }

// gaveUp says why the server has no streams any more. Only the list of the cluster's
// members tells of a removal: a disk that is full ends them too, and who is told that it
// was removed stays out.
func (p *peering) gaveUp() error {
	if p.isOut() {
		return p.removal()
	}
	return errors.New("the log server gave up its streams; the log lines before this one say why")
}

// note compares what is seen with what was seen before, and tells what changed.
func (p *peering) note(v view) {
	p.mu.Lock()
	was := p.seen
	if v.Size == 0 { // the server is between two states
		p.mu.Unlock()
		return
	}
	p.seen = v
	p.b.ready.hear(v.quorum(), time.Now())
	if v.lost(was) {
		close(p.moved)
		p.moved = make(chan struct{})
	}
	p.mu.Unlock()
	log := p.b.log
	for _, m := range v.Members {
		i := slices.IndexFunc(was.Members, func(o Member) bool { return o.id == m.id })
		switch {
		case m.Name == p.server.Name():
		case i < 0 && was.Size > 0 && m.Online:
			p.readmitted(m.Name)
			log.Info("a member joined the cluster", "member", m.Name, "members", v.Size)
		case i >= 0 && m.Online && !was.Members[i].Online:
			log.Info("a member of the cluster is back", "member", m.Name)
		case !m.Online && (i < 0 || was.Members[i].Online):
			log.Warn("a member of the cluster cannot be reached", "member", m.Name)
		}
	}
	for _, m := range was.Members {
		if !slices.ContainsFunc(v.Members, func(o Member) bool { return o.id == m.id }) && v.Leader != "" {
			p.take(m.Name)
			log.Info("a member left the cluster", "member", m.Name, "members", v.Size)
		}
	}
	switch {
	case was.Size > 0 && was.quorum() && !v.quorum():
		log.Error("nothing can be written", "why", v.noQuorum(p.at.Name))
	case was.Size > 0 && !was.quorum() && v.quorum():
		log.Info("the cluster has its quorum again", "leader", v.Leader)
	}
	if v.Size == 2 && was.Size != 2 {
		log.Warn("a cluster of two has no majority without either: while one is away nothing is written, and what is measured meanwhile is lost; "+
			"what was acknowledged is on both and stays; a third member or \"jaque witness\" changes that", "cluster", p.at.Name)
	}
	p.keepNames(v)
	p.b.metrics.cluster(v, p.server.JetStreamIsLeader())
}

// lost tells whether a member could be reached before and cannot any more.
func (v view) lost(was view) bool {
	return slices.ContainsFunc(was.Members, func(o Member) bool {
		i := slices.IndexFunc(v.Members, func(m Member) bool { return m.id == o.id })
		return o.Online && (i < 0 || !v.Members[i].Online)
	})
}

// adjust changes the replicas of the streams while this member leads.
func (p *peering) adjust(ctx context.Context) {
	tick := time.NewTicker(adjustPause)
	defer tick.Stop()
	trouble := ""
	for {
		v := p.look()
		p.watchLeaders(ctx, v)
		if p.server.JetStreamIsLeader() && v.quorum() {
			one, cancel := context.WithTimeout(ctx, adjustWait)
			err := p.adjustAll(one, v)
			cancel()
			if err != nil && ctx.Err() == nil && err.Error() != trouble {
				p.b.log.Warn("the replicas of a stream cannot be changed yet, trying again", "err", err)
			}
			if trouble = ""; err != nil {
				trouble = err.Error()
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// adjustAll changes what has another number of replicas than is wanted.
func (p *peering) adjustAll(ctx context.Context, v view) error {
	wanted := v.wanted()
	all, err := p.list(ctx)
	if err != nil {
		return err
	}
	errs := []error{p.remake(ctx, all)}
	slices.SortStableFunc(all, func(x, y *jetstream.StreamInfo) int { return cmp.Compare(dropped(x, wanted), dropped(y, wanted)) })
	for _, i := range all {
		s := p.statusOf(i)
		p.b.metrics.stream(s)
		p.tellWhole(s, wanted)
		if i.Config.Replicas == wanted || !v.settled(s) {
			continue
		}
		if dropped(i, wanted) > 0 && errors.Join(errs...) != nil {
			continue // what the others are denied, as a place at a member that has just come, it is denied too
		}
		p.b.log.Info("the replicas of a stream change", "stream", s.Name, "from", s.Replicas, "to", wanted, "last", s.Last, "mib", s.Bytes>>20)
		if err := p.change(ctx, i, wanted); err != nil {
			errs = append(errs, fmt.Errorf("change stream %s to %d replicas: %w", s.Name, wanted, err))
		}
	}
	return errors.Join(errs...)
}

// dropped is 1 for a stream that cannot be changed without being deleted and made anew, else
// 0. Those come last: one that is deleted and cannot be made is missing until the next round,
// and whoever follows it ends.
func dropped(i *jetstream.StreamInfo, wanted int) int {
	if wanted > 1 && i.Config.PersistMode == jetstream.AsyncPersistMode {
		return 1
	}
	return 0
}

// settled tells whether a stream has a leader, and all who keep it are members that
// can be reached. Until then the server is still taking out who was removed, and would
// forget that over another change.
func (v view) settled(s StreamStatus) bool {
	if s.Leader == "" {
		return false
	}
	for _, r := range s.Others {
		if i := v.find(r.Name); i < 0 || !v.Members[i].Online {
			return false
		}
	}
	return true
}

// tellWhole tells once when a stream has all its replicas, and how far it is before.
func (p *peering) tellWhole(s StreamStatus, wanted int) {
	was, known := p.whole[s.Name]
	now := s.Whole(wanted) || was && s.kept(wanted, Replica.near)
	p.whole[s.Name] = now
	switch {
	case now && known && !was:
		p.b.log.Info("a stream has all its replicas", "stream", s.Name, "replicas", wanted, "last", s.Last)
	case !now && s.Replicas == wanted:
		for _, r := range s.Others {
			if !r.Offline && r.Lag > replicaSlack {
				p.b.log.Info("a replica is being filled", "stream", s.Name, "member", r.Name, "missing", r.Lag, "last", s.Last)
			}
		}
	}
}

// change updates one stream. What is flushed in the background cannot be replicated
// nor changed: that one is made anew, empty, and its positions go on.
func (p *peering) change(ctx context.Context, i *jetstream.StreamInfo, wanted int) error {
	c := i.Config
	c.Replicas = wanted
	if dropped(i, wanted) == 0 {
		_, err := p.b.js.UpdateStream(ctx, c)
		return err
	}
	p.b.log.Info("a stream is made anew to be replicated; what it holds is dropped, its positions go on",
		"stream", c.Name, "messages", i.State.Msgs, "next", i.State.LastSeq+1)
	p.measured.deleted(i.State.LastSeq) // the next round makes it if this one cannot
	if err := p.b.js.DeleteStream(ctx, c.Name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return err
	}
	c.PersistMode, c.FirstSeq = jetstream.DefaultPersistMode, i.State.LastSeq+1
	_, err := p.b.js.CreateStream(ctx, c)
	if err == nil {
		p.measured.there(i.State.LastSeq) // if it is gone again, somebody else deleted it
	}
	return err
}

// shape gives what is declared the form that a cluster needs: replicas are the
// adjustment's affair, and how a stream is flushed cannot be changed.
func (b *Bus) shape(c jetstream.StreamConfig, before *jetstream.StreamConfig) jetstream.StreamConfig {
	if before != nil {
		c.PersistMode, c.FirstSeq = before.PersistMode, before.FirstSeq
	}
	if !b.Clustered() {
		return c
	}
	if before != nil {
		c.Replicas, c.Placement = before.Replicas, before.Placement
		return c
	}
	if c.Replicas = b.embed.peering.look().wanted(); c.Replicas > 1 {
		c.PersistMode = jetstream.DefaultPersistMode
	}
	return c
}

// madeAnew is how long a member that joins waits for the measurements to be made anew,
// which drops what is asked about them meanwhile.
const madeAnew = 30 * time.Second

// awaitMeasurements waits until the leader has made the measurements anew, with replicas.
// Who leads does that once it has started.
func (p *peering) awaitMeasurements(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, madeAnew)
	defer cancel()
	for ctx.Err() == nil {
		c, err := streamConfig(ctx, p.b.js, p.b.names.Results)
		if err == nil && c != nil && (c.Replicas > 1 || p.look().wanted() == 1) || p.server.JetStreamIsLeader() {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(removePause):
		}
	}
}

// errNotMade: the leader of the cluster will make the stream, or make it anew.
var errNotMade = errors.New("the cluster's leader has not made it yet")

// leadersTurn is how long a member waits for the leader to make a stream before it
// does so itself; the leader may be of an older release that does not know it.
const leadersTurn = 10 * time.Second

// leaves tells whether a stream is there and the leader's affair.
func (b *Bus) leaves(before *jetstream.StreamConfig) bool {
	return before != nil && b.Clustered() && !b.embed.server.JetStreamIsLeader()
}

// mayMake is an error as long as another member's turn to make a stream is not over.
func (b *Bus) mayMake(stream string, before *jetstream.StreamConfig) error {
	if before != nil || !b.Clustered() || b.embed.server.JetStreamIsLeader() || time.Since(b.embed.peering.opened) > leadersTurn {
		return nil
	}
	return fmt.Errorf("declare stream %s: %w", stream, errNotMade)
}

// transient tells whether an answer of a cluster may be another one in a moment.
func transient(err error) bool {
	if errors.Is(err, errNotMade) || errors.Is(err, errUnled) || errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		return true
	}
	var api *jetstream.APIError
	if errors.As(err, &api) {
		return api.Code == 503 || api.ErrorCode == 10074 // no leader, restoring; no peers for the replicas yet
	}
	var refused *apiError
	return errors.As(err, &refused) && refused.Status == 503
}
