package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// removePause is the time between two attempts at a removal that the cluster is not
// ready for.
const removePause = 250 * time.Millisecond

// errNotNow: the cluster changes its members already.
var errNotNow = errors.New("the cluster is changing its members")

// remove takes one member out of the cluster that has a quorum.
func (p *peering) remove(ctx context.Context, name string) error {
	v := p.look()
	switch {
	case v.find(name) >= 0:
	case v.quorum() && p.folders.wasRemoved(name):
		return nil // somebody else was faster
	default:
		return fmt.Errorf("remove %s: %w; its members are %s", name, ErrNoMember, p.memberList(v))
	}
	if v.Size == 1 {
		return fmt.Errorf("remove %s: it is the last member of the cluster; start it without -cluster-name to go on without a cluster", name)
	}
	if !v.quorum() {
		return fmt.Errorf("remove %s: %w", name, ErrNoQuorum)
	}
	if err := p.safe(ctx, name); err != nil {
		return err
	}
	if err := p.patiently(ctx, "remove "+name, func() error { return p.inherited(ctx, name) }); err != nil {
		return err
	}
	if v.Leader == name {
		p.handOver(ctx, v)
	}
	if err := p.announce(name, false); err != nil {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	return p.patiently(ctx, "remove "+name, func() error { return p.askRemoval(ctx, name) })
}

// inherited tells whether those who stay have everything of the streams that a member
// leads: removed before, it would take the newest of it along.
func (p *peering) inherited(ctx context.Context, leaves string) error {
	streams, err := p.streams(ctx, true)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotNow, err)
	}
	for _, s := range streams {
		if lacks := s.lacking(leaves); len(lacks) > 0 {
			return fmt.Errorf("%w: %s leads stream %s, of which %s cannot go on without it yet", errNotNow, leaves, s.Name, strings.Join(lacks, " and "))
		}
	}
	return nil
}

// lacking names the copies that lack something, of a stream that a member leads who leaves.
// One that cannot be reached is not waited for, as long as another one has everything.
func (s StreamStatus) lacking(leaves string) (names []string) {
	if s.Leader != leaves {
		return nil
	}
	full := false
	for _, r := range s.Others {
		full = full || r.Current && !r.Offline
		if !r.Current && !r.Offline {
			names = append(names, r.Name)
		}
	}
	if !full && len(names) == 0 {
		for _, r := range s.Others {
			names = append(names, r.Name)
		}
	}
	return names
}

// handOverWait is how long a leader may take to let another member lead.
const handOverWait = 5 * time.Second

// handOver lets another member lead before the leader is removed: one that removes itself
// answers nobody, and who is left learns of it only by its silence. Where that does not
// succeed the leader removes itself.
func (p *peering) handOver(ctx context.Context, v view) {
	self := p.server.Name()
	to := self
	for _, m := range v.Members {
		if m.Online && m.Name != v.Leader && v.Leader == self {
			to = m.Name
		}
	}
	body, err := json.Marshal(map[string]any{"placement": map[string]string{"preferred": to}})
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, handOverWait)
	defer cancel()
	for next := v.Leader; next == v.Leader || next == ""; next = p.look().Leader {
		if next != "" {
			one, done := context.WithTimeout(ctx, time.Second)
			if _, err := p.nc.RequestWithContext(one, "$JS.API.META.LEADER.STEPDOWN", body); err != nil {
				p.b.log.Debug("the leader does not let another one lead yet", "err", err)
			}
			done()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(removePause):
		}
	}
}

func (p *peering) memberList(v view) string {
	var names []string
	for _, m := range v.Members {
		names = append(names, m.Name)
	}
	return strings.Join(names, ", ")
}

// patiently does something again until it is done, refused, or ctx ends.
func (p *peering) patiently(ctx context.Context, what string, do func() error) error {
	for {
		err := do()
		if err == nil || !errors.Is(err, errNotNow) && !errors.Is(err, nats.ErrNoResponders) && !errors.Is(err, nats.ErrTimeout) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w: %w", what, err, ctx.Err())
		case <-time.After(removePause):
		}
	}
}

// Numbers of the server's errors.
const (
	inFlight  = 10202 // a change of members is not over yet
	notMember = 10044 // whom it shall remove is no member
)

// askRemoval asks the leader once.
func (p *peering) askRemoval(ctx context.Context, name string) error {
	body, err := json.Marshal(map[string]string{"peer": name, "peer_id": memberID(name)})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	m, err := p.nc.RequestWithContext(ctx, "$JS.API.SERVER.REMOVE", body)
	if errors.Is(err, context.DeadlineExceeded) {
		// A leader that removes itself, or the last but one, answers nobody.
		if v := p.look(); v.Leader != "" && v.find(name) < 0 {
			p.take(name)
			return nil
		}
		return errNotNow
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", name, err)
	}
	if err := answerError(m.Data); err != nil {
		var refused *apiError
		switch {
		case errors.As(err, &refused) && refused.Code == inFlight:
			return errNotNow
		case refused != nil && refused.Code == notMember:
			// It was one a moment ago: another member was asked for the same thing.
			p.take(name)
			return nil
		}
		return fmt.Errorf("remove %s: %w", name, err)
	}
	p.take(name)
	p.b.log.Info("a member was removed from the cluster", "member", name)
	return nil
}

// errNeedless: members are gone for good that can be removed as always.
var errNeedless = errors.New("there is a quorum, and every stream goes on without them; leave -lost out")

// gatherMost is how long a start waits for members that would be left, once a majority of
// them is there, and to know who keeps which stream: what it decides then, it decides for
// all of them.
const gatherMost = 10 * time.Second

