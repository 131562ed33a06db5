package bus

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// A replica that was just added is behind by few entries and may be empty: however few,
// it is not there until it has had everything once.
func TestAStreamIsWholeOnceEveryReplicaHasHadEverything(t *testing.T) {
	t.Parallel()
	of := func(leader string, others ...Replica) StreamStatus {
		return StreamStatus{Name: "LOG", Leader: leader, Replicas: 3, Others: others}
	}
	full, little, far, off := Replica{Name: "c", Current: true}, Replica{Name: "c", Lag: 4}, Replica{Name: "c", Lag: 5000}, Replica{Name: "c", Offline: true, Current: true}
	b := Replica{Name: "b", Current: true}
	for name, c := range map[string]struct {
		earlier, now StreamStatus
		whole, kept  bool
	}{
		"all have everything":                          {StreamStatus{}, of("a", b, full), true, true},
		"one lacks four entries":                       {StreamStatus{}, of("a", b, little), false, true},
		"it had everything a moment ago":               {of("a", b, full), of("a", b, little), true, true},
		"it had, and another one leads":                {of("b", b, full), of("a", b, little), false, true},
		"it had, and lacks thousands":                  {of("a", b, full), of("a", b, far), false, false},
		"it had, and cannot be reached":                {of("a", b, full), of("a", b, off), false, false},
		"another one had":                              {of("a", full, little), of("a", b, Replica{Name: "d", Lag: 1}), false, true},
		"one is missing":                               {StreamStatus{}, of("a", b), false, false},
		"nobody leads":                                 {StreamStatus{}, of("", b, full), false, false},
		"the cluster still changes who keeps a stream": {StreamStatus{}, StreamStatus{Leader: "a", Replicas: 3, Moving: true, Others: []Replica{b, full}}, false, false},
	} {
		if got := c.now.recall(c.earlier); got.Whole(3) != c.whole || got.kept(3, Replica.near) != c.kept {
			t.Errorf("%s: whole %v, kept %v, want %v and %v", name, got.Whole(3), got.kept(3, Replica.near), c.whole, c.kept)
		}
	}
}

// Whoever leads a stream is not removed while a copy lacks something of it.
func TestALeaderStaysUntilTheCopiesHaveEverything(t *testing.T) {
	t.Parallel()
	full, lags := Replica{Name: "b", Current: true}, Replica{Name: "c", Lag: 4}
	for name, c := range map[string]struct {
		leader string
		others []Replica
		want   string
	}{
		"all have everything":                    {"a", []Replica{full}, ""},
		"another member leads":                   {"b", []Replica{lags}, ""},
		"a copy lacks something":                 {"a", []Replica{full, lags}, "c"},
		"the copy that lacks something is away":  {"a", []Replica{full, {Name: "c", Offline: true}}, ""},
		"the only copy is away":                  {"a", []Replica{{Name: "c", Offline: true, Current: true}}, "c"},
		"nobody else keeps it":                   {"a", nil, ""},
		"nobody leads, which a removal may mend": {"", []Replica{lags}, ""},
	} {
		if got := strings.Join((StreamStatus{Name: "LOG", Leader: c.leader, Others: c.others}).lacking("a"), " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// After a start the server does not know the names of members that are away; the folder does.
func TestAReplicaOfAMemberThatIsAwayHasItsName(t *testing.T) {
	t.Parallel()
	p := &peering{}
	p.names.Store(memberID("b"), "b")
	unknown := func(id string) *jetstream.PeerInfo {
		return &jetstream.PeerInfo{Name: "Server name unknown at this time (peerID: " + id + ")", Offline: true}
	}
	s := p.statusOf(&jetstream.StreamInfo{
		Config:  jetstream.StreamConfig{Name: "LOG", Replicas: 3},
		Cluster: &jetstream.ClusterInfo{Leader: "a", Replicas: []*jetstream.PeerInfo{unknown(memberID("b")), unknown("44jzkV9D")}},
	})
	if len(s.Others) != 2 || s.Others[0].Name != "b" || s.Others[1].Name != "(not seen yet: 44jzkV9D)" {
		t.Errorf("the replicas are %+v", s.Others)
	}
}
