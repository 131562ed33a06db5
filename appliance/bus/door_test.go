package bus

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// echo asks the server through the door for the streams there are.
func through(t *testing.T, data string) (*Bus, error) {
	t.Helper()
	b, err := Open(t.Context(), Options{Through: data})
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = b.Close(t.Context()) })
	_, err = b.JetStream().Stream(t.Context(), "JAQUE_LOG")
	return b, err
}

func TestTheDoorLeadsToTheServer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		folder string
		closed bool
	}{
		{"one that listens nowhere", "data", false},
		{"a folder whose name is too long for a socket", strings.Repeat("long/", 30) + "data", false},
		{"one that asks who one is", "data", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := Options{Data: filepath.Join(t.TempDir(), tt.folder), Door: true}
			if tt.closed {
				guarded, _ := listening(t, &guests{}, nil)
				o.Listen = &Listener{Address: "127.0.0.1:0", TLS: guarded.opts.Listen.TLS, Users: (&guests{}).users}
			}
			// What a killed process left behind is in nobody's way.
			if err := os.MkdirAll(o.Data, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(o.Data, DoorFile), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			b := open(t, o)
			info, err := os.Stat(filepath.Join(o.Data, DoorFile))
			if err != nil || info.Mode().Perm() != 0o600 || info.Mode()&os.ModeSocket == 0 {
				t.Errorf("the socket is %v, %v", info.Mode(), err)
			}
			c, err := through(t, o.Data)
			if err != nil {
				t.Fatal(err)
			}
			lost := make(chan struct{})
			c.Conn().SetDisconnectErrHandler(func(*nats.Conn, error) { close(lost) })
			if err := b.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			select {
			case <-lost:
			case <-time.After(10 * time.Second):
				t.Error("the connection did not end with the server")
			}
			if _, err := through(t, o.Data); !errors.Is(err, ErrNoDoor) {
				t.Errorf("after the end: %v", err)
			}
			if _, err := os.Lstat(filepath.Join(o.Data, DoorFile)); err == nil {
				t.Error("the socket is still there")
			}
		})
	}
}

// A server that takes in other users puts out whoever has not said yet who they are. A
// command that is at the door just then gets in all the same.
func TestACommandGetsInWhileTheServerTakesInOtherUsers(t *testing.T) {
	t.Parallel()
	guarded, ca := listening(t, &guests{}, nil)
	users, heard := &guests{}, &safeBuilder{}
	o := Options{Data: t.TempDir(), Door: true, Logger: slog.New(slog.NewTextHandler(heard, nil))}
	o.Listen = &Listener{Address: "127.0.0.1:0", TLS: guarded.opts.Listen.TLS, Users: users.users}
	open(t, o)
	first, seed, err := knock(o.Data)
	if err != nil {
		t.Fatal(err)
	}
	in := first.(*greeted).in
	if _, err := in.Peek(1); err != nil { // the server has begun to talk
		t.Fatal(err)
	}
	anna, _ := guest(t, ca, User{Name: "anna"})
	users.set(anna)
	for began := time.Now(); !strings.Contains(heard.String(), "users of the log server changed"); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatal("the server has not taken in the users")
		}
	}
	b := &Bus{opts: Options{Through: o.Data}, log: slog.New(slog.DiscardHandler), metrics: newMetrics(nil), failed: make(chan struct{})}
	nc, err := b.enter(t.Context(), first, seed)
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
}

func TestSomethingElseBehindTheDoorIsRefused(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	short, _, err := shortName(filepath.Join(data, DoorFile))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", short)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			_, _ = c.Write([]byte("220 mail.example.com\r\n"))
			_ = c.Close()
		}
	}()
	if _, err := through(t, data); err == nil || !strings.Contains(err.Error(), "220 mail") {
		t.Errorf("got %v", err)
	}
}
