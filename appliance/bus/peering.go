package bus

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// Limits of the peering.
const (
	peerTLSTimeout  = 5 * time.Second
	leaderPause     = 50 * time.Millisecond // between two looks for a leader
	systemAccount   = "$SYS"
	loopbackAddress = "127.0.0.1"
)

// peering is this member's part in a cluster of servers.
type peering struct {
	b       *Bus
	at      Cluster
	port    int // where peers connect
	start   beginning
	system  nkeys.KeyPair // of the connection that may ask about membership
	inside  nkeys.KeyPair // of the connection inside the process, if the server listens for peers only
	company *company
	folders *folders
	server  *server.Server
	began   time.Time  // when the server ran
	opened  time.Time  // when there was a leader
	nc      *nats.Conn // as the system

	cancel  context.CancelFunc
	silence context.CancelFunc // of the talk about folders
	done    sync.WaitGroup

	measured measurements

	names memberNames
	whole map[string]bool // streams that have all replicas, as the adjustment saw last
	noted []string        // names of the members that are kept in the folder

	mu         sync.Mutex // guards what follows
	shut       []string   // names that are not let in, see shutOut
	unled      string     // see Status.Unled, once that holds for a while
	unledNow   string     // at the last look
	unledSince time.Time
	moved      chan struct{}
	seen       view
	taken      map[string]time.Time // who was taken out, and when this member saw it

	missing      []string // what the last removal by force may have lost, see lose
	missingSince time.Time
}

// newPeering looks at what the folder says about membership, prepares it and makes
// the keys. It runs in front of the server and of the guard's look at the store.
func newPeering(b *Bus) (*peering, error) {
	electSooner()
	p := &peering{moved: make(chan struct{}), b: b, at: *b.opts.Cluster, whole: map[string]bool{}}
	if p.at.Name == "" || strings.ContainsAny(p.at.Name, " \t\r\n") {
		return nil, fmt.Errorf("open cluster: its name is %q; write one word with -cluster-name", p.at.Name)
	}
	host, port, err := net.SplitHostPort(p.at.Listen)
	if err == nil {
		p.port, err = strconv.Atoi(port)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on -cluster-listen %s: %w; write host:port", p.at.Listen, err)
	}
	if p.at.TLS == nil || len(p.at.TLS.Certificates) == 0 && p.at.TLS.GetCertificate == nil || p.at.TLS.RootCAs == nil {
		return nil, fmt.Errorf("listen on -cluster-listen %s: peers need a certificate and the cluster's own authority", p.at.Listen)
	}
	if p.port, err = freePort(host, p.port); err != nil {
		return nil, fmt.Errorf("listen on -cluster-listen: %w; free the address or write another one", err)
	}
	for _, a := range p.at.Peers {
		if _, _, err := net.SplitHostPort(a); err != nil {
			return nil, fmt.Errorf("peer %s of -cluster-peers: %w; write host:port", a, err)
		}
	}
	if p.company, err = newCompany(); err != nil {
		return nil, err
	}
	if p.system, err = nkeys.CreateUser(); err == nil {
		p.inside, err = nkeys.CreateUser()
	}
	if err != nil {
		return nil, fmt.Errorf("make a key for the connection inside: %w", err)
	}
	for _, name := range readNote(b.opts.Data).Members {
		p.names.Store(memberID(name), name)
	}
	p.shutOut(p.at.Lost...)
	if p.folders, err = openFolders(b.opts.Data, b.opts.ServerName, b.log); err != nil {
		return nil, err
	}
	p.start, err = beginMember(b, p.at)
	p.start.alone = p.start.alone || len(p.at.Lost) > 0 // nobody else may be there to connect
	return p, err
}

// freePort makes sure that an address is free, which the server would only say in a
// way that cannot be told apart, and chooses a port for 0.
func freePort(host string, port int) (int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return 0, err
	}
	port = l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

// address is where peers connect.
func (p *peering) address() string {
	host, _, _ := net.SplitHostPort(p.at.Listen)
	return net.JoinHostPort(host, strconv.Itoa(p.port))
}

// set puts the cluster into the server's options. Without a door for others
// (-nats-listen) the server listens on the loopback address for nobody but this
// process: it does not peer before it listens for clients.
func (p *peering) set(o *server.Options, door bool) error {
	// With a system account and no such block the server lets everybody in, with every
	// right but the system's.
	if err := o.ProcessConfigString(fmt.Sprintf("authorization { timeout: %g }", loginTimeout.Seconds())); err != nil {
		return err
	}
	host, _, _ := net.SplitHostPort(p.at.Listen)
	if host == "" {
		host = "0.0.0.0"
	}
	secure := peerTLS(p.folders.showing(p.at.TLS), p.outsider)
	o.Cluster = server.ClusterOpts{
		Name: p.at.Name, Host: host, Port: p.port, Advertise: p.at.Advertise,
		TLSConfig: secure, TLSTimeout: peerTLSTimeout.Seconds(), NoAdvertise: true, // clients know whom they may trust
		PingInterval: routePing, MaxPingsOut: routePings,
	}
	o.Routes = nil
	for _, a := range append([]string{p.own()}, p.at.Peers...) {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats-route", Host: a})
	}
	if !door {
		o.DontListen, o.Host, o.Port = false, loopbackAddress, server.RANDOM_PORT
		me, err := p.inside.PublicKey()
		if err != nil {
			return err
		}
		o.Nkeys = []*server.NkeyUser{{Nkey: me}}
	}
	sys, err := p.system.PublicKey()
	if err != nil {
		return err
	}
	account := server.NewAccount(systemAccount)
	o.SystemAccount, o.Accounts = systemAccount, []*server.Account{account}
	o.Nkeys = append(o.Nkeys, &server.NkeyUser{Nkey: sys, Account: account})
	p.company.set(o)
	return nil
}

