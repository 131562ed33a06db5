package bus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// five opens a cluster of five and returns its members: those who keep the log first.
func five(t *testing.T) (keep, rest []*node) {
	t.Helper()
	ca := newAuthority(t, "ca")
	a := ca.join(t, "a", t.TempDir())
	all := []*node{a}
	for _, name := range []string{"b", "c", "d", "e"} {
		all = append(all, ca.join(t, name, t.TempDir(), a.ClusterAddress()))
	}
	a.whole(t, 3)
	var addresses []string
	for _, n := range all {
		addresses = append(addresses, n.ClusterAddress())
	}
	for _, n := range all {
		n.o.Cluster.Peers = addresses // from the next start on
	}
	until(t, "all are members", func() bool { s, err := a.Status(t.Context()); return err == nil && len(s.Members) == 5 })
	s, err := a.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(s.Streams, func(x StreamStatus) bool { return x.Name == "JAQUE_LOG" })
	for _, n := range all {
		if keeps, _ := s.Streams[i].keptAt(n.o.ServerName, 3); keeps {
			keep = append(keep, n)
		} else {
			rest = append(rest, n)
		}
	}
	if len(keep) != 3 {
		t.Fatalf("the log is kept by %+v", s.Streams[i])
	}
	return keep, rest
}

// behind makes a cluster of five whose log has one copy left, which was away while the
// others went on: where the others ended and where that copy does are returned.
func behind(t *testing.T) (stays, x, y *node, last, ends uint64) {
	t.Helper()
	keep, rest := five(t)
	stale := keep[0]
	stays, x, y = rest[0], keep[1], keep[2]
	ends = stays.append(t, 20)
	stale.stop(t)
	last = stays.append(t, 12)
	x.stop(t)
	y.stop(t)
	// It waits for its streams: a quorum of members is there, and none of copies.
	stale.o.Registerer = nil
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		if b, err := Open(ctx, stale.o); err == nil {
			<-ctx.Done()
			_ = b.Close(context.Background())
		}
	}()
	t.Cleanup(func() { cancel(); <-over })
	until(t, "three of five have a quorum", func() bool { s, err := stays.Status(t.Context()); return err == nil && s.Quorum })
	return stays, x, y, last, ends
}

// refused removes a member, which must be refused.
func (n *node) refused(t *testing.T, gone *node, says ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err := n.Remove(ctx, gone.o.ServerName)
	if !errors.Is(err, ErrBehind) {
		t.Fatalf("the removal of %s: %v, want %v", gone.o.ServerName, err, ErrBehind)
	}
	for _, want := range append(says, "JAQUE_LOG", gone.o.ServerName, "nothing was changed", "-lost") {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the refusal %q does not say %q", err, want)
		}
	}
}

// A removal does not make a copy the log that was away while the others went on.
func TestARemovalDoesNotLetAStaleCopyBecomeTheLog(t *testing.T) {
	t.Parallel()
	stays, x, y, last, _ := behind(t)
	stays.refused(t, x, y.o.ServerName)
	stays.refused(t, y, x.o.ServerName)
	x.open(t)
	until(t, "the log has its leader again", func() bool {
		info, err := streamInfo(t.Context(), stays.JetStream(), "JAQUE_LOG")
		return err == nil && info.State.LastSeq >= last
	})
	stays.holds(t, last)
	if err := stays.Remove(t.Context(), y.o.ServerName); err != nil {
		t.Errorf("a removal once the log has its leader: %v", err)
	}
}

// An operator who says that the newer copies never come back goes on with the stale one,
// and is told what that one lacks.
func TestAnOperatorWhoGivesUpTheNewerCopiesIsToldWhatIsMissing(t *testing.T) {
	t.Parallel()
	stays, x, y, last, ends := behind(t)
	stays.refused(t, x, y.o.ServerName)
	if err := stays.RemoveLost(t.Context(), x.o.ServerName, y.o.ServerName); err != nil {
		t.Fatal(err)
	}
	s, err := stays.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("ends at %d, and %d was acknowledged, as %s knows: %d positions are missing", ends, last, stays.o.ServerName, last-ends)
	if !strings.Contains(strings.Join(s.Missing, "\n"), want) {
		t.Errorf("it says %q, want %q", s.Missing, want)
	}
	if v := stays.embed.peering.look(); v.Size != 3 || v.find(x.o.ServerName) >= 0 {
		t.Errorf("the members are %+v", v)
	}
}

