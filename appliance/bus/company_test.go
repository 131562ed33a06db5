package bus

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// killed is a member's folder as a kill at that moment leaves it.
func killed(t *testing.T, data, to string) {
	t.Helper()
	until(t, "a copy of the folder", func() bool {
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
		err := filepath.WalkDir(data, func(path string, d os.DirEntry, err error) error {
			at := filepath.Join(to, path[len(data):])
			switch {
			case err != nil:
				return err
			case d.IsDir():
				return os.MkdirAll(at, 0o700)
			case !d.Type().IsRegular():
				return nil // the socket
			}
			buf, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(at, buf, 0o600)
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // written anew meanwhile
			t.Fatal(err)
		}
		return err == nil
	})
}

// everyMoment is for a long look; every day a few moments do.
var everyMoment = flag.Bool("every-moment", false, "kill the last member of a cluster at many moments while it shrinks")

// shrinks makes one member of several that were removed one after the other, and returns
// what kills at the given times after each removal leave.
func shrinks(t *testing.T, a *node, after []time.Duration, others ...string) []string {
	t.Helper()
	var folders []string
	parent := t.TempDir()
	for i, name := range others {
		if err := a.Remove(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for _, d := range after {
			time.Sleep(time.Until(began.Add(d)))
			to := filepath.Join(parent, fmt.Sprintf("%d-without-%s-%v", i, name, d))
			killed(t, a.o.Data, to)
			folders = append(folders, to)
		}
		a.whole(t, len(others)-i)
	}
	a.stop(t)
	return folders
}

// leads makes a member the leader of the members and of every stream.
func (n *node) leads(t *testing.T) {
	t.Helper()
	self := n.o.ServerName
	to := []byte(`{"placement":{"preferred":"` + self + `"}}`)
	until(t, self+" leads everything", func() bool {
		s, err := n.Status(t.Context())
		if err != nil || !s.Quorum {
			return false
		}
		all := s.Leader == self
		if !all {
			_, _ = n.embed.peering.nc.Request("$JS.API.META.LEADER.STEPDOWN", to, time.Second)
		}
		for _, x := range s.Streams {
			if x.Leader != self {
				all = false
				_, _ = n.Conn().Request("$JS.API.STREAM.LEADER.STEPDOWN."+x.Name, to, time.Second)
			}
		}
		if !all {
			time.Sleep(300 * time.Millisecond)
		}
		return all
	})
}

func TestTheLastMemberComesUpWheneverItWasKilledWhileTheClusterShrank(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		leader  string
		others  []string
		moments []time.Duration // every day
	}{
		{"the leader of two is left", "a", []string{"b"}, []time.Duration{0}},
		{"who led is removed", "b", []string{"b"}, []time.Duration{0, 300 * time.Millisecond}},
		{"one of three was stopped and removed, then the other", "a", []string{"c", "b"}, nil},
		{"one of three was stopped and removed, then the leader", "b", []string{"c", "b"}, nil},
	} {
		if *everyMoment {
			c.moments = []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond, 700 * time.Millisecond, 1200 * time.Millisecond, 2100 * time.Millisecond, 3 * time.Second}
		}
		if len(c.moments) > 0 {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				comesUpAfter(t, c.leader, c.moments, c.others...)
			})
		}
	}
}

// comesUpAfter shrinks a cluster to one member and starts what kills left of it.
func comesUpAfter(t *testing.T, leader string, moments []time.Duration, others ...string) {
	t.Helper()
	ca := newAuthority(t, "ca")
	a := ca.join(t, "a", t.TempDir())
	nodes := map[string]*node{"a": a}
	for i, name := range slices.Backward(others) {
		n := ca.join(t, name, t.TempDir(), a.ClusterAddress())
		nodes[name] = n
		a.whole(t, 1+len(others)-i)
		if name == "c" {
			n.stop(t)
		}
	}
	nodes[leader].leads(t)
	nodes[leader].append(t, 20)
	last := nodes["b"].append(t, 20) // acknowledged at a member that is removed
	a.Stored(last)
	count := 0
	for _, folder := range shrinks(t, a, moments, others...) {
		if comesUp(t, a.o, folder, last) {
			count++
		}
	}
	t.Logf("%d starts of a last member", count)
	if count == 0 {
		t.Error("no folder says that the member is the last one")
	}
}

// comesUp starts the only member of a cluster, and is false if the folder says that
// there are others.
func comesUp(t *testing.T, o Options, folder string, last uint64) bool {
	t.Helper()
	size, _, err := readPeers(metaOf(folder))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: of %d", filepath.Base(folder), size)
	if size > 1 {
		return false
	}
	log := &told{}
	n := &node{o: o, log: log}
	n.o.Data, n.o.Logger, n.o.Registerer = folder, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})), nil
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	began := time.Now()
	if n.Bus, err = Open(ctx, n.o); err != nil {
		t.Errorf("killed %s: %v\n%s", filepath.Base(folder), err, log)
		return true
	}
	defer n.stop(t)
	up := time.Since(began)
	n.whole(t, 1)
	if now := n.append(t, 2); now < last+2 {
		t.Errorf("killed %s: the log goes on at %d behind %d", filepath.Base(folder), now, last)
	}
	n.holds(t, last+2)
	alone := strings.Count(log.String(), "goes on alone")
	t.Logf("up after %v, %d streams let go on, whole after %v", up.Round(time.Millisecond), alone, time.Since(began).Round(time.Millisecond))
	return true
}

// Groups of streams that begin after the start wait for a connection of another server.
func TestAMemberHasCompanyForAsLongAsItIsAlone(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "ca")
	a := ca.join(t, "a", t.TempDir())
	company := func(what string, want int) {
		t.Helper()
		until(t, what, func() bool { return a.embed.server.NumLeafNodes() == want })
	}
	if got := a.embed.server.NumLeafNodes(); got != 1 {
		t.Errorf("a founder that is open has the company of %d servers, want 1", got)
	}
	b := ca.join(t, "b", t.TempDir(), a.ClusterAddress())
	company("two members need no company", 0)
	a.whole(t, 2)
	if err := a.Remove(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	company("the last member has company", 1)
	a.whole(t, 1)
	a.stop(t)
	b.stop(t)
	a.open(t)
	time.Sleep(2 * lookPause)
	if got := a.embed.server.NumLeafNodes(); got != 1 {
		t.Errorf("the last member has the company of %d servers after its start, want 1", got)
	}
	a.whole(t, 1)
}
