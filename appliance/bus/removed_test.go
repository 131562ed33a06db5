package bus

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// Whoever is taken out of two learns it, and says so again at the next start, with and
// without its cluster: the server leaves its folder as that of a cluster of one.
func TestOneOfTwoThatIsRemovedSaysSo(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "ca")
	a := ca.join(t, "a", t.TempDir())
	b := ca.join(t, "b", t.TempDir(), a.ClusterAddress())
	b.whole(t, 2)
	until(t, "both are noted", func() bool { m, err := MembersOf(b.o.Data); return err == nil && m.String() == "a, b" })
	leads, stays := a, b
	if s, err := b.Status(t.Context()); err != nil {
		t.Fatal(err)
	} else if s.Leader == "b" {
		leads, stays = b, a
	}
	if err := stays.Remove(t.Context(), leads.o.ServerName); err != nil {
		t.Fatal(err)
	}
	select {
	case <-leads.Failed():
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
	name := leads.o.ServerName
	if err := leads.Err(); !errors.Is(err, ErrRemoved) || !strings.Contains(err.Error(), name+" was taken out of cluster test by an operator") {
		t.Errorf("%s ends with %v", name, err)
	}
	leads.stop(t)
	leads.o.Registerer = nil
	if _, err := Open(t.Context(), leads.o); !errors.Is(err, ErrRemoved) || !strings.Contains(err.Error(), "move it away and join again") {
		t.Errorf("another start: %v", err)
	}
	leads.o.Cluster = nil
	if _, err := Open(t.Context(), leads.o); !errors.Is(err, ErrRemoved) {
		t.Errorf("a start alone: %v", err)
	}
	stays.whole(t, 1)
}

// The survivor goes on although the one that should never come back runs again at the
// same moment, and names it; that one learns that it was removed, and ends.
func TestWhoWasGoneForGoodAndRunsIsRefused(t *testing.T) {
	t.Parallel()
	a, b, last := twoStopped(t)
	a.o.Registerer, a.o.Cluster.Peers = nil, []string{b.o.Cluster.Listen}
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	over := make(chan error, 1)
	go func() {
		x, err := Open(ctx, a.o)
		if x != nil {
			err = errors.Join(errors.New("it started"), x.Close(context.Background()))
		}
		over <- err
	}()
	b.o.Cluster.Lost = []string{"a"}
	b.open(t)
	b.whole(t, 1)
	if now := b.append(t, 5); now != last+5 {
		t.Errorf("the log goes on at %d behind %d", now, last)
	}
	b.log.until(t, "it was removed from the cluster")
	if err := <-over; !errors.Is(err, ErrRemoved) {
		t.Errorf("the one that was gone: %v", err)
	}
}

func TestMembersOfAStoppedFolder(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	if m, err := MembersOf(data); err != nil || m.Known() {
		t.Errorf("an empty folder: %v, %v", m, err)
	}
	if err := writePeers(metaOf(data), unadmitted, "!nobody1", "!nobody2"); err != nil {
		t.Fatal(err)
	}
	if m, err := MembersOf(data); err != nil || m.Known() {
		t.Errorf("one who was not let in: %v, %v", m, err)
	}
	if err := writePeers(metaOf(data), 2, memberID("a"), memberID("b")); err != nil {
		t.Fatal(err)
	}
	if m, err := MembersOf(data); err != nil || !m.Has("a") || m.Has("c") || m.String() != "2 whose names are not known here" {
		t.Errorf("without names: %v, %v", m, err)
	}
	if err := replaceFile(data+"/"+membersFile, []byte(`{"self":"a","members":["a","left"]}`)); err != nil {
		t.Fatal(err)
	}
	if m, err := MembersOf(data); err != nil || m.String() != "a and 1 whose names are not known here" {
		t.Errorf("with one name: %v, %v", m, err)
	}
}
