package ingress

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// Who may write one key and read it again can name the subject on which the server
// delivers it. What arrives that way is no command, whoever has made it.
func TestWhatTheServerDeliversFromItsStoreIsNoCommand(t *testing.T) {
	s := serve(t, server.Options{JetStream: true, StoreDir: t.TempDir()})
	e, logged := &taker{}, &bytes.Buffer{}
	srv := engine(t, dial(t, s), ServerOptions{ID: "e1", Engine: e, Logger: slog.New(slog.NewTextHandler(logged, nil))})
	stop, _ := run(t, srv.Run)
	nc := dial(t, s)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "KEPT", Subjects: []string{"kept"}, AllowDirect: true}); err != nil {
		t.Fatal(err)
	}
	data, err := Encode(&Command{ID: NewID(), From: "a sink", Actions: ack("web01")})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []nats.Header{nil, {"Nats-Stream": {"OTHER"}}} {
		if _, err := js.PublishMsg(t.Context(), &nats.Msg{Subject: "kept", Data: data, Header: h}); err != nil {
			t.Fatal(err)
		}
	}
	ask := map[string]func() error{
		"a direct get": func() error { return nc.PublishRequest("$JS.API.DIRECT.GET.KEPT", Subject(""), []byte(`{"seq":1}`)) },
		"a get": func() error {
			return nc.PublishRequest("$JS.API.STREAM.MSG.GET.KEPT", Subject(""), []byte(`{"seq":1}`))
		},
		"no reply": func() error { return nc.Publish(Subject(""), data) },
		"no inbox": func() error { return nc.PublishRequest(Subject(""), "jaque.log.web01", data) },
		"a header of such": func() error {
			return nc.PublishMsg(&nats.Msg{Subject: Subject(""), Reply: nc.NewInbox(), Data: data, Header: nats.Header{"Nats-Stream": {"KEPT"}}})
		},
		"a consumer": func() error {
			_, err := js.CreatePushConsumer(t.Context(), "KEPT", jetstream.ConsumerConfig{DeliverSubject: Subject(""), DeliverGroup: group, AckPolicy: jetstream.AckNonePolicy})
			return err
		},
	}
	want := 0.0
	for name, ask := range ask {
		if err := ask(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want++
	}
	want++ // the consumer delivers two
	foreign := srv.metrics.WithLabelValues(outForeign)
	for end := time.Now().Add(10 * time.Second); testutil.ToFloat64(foreign) < want && time.Now().Before(end); {
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if got := testutil.ToFloat64(foreign); got != want {
		t.Errorf("%v messages were refused, want %v", got, want)
	}
	if err := client(t, nc, ClientOptions{}).Submit(t.Context(), NewID(), ack("web02")); err != nil {
		t.Errorf("a real command behind them: %v", err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if e.count() != 1 {
		t.Errorf("%d commands were carried out, want the real one", e.count())
	}
	if n := strings.Count(logged.String(), "no submitted command"); n != 1 {
		t.Errorf("%d lines tell of them, want 1:\n%s", n, logged)
	}
}