// own is this member's address as one of its own routes: the server counts as
// clustered only with a route, and knows this one to be itself.
func (p *peering) own() string {
	host, _, _ := net.SplitHostPort(p.at.Listen)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = loopbackAddress
	}
	return net.JoinHostPort(host, strconv.Itoa(p.port))
}

// peerTLS makes both sides of a peering prove that they are of the cluster's own
// authority. The address in a certificate is not looked at: members are reached at
// addresses that they tell each other, and whoever has a certificate is one of them,
// unless it is an outsider.
func peerTLS(c *tls.Config, outsider func([]*x509.Certificate) error) *tls.Config {
	c = c.Clone()
	c.MinVersion = tls.VersionTLS13
	c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, c.RootCAs
	c.InsecureSkipVerify = true // replaced by the line below
	roots := c.RootCAs
	c.VerifyConnection = func(s tls.ConnectionState) error {
		if err := ofAuthority(s, roots); err != nil {
			return err
		}
		return outsider(s.PeerCertificates)
	}
	return c
}

// ofAuthority is an error unless the other side's certificate comes from one of the
// authorities.
func ofAuthority(s tls.ConnectionState, roots *x509.CertPool) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("the peer has no certificate")
	}
	between := x509.NewCertPool()
	for _, c := range s.PeerCertificates[1:] {
		between.AddCert(c)
	}
	_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	return err
}

// open waits until the cluster has a leader that this member follows, and connects.
func (p *peering) open(ctx context.Context, s *server.Server) error {
	p.server, p.began = s, time.Now()
	if err := p.company.begin(p); err != nil {
		return err
	}
	var err error
	p.b.log.Info("log server peers", "cluster", p.at.Name, "member", s.Name(), "address", p.address(), "peers", strings.Join(p.at.Peers, ", "))
	p.nc, err = nats.Connect("", nats.InProcessServer(s), nats.MaxReconnects(-1), signedBy(p.system))
	if err != nil {
		return fmt.Errorf("connect to the embedded log server as its system: %w", err)
	}
	if err := p.talk(); err != nil {
		return err
	}
	if err := p.tellCopiesHeld(); err != nil {
		return err
	}
	if p.b.opts.Peered != nil && p.look().Size > 0 {
		if err := p.b.connect(ctx); err != nil {
			return err
		}
		p.b.opts.Peered(p.b)
	}
	if err := p.withoutLost(ctx); err != nil {
		return err
	}
	err = p.awaitLet(ctx)
	if err == nil {
		err = p.awaitCopies(ctx)
	}
	p.b.awaits.Store(nil)
	p.opened = time.Now()
	return err
}

// awaitLeader waits for a leader, for as long as it takes: other members may start
// hours later. look is called again and again and ends the wait with its error.
func (p *peering) awaitLeader(ctx context.Context, look func() error) error {
	tick := time.NewTicker(leaderPause)
	defer tick.Stop()
	for {
		if err := p.b.embed.log.failed(); err != nil {
			return fmt.Errorf("wait for the cluster: %w", err)
		}
		if !p.server.JetStreamEnabled() {
			return fmt.Errorf("wait for the cluster: %w", p.gaveUp())
		}
		v := p.look()
		if v.Leader != "" && p.server.JetStreamIsCurrent() && !v.outside() {
			return nil
		}
		if v.Size > 0 {
			p.b.waits(p.waitsWith(v))
		}
		if err := look(); err != nil {
			return fmt.Errorf("wait for the cluster: %w", err)
		}
		select {
		case <-tick.C:
		case <-p.folders.out:
			return fmt.Errorf("wait for the cluster: %w", p.removal())
		case <-ctx.Done():
			return fmt.Errorf("wait for the cluster %s: %w: %w (%w)", p.at.Name, ErrNoQuorum, context.Cause(ctx), ctx.Err())
		}
	}
}

// signedBy says with a key who the connection is.
func signedBy(k nkeys.KeyPair) nats.Option {
	me, err := k.PublicKey()
	if err != nil { // it was asked for when the server was set up
		return func(*nats.Options) error { return err }
	}
	return nats.Nkey(me, k.Sign)
}

// close ends what runs beside the server.
func (p *peering) close() {
	if p == nil {
		return
	}
	p.company.end()
	for _, stop := range []context.CancelFunc{p.silence, p.cancel} {
		if stop != nil {
			stop()
		}
	}
	p.done.Wait()
	if p.nc != nil {
		p.nc.Close()
	}
}
