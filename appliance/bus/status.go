package bus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
)

// statusWait bounds the answers of the streams' leaders to one question about all.
const statusWait = 3 * time.Second

// mostReplicas is how many members keep a stream when there are enough.
const mostReplicas = 3

// view is what this member knows by itself, without asking others.
type view struct {
	Leader  string
	Size    int // members of the cluster; 0 = not known yet
	Members []Member
	Online  int  // members that can be reached, with this one
	rescued bool // the quorum was lowered
}

// quorum tells whether more than half of the members agree.
func (v view) quorum() bool { return v.Leader != "" && 2*v.Online > v.Size }

// wanted is how many replicas every stream shall have.
func (v view) wanted() int { return min(mostReplicas, max(v.Size, 1)) }

// find returns the place of a member, -1 if there is none of that name.
func (v view) find(name string) int {
	id := memberID(name)
	return slices.IndexFunc(v.Members, func(m Member) bool { return m.id == id })
}

// online tells of each member whether it can be reached.
func (v view) online() map[string]bool {
	all := map[string]bool{}
	for _, m := range v.Members {
		all[m.Name] = m.Online
	}
	return all
}

// away names the members that cannot be reached.
func (v view) away() []string {
	var list []string
	for _, m := range v.Members {
		if !m.Online {
			list = append(list, m.Name)
		}
	}
	return list
}

// look reads what the server knows about its group.
func (p *peering) look() view {
	info, err := p.server.Jsz(nil)
	if err != nil || info.Meta == nil {
		return view{}
	}
	self := p.server.Name()
	v := view{Leader: info.Meta.Leader, Size: info.Meta.Size, rescued: info.Meta.Rescue}
	if v.Size == unadmitted {
		v.Size = 0 // not let in yet
		return v
	}
	peers := p.connected()
	add := func(m Member) {
		if !slices.ContainsFunc(v.Members, func(o Member) bool { return o.id == m.id }) {
			v.Members = append(v.Members, m)
		}
	}
	add(Member{id: memberID(self), Name: self, Online: true, Current: p.server.JetStreamIsCurrent()})
	for _, r := range info.Meta.Replicas {
		name := p.nameOf(r.Name, r.Peer)
		add(Member{id: r.Peer, Name: name, Online: peers[name], Current: r.Current, Seen: max(r.Active, 0), Lag: r.Lag})
	}
	if v.Leader != "" {
		add(Member{id: memberID(v.Leader), Name: v.Leader, Online: peers[v.Leader], Current: true})
	}
	slices.SortFunc(v.Members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	for _, m := range v.Members {
		if m.Online {
			v.Online++
		}
	}
	return v
}

// nameOf is the name of a member, which the server may not have heard since its start.
func (p *peering) nameOf(name, id string) string {
	if !strings.Contains(name, " ") {
		p.names.Store(id, name)
		return name
	}
	if known, ok := p.names.Load(id); ok {
		return known.(string)
	}
	return "(not seen yet: " + id + ")"
}

// named is the name of a member in an answer of the server, which writes the id of one that
// it has not heard since its start into a sentence.
func (p *peering) named(name string) string {
	_, rest, ok := strings.Cut(name, "(peerID: ")
	if !ok {
		return name
	}
	return p.nameOf(name, strings.TrimSuffix(rest, ")"))
}

// connected are the names of the servers that are connected to this one.
func (p *peering) connected() map[string]bool {
	names := map[string]bool{}
	routes, err := p.server.Routez(nil)
	if err != nil {
		return names
	}
	for _, r := range routes.Routes {
		names[r.RemoteName] = true
	}
	return names
}

// Status tells who is in the cluster and who keeps what. It asks the streams' leaders
// and waits up to three seconds for them.
func (b *Bus) Status(ctx context.Context) (Status, error) {
	if !b.Clustered() {
		return Status{}, ErrNoCluster
	}
	p := b.embed.peering
	v := p.look()
	s := Status{
		Cluster: p.at.Name, Self: p.server.Name(), Leader: v.Leader, Quorum: v.quorum(), Wanted: v.wanted(), Members: v.Members,
		Missing: p.lost(time.Now()),
	}
	ctx, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	var err error
	s.Streams, err = p.streams(ctx, s.Quorum)
	return s, err
}

// looks is how often the leaders are asked while a replica lacks only a little: it has
// everything if it did at one of them, and otherwise it is not being told of anything.
const (
	looks      = 5
	looksApart = 30 * time.Millisecond
)

// recall returns a status with the replicas that were current at an earlier look, if the
// same leader is still there.
func (s StreamStatus) recall(earlier StreamStatus) StreamStatus {
	for i, r := range s.Others {
		s.Others[i].Current = r.Current || s.Leader == earlier.Leader && !r.Offline && r.near() &&
			slices.ContainsFunc(earlier.Others, func(o Replica) bool { return o.Name == r.Name && o.Current })
	}
	return s
}

// streams returns what the leaders say, else what this member knows.
func (p *peering) streams(ctx context.Context, ask bool) ([]StreamStatus, error) {
	info, err := p.server.Jsz(&server.JSzOptions{Account: server.DEFAULT_GLOBAL_ACCOUNT, Streams: true, Config: true})
	if err != nil {
		return nil, fmt.Errorf("look at the streams: %w", err)
	}
	known := map[string]StreamStatus{}
	for _, a := range info.AccountDetails {
		for _, d := range a.Streams {
			s := StreamStatus{Name: d.Name, Last: d.State.LastSeq, Bytes: d.State.Bytes}
			if d.Config != nil {
				s.Replicas = d.Config.Replicas
			}
			if d.Cluster != nil {
				s.Leader, s.Moving = d.Cluster.Leader, d.Cluster.Desired != nil
				for _, r := range d.Cluster.Replicas {
					s.Others = append(s.Others, Replica{Name: p.nameOf(r.Name, r.Peer), Current: r.Current, Offline: r.Offline, Lag: r.Lag})
				}
				if d.Cluster.RaftGroup == "" && s.Replicas > 1 && time.Since(p.began) < gatherMost {
					s.Leader = "" // at a start the server names itself until its copy takes part
				}
			}
			known[d.Name] = s.single()
		}
	}
	if ask && p.b.able.Load() {
		var all []*jetstream.StreamInfo
		said := map[string]StreamStatus{} // by the leaders
		for range looks {
			if all, err = p.list(ctx); err != nil {
				break
			}
			busy := false
			for _, i := range all {
				s := p.statusOf(i).recall(said[i.Config.Name])
				said[s.Name] = s
				busy = busy || slices.ContainsFunc(s.Others, func(r Replica) bool { return !r.Current && !r.Offline && r.near() })
			}
			if !busy {
				break
			}
			select {
			case <-ctx.Done():
			case <-time.After(looksApart):
			}
		}
		maps.Copy(known, said)
	}
	list := make([]StreamStatus, 0, len(known))
	for _, s := range known {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b StreamStatus) int { return strings.Compare(a.Name, b.Name) })
	return list, err
}

