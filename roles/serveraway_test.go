package roles

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	nats "github.com/nats-io/nats-server/v2/server"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/coordination"
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
	folder, port := t.TempDir(), nats.RANDOM_PORT
	start := func() *nats.Server {
		n, err := nats.NewServer(&nats.Options{Host: "127.0.0.1", Port: port, NoSigs: true, JetStream: true, StoreDir: folder, JetStreamMaxStore: 64 << 30})
		if err != nil {
			t.Fatal(err)
		}
		n.Start()
		t.Cleanup(func() { n.Shutdown(); n.WaitForShutdown() })
		if !n.ReadyForConnections(20 * time.Second) {
			t.Fatal("the NATS server does not start")
		}
		return n
	}
	n := start()
	port = n.Addr().(*net.TCPAddr).Port
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
	start()
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
