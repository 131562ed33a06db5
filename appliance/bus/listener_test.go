package bus

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/access/authority"
	"jaque.sh/jaque/appliance/access/credential"
)

// guests are the users of a listener, changed while it runs.
type guests struct {
	mu   sync.Mutex
	list []User
}

func (g *guests) users() ([]User, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.list, nil
}

func (g *guests) set(list ...User) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list = list
}

// guest makes a user and the credentials that belong to it.
func guest(t *testing.T, ca *authority.Authority, u User) (User, *credential.Credentials) {
	t.Helper()
	c, err := credential.New("ui", u.Name, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Authorities, c.Server = ca.PEM(), authority.ServerName
	if u.Key, err = c.Key(); err != nil {
		t.Fatal(err)
	}
	return u, c
}

// listening opens an embedded server that listens on a free port of loopback.
func listening(t *testing.T, g *guests, log *slog.Logger) (*Bus, *authority.Authority) {
	t.Helper()
	data := t.TempDir()
	ca, err := authority.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	secure, err := ca.Server(authority.Names("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, Options{Data: data, Logger: log, Listen: &Listener{Address: "127.0.0.1:0", TLS: secure, Users: g.users}})
	return b, ca
}

func call(t *testing.T, address string, c *credential.Credentials) (*Bus, error) {
	t.Helper()
	o := Options{URL: "nats://" + address, Bare: true, Credentials: c}
	if c != nil {
		o.Inbox = c.Inbox()
	}
	b, err := Open(t.Context(), o)
	if err == nil {
		t.Cleanup(func() { _ = b.Close(context.Background()) })
	}
	return b, err
}

func TestAListenerLetsUsersInAndNobodyElse(t *testing.T) {
	t.Parallel()
	g := &guests{}
	b, ca := listening(t, g, nil)
	known, mine := guest(t, ca, User{Name: "anna", Publish: []string{"a.b"}, Subscribe: []string{"_INBOX.ui.anna.>"}})
	_, stranger := guest(t, ca, User{Name: "bert"})
	if _, err := call(t, b.ListenAddress(), mine); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("before it is a user: %v", err)
	}
	g.set(known)
	in := eventually(t, func() (*Bus, error) { return call(t, b.ListenAddress(), mine) })
	if state, err := in.Conn().TLSConnectionState(); err != nil || !state.HandshakeComplete {
		t.Errorf("the connection is not encrypted: %v", err)
	}
	other, err := authority.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_, elsewhere := guest(t, other, User{Name: "anna"})
	for _, c := range []struct {
		name  string
		creds *credential.Credentials
		want  string
	}{
		{"nobody gets in without credentials", nil, "-nats-creds"},
		{"an unknown key is refused", stranger, "made for another server or revoked"},
		{"a server of another authority is not trusted", elsewhere, "unknown authority"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := call(t, b.ListenAddress(), c.creds); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("err = %v, want %q in it", err, c.want)
			}
		})
	}
	if _, err := nats.Connect("nats://"+b.ListenAddress(), nats.Timeout(2*time.Second)); err == nil {
		t.Error("a client without anything got in")
	}
	if err := b.Conn().Publish("jaque.log.x", []byte("x")); err != nil || b.Conn().Flush() != nil {
		t.Errorf("the connection inside does not work: %v", err)
	}
}

// eventually repeats what needs the server to look at its users.
func eventually(t *testing.T, do func() (*Bus, error)) *Bus {
	t.Helper()
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		b, err := do()
		if err == nil {
			return b
		}
		if time.Since(began) > 30*time.Second {
			t.Fatal(err)
		}
	}
}

