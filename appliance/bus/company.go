package bus

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Whatever the server keeps by agreement does nothing before another server is connected
// to it, and that holds for every group of its own that comes up: that of all members,
// and those of the streams, which are made anew whenever their replicas change. The only
// member of a cluster has nobody that connects. So it is kept company by a second server
// without streams, for as long as it is alone: not just until there is a leader among the
// members, since the groups of the streams may begin later than that.

const companyUser = "company"

// company is what keeps the only member of a cluster company.
type company struct {
	secret string // of the second server
	port   int    // where it connects, on the loopback address

	mu     sync.Mutex // guards server
	server *server.Server
	cancel context.CancelFunc
	done   sync.WaitGroup
}

func newCompany() (*company, error) {
	port, err := freePort(loopbackAddress, 0)
	if err != nil {
		return nil, fmt.Errorf("listen for the company of a member that is alone: %w", err)
	}
	return &company{secret: rand.Text(), port: port}, nil
}

// set lets the second server in. Every member does so: it may be the last one later.
func (c *company) set(o *server.Options) {
	o.LeafNode = server.LeafNodeOpts{Host: loopbackAddress, Port: c.port, Username: companyUser, Password: c.secret}
}

// begin keeps a member company from now on whenever it is alone.
func (c *company) begin(p *peering) error {
	if p.start.alone {
		if err := c.come(p.server.Name()); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	c.done.Go(func() { c.keep(ctx, p) })
	return nil
}

// keep comes when the others were removed, and goes when there is another member: a
// member of several that is cut off shall not stand for election again and again.
func (c *company) keep(ctx context.Context, p *peering) {
	tick := time.NewTicker(lookPause)
	defer tick.Stop()
	alone := survivor{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		v := p.look()
		alone.look(p, v)
		switch {
		case v.Size == 1 && !v.outside():
			if err := c.come(p.server.Name()); err != nil {
				p.b.fail(err)
				return
			}
		case v.Size > 1 && v.Online > 1:
			c.leave()
		}
	}
}

// come starts the second server, which connects to the member and takes nothing, unless it
// is there.
func (c *company) come(member string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server != nil {
		return nil
	}
	to := &url.URL{
		Scheme: "nats-leaf", User: url.UserPassword(companyUser, c.secret),
		Host: net.JoinHostPort(loopbackAddress, strconv.Itoa(c.port)),
	}
	everything := []string{">"}
	s, err := server.NewServer(&server.Options{
		ServerName: member + "-company", DontListen: true, NoSigs: true, NoLog: true,
		LeafNode: server.LeafNodeOpts{Remotes: []*server.RemoteLeafOpts{{URLs: []*url.URL{to}, DenyImports: everything, DenyExports: everything}}},
	})
	if err != nil {
		return fmt.Errorf("keep the only member of the cluster company: %w", err)
	}
	s.Start()
	c.server = s
	return nil
}

func (c *company) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.server == nil {
		return
	}
	c.server.Shutdown()
	c.server.WaitForShutdown()
	c.server = nil
}

// end is called once, also when nothing began.
func (c *company) end() {
	if c == nil {
		return
	}
	if c.cancel != nil {
		c.cancel()
		c.done.Wait()
	}
	c.leave()
}
