package forward

import (
	"bytes"
	"fmt"
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
	srv := engine(t, dial(t, s), ServerOptions{Engine: e, Logger: slog.New(slog.NewTextHandler(logged, nil))})
	stop, _ := run(t, srv.Run)
	nc := dial(t, s)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "KEPT", Subjects: []string{"kept"}, AllowDirect: true}); err != nil {
		t.Fatal(err)
	}
	asked := ack("x", "web01")
	p, err := newPiece(&asked)
	if err != nil {
		t.Fatal(err)
	}
	to, data := Subject("", "e2"), encode("e1", []piece{p})
	if _, err := js.Publish(t.Context(), "kept", data); err != nil {
		t.Fatal(err)
	}
	all := map[string]func() error{
		"a direct get": func() error { return nc.PublishRequest("$JS.API.DIRECT.GET.KEPT", to, []byte(`{"seq":1}`)) },
		"a get":        func() error { return nc.PublishRequest("$JS.API.STREAM.MSG.GET.KEPT", to, []byte(`{"seq":1}`)) },
		"no reply":     func() error { return nc.Publish(to, data) },
		"no inbox":     func() error { return nc.PublishRequest(to, "jaque.log.web01", data) },
		"a header of such": func() error {
			return nc.PublishMsg(&nats.Msg{Subject: to, Reply: nc.NewInbox(), Data: data, Header: nats.Header{"Nats-Stream": {"KEPT"}}})
		},
		"a consumer": func() error {
			_, err := js.CreatePushConsumer(t.Context(), "KEPT", jetstream.ConsumerConfig{DeliverSubject: to, AckPolicy: jetstream.AckNonePolicy})
			return err
		},
	}
	for name, ask := range all {
		if err := ask(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	foreign, want := srv.metrics.WithLabelValues(outForeign), float64(len(all))
	for end := time.Now().Add(10 * time.Second); testutil.ToFloat64(foreign) < want && time.Now().Before(end); {
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if got := testutil.ToFloat64(foreign); got != want {
		t.Errorf("%v messages were refused, want %v", got, want)
	}
	if _, err := client(t, nc, ClientOptions{}).Forward(soon(t), "e2", ack("y", "web02")); err != nil {
		t.Errorf("a real command behind them: %v", err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if e.count() != 1 {
		t.Errorf("%d commands were carried out, want the real one", e.count())
	}
	if n := strings.Count(logged.String(), "no forwarded command"); n != 1 {
		t.Errorf("%d lines tell of them, want 1:\n%s", n, logged)
	}
}

// S140: the bound is in the message, so that it holds whatever the engines think.
func TestAMessageThatHasMadeAnotherHopIsNotCarriedOut(t *testing.T) {
	e := &taker{}
	_, srv, s := pair(t, e, ServerOptions{})
	nc := dial(t, s)
	for _, hop := range []int{-1, 0, 2, 100} {
		text := fmt.Sprintf(`{"v":1,"hop":%d,"from":"e1","do":[{"k":"acknowledge","with":{"Author":"ann"},"o":["a"],"i":["x"]}]}`, hop)
		m, err := nc.Request(Subject("", "e2"), []byte(text), 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if a, err := decodeAnswer(m.Data); err != nil || a.All == nil || !is(a.All.error(), Refused) || !strings.Contains(a.All.Text, fmt.Sprintf("%d hops", hop)) {
			t.Errorf("hop %d is answered with %s, %v; want a refusal", hop, m.Data, err)
		}
	}
	if n := testutil.ToFloat64(srv.metrics.WithLabelValues(outRefused)); e.count() != 0 || n != 4 {
		t.Errorf("%d were carried out, %v counted as refused", e.count(), n)
	}
}
