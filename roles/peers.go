package roles

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"jaque.sh/jaque/appliance/access"
	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/cluster"
	"jaque.sh/jaque/appliance/rule/veil"
	"jaque.sh/jaque/appliance/service"
)

// asMember takes over what the data folder says of a cluster, in a role that can embed
// the log: a member needs no flags for that, and what it is given must agree. An engine
// with another log would know nothing of the others, and run what they run.
func (s *Settings) asMember() error {
	if !s.Role.OwnLog || s.Data == "" {
		return nil
	}
	m, err := cluster.Read(s.Data)
	if errors.Is(err, cluster.ErrNone) {
		return nil
	}
	if s.EventLog != "embedded" && errors.Is(err, fs.ErrPermission) {
		return nil // another user's folder, which this process leaves alone
	}
	if err != nil {
		return err
	}
	n := &s.NATS
	switch {
	case s.EventLog != "embedded":
		return fmt.Errorf("-eventlog is %s and %s belongs to member %s of cluster %s, whose log the member keeps: an engine with another one would run and tell again what theirs do; "+
			"leave the flag out, or name another folder with -data", veil.Servers(s.EventLog), s.Data, m.ID, m.Cluster)
	case m.Witness:
		return fmt.Errorf("%s is the data folder of a witness, which runs no engine; start it with: jaque witness -data %s", s.Data, s.Data)
	case n.ClusterName != "" && n.ClusterName != m.Cluster:
		return fmt.Errorf("-cluster-name is %s and %s belongs to a member of cluster %s; leave the flag out, or name another folder with -data", n.ClusterName, s.Data, m.Cluster)
	case s.EngineID != m.ID && s.EngineID != s.Host:
		return fmt.Errorf("-engine-id is %s and %s belongs to member %s of cluster %s; leave the flag out, or name another folder with -data", s.EngineID, s.Data, m.ID, m.Cluster)
	}
	s.EngineID, n.ClusterName = m.ID, m.Cluster
	if n.ClusterListen == "" {
		n.ClusterListen = m.Listen
	}
	if len(n.ClusterPeers) == 0 {
		s.peersIn = cluster.File(s.Data)
	}
	m.Know(n.ClusterPeers...)
	n.ClusterPeers, s.lost = m.Peers, m.Lost
	s.member = true
	return nil
}

// joinPeers makes the embedded server of this process a member of a cluster, if the
// flags or the data folder ask for it. Its name there is the engine's.
func (a *appliance) joinPeers(b *bus.Options) error {
	n := a.s.NATS
	if n.ClusterName == "" {
		if n.ClusterListen != "" || len(n.ClusterPeers) > 0 {
			return errors.New("-cluster-listen and -cluster-peers need the name of the cluster: write -cluster-name too, or make this folder a member with `jaque cluster init` or `jaque cluster join`")
		}
		return nil
	}
	if n.ClusterListen == "" {
		return fmt.Errorf("-cluster-name %s needs an address at which the other members find this one: write -cluster-listen HOST:PORT too", n.ClusterName)
	}
	secure, err := a.peerTLS()
	if err != nil {
		return err
	}
	a.answerUnready() // a member waits for a quorum for as long as it takes
	a.peer = &cluster.Answers{
		Version: a.p.Version, Logger: a.p.Logger,
		Self: cluster.Member{Cluster: n.ClusterName, ID: a.s.EngineID, Listen: n.ClusterListen, Witness: a.s.Role.Name == Witness},
	}
	if a.s.Role.Name != Witness {
		a.peer.Engines, a.peer.Driller = a.sharing, drilling{a}
	}
	if a.s.member {
		a.peer.Data = a.s.Data
	}
	users := &cluster.Sharing{Self: a.s.EngineID, Users: access.In(a.s.Data), Logger: a.p.Logger}
	a.peer.Users, a.peerUsers = users.List, users
	b.Peered = func(b *bus.Bus) {
		a.peer.Conn, a.peer.Keeper = b.Conn(), b
		if err := a.peer.Listen(); err != nil { // once the member has started it is tried again
			a.p.Logger.Warn("commands are not answered while this member waits for its cluster", "err", err)
		}
	}
	b.ServerName, b.Waiting = a.s.EngineID, a.waitsFor
	b.Cluster = &bus.Cluster{Name: n.ClusterName, Listen: n.ClusterListen, Peers: n.ClusterPeers, PeersIn: a.s.peersIn, Lost: a.s.lost, TLS: secure}
	return nil
}