// list asks for all streams of the cluster.
func (p *peering) list(ctx context.Context) ([]*jetstream.StreamInfo, error) {
	var all []*jetstream.StreamInfo
	l := p.b.js.ListStreams(ctx)
	for i := range l.Info() {
		all = append(all, i)
	}
	if err := l.Err(); err != nil && !errors.Is(err, jetstream.ErrEndOfData) {
		return all, fmt.Errorf("list the streams of the cluster: %w", err)
	}
	return all, nil
}

func (p *peering) statusOf(i *jetstream.StreamInfo) StreamStatus {
	s := StreamStatus{Name: i.Config.Name, Replicas: i.Config.Replicas, Last: i.State.LastSeq, Bytes: i.State.Bytes}
	if i.Cluster != nil {
		s.Leader, s.Moving = i.Cluster.Leader, i.Cluster.Desired != nil
		for _, r := range i.Cluster.Replicas {
			s.Others = append(s.Others, Replica{Name: p.named(r.Name), Current: r.Current, Offline: r.Offline, Lag: r.Lag})
		}
	}
	return s.single()
}

// single names the only keeper of a stream as its leader, whom the server names a
// replica without a leader after others were removed by force.
func (s StreamStatus) single() StreamStatus {
	if s.Leader == "" && s.Replicas == 1 && len(s.Others) == 1 && s.Others[0].Current && !s.Others[0].Offline {
		s.Leader, s.Others = s.Others[0].Name, nil
	}
	return s
}

// names of members by their ids, as they were last heard.
type memberNames = sync.Map

// lastSeen returns how the members stood when they were last looked at, and what is to be
// said of streams without a leader.
func (p *peering) lastSeen() (v view, unled string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen, p.unled
}

// unledYet says what lastSeen says, as it was at the last look: it may be over in a moment.
func (p *peering) unledYet() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unledNow
}

// Trouble says in sentences what keeps this member's log from being written, or what its
// start waits for: nothing while the cluster has a quorum and its streams their leaders,
// and nothing without a cluster.
func (b *Bus) Trouble() []string {
	if !b.Clustered() {
		return nil
	}
	if text := b.awaits.Load(); text != nil {
		return []string{*text}
	}
	p := b.embed.peering
	v, unled := p.lastSeen()
	if v.Size == 0 || v.quorum() && unled == "" {
		return nil
	}
	if v.quorum() {
		return []string{unled}
	}
	return []string{v.noQuorum(p.at.Name)}
}

// noQuorum says in a sentence what is missing and what follows.
func (v view) noQuorum(cluster string) string {
	if 2*v.Online > v.Size {
		return fmt.Sprintf("the cluster %s is choosing a leader: nothing is written until there is one", cluster)
	}
	return fmt.Sprintf("the cluster %s has no quorum: %d of %d members can be reached, %s cannot; nothing is written until more than half are there",
		cluster, v.Online, v.Size, strings.Join(v.away(), " and "))
}
