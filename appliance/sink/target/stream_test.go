package target

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/sink"
)

// accept runs a receiver of connections.
func accept(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
	return l.Addr().String()
}

func TestAStreamIsConfirmedByItsEnd(t *testing.T) {
	read := make(chan string, 1)
	for _, c := range []struct {
		name      string
		kind      string
		serve     func(net.Conn)
		confirm   string
		says      string // "" = taken
		permanent bool
	}{
		{"a receiver that reads all", "graphite", func(c net.Conn) {
			text, _ := io.ReadAll(c)
			read <- string(text)
			c.Close()
		}, "true", "", false},
		{"one that dies with unread bytes", "graphite", func(c net.Conn) {
			_, _ = c.Read(make([]byte, 1))
			time.Sleep(50 * time.Millisecond)
			c.Close()
		}, "true", "before it had read the batch", false},
		{"one that never ends", "graphite", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, "true", "write confirm: false", false},
		{"one of which that is known", "graphite", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, "false", "", false},
		{"OpenTSDB that finds a line wrong", "opentsdb", func(c net.Conn) {
			_, _ = io.Copy(io.Discard, c)
			_, _ = io.WriteString(c, "put: illegal argument: bad\nput: more\n")
			c.Close()
		}, "true", `says "put: illegal argument: bad"`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			target := newTarget(t, c.kind, Metrics, map[string]string{"address": accept(t, c.serve), "confirm": c.confirm})
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			_, err := target.Write(ctx, samples())
			var e *sink.Error
			switch {
			case c.says == "" && err != nil:
				t.Error(err)
			case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || errors.As(err, &e) != c.permanent):
				t.Errorf("got %v, want %q in it", err, c.says)
			}
		})
	}
	if got := <-read; got != "m;host=h.1 1 1700000000\nm;host=h2;service=s 2 1700000000\n" {
		t.Errorf("the receiver read %q", got)
	}
}

func TestSyslogOverEachTransport(t *testing.T) {
	stream := make(chan string, 1)
	tcp := accept(t, func(c net.Conn) {
		text, _ := io.ReadAll(c)
		stream <- string(text)
		c.Close()
	})
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	path := filepath.Join(t.TempDir(), "log")
	unix, err := net.ListenPacket("unixgram", path)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close()
	const first = `<134>1 2023-11-14T22:13:20.123Z mon jaque `
	for address, from := range map[string]net.PacketConn{"tcp://" + tcp: nil, "udp://" + udp.LocalAddr().String(): udp, "unix://" + path: unix} {
		target := newTarget(t, "syslog", Events, map[string]string{"address": address, "facility": "local0"})
		if n, err := target.Write(t.Context(), events()); err != nil || n == 0 {
			t.Fatalf("%s: %d bytes, %v", address, n, err)
		}
		var all string
		if from == nil {
			all = <-stream
			_, all, _ = strings.Cut(all, " ")
		} else {
			for range 3 {
				p := make([]byte, 9000)
				_ = from.SetReadDeadline(time.Now().Add(5 * time.Second))
				n, _, err := from.ReadFrom(p)
				if err != nil {
					t.Fatal(err)
				}
				all += string(p[:n])
			}
		}
		if !strings.HasPrefix(all, first) || strings.Count(all, "hello") != 3 || !strings.Contains(all, `host="h2" service="s"`) {
			t.Errorf("%s: %q", address, all)
		}
	}
}