// withPeers adds to what is not ready what the engine waits for before it shares the
// objects, and why this member of a cluster is no good reason to stop another one: whoever
// restarts them one after the other waits for it.
func (a *appliance) withPeers(unready []string) []string {
	if s, ok := a.store.(interface{ Waiting() string }); ok && a.engine != nil && !a.live.Load() {
		if text := s.Waiting(); text != "" {
			unready = append(unready, text)
		}
	}
	if a.bus == nil {
		return unready
	}
	for _, text := range a.bus.Unready() {
		if !slices.Contains(unready, text) {
			unready = append(unready, text)
		}
	}
	return unready
}

// electionTTL is the shortest -heartbeat-ttl that outlives the choice of another leader
// of the cluster in any case: that takes up to 2 s and a moment, the last heartbeat may be a
// third of the TTL old then, and the one that the dead leader left without an answer costs
// a sixth. Mostly a leader is found after 1 to 1.7 s, which 3 s outlive.
const electionTTL = 5 * time.Second

// warnOfTTL says when an engine would end with the member that leads.
func (a *appliance) warnOfTTL() {
	if ttl := a.s.HeartbeatTTL; ttl < electionTTL && a.s.Role.Name != Witness {
		a.p.Logger.Warn("when the leader of the cluster dies, choosing another one can take longer than -heartbeat-ttl, and then every engine ends itself; "+
			"leave the flag out (10s) or write more", "heartbeat-ttl", ttl, "least", electionTTL)
	}
}

// openDoor answers the other members and commands, and lets further machines join the
// cluster while a token is out.
func (a *appliance) openDoor(context.Context) error {
	if a.bus == nil || !a.bus.Clustered() {
		return nil
	}
	a.warnOfTTL()
	answers, users := a.peer, a.peerUsers
	if users.Conn = a.bus.Conn(); answers.Conn == nil { // it was let in just now
		answers.Conn, answers.Keeper = a.bus.Conn(), a.bus
	}
	a.add(service.Service{Name: "cluster", Needs: []string{"bus"}, Run: answers.Run})
	a.add(service.Service{Name: "cluster-users", Needs: []string{"bus"}, Run: users.Run})
	if !a.s.member {
		return nil
	}
	d := &cluster.Door{Data: a.s.Data, Logger: a.p.Logger, Joined: answers.Remember, Members: a.memberNames, Standing: answers.Standing}
	a.add(service.Service{Name: "cluster-door", Needs: []string{"bus"}, Run: d.Run})
	return nil
}

// memberNames are the ids of the cluster's members.
func (a *appliance) memberNames(ctx context.Context) ([]string, error) {
	st, err := a.bus.Status(ctx)
	if err != nil {
		return nil, err
	}
	if !st.Quorum {
		return nil, bus.ErrNoQuorum
	}
	ids := make([]string, len(st.Members))
	for i, m := range st.Members {
		ids[i] = m.Name
	}
	return ids, nil
}

// sharing tells the cluster how the engines share the objects, as this one sees it;
// nil before it has joined them.
func (a *appliance) sharing() *cluster.Engines {
	if !a.live.Load() {
		return nil
	}
	view := a.members()
	e := &cluster.Engines{Epoch: uint64(view.Epoch)}
	var silent map[string]time.Time
	if s, ok := a.store.(interface{ Silent() map[string]time.Time }); ok {
		silent = s.Silent()
	}
	for _, n := range a.shares.of(a.proj.Set(), view, a.engines.all(), time.Now()) {
		e.Members = append(e.Members, cluster.Engine{ID: n.ID, Live: n.Live, Objects: n.Objects, Generation: n.Generation, Expires: silent[n.ID]})
	}
	return e
}

// peerTLS is how members of the cluster know each other: by certificates of the
// authority in the data folder, else of that of -nats-tls-ca, which must sign for nobody
// else.
func (a *appliance) peerTLS() (*tls.Config, error) {
	if a.s.member {
		own, err := cluster.Authority(a.s.Data)
		if err != nil {
			return nil, err
		}
		return own.Peer(a.s.EngineID)
	}
	c, err := a.s.NATS.tlsConfig()
	if err != nil {
		return nil, err
	}
	if c == nil || len(c.Certificates) == 0 || c.RootCAs == nil {
		return nil, fmt.Errorf("-cluster-name %s needs certificates by which the members know each other: name this member's with -nats-tls-cert and -nats-tls-key and the cluster's own authority with -nats-tls-ca",
			a.s.NATS.ClusterName)
	}
	return c, nil
}
