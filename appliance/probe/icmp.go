package probe

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"

	"jaque.sh/jaque/appliance/core/object"
)

const (
	defaultEchoes = 3
	maxEchoes     = 100
	// echoGap is the pause between two requests.
	echoGap = 20 * time.Millisecond
	// echoWait is how long an answer is awaited before it counts as lost, if
	// the timeout of the check does not end earlier.
	echoWait = 2 * time.Second
)

// icmp sends echo requests and judges loss and round trip.
func (r *Runner) icmp(ctx context.Context, req *Request, c *object.ICMPCheck) answer {
	loss, err := parseLimits("lost packets", c.WarnLoss, c.CritLoss)
	if err != nil {
		return unknown("%v", err)
	}
	rtt, err := parseLimits("the round trip", c.WarnRTT, c.CritRTT)
	if err != nil {
		return unknown("%v", err)
	}
	host := c.Address
	if host == "" {
		host = req.Object.HostObject().Address
	}
	if host == "" {
		return unknown("the host has no address to ping; set its address")
	}
	to, err := resolve(ctx, host)
	if err != nil {
		return failure(ctx, req, "ping "+host, err)
	}
	count := c.Count
	if count <= 0 {
		count = defaultEchoes
	}
	s := &session{to: to, count: min(count, maxEchoes)}
	if err := s.open(); err != nil {
		return unknown("ping %s: %v", host, err)
	}
	defer s.close()
	if err := s.run(ctx, req.Timeout); err != nil {
		return failure(ctx, req, "ping "+host, err)
	}
	return s.judge(host, &loss, &rtt)
}

func resolve(ctx context.Context, host string) (netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap(), nil
	}
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.Addr{}, err
	}
	for _, a := range all {
		if a = a.Unmap(); a.Is4() {
			return a, nil
		}
	}
	return all[0].Unmap(), nil
}

// session is one series of echo requests over a socket of its own.
type session struct {
	to    netip.Addr
	count int
	conn  *icmp.PacketConn
	raw   bool
	id    int // raw sockets see everybody's answers; datagram ones have it set by the kernel
	token [8]byte

	sent     int
	got      []bool
	received int
	sum      time.Duration
	worst    time.Duration
}

// open takes an unprivileged datagram socket where the system allows it, else a
// raw one.
func (s *session) open() error {
	binary.BigEndian.PutUint64(s.token[:], rand.Uint64())
	s.id, s.got = int(rand.Uint32N(1<<16)), make([]bool, s.count)
	dgram, raw, any := "udp4", "ip4:icmp", "0.0.0.0"
	if s.to.Is6() {
		dgram, raw, any = "udp6", "ip6:ipv6-icmp", "::"
	}
	conn, err := icmp.ListenPacket(dgram, any)
	if err != nil {
		conn, err = icmp.ListenPacket(raw, any)
		s.raw = true
	}
	switch {
	case errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES):
		return errors.New("not permitted; set sysctl net.ipv4.ping_group_range=\"0 2147483647\" or give jaque CAP_NET_RAW")
	case err != nil:
		return fmt.Errorf("open a socket: %s", reason(err))
	}
	s.conn = conn
	return nil
}

func (s *session) close() { _ = s.conn.Close() }

func (s *session) address() net.Addr {
	ip, zone := net.IP(s.to.AsSlice()), s.to.Zone()
	if s.raw {
		return &net.IPAddr{IP: ip, Zone: zone}
	}
	return &net.UDPAddr{IP: ip, Zone: zone}
}