// A member that keeps no copy of the log, and one whose copy is behind, wait for those who
// have the newer ones: what those hold is not lost.
func TestAMemberWaitsForThoseWhoHoldTheNewerLog(t *testing.T) {
	t.Parallel()
	stays, x, y, last, ends := behind(t)
	stays.stop(t)
	stays.o.Registerer = nil
	said := make(chan string, 1000)
	stays.o.Waiting = func(text string) {
		select {
		case said <- text:
		default:
		}
	}
	over := make(chan error, 1)
	go func() {
		var err error
		stays.Bus, err = Open(t.Context(), stays.o)
		over <- err
	}()
	want := fmt.Sprintf("which hold the log up to %d at least (it ends at %d here): 1 of 3 copies", last, ends)
	for text := ""; !strings.Contains(text, want); {
		select {
		case text = <-said:
		case err := <-over:
			t.Fatalf("it does not wait: %v", err)
		case <-time.After(90 * time.Second):
			t.Fatalf("it never says %q\n%s", want, stays.log)
		}
		if strings.Contains(text, want) && (!strings.Contains(text, x.o.ServerName) || !strings.Contains(text, y.o.ServerName)) {
			t.Errorf("%q does not name %s and %s", text, x.o.ServerName, y.o.ServerName)
		}
	}
	x.o.Registerer = nil
	x.open(t)
	if err := <-over; err != nil {
		t.Fatalf("once it is there: %v", err)
	}
	t.Cleanup(func() { _ = stays.Close(context.Background()) })
	stays.holds(t, last)
}

// A survivor that was stopped says at its start what it may lack: it was away while the
// others went on.
func TestASurvivorThatIsStartedAloneSaysWhatItMayLack(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "ca")
	a := ca.join(t, "a", t.TempDir())
	b := ca.join(t, "b", t.TempDir(), a.ClusterAddress())
	c := ca.join(t, "c", t.TempDir(), a.ClusterAddress())
	a.whole(t, 3)
	ends := c.append(t, 20)
	c.stop(t)
	last := a.append(t, 12)
	a.stop(t)
	b.stop(t)
	c.o.Registerer, c.o.Cluster.Lost = nil, []string{"a", "b"}
	c.open(t)
	s, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("of the copies of the stream JAQUE_LOG those at a and b cannot be reached, the one at c ends at %d;", ends)
	if text := strings.Join(s.Missing, "\n"); !strings.Contains(text, want) || len(s.Missing) == 0 {
		t.Errorf("it says %q, want %q", text, want)
	}
	c.whole(t, 1)
	if now := c.append(t, 1); now != ends+1 || now > last {
		t.Errorf("the log goes on at %d behind %d", now, ends)
	}
}

// waiting starts a member that waits for its cluster. over tells when the start has ended.
func (n *node) waiting(t *testing.T) (b *Bus, over <-chan error) {
	t.Helper()
	n.o.Registerer = nil
	peered, ended := make(chan *Bus, 1), make(chan error, 1)
	n.o.Peered = func(b *Bus) { peered <- b }
	go func() {
		var err error
		n.Bus, err = Open(t.Context(), n.o)
		ended <- err
	}()
	return <-peered, ended
}

