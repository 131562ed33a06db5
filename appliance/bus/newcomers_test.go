package bus

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/listen/listentest"
)

// Three new members that name each other all say that nobody founded the cluster, and
// what to do; one of them that is started without the others founds it.
func TestNewMembersThatOnlyNameEachOtherSaySo(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "ca")
	var all []Options
	var addresses []string
	for range 3 {
		addresses = append(addresses, listentest.Address(t))
	}
	for i, name := range []string{"a", "b", "c"} {
		others := slices.Delete(slices.Clone(addresses), i, i+1)
		all = append(all, Options{Data: t.TempDir(), ServerName: name, Cluster: &Cluster{Name: "test", Listen: addresses[i], Peers: others, TLS: ca.member(t, name)}})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	var wait sync.WaitGroup
	errs := make([]error, len(all))
	for i := range all {
		wait.Go(func() {
			time.Sleep(time.Duration(i) * 500 * time.Millisecond) // they are not started together
			var b *Bus
			if b, errs[i] = Open(ctx, all[i]); b != nil {
				_ = b.Close(context.Background())
			}
		})
	}
	wait.Wait()
	for i, err := range errs {
		if !errors.Is(err, ErrUnfounded) || !strings.Contains(err.Error(), "start one of them once without -cluster-peers") {
			t.Errorf("%s: %v", all[i].ServerName, err)
		}
	}
	founder := &node{o: all[0], log: &told{}}
	founder.o.Cluster.Peers, founder.o.Logger = nil, slog.New(slog.NewTextHandler(founder.log, nil))
	founder.open(t)
	if s, err := founder.Status(t.Context()); err != nil || len(s.Members) != 1 || !s.Quorum {
		t.Errorf("the founder: %+v, %v", s, err)
	}
	second := &node{o: all[1], log: &told{}}
	second.o.Logger = slog.New(slog.NewTextHandler(second.log, nil))
	second.open(t)
	until(t, "the second one is let in", func() bool { s, err := founder.Status(t.Context()); return err == nil && len(s.Members) == 2 })
}

// A new member whose founder is away waits for it, and says for whom; others that are new
// too do not make it believe that there is none.
func TestANewMemberWaitsForAFounderThatIsAway(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "ca")
	a := ca.join(t, "a", t.TempDir())
	away := a.ClusterAddress()
	a.stop(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	at := listentest.Address(t)
	log := &told{}
	waits := make(chan string, 10)
	over := make(chan error, 2)
	for _, o := range []Options{
		{Data: t.TempDir(), ServerName: "b", Cluster: &Cluster{Name: "test", Listen: at, Peers: []string{away}, TLS: ca.member(t, "b")}},
		// c was told of b only, which was told of a.
		{Data: t.TempDir(), ServerName: "c", Logger: slog.New(slog.NewTextHandler(log, nil)), Waiting: func(s string) { waits <- s }, Cluster: &Cluster{Name: "test", Listen: listentest.Address(t), Peers: []string{at}, TLS: ca.member(t, "c")}},
	} {
		go func() {
			b, err := Open(ctx, o)
			if b != nil {
				_ = b.Close(context.Background())
			}
			over <- err
		}()
	}
	log.until(t, "nobody has let this member into the cluster yet")
	until(t, "c knows that a is the one to wait for", func() bool { return strings.Contains(log.String(), "waiting_for="+away) })
	select {
	case err := <-over:
		t.Fatalf("a member gave up: %v", err)
	case <-time.After(newcomersSure + newcomersSay):
	}
	if text := <-waits; !strings.Contains(text, "waiting to be let into the cluster test by") {
		t.Errorf("it says %q", text)
	}
	cancel()
	for range 2 {
		if err := <-over; !errors.Is(err, ErrNoQuorum) {
			t.Errorf("interrupted: %v", err)
		}
	}
}