// run sends every request and collects answers until all are in or their time
// is over. Losing all of them is no error.
func (s *session) run(ctx context.Context, timeout time.Duration) error {
	stop := context.AfterFunc(ctx, func() { _ = s.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	// Loss shall be told before the whole check counts as timed out.
	wait := min(echoWait, timeout*8/10)
	end := time.Now().Add(wait + time.Duration(s.count)*echoGap)
	if d, ok := ctx.Deadline(); ok && d.Add(-timeout/10).Before(end) {
		end = d.Add(-timeout / 10)
	}
	at := make([]time.Time, s.count)
	buf := make([]byte, 1500)
	next := time.Now()
	for s.received < s.count {
		now := time.Now()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if now.After(end) {
			return nil
		}
		if s.sent < s.count && !now.Before(next) {
			at[s.sent], next = now, now.Add(echoGap)
			if err := s.send(s.sent); err != nil {
				return err
			}
			s.sent++
		}
		until := end
		if s.sent < s.count && next.Before(end) {
			until = next
		}
		if err := s.receive(ctx, until, buf, at); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) send(seq int) error {
	m := icmp.Message{Type: ipv4.ICMPTypeEcho, Body: &icmp.Echo{ID: s.id, Seq: seq, Data: s.token[:]}}
	if s.to.Is6() {
		m.Type = ipv6.ICMPTypeEchoRequest
	}
	b, err := m.Marshal(nil)
	if err != nil {
		return err
	}
	_, err = s.conn.WriteTo(b, s.address())
	return err
}

// receive takes one packet, or returns at until without one.
func (s *session) receive(ctx context.Context, until time.Time, buf []byte, at []time.Time) error {
	_ = s.conn.SetReadDeadline(until)
	if ctx.Err() != nil { // its end may have been overwritten just now
		return ctx.Err()
	}
	n, from, err := s.conn.ReadFrom(buf)
	now := time.Now()
	if err != nil {
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			return nil
		}
		return err
	}
	seq, ok := s.match(buf[:n], from)
	if !ok || seq >= s.sent || s.got[seq] {
		return nil
	}
	s.got[seq] = true
	s.received++
	trip := now.Sub(at[seq])
	s.sum += trip
	s.worst = max(s.worst, trip)
	return nil
}

// match tells whether a packet answers one of ours, and which.
func (s *session) match(b []byte, from net.Addr) (seq int, ok bool) {
	protocol, want := 1, icmp.Type(ipv4.ICMPTypeEchoReply)
	if s.to.Is6() {
		protocol, want = 58, ipv6.ICMPTypeEchoReply
	}
	m, err := icmp.ParseMessage(protocol, b)
	if err != nil || m.Type != want {
		return 0, false
	}
	echo, isEcho := m.Body.(*icmp.Echo)
	if !isEcho || string(echo.Data) != string(s.token[:]) || s.raw && echo.ID != s.id {
		return 0, false
	}
	var ip net.IP
	switch a := from.(type) {
	case *net.IPAddr:
		ip = a.IP
	case *net.UDPAddr:
		ip = a.IP
	}
	got, valid := netip.AddrFromSlice(ip)
	return echo.Seq, valid && got.Unmap() == s.to.WithZone("")
}

// judge turns what was counted into an answer. Without any answer the state is
// CRITICAL whatever the thresholds.
func (s *session) judge(host string, loss, rtt *limits) answer {
	lost := 100 * float64(s.count-s.received) / float64(s.count)
	state := loss.judge(lost)
	lostText := strconv.FormatFloat(lost, 'f', -1, 64)
	if i := len(lostText); i > 5 {
		lostText = strconv.FormatFloat(lost, 'f', 1, 64)
	}
	perfLoss := perf("pl", lostText, "%", loss.warn, loss.crit) + ";100"
	if s.received == 0 {
		a := say(object.Critical, "%s does not answer, %d of %d packets lost", host, s.count, s.count)
		a.perfdata = perfLoss
		return a
	}
	mean := float64(s.sum.Microseconds()) / float64(s.received) / 1000
	state = worse(state, rtt.judge(mean))
	a := say(state, "%s answers in %.3f ms, %s%% lost", host, mean, lostText)
	a.perfdata = perf("rta", strconv.FormatFloat(mean, 'f', 3, 64), "ms", rtt.warn, rtt.crit) + " " + perfLoss
	return a
}