// One that was started, and waits for the others, goes on without them when it is told to.
func TestASurvivorThatWaitsGoesOnAlone(t *testing.T) {
	t.Parallel()
	a, b, last := twoStopped(t)
	waits, over := b.waiting(t)
	until(t, "it says what it waits for", func() bool {
		return strings.Contains(strings.Join(waits.Trouble(), " "), "1 of 2 members can be reached; start "+a.o.ServerName)
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := waits.RemoveLost(ctx, a.o.ServerName); err != nil {
		t.Errorf("by force: %v", err)
	}
	if err := <-over; err != nil {
		t.Fatalf("once it is alone: %v", err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	b.whole(t, 1)
	if now := b.append(t, 5); now != last+5 {
		t.Errorf("the log goes on at %d behind %d", now, last)
	}
}

// With others that run, a start that was told who never comes back decides with them: it
// waits for them to be there, and lowers no quorum that they have.
func TestAStartWithoutSomeWaitsForTheOthers(t *testing.T) {
	t.Parallel()
	stays, x, y, last, ends := behind(t)
	stays.stop(t)
	stays.o.Registerer, stays.o.Cluster.Lost = nil, []string{x.o.ServerName, y.o.ServerName}
	stays.open(t)
	if text := stays.log.String(); strings.Contains(text, "the quorum is lowered") {
		t.Errorf("three of five run\n%s", text)
	}
	s, err := stays.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("ends at %d, and %d was acknowledged, as %s knows: %d positions are missing", ends, last, stays.o.ServerName, last-ends)
	if text := strings.Join(s.Missing, "\n"); !strings.Contains(text, want) {
		t.Errorf("it says %q, want %q", text, want)
	}
	if len(s.Members) != 3 {
		t.Errorf("the members are %+v", s.Members)
	}
}

// A member that waits for its cluster is asked what it waits for, and takes out who never
// comes back.
func TestAMemberThatWaitsAnswers(t *testing.T) {
	t.Parallel()
	stays, x, y, last, ends := behind(t)
	stays.stop(t)
	b, over := stays.waiting(t)
	until(t, "it says what it waits for", func() bool {
		text := strings.Join(b.Trouble(), "\n")
		return strings.Contains(text, fmt.Sprintf("up to %d at least (it ends at %d here)", last, ends))
	})
	if s, err := b.Status(t.Context()); err != nil || len(s.Members) != 5 || !s.Quorum {
		t.Errorf("its status: %+v, %v", s, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := b.Remove(ctx, x.o.ServerName); !errors.Is(err, ErrBehind) || !strings.Contains(err.Error(), fmt.Sprintf("%d positions are missing", last-ends)) {
		t.Errorf("a removal that loses something: %v", err)
	}
	if err := b.RemoveLost(ctx, x.o.ServerName, y.o.ServerName); err != nil {
		t.Errorf("by force: %v", err)
	}
	if err := <-over; err != nil {
		t.Fatalf("once they are out: %v", err)
	}
	t.Cleanup(func() { _ = stays.Close(context.Background()) })
	if text := b.Trouble(); len(text) != 0 {
		t.Errorf("it still waits: %q", text)
	}
}

func TestWhatBecomesOfAStreamWhenMembersLeave(t *testing.T) {
	t.Parallel()
	online := map[string]bool{"c": true, "d": true, "e": true}
	at := func(member string, acked, last uint64, others ...string) copyWord {
		w := copyWord{Member: member, Acknowledged: acked}
		if last > 0 {
			s := StreamStatus{Name: "LOG", Last: last}
			for _, o := range others {
				s.Others = append(s.Others, Replica{Name: o})
			}
			w.Streams = []StreamStatus{s}
		}
		return w
	}
	for _, c := range []struct {
		name    string
		words   []copyWord
		certain bool
		missing uint64
		want    string
	}{
		{"a stale copy", []copyWord{at("d", 286, 0), at("c", 273, 274, "a", "b")}, false, 12, "those at a and b cannot be reached, the one at c ends at 274, and 286 was acknowledged, as d knows"},
		{"one that has what is known", []copyWord{at("d", 274, 0), at("c", 273, 274, "a", "b")}, false, 0, "there may be more"},
		{"one of two", []copyWord{at("c", 5, 5, "a")}, true, 0, ""},
		{"two of three", []copyWord{at("c", 5, 5, "a", "d"), at("d", 5, 5, "a", "c")}, true, 0, ""},
		{"one that has just started, and does not know the others yet", []copyWord{{Member: "c", Acknowledged: 5, Streams: []StreamStatus{{Name: "LOG", Last: 5, Replicas: 3}}}}, false, 0, "those at 2 more cannot be reached, the one at c ends at 5"},
		{"nobody", []copyWord{at("d", 5, 0)}, false, 5, "no member that can be reached holds a copy of the stream LOG"},
	} {
		all := fates(c.words, nil, []string{"LOG"}, "LOG", online, []string{"a"})
		if len(all) != 1 {
			t.Fatalf("%s: %+v", c.name, all)
		}
		f := all[0]
		if f.certain() != c.certain || f.missing() != c.missing || !strings.Contains(f.String(), c.want) {
			t.Errorf("%s: certain %v, %d missing, %q; want %v, %d, %q", c.name, f.certain(), f.missing(), f.String(), c.certain, c.missing, c.want)
		}
	}
	if all := fates([]copyWord{at("d", 5, 0)}, []string{"LOG"}, []string{"LOG"}, "LOG", online, []string{"a"}); len(all) != 0 {
		t.Errorf("a stream with a leader: %+v", all)
	}
}
