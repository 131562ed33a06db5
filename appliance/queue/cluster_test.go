package queue

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/listen/listentest"
)

// three starts a cluster of three servers and returns a connection to it.
func three(t *testing.T) *nats.Conn {
	t.Helper()
	var ports []int
	var routes []*url.URL
	for range 3 {
		port := listentest.Port(t)
		ports, routes = append(ports, port), append(routes, &url.URL{Scheme: "nats-route", Host: fmt.Sprintf("127.0.0.1:%d", port)})
	}
	var all []*server.Server
	for i, port := range ports {
		s, err := server.NewServer(&server.Options{
			ServerName: fmt.Sprint("s", i), Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir(),
			Cluster: server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: port}, Routes: routes,
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
		all = append(all, s)
	}
	until(t, "the servers are a cluster", func() bool {
		return all[0].ReadyForConnections(time.Second) && slices.ContainsFunc(all, func(s *server.Server) bool { return len(s.JetStreamClusterPeers()) == 3 })
	})
	nc, err := nats.Connect(all[0].ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for began := time.Now(); !so(); time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("never: %s", what)
		}
	}
}

// A cluster gives the stream as many copies as it has members. An engine that starts does not
// take them away, which would cost the work that waits.
func TestAnEngineThatStartsLeavesTheCopiesOfTheQueue(t *testing.T) {
	t.Parallel()
	q, err := NewJetStream(three(t), JetStreamOptions{})
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the stream is made", func() bool { return q.declare(t.Context()) == nil })
	c := q.stream()
	c.Replicas = 3
	until(t, "it has its copies", func() bool { _, err := q.js.UpdateStream(t.Context(), c); return err == nil })
	if _, err := q.js.Publish(t.Context(), q.names.check("dmz"), []byte("{}")); err != nil {
		t.Fatal(err)
	}
	before, err := q.js.Stream(t.Context(), c.Name)
	if err != nil {
		t.Fatal(err)
	}
	d, err := q.Dispatcher(t.Context(), "e2")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	after, err := q.js.Stream(t.Context(), c.Name)
	if err != nil {
		t.Fatal(err)
	}
	was, is := before.CachedInfo(), after.CachedInfo()
	if is.Config.Replicas != 3 || is.State.Msgs != 1 || is.Cluster.Leader != was.Cluster.Leader || !is.Created.Equal(was.Created) {
		t.Errorf("it has %d copies with %d items at %s, and had %d at %s", is.Config.Replicas, is.State.Msgs, is.Cluster.Leader, was.Config.Replicas, was.Cluster.Leader)
	}
	// What an earlier release made otherwise is still put right.
	c.MaxMsgs, c.Replicas = 5, 3
	if _, err := q.js.UpdateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := q.declare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after, err = q.js.Stream(t.Context(), c.Name); err != nil || after.CachedInfo().Config.MaxMsgs != streamItems || after.CachedInfo().Config.Replicas != 3 {
		t.Errorf("after a change: %+v, %v", after.CachedInfo().Config, err)
	}
}

// While a cluster chooses who keeps the stream, a start asks again.
func TestAStartWaitsUntilTheQueueCanBeDeclared(t *testing.T) {
	t.Parallel()
	b := openBus(t)
	var failed error
	q, err := NewJetStream(b.Conn(), JetStreamOptions{Settled: func(ctx context.Context, do func(context.Context) error) error {
		hung, cancel := context.WithCancel(ctx)
		cancel()
		failed = do(hung)
		return b.Settled(ctx, do)
	}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := q.Dispatcher(t.Context(), "e1")
	if err != nil || failed == nil {
		t.Fatalf("the first try: %v, the start: %v", failed, err)
	}
	_ = d.Close()
	if s, err := q.js.Stream(t.Context(), q.names.stream); err != nil || s.CachedInfo().Config.Replicas != 1 {
		t.Errorf("the stream: %+v, %v", s, err)
	}
}
