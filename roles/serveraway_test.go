package roles

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/listen/listentest"
	"jaque.sh/jaque/appliance/rule/membership"
)

// Members whose server is away for more than half a TTL live on: they are there again as
// soon as it is.
func TestMembersOutliveTheRestartOfTheirServer(t *testing.T) {
	t.Parallel()
	const (
		ttl  = 10 * time.Second
		away = 6300 * time.Millisecond
		many = 8 // each has its own pauses
	)
	folder, port := t.TempDir(), listentest.Port(t)
	n := serverIn(t, folder, port)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	ended := make(chan error, many)
	var stores []*coordination.JetStream
	for i := range many {
		a := &appliance{s: Settings{Role: Role{Name: Sink}, SinkID: fmt.Sprintf("s%d", i), HeartbeatTTL: ttl}, p: Process{Logger: quiet()}, reg: prometheus.NewRegistry()}
		o, err := a.busOptions(n.ClientURL())
		if err != nil {
			t.Fatal(err)
		}
		b, err := bus.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close(context.Background()) })
		s, err := coordination.OpenJetStream(b.Conn(), a.storeOptions(b, coordination.Sinks))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Register(ctx, membership.Member{ID: a.memberID(), Instance: "run"}, 0); err != nil {
			t.Fatal(err)
		}
		running.Go(func() { ended <- s.Run(ctx, func() {}) })
		stores = append(stores, s)
	}
	n.Shutdown()
	n.WaitForShutdown()
	time.Sleep(away)
	serverIn(t, folder, port)
	select {
	case err := <-ended:
		t.Fatalf("a member has ended: %v", err)
	case <-time.After(ttl): // by then all have ended that were not back in time
	}
	for i, s := range stores {
		if !s.Alive() || len(s.View().Members) != many {
			t.Errorf("member %d: alive %t, view %+v", i, s.Alive(), s.View())
		}
	}
}
