package bus

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestAMemberKnowsWhatItKeepsByWhatTheLeadersSay(t *testing.T) {
	t.Parallel()
	of := func(leader string, replicas int, others ...Replica) StreamStatus {
		return StreamStatus{Name: "LOG", Leader: leader, Replicas: replicas, Others: others}
	}
	b := Replica{Name: "b", Current: true}
	for name, c := range map[string]struct {
		give        StreamStatus
		keeps, full bool
	}{
		"it leads":                                   {of("me", 3, b), true, true},
		"it has everything":                          {of("b", 2, Replica{Name: "me", Current: true}), true, true},
		"it lacks four entries":                      {of("b", 2, Replica{Name: "me", Lag: 4}), true, false},
		"it is not heard":                            {of("b", 2, Replica{Name: "me", Current: true, Offline: true}), true, false},
		"nobody leads":                               {of("", 2, Replica{Name: "me", Current: true}, b), true, false},
		"it has none yet, and one is to be made":     {of("a", 1), true, false},
		"one more is set, and not placed yet":        {of("a", 3, b), true, false},
		"there are enough copies, at others":         {of("a", 3, b, Replica{Name: "c", Current: true}), false, false},
		"another one's lacks something, its own not": {of("a", 3, Replica{Name: "c", Lag: 9}, Replica{Name: "me", Current: true}), true, true},
	} {
		if keeps, full := c.give.keptAt("me", 3); keeps != c.keeps || full != c.full {
			t.Errorf("%s: keeps %v, full %v, want %v and %v", name, keeps, full, c.keeps, c.full)
		}
	}
}

// What a copy lacks for a moment in normal operation is not told of, what it lacks before
// all were full once is.
func TestACopyThatLagsForAMomentDoesNotFlap(t *testing.T) {
	t.Parallel()
	all := []string{"LOG", "STATE"}
	c := &copies{full: map[string]bool{}}
	now := time.Unix(0, 0)
	for i, s := range []struct {
		after   time.Duration
		keeps   []string
		lacking []string
		first   bool
		told    string
	}{
		{0, all, []string{"STATE", "LOG"}, false, "LOG STATE"},
		{time.Second, all, []string{"STATE"}, false, "STATE"},
		{time.Second, nil, nil, false, ""}, // it keeps nothing yet: that is not all of it
		{time.Second, all, []string{"LOG"}, false, "LOG"},
		{time.Second, all, nil, true, ""},
		{time.Second, all, []string{"LOG"}, false, ""},
		{lackPatience - time.Second, all, []string{"LOG"}, false, ""},
		{time.Second, all, []string{"LOG", "STATE"}, false, "LOG"},
		{time.Second, all, nil, false, ""},
		{time.Second, all, []string{"LOG"}, false, ""}, // it counts anew
		{lackPatience / 2, append(all, "NEW"), []string{"LOG", "NEW"}, false, ""},
		{lackPatience, append(all, "NEW"), []string{"NEW"}, false, "NEW"},
	} {
		now = now.Add(s.after)
		before := strings.Join(c.lacks, " ")
		first, changed := c.look(s.keeps, s.lacking, now)
		if got := strings.Join(c.lacks, " "); first != s.first || got != s.told || changed != (got != before) {
			t.Errorf("look %d: first %v, changed %v, told %q, want %v and %q", i, first, changed, got, s.first, s.told)
		}
	}
}

// ownLast is the last position of the log that a member has on its own disk.
func (n *node) ownLast(t *testing.T) uint64 {
	t.Helper()
	info, err := n.embed.server.Jsz(&server.JSzOptions{Account: server.DEFAULT_GLOBAL_ACCOUNT, Streams: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range info.AccountDetails {
		for _, d := range a.Streams {
			if d.Name == n.names.Log {
				return d.State.LastSeq
			}
		}
	}
	return 0
}

// filled waits until a member calls its copies full.
func (n *node) filled(t *testing.T) {
	t.Helper()
	var got []string
	defer func() {
		if t.Failed() {
			t.Logf("%s is not ready: %q", n.o.ServerName, got)
		}
	}()
	until(t, n.o.ServerName+" has full copies", func() bool {
		got = n.Unready()
		return len(got) == 0
	})
}

// A member is ready once it has everything of what it keeps, after each start, and
// not while the cluster has no quorum.
func TestAMemberIsReadyOnceItsCopiesAreFull(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "ca")
	a := ca.join(t, "a", t.TempDir())
	a.filled(t) // who is alone has everything
	last := a.append(t, 500)
	b := ca.join(t, "b", t.TempDir(), a.ClusterAddress())
	a.o.Cluster.Peers = []string{b.ClusterAddress()}
	if got := b.Unready(); len(got) != 1 || !strings.Contains(got[0], "this member's copies of the streams JAQUE_LOG, ") {
		t.Errorf("a member that has just joined: %q", got)
	}
	b.filled(t)
	b.log.until(t, "this member's copies of the streams are full")
	if got := b.ownLast(t); got < last {
		t.Errorf("b calls its copies full and has the log up to %d, of %d", got, last)
	}
	s, err := a.Status(t.Context())
	if err != nil || len(s.Streams) != 5 {
		t.Fatalf("streams = %+v, %v", s.Streams, err)
	}
	for _, x := range s.Streams {
		keeps := x.Leader == "b" || slices.ContainsFunc(x.Others, func(r Replica) bool { return r.Name == "b" && !r.Offline })
		if x.Replicas != 2 || !keeps {
			t.Errorf("b calls its copies full, and a says %+v", x)
		}
	}
	if got := testutil.ToFloat64(b.metrics.unfilled); got != 0 {
		t.Errorf("jaque_bus_copies_unfilled = %v", got)
	}

	c := ca.join(t, "c", t.TempDir(), a.ClusterAddress(), b.ClusterAddress())
	c.filled(t)
	c.stop(t)
	last = b.append(t, 500) // which c misses
	if got := a.Unready(); len(got) > 0 {
		t.Errorf("a is not ready because another member is away: %q", got)
	}
	c.open(t)
	c.filled(t)
	if got := c.ownLast(t); got < last {
		t.Errorf("c calls its copies full after a restart and has the log up to %d, of %d", got, last)
	}
	b.stop(t)
	c.stop(t)
	until(t, "a is not ready without a quorum", func() bool {
		got := a.Unready()
		return len(got) == 1 && strings.Contains(got[0], "1 of 3 members can be reached, b and c cannot")
	})
	if got := a.Hindrance(time.Now(), a.names.Members); !strings.Contains(got, "1 of 3 members can be reached, b and c cannot") {
		t.Errorf("what hinders a: %q", got)
	}
	b.open(t)
	b.filled(t)
	a.filled(t)
}
