package ingress

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"jaque.sh/jaque/appliance/command"
	"jaque.sh/jaque/appliance/command/rig"
)

// Who may write one key and read it again can name the subject on which the server
// delivers it. What arrives that way is no command, whoever has made it.
func TestWhatTheServerDeliversFromItsStoreIsNoCommand(t *testing.T) {
	s := rig.Serve(t, server.Options{JetStream: true, StoreDir: t.TempDir()})
	e, logged := &taker{}, &bytes.Buffer{}
	srv := engine(t, rig.Dial(t, s), ServerOptions{ID: "e1", Engine: e, Logger: slog.New(slog.NewTextHandler(logged, nil))})
	stop, _ := rig.Run(t, srv.Run)
	nc := rig.Dial(t, s)
	data, err := Encode(&Command{ID: NewID(), From: "a sink", Actions: ack("web01")})
	if err != nil {
		t.Fatal(err)
	}
	rig.Forge(t, nc, Subject(""), group, data, srv.in.Received.WithLabelValues(command.Foreign))
	if err := client(t, nc, ClientOptions{}).Submit(t.Context(), NewID(), ack("web02")); err != nil {
		t.Errorf("a real command behind them: %v", err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if e.count() != 1 {
		t.Errorf("%d commands were carried out, want the real one", e.count())
	}
	if n := strings.Count(logged.String(), "is no command"); n != 1 {
		t.Errorf("%d lines tell of them, want 1:\n%s", n, logged)
	}
}
