package bus

import (
	"slices"
	"strings"
	"time"
	_ "unsafe" // for the server's groups

	"github.com/nats-io/nats-server/v2/server"
)

// The server takes a removed member out of the group of all members first, and then, by
// that group's leader, out of the group of every stream. Killed in between, the last member
// comes up as the only one, with streams that wait for ever for the vote of one who is no
// member. So a member that is the only one, by what the members agreed about, takes such a
// vote out: what the members decided holds for the streams too. The server does the same
// by itself where it wrote down before whom an operator removed. Nothing is dropped: what
// the log of a stream's group holds beyond the stream is applied by its new leader, and
// whoever was removed has no majority of a group of two to write something else with.

// survivorPatience is how long a group may be without a leader before it is looked at: one
// that can choose a leader has done so.
const survivorPatience = electWithin + lookPause

// serverGroup finds a group of the server, nil if there is none.
//
//go:linkname serverGroup github.com/nats-io/nats-server/v2/server.(*Server).lookupRaftNode
func serverGroup(s *server.Server, group string) server.RaftNode

// survivor notes since when groups have had no leader.
type survivor map[string]time.Time

// look lets the groups go on that wait for who is no member, if this one is the only one.
func (s survivor) look(p *peering, v view) {
	self := p.server.Name()
	if v.Size != 1 || v.outside() || v.Leader != self || !p.server.JetStreamIsLeader() {
		clear(s)
		return
	}
	for name, others := range p.stuckGroups() {
		since, known := s[name]
		switch {
		case len(others) == 0:
			delete(s, name)
		case !known:
			s[name] = time.Now()
		case time.Since(since) >= survivorPatience:
			delete(s, name)
			p.goOnAlone(name, others)
		}
	}
}

// stuckGroups are the groups of streams with the ids of the others that each waits for,
// none if it has a leader.
func (p *peering) stuckGroups() map[string][]string {
	all := map[string][]string{}
	status := p.server.Raftz(&server.RaftzOptions{AccountFilter: server.DEFAULT_GLOBAL_ACCOUNT})
	if status == nil {
		return all
	}
	for name, g := range (*status)[server.DEFAULT_GLOBAL_ACCOUNT] {
		all[name] = nil
		if g.Leader != "" {
			continue
		}
		for id := range g.Peers {
			all[name] = append(all[name], id)
		}
	}
	return all
}

// goOnAlone takes the votes of others out of a group.
func (p *peering) goOnAlone(group string, others []string) {
	n := serverGroup(p.server, group)
	if n == nil {
		return
	}
	gone, err := n.EvictPeers(others)
	if err != nil {
		p.b.log.Debug("the group of a stream cannot go on alone yet", "group", group, "err", err)
		return
	}
	if len(gone) == 0 {
		return // this member is none of the group: it keeps no copy to go on with
	}
	var names []string
	for _, id := range gone {
		name, ok := p.names.Load(id)
		if !ok {
			name = id
		}
		names = append(names, name.(string))
	}
	slices.Sort(names)
	p.b.log.Warn("a stream waited for a member that was removed; its only copy goes on alone, with all that it holds",
		"stream", p.streamOf(group), "removed", strings.Join(names, ", "))
}

// streamOf names the stream that a group keeps, or whose consumer, else the group.
func (p *peering) streamOf(group string) string {
	info, err := p.server.Jsz(&server.JSzOptions{Account: server.DEFAULT_GLOBAL_ACCOUNT, Streams: true, Consumer: true, RaftGroups: true})
	if err != nil {
		return group
	}
	for _, a := range info.AccountDetails {
		for _, d := range a.Streams {
			is := func(c *server.RaftGroupDetail) bool { return c.RaftGroup == group }
			if d.RaftGroup == group || slices.ContainsFunc(d.ConsumerRaftGroups, is) {
				return d.Name
			}
		}
	}
	return group
}
