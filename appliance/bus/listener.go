package bus

import (
	"crypto/tls"
	"fmt"
	"net"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// Listener says how the embedded server is reached from other processes. Nobody
// gets in without being a user, and nobody without TLS.
type Listener struct {
	// Address is host:port; port 0 = any free one, as Bus.ListenAddress tells.
	Address string
	// TLS holds the server's certificate.
	TLS *tls.Config
	// Users returns who may connect. It is asked once a second: new users may
	// connect at once, the connections of those that are gone end.
	Users func() ([]User, error)
}

// User is one who may connect from outside, and what the server allows it.
type User struct {
	Name               string // for logs
	Key                string // public key
	Publish, Subscribe []string
}

// Limits of connections from outside. A client that does not say who it is, or does
// not read what it is sent, is let go.
const (
	maxConnections = 4096
	loginTimeout   = 10 * time.Second
	writeDeadline  = 10 * time.Second
	outsidePing    = 20 * time.Second
	usersPause     = time.Second
)

// gate is the door of the embedded server.
type gate struct {
	b      *Bus
	at     Listener
	inside nkeys.KeyPair // of the connection inside the process, which may do everything
	port   int
	server *server.Server

	users   []User
	trouble string // why the users could not be read the last time
	over    chan struct{}
	done    sync.WaitGroup
}

// newGate reads the users and makes a key for the connection inside.
func newGate(b *Bus) (*gate, error) {
	g := &gate{b: b, at: *b.opts.Listen, over: make(chan struct{})}
	host, port, err := net.SplitHostPort(g.at.Address)
	if err == nil {
		g.port, err = strconv.Atoi(port)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on -nats-listen %s: %w; write host:port", g.at.Address, err)
	}
	if g.at.TLS == nil || g.at.Users == nil {
		return nil, fmt.Errorf("listen on -nats-listen %s: it needs a certificate and users", g.at.Address)
	}
	// The server would take the port and only then find it taken, without a word
	// that can be told apart.
	probe, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("listen on -nats-listen: %w; free the address or write another one", err)
	}
	if err := probe.Close(); err != nil {
		return nil, fmt.Errorf("listen on -nats-listen: %w", err)
	}
	if g.inside, err = nkeys.CreateUser(); err != nil {
		return nil, fmt.Errorf("make a key for the connection inside: %w", err)
	}
	if g.users, err = g.at.Users(); err != nil {
		return nil, fmt.Errorf("read who may connect to the log server: %w", err)
	}
	return g, nil
}

// set puts the door into the server's options.
func (g *gate) set(o *server.Options) error {
	host, _, err := net.SplitHostPort(g.at.Address)
	if err != nil {
		return err
	}
	o.DontListen, o.Host, o.Port = false, host, g.port
	if o.Host == "" {
		o.Host = "0.0.0.0"
	}
	if g.port == 0 {
		o.Port = server.RANDOM_PORT
	}
	o.TLSConfig, o.TLSTimeout, o.AuthTimeout = g.at.TLS, loginTimeout.Seconds(), loginTimeout.Seconds()
	o.MaxConn, o.WriteDeadline, o.PingInterval = maxConnections, writeDeadline, outsidePing
	me, err := g.inside.PublicKey()
	if err != nil {
		return err
	}
	o.Nkeys = []*server.NkeyUser{{Nkey: me}} // without permissions of its own: all of them
	for _, u := range g.users {
		if !nkeys.IsValidPublicUserKey(u.Key) || u.Key == me {
			g.b.log.Warn("a user of the log server has no key and cannot connect", "user", u.Name)
			continue
		}
		o.Nkeys = append(o.Nkeys, &server.NkeyUser{Nkey: u.Key, Permissions: permissions(u)})
	}
	return nil
}

// permissions allow what is listed and nothing else: a list that is empty would
// allow everything.
func permissions(u User) *server.Permissions {
	allow := func(subjects []string) *server.SubjectPermission {
		if len(subjects) == 0 {
			return &server.SubjectPermission{Deny: []string{">"}}
		}
		return &server.SubjectPermission{Allow: slices.Clone(subjects)}
	}
	return &server.Permissions{Publish: allow(u.Publish), Subscribe: allow(u.Subscribe)}
}

// open says where the server listens and begins to look for other users.
func (g *gate) open(s *server.Server) error {
	g.server = s
	addr := s.Addr()
	if addr == nil {
		return fmt.Errorf("listen on -nats-listen %s: the server does not listen; the log lines before this one say why", g.at.Address)
	}
	g.b.log.Info("log server listens", "address", addr.String(), "users", len(g.users))
	if len(g.users) == 0 {
		g.b.log.Info("nobody may connect to the log server yet; \"jaque credentials\" makes users")
	}
	g.done.Go(g.follow)
	return nil
}

// close ends the look for users.
func (g *gate) close() {
	if g == nil {
		return
	}
	close(g.over)
	g.done.Wait()
}

func (g *gate) follow() {
	tick := time.NewTicker(usersPause)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			err := g.refresh()
			if err != nil && err.Error() != g.trouble {
				g.b.log.Error("the users of the log server cannot be taken in; those of before stay", "err", err)
			}
			g.trouble = ""
			if err != nil {
				g.trouble = err.Error()
			}
		case <-g.over:
			return
		}
	}
}

// refresh takes in the users if they are others than before.
func (g *gate) refresh() error {
	users, err := g.at.Users()
	if err != nil || reflect.DeepEqual(users, g.users) {
		return err
	}
	before := g.users
	g.users = users
	o := g.b.serverOptions()
	err = g.set(o)
	if p := g.b.embed.peering; err == nil && p != nil {
		err = p.set(o, true)
	}
	if err == nil {
		err = g.server.ReloadOptions(o)
	}
	if err != nil {
		g.users = before
		return fmt.Errorf("change the users of the log server: %w", err)
	}
	g.b.log.Info("users of the log server changed", "added", names(users, before), "removed", names(before, users))
	return nil
}

// names lists who stands in one list and not, or with other rights, in the other.
func names(in, without []User) string {
	var list []string
	for _, u := range in {
		if !slices.ContainsFunc(without, func(o User) bool { return reflect.DeepEqual(u, o) }) {
			list = append(list, u.Name)
		}
	}
	return strings.Join(list, ", ")
}

// ListenAddress returns where the embedded server listens, "" if it does nowhere.
func (b *Bus) ListenAddress() string {
	if b.embed == nil || b.embed.gate == nil {
		return ""
	}
	return b.embed.server.Addr().String()
}
