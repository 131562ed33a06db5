package bus

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// measure writes a measurement and returns its position.
func (n *node) measure(t *testing.T, text string) uint64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a, err := n.JetStream().Publish(ctx, "jaque.result.z.o", []byte(text), jetstream.WithRetryAttempts(200))
	if err != nil {
		t.Fatalf("measure at %s: %v\n%s", n.o.ServerName, err, n.log)
	}
	return a.Sequence
}

// madeAnew waits until the measurements are others than they were, with two replicas.
func (n *node) madeAnew(t *testing.T, was *jetstream.StreamInfo) {
	t.Helper()
	until(t, "the measurements are made anew", func() bool {
		info, err := streamInfo(t.Context(), n.JetStream(), was.Config.Name)
		return err == nil && !info.Created.Equal(was.Created)
	})
	n.whole(t, 2)
}

// leads returns the one of two members that leads the cluster.
func leads(t *testing.T, a, b *node) *node {
	t.Helper()
	var leader *node
	until(t, "one of two leads", func() bool {
		for _, n := range []*node{a, b} {
			if n.embed.server.JetStreamIsLeader() {
				leader = n
				return true
			}
		}
		return false
	})
	return leader
}

// The measurements get their replicas by being made anew. A leader that deleted them and
// then cannot make them, because no answer came or a member was not there, tries again.
func TestMeasurementsThatCouldNotBeMadeAnewAreMadeInTheNextRound(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "ca")
	a := ca.join(t, "a", t.TempDir())
	b := ca.join(t, "b", t.TempDir(), a.ClusterAddress())
	b.whole(t, 2)
	last := uint64(0)
	for i := range 20 {
		last = a.measure(t, fmt.Sprint(i))
	}
	leader := leads(t, a, b)
	info, err := streamInfo(t.Context(), leader.JetStream(), "JAQUE_RESULTS")
	if err != nil || info.State.LastSeq != last {
		t.Fatalf("%+v, %v", info, err)
	}
	info.Config.PersistMode = jetstream.AsyncPersistMode
	if err := leader.embed.peering.change(t.Context(), info, 5); err == nil {
		t.Fatal("two members keep five replicas")
	}
	a.madeAnew(t, info)
	if now := a.measure(t, "behind"); now <= last {
		t.Errorf("the measurements go on at %d behind %d", now, last)
	}
}

// Whoever deleted the measurements may have gone before it made them again.
func TestMeasurementsThatAreMissingAreMadeByWhoeverLeads(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "ca")
	a := ca.join(t, "a", t.TempDir())
	b := ca.join(t, "b", t.TempDir(), a.ClusterAddress())
	b.whole(t, 2)
	last := a.measure(t, "before")
	info, err := streamInfo(t.Context(), a.JetStream(), "JAQUE_RESULTS")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.JetStream().DeleteStream(t.Context(), "JAQUE_RESULTS"); err != nil {
		t.Fatal(err)
	}
	a.madeAnew(t, info)
	if now := b.measure(t, "behind"); now <= last {
		t.Errorf("the measurements go on at %d behind %d", now, last)
	}
}

// Whose turn it is, and where the positions go on.
func TestWhoMakesMissingMeasurements(t *testing.T) {
	var m measurements
	m.there(7)
	if first, turn := m.missing(5); turn || first <= 7 {
		t.Errorf("somebody else deleted them: %d, %v", first, turn)
	}
	m.since = time.Now().Add(-leadersTurn)
	if first, turn := m.missing(5); !turn || first <= 7 {
		t.Errorf("nobody has made them for a while: %d, %v", first, turn)
	}
	if first, _ := m.missing(9); first <= 9 {
		t.Errorf("the marks go further: %d", first)
	}
	m.there(20)
	m.deleted(21)
	if first, turn := m.missing(5); !turn || first != 22 {
		t.Errorf("this member deleted them: %d, %v", first, turn)
	}
}
