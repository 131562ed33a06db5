package bus

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

func TestStreamsWithoutALeaderAreNamed(t *testing.T) {
	t.Parallel()
	members := []Member{{Name: "a", Online: true}, {Name: "b"}, {Name: "c", Online: true}}
	led := StreamStatus{Name: "LOG", Leader: "a", Others: []Replica{{Name: "b"}}}
	waits := StreamStatus{Name: "LOG", Others: []Replica{{Name: "b"}}}
	for _, c := range []struct {
		name string
		give Status
		want string
	}{
		{"every stream has a leader", Status{Self: "a", Quorum: true, Members: members, Streams: []StreamStatus{led}}, ""},
		{"without a quorum that is told instead", Status{Self: "a", Members: members, Streams: []StreamStatus{waits}}, ""},
		{
			"one of two copies is away",
			Status{Self: "a", Quorum: true, Members: members, Streams: []StreamStatus{waits}},
			"nothing is written to LOG at present, which has no leader; its copies are at a and b, of which b cannot be reached: start b again with its data folder",
		},
		{
			"both are there",
			Status{Self: "a", Quorum: true, Members: members, Streams: []StreamStatus{{Name: "LOG", Others: []Replica{{Name: "c"}}}}},
			"nothing is written to LOG at present, which has no leader; its copies are at a and c; they choose one",
		},
		{
			"several",
			Status{Self: "a", Quorum: true, Members: members, Streams: []StreamStatus{waits, {Name: "STATE", Others: []Replica{{Name: "b"}}}}},
			"nothing is written to LOG, STATE at present, which have no leader; their copies are at a and b, of which b cannot be reached: start b again with its data folder",
		},
	} {
		if got := c.give.Unled(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// What a start ends with says of whom it heard nothing.
func TestAStartWhoseStreamsDoNotAnswerNamesWhoIsAway(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "ca")
	a := ca.join(t, "a", t.TempDir())
	p := a.embed.peering
	err := p.silent(nats.ErrNoResponders, time.Minute)
	if !errors.Is(err, nats.ErrNoResponders) || !strings.Contains(err.Error(), "the streams of cluster test have not answered within 1m0s (nats: no responders available for request): its members can be reached") {
		t.Error(err)
	}
	b := ca.join(t, "b", t.TempDir(), a.ClusterAddress())
	b.whole(t, 2)
	b.stop(t)
	until(t, "b is away", func() bool { return len(p.look().away()) == 1 })
	if err := p.silent(nats.ErrNoResponders, time.Minute); !strings.Contains(err.Error(), "b cannot be reached; nothing is lost: start the members that are away") {
		t.Error(err)
	}
}
