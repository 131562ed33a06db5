package forward

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"jaque.sh/jaque/appliance/command"
	"jaque.sh/jaque/appliance/command/rig"
)

// Who may write one key and read it again can name the subject on which the server
// delivers it. What arrives that way is no command, whoever has made it.
func TestWhatTheServerDeliversFromItsStoreIsNoCommand(t *testing.T) {
	s := rig.Serve(t, server.Options{JetStream: true, StoreDir: t.TempDir()})
	e, logged := &taker{}, &bytes.Buffer{}
	srv := engine(t, rig.Dial(t, s), ServerOptions{Engine: e, Logger: slog.New(slog.NewTextHandler(logged, nil))})
	stop, _ := rig.Run(t, srv.Run)
	nc := rig.Dial(t, s)
	asked := ack("x", "web01")
	p, err := newPiece(&asked)
	if err != nil {
		t.Fatal(err)
	}
	rig.Forge(t, nc, Subject("", "e2"), "", encode("e1", []piece{p}), srv.in.Received.WithLabelValues(command.Foreign))
	if _, err := client(t, nc, ClientOptions{}).Forward(soon(t), "e2", ack("y", "web02")); err != nil {
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

// S140: the bound is in the message, so that it holds whatever the engines think.
func TestAMessageThatHasMadeAnotherHopIsNotCarriedOut(t *testing.T) {
	e := &taker{}
	_, srv, s := pair(t, e, ServerOptions{})
	nc := rig.Dial(t, s)
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
	if n := testutil.ToFloat64(srv.in.Received.WithLabelValues(command.Refused)); e.count() != 0 || n != 4 {
		t.Errorf("%d were carried out, %v counted as refused", e.count(), n)
	}
}
