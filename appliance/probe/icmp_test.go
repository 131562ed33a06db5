package probe

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"

	"jaque.sh/jaque/appliance/core/object"
)

func ping(c object.ICMPCheck) object.Check { return object.Check{Kind: object.CheckICMP, ICMP: &c} }

// mayPing tells whether this machine lets us open a socket for ICMP.
func mayPing(t *testing.T) bool {
	t.Helper()
	s := &session{to: netip.MustParseAddr("127.0.0.1"), count: 1}
	if err := s.open(); err != nil {
		return false
	}
	s.close()
	return true
}

func TestICMP(t *testing.T) {
	r := open(t, Options{})
	if !mayPing(t) {
		expect(t, do(t, r, ping(object.ICMPCheck{})), object.Unknown, "ping_group_range", "CAP_NET_RAW")
		return
	}
	for _, c := range []struct {
		name  string
		check object.ICMPCheck
		state object.State
		parts []string
	}{
		{"the host's own address", object.ICMPCheck{}, object.OK, []string{"OK - 127.0.0.1 answers in 0.", " ms, 0% lost", "|rta=0.", "ms;;;0 pl=0%;;;0;100"}},
		{"thresholds that hold", object.ICMPCheck{Count: 2, WarnLoss: "20", CritLoss: "60", WarnRTT: "5000", CritRTT: "9000"}, object.OK, []string{"ms;5000;9000;0 pl=0%;20;60;0;100"}},
		{"a round trip above its threshold", object.ICMPCheck{Address: "127.0.0.1", WarnRTT: "0:0"}, object.Warning, nil},
		{"a name", object.ICMPCheck{Address: "localhost", Count: 1}, object.OK, []string{"localhost answers"}},
		{"a threshold that is none", object.ICMPCheck{WarnLoss: "much"}, object.Unknown, []string{"threshold of lost packets"}},
		{"a name nobody knows", object.ICMPCheck{Address: "nonesuch.invalid"}, object.Critical, []string{"nonesuch.invalid"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, do(t, r, ping(c.check)), c.state, c.parts...)
		})
	}
	bare := &object.Object{ID: "bare", Name: "bare", Rule: &object.Rule{}}
	got := r.Do(t.Context(), Request{Object: bare, Check: ping(object.ICMPCheck{}), Timeout: time.Second})
	if got.State != object.Down || got.Output != "UNKNOWN - the host has no address to ping; set its address" {
		t.Errorf("got %+v", got)
	}
}

func TestPingSessionsAreJudged(t *testing.T) {
	limit := func(warn, crit string) *limits {
		l, err := parseLimits("it", warn, crit)
		if err != nil {
			t.Fatal(err)
		}
		return &l
	}
	for _, c := range []struct {
		name       string
		s          session
		loss, rtt  *limits
		state      object.State
		text, perf string
	}{
		{
			"all lost without thresholds",
			session{count: 3},
			limit("", ""), limit("", ""), object.Critical,
			"CRITICAL - h does not answer, 3 of 3 packets lost", "pl=100%;;;0;100",
		},
		{
			"one of three lost",
			session{count: 3, received: 2, sum: 4 * time.Millisecond},
			limit("20", "60"), limit("", ""), object.Warning,
			"WARNING - h answers in 2.000 ms, 33.3% lost", "rta=2.000ms;;;0 pl=33.3%;20;60;0;100",
		},
		{
			"the worse of both counts",
			session{count: 2, received: 1, sum: time.Millisecond},
			limit("20", ""), limit("", "0.5"), object.Critical,
			"CRITICAL - h answers in 1.000 ms, 50% lost", "rta=1.000ms;;0.5;0 pl=50%;20;;0;100",
		},
	} {
		if a := c.s.judge("h", c.loss, c.rtt); a.state != c.state || a.output != c.text || a.perfdata != c.perf {
			t.Errorf("%s: got %+v", c.name, a)
		}
	}
}

// Every session hears what is meant for others: their answers must not count.
func TestManyPingsAtOnceKeepTheirAnswersApart(t *testing.T) {
	if !mayPing(t) {
		expect(t, do(t, open(t, Options{}), ping(object.ICMPCheck{})), object.Unknown, "CAP_NET_RAW")
		return
	}
	r := open(t, Options{})
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			address, state, timeout := "127.0.0."+strconv.Itoa(i+1), object.OK, 20*time.Second
			if i%4 == 0 { // 127.0.0.1 answers for this one, which must not count
				address, state, timeout = "0.0.0.0", object.Critical, time.Second
			}
			got := r.Do(t.Context(), Request{Object: testSvc, Check: ping(object.ICMPCheck{Address: address, Count: 2}), Timeout: timeout})
			expect(t, got, state, address)
		})
	}
	wg.Wait()
}

