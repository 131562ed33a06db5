package bus

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"jaque.sh/jaque/appliance/listen/listentest"
)

// three opens a cluster of three with every stream on all of them.
func three(t *testing.T, ca *peerAuthority) (a, b, c *node) {
	t.Helper()
	a = ca.join(t, "a", t.TempDir())
	b = ca.join(t, "b", t.TempDir(), a.ClusterAddress())
	c = ca.join(t, "c", t.TempDir(), a.ClusterAddress())
	a.o.Cluster.Peers = []string{b.ClusterAddress(), c.ClusterAddress()} // from the next start on
	a.whole(t, 3)
	return a, b, c
}

func TestWithoutAQuorumNothingIsWrittenAndNothingIsLost(t *testing.T) {
	t.Parallel()
	a, b, c := three(t, newAuthority(t, "ca"))
	b.append(t, 20)
	b.stop(t)
	last := a.append(t, 5) // two of three go on
	if got := a.Trouble(); len(got) != 0 {
		t.Errorf("trouble of a cluster with a quorum: %q", got)
	}
	c.stop(t)
	a.misses(t, "1 of 3 members can be reached, b and c cannot")
	if got := testutil.ToFloat64(a.metrics.quorum); got != 0 {
		t.Errorf("jaque_bus_quorum = %v", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	if r, err := a.JetStream().Publish(ctx, "jaque.log.x", []byte("x")); err == nil {
		t.Errorf("an append without a quorum is acknowledged at %d", r.Sequence)
	}
	cancel()
	if err := a.Remove(t.Context(), "b"); !errors.Is(err, ErrNoQuorum) {
		t.Errorf("a removal without a quorum: %v", err)
	}
	if s, err := a.Status(t.Context()); err != nil || s.Quorum || len(s.Members) != 3 || len(s.Streams) == 0 {
		t.Errorf("status without a quorum = %+v, %v", s, err)
	}
	b.open(t)
	c.open(t)
	until(t, "the quorum is back", func() bool { return len(a.Trouble()) == 0 })
	a.whole(t, 3)
	now := c.append(t, 5)
	c.holds(t, now)
	if now < last+5 {
		t.Errorf("the log ends at %d, and %d was acknowledged before", now, last)
	}
}

// misses waits until a member says whom it cannot reach, and nothing else. Before it does,
// it may say that a leader is being chosen.
func (n *node) misses(t *testing.T, who string) {
	t.Helper()
	var got []string
	defer func() {
		if t.Failed() {
			t.Logf("the trouble of %s is %q", n.o.ServerName, got)
		}
	}()
	until(t, who, func() bool {
		got = n.Trouble()
		return len(got) == 1 && strings.Contains(got[0], who)
	})
}

func TestMembersThatAreGoneForGoodAreRemovedByAnOperatorAlone(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "ca")
	a := ca.join(t, "a", t.TempDir())
	b := ca.join(t, "b", t.TempDir(), a.ClusterAddress())
	b.whole(t, 2)
	last := b.append(t, 20)
	if err := b.RemoveLost(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "connected") {
		t.Errorf("a member that runs: %v", err)
	}
	a.stop(t)
	b.misses(t, "1 of 2 members can be reached, a cannot")
	if err := b.RemoveLost(t.Context(), "z"); !errors.Is(err, ErrNoMember) || !strings.Contains(err.Error(), "a, b") {
		t.Errorf("somebody else: %v", err)
	}
	if err := b.RemoveLost(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	b.whole(t, 1)
	now := b.append(t, 5)
	b.holds(t, now)
	c := ca.join(t, "c", t.TempDir(), b.ClusterAddress())
	c.whole(t, 2)
	c.holds(t, now)
	if now < last+5 {
		t.Errorf("the log ends at %d, and %d was acknowledged before", now, last)
	}
}

// twoStopped returns two members that ran together and were stopped, and where their log
// ends.
func twoStopped(t *testing.T) (a, b *node, last uint64) {
	t.Helper()
	ca := newAuthority(t, "ca")
	a = ca.join(t, "a", t.TempDir())
	b = ca.join(t, "b", t.TempDir(), a.ClusterAddress())
	b.whole(t, 2)
	last = b.append(t, 20)
	a.stop(t)
	b.stop(t)
	return a, b, last
}

func TestASurvivorOfTwoThatWasStoppedIsStartedWithoutTheOther(t *testing.T) {
	t.Parallel()
	_, b, last := twoStopped(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	b.o.Registerer = nil
	if _, err := Open(ctx, b.o); !errors.Is(err, ErrNoQuorum) {
		t.Errorf("a member of two alone: %v", err)
	}
	cancel()
	b.o.Cluster.Lost = []string{"a", "somebody who was removed long ago"}
	b.open(t)
	b.whole(t, 1)
	if now := b.append(t, 5); now != last+5 {
		t.Errorf("the log goes on at %d behind %d", now, last)
	}
}

func TestWhoIsNoPeerIsRefusedAndNamed(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "ca")
	a := ca.join(t, "a", t.TempDir())
	for _, c := range []struct {
		name   string
		ca     *peerAuthority
		change func(*Options)
		want   string
	}{
		{"of another authority", newAuthority(t, "other"), func(*Options) {}, "no certificate of the other's cluster authority"},
		{"of another cluster", ca, func(o *Options) { o.Cluster.Name = "other" }, "belongs to a cluster of another name"},
		{"with the name of a member", ca, func(o *Options) { o.ServerName = "a" }, "a member with its name is here already"},
	} {
		o := Options{Data: t.TempDir(), ServerName: "x", Cluster: &Cluster{
			Name: "test", Listen: listentest.Address(t), Peers: []string{a.ClusterAddress()}, TLS: c.ca.member(t, "x"),
		}}
		c.change(&o)
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() {
			b, err := Open(ctx, o)
			if b != nil {
				_ = b.Close(context.Background())
			}
			over <- err
		}()
		a.log.until(t, c.want)
		cancel()
		if err := <-over; !errors.Is(err, ErrNoQuorum) {
			t.Errorf("a peer %s: %v", c.name, err)
		}
	}
	if s, err := a.Status(t.Context()); err != nil || len(s.Members) != 1 {
		t.Errorf("members = %+v, %v", s.Members, err)
	}
}

func TestAFolderIsNotTakenForAnother(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "ca")
	own := t.TempDir()
	b := open(t, Options{Data: own})
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, removed, broken := t.TempDir(), t.TempDir(), t.TempDir()
	if err := writePeers(metaOf(left), 3, memberID("a"), memberID("b"), memberID("c")); err != nil {
		t.Fatal(err)
	}
	if err := noteRemoval(removed, "test", "a"); err != nil {
		t.Fatal(err)
	}
	alone, noted, out := t.TempDir(), t.TempDir(), t.TempDir()
	for folder, note := range map[string]string{alone: "", noted: `{"self":"z"}`, out: `{"self":"a","members":["a","z"]}`} {
		if err := os.MkdirAll(filepath.Join(folder, storeFolder, "$G", "streams", "JAQUE_LOG"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, membersFile), []byte(note), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := writePeers(metaOf(folder), 1, memberID("z")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(metaOf(broken), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(metaOf(broken), peersFile), []byte{1, 2}, 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(peers ...string) *Cluster {
		return &Cluster{Name: "test", Listen: listentest.Address(t), Peers: peers, TLS: ca.member(t, "a")}
	}
	told := at("127.0.0.1:1")
	told.PeersIn = filepath.Join(own, "cluster", "member.json")
	for _, c := range []struct {
		name, data string
		cluster    *Cluster
		want       string
	}{
		{"a log of its own joins no other", own, at("127.0.0.1:1"), "holds a log of its own"},
		{"a log of its own joins no other that a flag names", own, at("127.0.0.1:1"), "start it once without -cluster-peers"},
		{"a log of its own joins no other that a file names", own, told, "127.0.0.1:1, as " + told.PeersIn + " says; to found the cluster anew with this log"},
		{"a member of three does not go on alone", left, nil, "a member of a cluster of 3"},
		{"a removed member does not come back", removed, at(), "move it away"},
		{"a removed member's folder is no log", removed, nil, "move it away"},
		{"a removed member's folder of which that was not noted", out, at(), "a was taken out of cluster test by an operator"},
		{"it is noted now", out, at(), "move it away and join again"},
		{"another member's folder", noted, at(), "start it with -engine-id z"},
		{"another one's folder or a removed one's", alone, at(), "if it was removed, move the folder away"},
		{"unreadable membership", broken, at(), "restore the folder"},
		{"no name of the cluster", t.TempDir(), &Cluster{Listen: "127.0.0.1:0"}, "-cluster-name"},
		{"no port", t.TempDir(), &Cluster{Name: "test", Listen: "127.0.0.1"}, "host:port"},
		{"no certificates", t.TempDir(), &Cluster{Name: "test", Listen: listentest.Address(t)}, "authority"},
		{"a peer without a port", t.TempDir(), at("b"), "host:port"},
	} {
		x, err := Open(t.Context(), Options{Data: c.data, ServerName: "a", Cluster: c.cluster})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if x != nil {
			_ = x.Close(t.Context())
		}
	}
	if left, _ := filepath.Glob(filepath.Join(own, storeFolder, "$G", "streams", "*")); len(left) != 5 {
		t.Errorf("the log that joined nobody has %d streams left", len(left))
	}
}
