package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/listen/listentest"
)

// shortBars has the server take names back soon. The test is not parallel: those that are
// wait for it.
func shortBars(t *testing.T) {
	t.Helper()
	was := serverBars
	serverBars = time.Second
	t.Cleanup(func() { serverBars = was })
}

// reopen starts members at once that were stopped: none of them has a quorum alone.
func reopen(t *testing.T, nodes ...*node) {
	t.Helper()
	errs := make([]error, len(nodes))
	var all sync.WaitGroup
	for i, n := range nodes {
		n.reg = prometheus.NewRegistry()
		n.o.Registerer = n.reg
		all.Go(func() { n.Bus, errs[i] = Open(t.Context(), n.o) })
	}
	all.Wait()
	for i, n := range nodes {
		if errs[i] == nil {
			t.Cleanup(func() { _ = n.Close(context.Background()) })
		}
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// ends starts a member that must end by itself because it was removed, and returns its log.
func (n *node) ends(t *testing.T) *told {
	t.Helper()
	log := &told{}
	o := n.o
	o.Registerer, o.Logger = nil, slog.New(slog.NewTextHandler(log, nil))
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	b, err := Open(ctx, o)
	if err == nil {
		select {
		case <-b.Failed():
			err = b.Err()
		case <-ctx.Done():
		}
	}
	if b != nil {
		_ = b.Close(context.Background())
	}
	if !errors.Is(err, ErrRemoved) || !strings.Contains(err.Error(), "move it away and join with an empty one") {
		t.Errorf("%s, which was removed, ends with %v\n%s", o.ServerName, err, log)
	}
	return log
}

func (n *node) counts(t *testing.T, members int) {
	t.Helper()
	if s, err := n.Status(t.Context()); err != nil || len(s.Members) != members || !s.Quorum {
		t.Errorf("%s: %+v, %v; want %d members", n.o.ServerName, s.Members, err, members)
	}
}

// A member is removed while it is away. After the time for which the server takes its name
// back from nobody, and after a restart of all others, its folder is refused; an empty one
// is let in under the same name, and the old one stays out beside it. The test is not
// parallel: it changes a variable of the server.
func TestAMemberThatWasRemovedWhileItWasAwayStaysOut(t *testing.T) {
	shortBars(t)
	ca := newAuthority(t, "ca")
	a, b, c := three(t, ca)
	b.o.Cluster.Peers = []string{a.ClusterAddress()}
	c.stop(t)
	until(t, "c is away", func() bool { s, err := a.Status(t.Context()); return err == nil && !s.Members[2].Online })
	if err := a.Remove(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	a.whole(t, 2)
	until(t, "the name is free", func() bool { return len(a.Barred()) == 0 && len(b.Barred()) == 0 })
	log := c.ends(t) // the others were not restarted
	if strings.Contains(log.String(), "lost") {
		t.Errorf("c says\n%s", log)
	}
	restored := func() { // the folder as it was, which says nothing of its removal
		if err := os.Remove(filepath.Join(c.o.Data, removedFile)); err != nil {
			t.Fatal(err)
		}
	}
	restored()
	a.stop(t)
	b.stop(t)
	reopen(t, a, b)
	last := a.append(t, 10)
	time.Sleep(2 * serverBars)
	c.ends(t)
	if logs := a.log.String() + b.log.String(); !strings.Contains(logs, "the member c "+removedForGood) {
		t.Errorf("nobody says who was refused:\n%s", logs)
	}
	c.o.Registerer = nil
	if _, err := Open(t.Context(), c.o); !errors.Is(err, ErrRemoved) {
		t.Errorf("another start of c: %v", err)
	}
	a.counts(t, 2)
	a.whole(t, 2)
	anew := ca.join(t, "c", t.TempDir(), a.ClusterAddress())
	anew.whole(t, 3)
	restored()
	c.ends(t)
	anew.counts(t, 3)
	a.counts(t, 3)
	last = max(last, anew.append(t, 10))
	anew.holds(t, last)
	if err := anew.Err(); err != nil {
		t.Errorf("the new c: %v", err)
	}
}

// unused returns an address on which nobody listens.
// Two members that were left out by force are started again beside the survivor: they are
// the majority of the cluster that they know, and end.
func TestTwoThatWereLeftOutDoNotOutvoteTheSurvivor(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "ca")
	a, b, c := three(t, ca)
	last := b.append(t, 20)
	at := a.ClusterAddress()
	for _, n := range []*node{a, b, c} {
		n.stop(t)
	}
	a.o.Cluster.Lost = []string{"b", "c"}
	a.open(t)
	a.whole(t, 1)
	a.o.Cluster.Lost = nil // as soon as it has a quorum
	for _, restart := range []bool{false, true} {
		if restart {
			a.stop(t)
			a.open(t)
			for _, n := range []*node{b, c} {
				if err := os.Remove(filepath.Join(n.o.Data, removedFile)); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, n := range []*node{b, c} { // a may have got the ports of those that were stopped
			n.o.Cluster.Listen = listentest.Address(t)
		}
		b.o.Cluster.Peers, c.o.Cluster.Peers = []string{at, c.o.Cluster.Listen}, []string{at, b.o.Cluster.Listen}
		var both sync.WaitGroup
		for _, n := range []*node{b, c} {
			both.Go(func() { n.ends(t) })
		}
		both.Wait()
		a.counts(t, 1)
		now := a.append(t, 10)
		a.holds(t, now)
		if now < last+10 {
			t.Errorf("the log ends at %d, and %d was acknowledged before", now, last)
		}
		last = now
	}
}

// Two operators remove one member at the same moment: it is removed, and both learn that.
func TestAMemberCanBeRemovedTwice(t *testing.T) {
	t.Parallel()
	a, b, c := three(t, newAuthority(t, "ca"))
	c.stop(t)
	until(t, "c is away", func() bool { s, err := a.Status(t.Context()); return err == nil && !s.Members[2].Online })
	errs := make([]error, 4)
	var all sync.WaitGroup
	for i := range errs {
		at := []*node{a, b}[i%2]
		all.Go(func() { errs[i] = at.Remove(t.Context(), "c") })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	until(t, "both know", func() bool {
		return a.Remove(t.Context(), "c") == nil && b.Remove(t.Context(), "c") == nil
	})
	if err := a.Remove(t.Context(), "z"); !errors.Is(err, ErrNoMember) || !strings.Contains(err.Error(), "a, b") {
		t.Errorf("somebody else: %v", err)
	}
}

// meeting returns two members' notes; the second is that of one who is about to be removed.
func meeting(t *testing.T) (a, c *folders) {
	t.Helper()
	for _, x := range []struct {
		f    **folders
		name string
	}{{&a, "a"}, {&c, "c"}} {
		var err error
		if *x.f, err = openFolders(t.TempDir(), x.name, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
	}
	return a, c
}

func (f *folders) meets(t *testing.T, other *folders) error {
	t.Helper()
	p := other.says()
	return f.meet(&p)
}

func (f *folders) again(t *testing.T) *folders {
	t.Helper()
	f.keep()
	now, err := openFolders(f.data, f.name, f.log)
	if err != nil {
		t.Fatal(err)
	}
	if now.note.Self != f.note.Self {
		t.Errorf("the folder of %s had the id %s and has %s", f.name, f.note.Self, now.note.Self)
	}
	return now
}

func (f *folders) isOut() bool {
	select {
	case <-f.out:
		return true
	default:
		return false
	}
}

func TestWhichFoldersAreRefused(t *testing.T) {
	t.Parallel()
	a, c := meeting(t)
	if err := errors.Join(a.meets(t, c), c.meets(t, a), a.meets(t, a)); err != nil {
		t.Fatal(err)
	}
	leaving, err := a.leaving("c", false)
	if err != nil || len(leaving) != 1 || leaving[0].Folder != c.note.Self {
		t.Fatalf("the folders of c are %+v, %v", leaving, err)
	}
	if err := a.meets(t, c); err != nil {
		t.Errorf("before it is decided: %v", err)
	}
	if a.wasRemoved("c") || len(a.says().Gone) > 0 {
		t.Error("what is not decided is told")
	}
	a.left("c")
	a = a.again(t)
	if err := a.meets(t, c); err == nil || !strings.Contains(err.Error(), "the member c "+removedForGood) {
		t.Errorf("after a restart: %v", err)
	}
	anew, b := meeting(t)
	anew.name, b.name = "c", "b"
	if err := a.meets(t, anew); err != nil {
		t.Errorf("an empty folder under the same name: %v", err)
	}
	if err := errors.Join(b.meets(t, a), anew.meets(t, a)); err != nil || anew.isOut() {
		t.Errorf("b and the new c: %v", err)
	}
	if err := b.meets(t, c); err == nil {
		t.Error("b was not told of c")
	}
	if err := c.meets(t, b); err != nil || !c.isOut() {
		t.Errorf("c has not learned that it is out: %v", err)
	}
	if _, err := a.leaving("c", false); err != nil {
		t.Fatal(err)
	}
	a.left("c")
	if a.meets(t, anew) == nil || a.meets(t, c) == nil {
		t.Error("one of two folders that c had comes back")
	}
}

// Each of two says of the other one that it was removed: the word of neither counts.
func TestAFolderThatWasRemovedEndsNobody(t *testing.T) {
	t.Parallel()
	a, c := meeting(t)
	if err := errors.Join(a.meets(t, c), c.meets(t, a)); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ f, other *folders }{{a, c}, {c, a}} {
		if _, err := x.f.leaving(x.other.name, false); err != nil {
			t.Fatal(err)
		}
		x.f.left(x.other.name)
	}
	if a.meets(t, c) == nil || c.meets(t, a) == nil || a.isOut() || c.isOut() {
		t.Error("one of two that were removed by each other ends, or is let in")
	}
}

// A process is killed between asking for a removal and its end.
func TestARemovalThatWasNotSeenToTheEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		members []string
		out     bool
	}{
		{"it was decided", []string{"a"}, true},
		{"it was not", []string{"a", "c"}, false},
		{"nobody knows", nil, false},
	} {
		a, b := meeting(t)
		if err := a.meets(t, b); err != nil {
			t.Fatal(err)
		}
		leaving, err := a.leaving("c", false)
		if err != nil {
			t.Fatal(err)
		}
		heard, _ := meeting(t)
		heard.hear(&folderWord{a.says(), leaving})
		for _, f := range []*folders{a, heard} {
			var ids []string
			for _, name := range c.members {
				ids = append(ids, memberID(name))
			}
			if ids != nil {
				if err := writePeers(metaOf(f.data), len(ids), ids...); err != nil {
					t.Fatal(err)
				}
			}
			f = f.again(t)
			if err := f.meets(t, b); (err != nil) != c.out {
				t.Errorf("%s: %v", c.name, err)
			}
			if f.left("c"); f.wasRemoved("c") != c.out {
				t.Errorf("%s: it is noted for later", c.name)
			}
		}
	}
	a, b := meeting(t)
	if _, err := a.leaving("c", false); err != nil {
		t.Fatal(err)
	}
	a.expire(time.Now().Add(pendingLife + time.Minute))
	a.left("c")
	if err := a.meets(t, b); err != nil {
		t.Errorf("what was asked for long ago: %v", err)
	}
}

// Folders of an earlier release have no id, and members of one show none.
func TestAFolderWithoutAnIDIsKnownByItsName(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "ca")
	a, fresh := meeting(t)
	if _, err := a.leaving("c", false); err != nil {
		t.Fatal(err)
	}
	a.left("c")
	old := t.TempDir()
	if err := writePeers(metaOf(old), 2, memberID("a"), memberID("c")); err != nil {
		t.Fatal(err)
	}
	f, err := openFolders(old, "c", a.log)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.meets(t, f); err == nil {
		t.Error("a folder that was a member's before folders had ids is let in")
	}
	if err := a.meets(t, fresh); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
	for _, x := range []struct {
		name    string
		members []string
		want    bool
	}{{"c", nil, true}, {"c", []string{"a", "b"}, true}, {"c", []string{"a", "c"}, false}, {"b", []string{"a", "b"}, false}, {"b", nil, false}} {
		if err := a.unknown(certOf(t, ca, x.name), x.members); (err != nil) != x.want {
			t.Errorf("one that shows no folder, as %s beside %v: %v", x.name, x.members, err)
		}
	}
}

func TestWhatIsKnownOfFoldersIsBoundedAndNotGuessed(t *testing.T) {
	t.Parallel()
	a, _ := meeting(t)
	p := passport{Member: "b"}
	for i := range mostGone + 10 {
		p.Gone = append(p.Gone, goneFolder{Member: "x", Folder: fmt.Sprint(i), At: time.Unix(int64(i), 0)})
	}
	for i := range mostFolders + 3 {
		p.Self = fmt.Sprint("b", i)
		if err := a.meet(&p); err != nil {
			t.Fatal(err)
		}
	}
	if n, m := len(a.note.Gone), len(a.note.Known["b"]); n != mostGone || m != mostFolders {
		t.Errorf("%d folders that are gone, and %d of one member", n, m)
	}
	p.Member, p.Self = "x", fmt.Sprint(mostGone+9)
	if err := a.meet(&p); err == nil {
		t.Error("the newest that is gone was forgotten")
	}
	if err := os.WriteFile(filepath.Join(a.data, foldersFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openFolders(a.data, "a", a.log); err == nil || !strings.Contains(err.Error(), "restore the file") {
		t.Errorf("a file that cannot be read: %v", err)
	}
}