// withoutLost removes members at a start that were named as gone for good.
func (p *peering) withoutLost(ctx context.Context) error {
	lost, err := p.stillMembers(p.at.Lost)
	if err != nil || len(lost) == 0 {
		return err
	}
	what := "remove " + strings.Join(lost, ", ")
	for tick := time.Tick(removePause); ; {
		if lost, err = p.stillMembers(lost); err != nil || len(lost) == 0 {
			return err // a command was faster
		}
		v := p.look()
		stay := v.Size - len(lost)
		if v.Online >= stay || v.Online > stay/2 && time.Since(p.began) > gatherMost {
			break
		}
		if v.Online <= stay/2 {
			away := slices.DeleteFunc(v.away(), func(name string) bool { return slices.Contains(lost, name) })
			p.b.waits(fmt.Sprintf("waiting to go on without %s: of the %d members that are left then %d can be reached; start %s, or take out with \"jaque cluster remove NAME -lost\" too who never comes back",
				strings.Join(lost, " and "), stay, v.Online, strings.Join(away, " and ")))
		}
		select {
		case <-tick:
		case <-p.folders.out:
			return fmt.Errorf("%s: %w", what, p.removal())
		case <-ctx.Done():
			return fmt.Errorf("%s: %w: %w (%w)", what, ErrNoQuorum, context.Cause(ctx), ctx.Err())
		}
	}
	if v := p.look(); 2*v.Online > v.Size { // so many run that nobody has to decide alone
		if err := p.awaitLeader(ctx, func() error { return nil }); err != nil {
			return err
		}
	}
	if err = p.removeLost(ctx, lost); !errors.Is(err, errNeedless) {
		return err
	}
	for _, name := range lost {
		if err := p.remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// stillMembers returns those of the names that are members, and takes note of the others as
// removed: at an earlier start, which may just have been, or by a command.
func (p *peering) stillMembers(names []string) (still []string, err error) {
	v := p.look()
	for _, name := range names {
		if v.find(name) >= 0 {
			still = append(still, name)
			continue
		}
		if v.Size == 0 {
			continue // this one was never let in, and knows of nobody
		}
		if _, err := p.folders.leaving(name, false); err != nil {
			return nil, err
		}
		p.take(name)
		p.letIn(name)
	}
	return still, nil
}

// removeLost lets the members that can be reached decide alone, and removes the others.
func (p *peering) removeLost(ctx context.Context, names []string) error {
	v := p.look()
	what := "remove " + strings.Join(names, ", ")
	for _, name := range names {
		i := v.find(name)
		if i < 0 {
			return fmt.Errorf("%s: %s: %w; its members are %s", what, name, ErrNoMember, p.memberList(v))
		}
		if v.Members[i].Online {
			return fmt.Errorf("%s: %s is running and connected; only members that are gone for good can be removed without a quorum", what, name)
		}
	}
	var risky []fate
	err := p.patiently(ctx, what, func() (err error) {
		risky, err = p.atRisk(ctx, names)
		return err
	})
	if err != nil {
		return err
	}
	left, lower := v.Size-len(names), !v.quorum()
	switch {
	case !lower && len(risky) == 0:
		return fmt.Errorf("%s: %w", what, errNeedless)
	case v.Online < left/2+1:
		return fmt.Errorf("%s: %w: of the %d members that would be left %d can be reached", what, ErrNoQuorum, left, v.Online)
	}
	p.lose(what, risky)
	behind := slices.ContainsFunc(risky, func(f fate) bool { return f.stream == p.b.names.Log })
	if lower {
		p.b.log.Warn("the quorum is lowered by an operator: members are removed that are gone for good", "members", strings.Join(names, ", "), "left", left)
		if err := p.patiently(ctx, what, func() error { return p.stalled(ctx, names) }); err != nil {
			return err
		}
		if v.Online == 1 { // it has to decide before it is the only member
			if err := p.company.come(p.server.Name()); err != nil {
				return err
			}
		}
	}
	p.shutOut(names...)
	defer p.letIn(names...)
	for _, name := range names {
		if err := p.announce(name, behind); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	if lower {
		if err := p.patiently(ctx, what, func() error { return p.rescue(v.Online/2 + 1) }); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := p.patiently(ctx, "remove "+name, func() error { return p.askRemoval(ctx, name) }); err != nil {
			return err
		}
	}
	return nil
}

// stalled waits until this member has noticed that it leads nothing without those who
// are gone, up to 20 s: what it still leads would be changed through a log that has no
// quorum.
func (p *peering) stalled(ctx context.Context, lost []string) error {
	if v := p.look(); v.rescued {
		return nil // an earlier attempt got further
	} else if v.Leader == p.server.Name() {
		return errNotNow
	}
	streams, err := p.streams(ctx, false)
	if err != nil {
		return err
	}
	for _, s := range streams {
		for _, r := range s.Others {
			if s.Leader == p.server.Name() && slices.Contains(lost, r.Name) {
				return errNotNow
			}
		}
	}
	return nil
}

// rescue lowers how many must agree, at every member that can be reached, for five
// minutes or until the members are right.
func (p *peering) rescue(needed int) error {
	if p.look().Leader != "" && p.server.JetStreamIsCurrent() {
		return nil
	}
	body := fmt.Appendf(nil, `{"quorum_needed":%d}`, needed)
	m, err := p.nc.Request("$JS.API.META.RESCUE", body, statusWait)
	if err != nil {
		return fmt.Errorf("lower the quorum: %w", err)
	}
	if err := answerError(m.Data); err != nil {
		p.b.log.Debug("the quorum cannot be lowered yet", "err", err)
	}
	return errNotNow // until there is a leader
}