func TestARevokedUserIsPutOutAndTheOthersStay(t *testing.T) {
	t.Parallel()
	g := &guests{}
	data := t.TempDir()
	ca, err := authority.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	anna, annas := guest(t, ca, User{Name: "anna", Publish: []string{"a"}, Subscribe: []string{"a"}})
	bert, berts := guest(t, ca, User{Name: "bert", Publish: []string{"b"}, Subscribe: []string{"b"}})
	g.set(anna, bert)
	secure, err := ca.Server(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, Options{Data: data, Listen: &Listener{Address: "127.0.0.1:0", TLS: secure, Users: g.users}})
	out, err := call(t, b.ListenAddress(), annas)
	if err != nil {
		t.Fatal(err)
	}
	stays, err := call(t, b.ListenAddress(), berts)
	if err != nil {
		t.Fatal(err)
	}
	g.set(bert)
	select {
	case <-out.Failed():
	case <-time.After(20 * time.Second):
		t.Fatal("a revoked user is still connected")
	}
	if err := out.Err(); !strings.Contains(err.Error(), "revoked") {
		t.Errorf("err = %v, want that the credentials were revoked", err)
	}
	if err := stays.Conn().Flush(); err != nil || stays.Conn().Stats().Reconnects > 0 {
		t.Errorf("another user was disturbed: %v", err)
	}
	if b.Conn().Stats().Reconnects > 0 {
		t.Error("the connection inside was disturbed")
	}
}

// rightless is connected as a user who has no rights.
func rightless(t *testing.T) *Bus {
	t.Helper()
	g := &guests{}
	b, ca := listening(t, g, nil)
	u, creds := guest(t, ca, User{Name: "carl"})
	g.set(u)
	return eventually(t, func() (*Bus, error) { return call(t, b.ListenAddress(), creds) })
}

func TestAUserWithoutRightsMayDoNothing(t *testing.T) {
	t.Parallel()
	in := rightless(t)
	if _, err := in.Conn().SubscribeSync("a.b"); err != nil {
		t.Fatal(err)
	}
	if err := in.Conn().Publish("a.b", nil); err != nil {
		t.Fatal(err)
	}
	_ = in.Conn().Flush() // answers after the refusals
	if err := in.Conn().LastError(); !errors.Is(err, nats.ErrPermissionViolation) {
		t.Errorf("last error = %v, want a refusal", err)
	}
}

func TestWhatAStrangerSaysEndsNothing(t *testing.T) {
	t.Parallel()
	var lines safeBuilder
	b, _ := listening(t, &guests{}, slog.New(slog.NewTextHandler(&lines, nil)))
	_, err := nats.Connect("nats://"+b.ListenAddress(), nats.Name("write error: no space left, failed to store a msg"),
		nats.Secure(insecure()), nats.Timeout(2*time.Second))
	if err == nil {
		t.Fatal("a stranger got in")
	}
	for began := time.Now(); !strings.Contains(lines.String(), "authentication error"); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatalf("the refusal was not logged:\n%s", lines.String())
		}
	}
	if err := b.embed.watch.judge("quiet"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-b.Failed():
		t.Fatalf("a stranger's words ended the server: %v", b.Err())
	case <-time.After(100 * time.Millisecond):
	}
	if strings.Contains(lines.String(), "level=ERROR") {
		t.Errorf("a stranger is an error of ours:\n%s", lines.String())
	}
}

func TestAListenerSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	noUsers := func() ([]User, error) { return nil, errors.New("the folder cannot be read") }
	for _, c := range []struct {
		name string
		l    Listener
		want string
	}{
		{"a port that is taken", Listener{Address: taken.Addr().String(), TLS: insecure(), Users: (&guests{}).users}, "-nats-listen"},
		{"no port", Listener{Address: "127.0.0.1", TLS: insecure(), Users: (&guests{}).users}, "write host:port"},
		{"no certificate", Listener{Address: "127.0.0.1:0", Users: (&guests{}).users}, "needs a certificate"},
		{"users that cannot be read", Listener{Address: "127.0.0.1:0", TLS: insecure(), Users: noUsers}, "folder cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := Open(t.Context(), Options{Data: t.TempDir(), Listen: &c.l})
			if err == nil {
				_ = b.Close(context.Background())
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("err = %v, want %q in it", err, c.want)
			}
		})
	}
}

func insecure() *tls.Config { return &tls.Config{InsecureSkipVerify: true} }

// safeBuilder is written by many goroutines.
type safeBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *safeBuilder) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuilder) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
