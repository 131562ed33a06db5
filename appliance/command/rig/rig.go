package rig

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// Serve runs a server on the loopback, on a free port unless the options name one.
func Serve(t testing.TB, o server.Options) *server.Server {
	t.Helper()
	o.Host, o.NoSigs, o.NoLog = "127.0.0.1", true, true
	if o.Port == 0 {
		o.Port = -1
	}
	s, err := server.NewServer(&o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s
}

// Dial connects to a server. Nothing is kept for it while it is away.
func Dial(t testing.TB, s *server.Server, o ...nats.Option) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(s.ClientURL(), append(o, nats.ReconnectBufSize(-1), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// Run runs a service and returns, once it is ready, a function that stops it and its
// error.
func Run(t testing.TB, service func(context.Context, func()) error) (stop func() error, ended <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- service(ctx, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-done:
		cancel()
		t.Fatalf("the service ended at once: %v", err)
	}
	return func() error { cancel(); return <-done }, done
}

// Forge has messages arrive on a subject that nobody has sent to it: what the server
// delivers from its store, whoever has asked it to, and what waits for no answer. It
// returns once a counter has as many.
func Forge(t testing.TB, nc *nats.Conn, subject, group string, data []byte, foreign prometheus.Counter) {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "KEPT", Subjects: []string{"kept"}, AllowDirect: true}); err != nil {
		t.Fatal(err)
	}
	for _, h := range []nats.Header{nil, {"Nats-Stream": {"OTHER"}}} {
		if _, err := js.PublishMsg(t.Context(), &nats.Msg{Subject: "kept", Data: data, Header: h}); err != nil {
			t.Fatal(err)
		}
	}
	all := map[string]func() error{
		"a direct get": func() error { return nc.PublishRequest("$JS.API.DIRECT.GET.KEPT", subject, []byte(`{"seq":1}`)) },
		"a get":        func() error { return nc.PublishRequest("$JS.API.STREAM.MSG.GET.KEPT", subject, []byte(`{"seq":1}`)) },
		"no reply":     func() error { return nc.Publish(subject, data) },
		"no inbox":     func() error { return nc.PublishRequest(subject, "jaque.log.web01", data) },
		"a header of such": func() error {
			return nc.PublishMsg(&nats.Msg{Subject: subject, Reply: nc.NewInbox(), Data: data, Header: nats.Header{"Nats-Stream": {"KEPT"}}})
		},
		"a consumer": func() error {
			_, err := js.CreatePushConsumer(t.Context(), "KEPT", jetstream.ConsumerConfig{DeliverSubject: subject, DeliverGroup: group, AckPolicy: jetstream.AckNonePolicy})
			return err
		},
	}
	for name, ask := range all {
		if err := ask(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	want := float64(len(all) + 1) // the consumer delivers two
	for end := time.Now().Add(10 * time.Second); testutil.ToFloat64(foreign) < want && time.Now().Before(end); {
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if got := testutil.ToFloat64(foreign); got != want {
		t.Errorf("%v messages were refused, want %v", got, want)
	}
}

// End ends services of both ends of a way, one connection after the other, and wants every
// one of them to fail: nobody has stopped it. start runs them on a connection.
func End(t *testing.T, s *server.Server, start func(t *testing.T, nc *nats.Conn) []<-chan error) {
	for name, end := range map[string]func(nc *nats.Conn) error{
		"the connection is closed":  func(nc *nats.Conn) error { nc.Close(); return nil },
		"the connection is drained": func(nc *nats.Conn) error { return nc.Drain() },
	} {
		t.Run(name, func(t *testing.T) {
			nc := Dial(t, s)
			all := start(t, nc)
			if err := end(nc); err != nil {
				t.Fatal(err)
			}
			for _, ended := range all {
				if err := <-ended; err == nil {
					t.Error("the service ended without an error although nobody stopped it")
				}
			}
		})
	}
}
