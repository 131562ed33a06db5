package bus

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// What a client does wrong again and again is counted each time and told of once a
// minute, whatever the subject and whichever connection it uses.
func TestAClientCannotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		warns := 0
		l := &serverLog{log: slog.New(slog.NewTextHandler(&logged, nil)), warns: func() { warns++ }}
		l.complain(func(line string) { t.Errorf("%s was judged", line) })
		violation := func(n int, client, kind string) {
			l.Errorf("%s - "+kind+" Violation - %s, Subject %q", client, `Nkey "UA"`, strings.Repeat("x", n%50))
		}
		for n := range 1000 {
			violation(n, `10.0.0.1:4711 - cid:7 - "v1.50.0:go:jaque worker w1"`, "Publish")
			violation(n, `10.0.0.1:4712 - cid:8 - "v1.50.0:go:jaque worker w1"`, "Publish")
		}
		violation(0, `10.0.0.2:4711 - cid:9`, "Subscription")
		if n := strings.Count(logged.String(), "log server says"); n != 2 || warns != 2001 {
			t.Errorf("%d lines and %d counted, want 2 and 2001:\n%s", n, warns, &logged)
		}
		time.Sleep(time.Minute)
		violation(1, `10.0.0.1:4713 - cid:10 - "v1.50.0:go:jaque worker w1"`, "Publish")
		if !strings.Contains(logged.String(), "left_out=1999") {
			t.Errorf("what was left out is not told of:\n%s", &logged)
		}
	})
}

// A peer that is stopped is not said to have another authority's certificate.
func TestWhatAPeerDidIsToldApart(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"127.0.0.1:4248 - rid:104 - TLS route handshake error: read tcp 127.0.0.1:1->127.0.0.1:4248: i/o timeout":                  silentPeer,
		"127.0.0.1:4248 - rid:5 - TLS route handshake error: EOF":                                                                  silentPeer,
		"127.0.0.1:4248 - rid:6 - TLS route handshake error: tls: failed to verify certificate: x509: signed by unknown authority": "has no certificate of the other's cluster authority",
		"127.0.0.1:4248 - rid:7 - TLS route handshake error: remote error: tls: bad certificate":                                   "was removed from the cluster, or one of the two",
		"127.0.0.1:4248 - rid:8 - Remote server has a duplicate name":                                                              "give each its own -engine-id",
	} {
		var logged bytes.Buffer
		l := &serverLog{log: slog.New(slog.NewTextHandler(&logged, nil)), warns: func() {}}
		if l.Errorf("%s", line); !strings.Contains(logged.String(), want) {
			t.Errorf("%s is told as %s, want %q", line, &logged, want)
		}
	}
}
