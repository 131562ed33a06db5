package target

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"jaque.sh/jaque/appliance/sink"
)

func natsServer(t *testing.T, o *natsserver.Options) (*natsserver.Server, *nats.Conn) {
	t.Helper()
	o.Host, o.NoSigs, o.NoLog, o.JetStream, o.StoreDir = "127.0.0.1", true, true, true, t.TempDir()
	if o.Port == 0 {
		o.Port = natsserver.RANDOM_PORT
	}
	s, err := natsserver.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not serve")
	}
	nc, err := nats.Connect(s.ClientURL(), nats.UserInfo(o.Username, o.Password))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return s, nc
}

func TestEachItemIsAMessage(t *testing.T) {
	t.Parallel()
	s, nc := natsServer(t, &natsserver.Options{Username: "u", Password: "p"})
	sub, err := nc.SubscribeSync("m.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{"url": s.ClientURL(), "user": "u", "password": "p", "subject": "m.{host}.{service}"}
	for input, b := range map[string]*sink.Batch{Metrics: samples(), Events: events()} {
		if n, err := newTarget(t, "nats", input, settings).Write(t.Context(), b); err != nil || n == 0 {
			t.Fatalf("%d bytes, %v", n, err)
		}
		want := []string{"m.h%2E1._", "m.h2.s", "m._._"}[:b.Len()]
		for i, subject := range want {
			m, err := sub.NextMsg(5 * time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if m.Subject != subject || input == Events && string(m.Data) != string(b.Events[i].JSON) {
				t.Errorf("%s %s, want %s", m.Subject, m.Data, subject)
			}
		}
	}
	settings["password"] = "wrong"
	if _, err := newTarget(t, "nats", Metrics, settings).Write(t.Context(), samples()); err == nil || !strings.Contains(err.Error(), "connect to the NATS server") {
		t.Errorf("with a wrong password: %v", err)
	}
}

func TestAStreamAcknowledgesAndDropsRepetitions(t *testing.T) {
	t.Parallel()
	s, nc := natsServer(t, &natsserver.Options{MaxPayload: 1000})
	target := newTarget(t, "nats", Events, map[string]string{"url": s.ClientURL(), "subject": "e.{host}", "jetstream": "true"})
	if _, err := target.Write(t.Context(), events()); err == nil || !strings.Contains(err.Error(), "no stream takes the subject") {
		t.Errorf("without a stream: %v", err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "E", Subjects: []string{"e.>"}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := target.Write(t.Context(), events()); err != nil {
			t.Fatal(err)
		}
	}
	info, err := stream.Info(t.Context())
	if err != nil || info.State.Msgs != 3 {
		t.Errorf("%+v, %v", info, err)
	}
	large := events()
	large.Events[1].JSON = fmt.Appendf(nil, "%2000d", 1)
	var e *sink.Error
	if _, err := target.Write(t.Context(), large); !errors.As(err, &e) || !e.Permanent {
		t.Errorf("a message above the server's limit: %v", err)
	}
}

func TestANATSServerMayBeGoneForAWhile(t *testing.T) {
	t.Parallel()
	s, _ := natsServer(t, &natsserver.Options{})
	port := s.Addr().String()[strings.LastIndex(s.Addr().String(), ":")+1:]
	target := newTarget(t, "nats", Events, map[string]string{"url": s.ClientURL()})
	if _, err := target.Write(t.Context(), events()); err != nil {
		t.Fatal(err)
	}
	s.Shutdown()
	s.WaitForShutdown()
	waitFor(t, "the connection is gone", func() bool {
		_, err := target.Write(t.Context(), events())
		return err != nil
	})
	again := &natsserver.Options{}
	if _, err := fmt.Sscan(port, &again.Port); err != nil {
		t.Fatal(err)
	}
	natsServer(t, again)
	waitFor(t, "the connection is back", func() bool {
		_, err := target.Write(t.Context(), events())
		return err == nil
	})
}