func TestOnlyTheAnswerToOurOwnRequestMatches(t *testing.T) {
	v4, v6 := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	token := [8]byte{1, 2, 3, 4, 5, 6, 7, 8}
	udp := func(a netip.Addr) net.Addr { return &net.UDPAddr{IP: a.AsSlice()} }
	ip := func(a netip.Addr) net.Addr { return &net.IPAddr{IP: a.AsSlice()} }
	echo := func(kind icmp.Type, id int, data []byte) []byte {
		b, err := (&icmp.Message{Type: kind, Body: &icmp.Echo{ID: id, Seq: 3, Data: data}}).Marshal(nil)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	reply, reply6 := icmp.Type(ipv4.ICMPTypeEchoReply), icmp.Type(ipv6.ICMPTypeEchoReply)
	for _, c := range []struct {
		name   string
		to     netip.Addr
		raw    bool
		packet []byte
		from   net.Addr
		want   bool
	}{
		{"the answer", v4, false, echo(reply, 7, token[:]), udp(v4), true},
		{"the answer on a raw socket", v4, true, echo(reply, 7, token[:]), ip(v4), true},
		{"the answer of version 6", v6, false, echo(reply6, 7, token[:]), udp(v6), true},
		{"the kernel sets the id of datagram sockets", v4, false, echo(reply, 8, token[:]), udp(v4), true},
		{"the id of another process", v4, true, echo(reply, 8, token[:]), ip(v4), false},
		{"the token of another session", v4, false, echo(reply, 7, []byte("12345678")), udp(v4), false},
		{"no token", v4, false, echo(reply, 7, nil), udp(v4), false},
		{"an answer from elsewhere", v4, false, echo(reply, 7, token[:]), udp(netip.MustParseAddr("192.0.2.2")), false},
		{"our own request, heard on loopback", v4, true, echo(ipv4.ICMPTypeEcho, 7, token[:]), ip(v4), false},
		{"an answer of the other version", v4, false, echo(reply6, 7, token[:]), udp(v4), false},
		{"no packet of ICMP", v4, false, []byte{1}, udp(v4), false},
		{"an address of no kind", v4, false, echo(reply, 7, token[:]), &net.UnixAddr{}, false},
	} {
		s := session{to: c.to, raw: c.raw, id: 7, token: token}
		if seq, ok := s.match(c.packet, c.from); ok != c.want || ok && seq != 3 {
			t.Errorf("%s: got %d, %v", c.name, seq, ok)
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 7, 0, 3, 1, 2, 3, 4, 5, 6, 7, 8}, true)
	f.Add([]byte{129, 0, 0, 0, 0, 7}, false)
	f.Fuzz(func(t *testing.T, packet []byte, raw bool) {
		for _, to := range []string{"192.0.2.1", "2001:db8::1"} {
			a := netip.MustParseAddr(to)
			s := session{to: a, raw: raw, id: 7, token: [8]byte{1, 2, 3, 4, 5, 6, 7, 8}}
			if _, ok := s.match(packet, &net.IPAddr{IP: a.AsSlice()}); ok && !strings.Contains(string(packet), string(s.token[:])) {
				t.Errorf("%x counts as an answer", packet)
			}
		}
	})
}

func TestPingAddresses(t *testing.T) {
	to := netip.MustParseAddr("fe80::1%eth0")
	datagram, raw := session{to: to}, session{to: to, raw: true}
	if got, ok := datagram.address().(*net.UDPAddr); !ok || got.Zone != "eth0" {
		t.Errorf("datagram: got %#v", datagram.address())
	}
	if got, ok := raw.address().(*net.IPAddr); !ok || got.Zone != "eth0" {
		t.Errorf("raw: got %#v", raw.address())
	}
}

func TestPingOverVersion6(t *testing.T) {
	if !mayPing(t) {
		return // told by TestICMP
	}
	r := open(t, Options{})
	got := do(t, r, ping(object.ICMPCheck{Address: "::1", Count: 1}))
	if _, err := net.ListenPacket("udp6", "[::1]:0"); err != nil {
		expect(t, got, object.Critical, "ping ::1")
		return
	}
	expect(t, got, object.OK, "::1 answers in")
}

func TestAStoppedPingSaysSo(t *testing.T) {
	if !mayPing(t) {
		return // told by TestICMP
	}
	r := open(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := r.Do(ctx, Request{Object: testSvc, Check: ping(object.ICMPCheck{}), Timeout: 10 * time.Second})
	if got.State != object.Unknown || !strings.Contains(got.Output, "stop") {
		t.Errorf("got %+v", got)
	}
	expect(t, do(t, r, ping(object.ICMPCheck{WarnRTT: "slow"})), object.Unknown, "threshold of the round trip")
}

func TestLimitsOfThisMachineAreNotTheTargets(t *testing.T) {
	req := &Request{Object: testSvc, Timeout: time.Second, Settings: &object.Settings{}}
	a := failure(t.Context(), req, "ping h", errors.Join(syscall.EMFILE))
	if a.state != object.Unknown || a.outcome != failed {
		t.Errorf("got %+v", a)
	}
}
