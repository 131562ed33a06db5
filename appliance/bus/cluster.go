package bus

import (
	"context"
	"crypto/tls"
	"errors"
	"slices"
	"time"
)

// Cluster makes the embedded server a member of a cluster of servers, which keep
// the streams together. The server's name in it is Options.ServerName and must be
// another one in every member.
//
// A folder without a cluster of its own, with no peers named, founds one: a cluster
// of one, which keeps every stream with its positions. With peers an empty folder
// joins theirs and gets the streams from them. A folder that is a member already
// goes on as one; its peers then only say where the others may be found. A folder
// that holds a log and is no member does not join others: its log would be lost.
type Cluster struct {
	// Name of the cluster. A peer of another name is refused.
	Name string
	// Listen is host:port where peers connect; port 0 = any free one, as
	// Bus.ClusterAddress tells.
	Listen string
	// Advertise is the host:port that peers are told of; "" = Listen.
	Advertise string
	// Peers are host:port of other members. One that is reached tells of the rest.
	Peers []string
	// PeersIn is the file that names the peers, for errors; "" = -cluster-peers does.
	PeersIn string
	// Lost names members that are gone for good: they are removed at this start as
	// RemoveLost does, for a survivor that was stopped meanwhile. Those that are removed
	// already do not matter.
	Lost []string
	// TLS holds this member's certificate and, as RootCAs, the cluster's own
	// authority: who has a certificate of it is a peer, at whatever address.
	TLS *tls.Config
}

// Status is what a member knows of its cluster.
type Status struct {
	Cluster string // name; "" = this server is no member of a cluster
	Self    string // name of this member
	Leader  string // member that decides about membership and placement; "" = none, and so no quorum
	// Quorum says that more than half of the members agree. Without it nothing is
	// written anywhere, and nothing that was acknowledged is lost.
	Quorum bool
	// Wanted is how many replicas every stream shall have: one per member, three at most.
	Wanted  int
	Members []Member // by name
	// Streams by name; what a stream's leader did not say within the time is as this
	// member knows it.
	Streams []StreamStatus
	// Missing says in sentences what was acknowledged and may be lost by a removal of
	// members as gone for good, for a while after it.
	Missing []string
}

// Member is one server of a cluster.
type Member struct {
	Name    string
	Online  bool          // it answers
	Current bool          // it has all decisions about membership; only the leader knows of others
	Seen    time.Duration // how long ago it was heard of; 0 = just now, or unknown
	Lag     uint64        // decisions about membership that it does not have yet
	id      string        // the server's
}

// StreamStatus is one stream and who keeps it.
type StreamStatus struct {
	Name     string
	Replicas int // as the stream is declared
	Leader   string
	Last     uint64 // last position
	Bytes    uint64
	Others   []Replica // those beside the leader; all of them without a leader
	// Moving: the cluster is still changing who keeps it. Until that is over the newest
	// appends may stand on fewer disks than Replicas says.
	Moving bool
}

// Whole tells whether all wanted replicas are there and have everything. One that was
// just added may lack a handful of entries and be empty all the same: no number of them
// is small enough, and an empty one elects nobody.
func (s StreamStatus) Whole(wanted int) bool {
	return s.kept(wanted, func(r Replica) bool { return r.Current })
}

// kept tells whether all wanted replicas are there and are as they should be.
func (s StreamStatus) kept(wanted int, good func(Replica) bool) bool {
	if s.Leader == "" || s.Moving && wanted > 1 || s.Replicas != wanted || len(s.Others) != wanted-1 {
		return false
	}
	return !slices.ContainsFunc(s.Others, func(r Replica) bool { return r.Offline || !good(r) })
}

// near tells whether a replica that had everything still follows: under load there is
// always an append in flight.
func (r Replica) near() bool { return r.Current || r.Lag <= replicaSlack }

// replicaSlack is how many appends a replica that had everything may be behind and still
// be called whole.
const replicaSlack = 1000

// Replica is one copy of a stream beside the leader's.
type Replica struct {
	Name    string
	Current bool // it has, or had a moment ago, all that is committed
	Offline bool
	Lag     uint64 // appends that it does not have yet
}

// Errors of a cluster.
var (
	// ErrNoCluster: the server of this process is no member of a cluster.
	ErrNoCluster = errors.New("this server is no member of a cluster")
	// ErrNoQuorum: not more than half of the members can be reached.
	ErrNoQuorum = errors.New("no quorum: not more than half of the cluster's members can be reached")
	// ErrNoMember: the cluster has no member of that name.
	ErrNoMember = errors.New("no such member of the cluster")
	// ErrRemoved: this member was removed from its cluster and ends. Its folder is of
	// no use any more.
	ErrRemoved = errors.New("this member was removed from the cluster")
)

// ClusterAddress returns where peers reach the embedded server, "" if it is no member
// of a cluster.
func (b *Bus) ClusterAddress() string {
	if b.embed == nil || b.embed.peering == nil {
		return ""
	}
	return b.embed.peering.address()
}

// Clustered tells whether the embedded server is a member of a cluster.
func (b *Bus) Clustered() bool { return b.embed != nil && b.embed.peering != nil }

// Moved returns a channel that is closed when a member of the cluster cannot be reached
// any more: what this process reads through that one is silent from then on, and must be
// asked for anew. Without a cluster it is nil.
func (b *Bus) Moved() <-chan struct{} {
	if !b.Clustered() {
		return nil
	}
	p := b.embed.peering
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.moved
}

// Remove takes a member out of the cluster: streams give up its replicas, and its
// process ends with ErrRemoved if it runs. A name that is removed may come back, with
// an empty folder, after five minutes, as Barred tells. It needs a quorum; the last member cannot be
// removed. While that could lose what was acknowledged it fails with ErrBehind and changes
// nothing. It returns when the removal is decided; replicas follow, as Status tells.
func (b *Bus) Remove(ctx context.Context, name string) error {
	if !b.Clustered() {
		return ErrNoCluster
	}
	return b.embed.peering.remove(ctx, name)
}

// RemoveLost takes members out that are gone for good when so many are gone that there
// is no quorum: this member alone says what holds from now on. It is for an operator who
// knows that those members do not run and never will again with their folders: if one
// does, two clusters write two logs. What had been acknowledged is kept if the members
// that can be reached had it; with two members this one had all of it. What may be missing
// is told by Status and in the log. With a quorum it removes a member that Remove refuses to
// take out with ErrBehind.
func (b *Bus) RemoveLost(ctx context.Context, names ...string) error {
	if !b.Clustered() {
		return ErrNoCluster
	}
	return b.embed.peering.removeLost(ctx, names)
}
