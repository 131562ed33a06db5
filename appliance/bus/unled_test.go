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

// Who keeps no copy of a stream hears from those who do that it has no leader.
func TestAStreamThatIsKeptElsewhereIsLookedAtThere(t *testing.T) {
	t.Parallel()
	online := map[string]bool{"c": true, "d": true, "e": true}
	word := func(leader string) copyWord {
		return copyWord{Member: "c", Streams: []StreamStatus{{Name: "MEMBERS", Replicas: 3, Leader: leader, Others: []Replica{{Name: "a"}, {Name: "b"}}}}}
	}
	here := []StreamStatus{{Name: "LOG", Leader: "d"}}
	members := []Member{{Name: "a"}, {Name: "b"}, {Name: "c", Online: true}, {Name: "d", Online: true}, {Name: "e", Online: true}}
	for _, c := range []struct {
		name  string
		words []copyWord
		want  string
	}{
		{"nobody says anything", []copyWord{{Member: "d"}}, ""},
		{"it has a leader", []copyWord{{Member: "d"}, word("c")}, ""},
		{"it has none", []copyWord{{Member: "d"}, word("")}, "nothing is written to MEMBERS at present, which has no leader; its copies are at a and b and c, of which a and b cannot be reached: start a and b again with their data folders"},
		{"its leader is away", []copyWord{word("a")}, "nothing is written to MEMBERS at present, which has no leader; its copies are at a and b and c, of which a and b cannot be reached: start a and b again with their data folders"},
	} {
		s := Status{Self: "e", Quorum: true, Members: members, Streams: withElsewhere(here, c.words, []string{"LOG", "MEMBERS", "RESULTS"}, online)}
		if got := s.Unled(); got != c.want {
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
