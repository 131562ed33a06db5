package access

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/access/authority"
	"jaque.sh/jaque/appliance/access/credential"
	"jaque.sh/jaque/appliance/bus"
)

// holders are those that the tests make, one of each role and workers of two zones.
func holders() []Holder {
	return []Holder{
		{Role: Engine, ID: "engine"},
		{Role: Worker, ID: "worker-dmz", Zones: []string{"dmz"}},
		{Role: Worker, ID: "worker-lan", Zones: []string{"lan"}},
		{Role: UI, ID: "ui"},
		{Role: Sink, ID: "sink"},
		{Role: Notifier, ID: "notifier"},
		{Role: Backup, ID: "backup"},
	}
}

// lines is a log that many goroutines write.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// place is a server and the credentials of everybody who may use it.
type place struct {
	url   string
	creds map[string]*credential.Credentials // by id
	users Users                              // of the embedded server
	log   *lines
}

// places are the two kinds of server that the rights are given to.
func places() map[string]func(*testing.T) *place {
	return map[string]func(*testing.T) *place{"embedded server": embedded, "external nats-server": external}
}

// embedded is the server of an appliance that listens, with users as the command
// "jaque credentials" records them.
func embedded(t *testing.T) *place {
	t.Helper()
	data := t.TempDir()
	p := &place{creds: map[string]*credential.Credentials{}, users: In(data), log: &lines{}}
	ca, err := authority.Open(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range holders() {
		c := p.make(t, h)
		if err := c.Trust(ca.PEM(), authority.ServerName); err != nil {
			t.Fatal(err)
		}
		key, err := c.Key()
		if err != nil {
			t.Fatal(err)
		}
		if err := p.users.Add(Record{Name: h.ID, Role: h.Role, Zones: h.Zones, Key: key}); err != nil {
			t.Fatal(err)
		}
	}
	secure, err := ca.Server(authority.Names("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := bus.Open(t.Context(), bus.Options{
		Data: data, Registerer: prometheus.NewRegistry(),
		Listen: &bus.Listener{Address: "127.0.0.1:0", TLS: secure, Users: p.users.Source()},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	p.url = "tls://" + b.ListenAddress()
	return p
}

// make makes credentials and writes and reads their file, as a process does.
func (p *place) make(t *testing.T, h Holder) *credential.Credentials {
	t.Helper()
	c, err := credential.New(string(h.Role), h.ID, h.Zones)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.creds")
	if err := c.Write(path); err != nil {
		t.Fatal(err)
	}
	if c, err = credential.Read(path, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	p.creds[h.ID] = c
	return c
}

// external is a nats-server with the configuration that is shipped: the entries of
// the users as the table prints them.
func external(t *testing.T) *place {
	t.Helper()
	dir := t.TempDir()
	p := &place{creds: map[string]*credential.Credentials{}, log: &lines{}}
	ca, err := authority.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var users strings.Builder
	users.WriteString("authorization { users: [\n")
	for _, h := range holders() {
		c := p.make(t, h)
		if err := c.Trust(ca.PEM(), authority.ServerName); err != nil {
			t.Fatal(err)
		}
		key, err := c.Key()
		if err != nil {
			t.Fatal(err)
		}
		users.WriteString(NATSUser(h, key))
	}
	users.WriteString("] }\n")
	path := filepath.Join(dir, "nats.conf")
	text := "listen: \"127.0.0.1:-1\"\njetstream { store_dir: \"" + dir + "/store\" }\n" + users.String()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p.url = serve(t, path, ca)
	return p
}

// serve starts a server of a configuration, with a certificate of the authority.
func serve(t *testing.T, path string, ca *authority.Authority) (url string) {
	t.Helper()
	o, err := server.ProcessConfigFile(path)
	if err != nil {
		t.Fatal(err)
	}
	o.NoSigs, o.NoLog, o.TLSTimeout, o.AuthTimeout = true, true, 30, 30 // machines that run tests may be busy
	if o.TLSConfig, err = ca.Server(authority.Names("127.0.0.1:0")); err != nil {
		t.Fatal(err)
	}
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server is not ready")
	}
	return "tls://" + s.Addr().String()
}

// join opens a holder's bus.
func (p *place) join(t *testing.T, id string, o bus.Options) *bus.Bus {
	t.Helper()
	c := p.creds[id]
	o.URL, o.Credentials, o.Inbox = p.url, c, c.Inbox()
	o.Logger, o.Registerer = slog.New(slog.NewTextHandler(p.log, nil)), prometheus.NewRegistry()
	b, err := bus.Open(t.Context(), o)
	if err != nil {
		t.Fatalf("%s: %v\n%s", id, err, p.log)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	return b
}
