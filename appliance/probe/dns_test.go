package probe

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"jaque.sh/jaque/appliance/core/object"
)

// nameServer answers from a list of records over UDP and TCP on one port.
func nameServer(t *testing.T, records ...string) string {
	t.Helper()
	var zone []dns.RR
	for _, r := range records {
		rr, err := dns.NewRR(r)
		if err != nil {
			t.Fatal(err)
		}
		zone = append(zone, rr)
	}
	handler := dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		m := new(dns.Msg)
		m.SetReply(q)
		name := q.Question[0].Name
		switch {
		case strings.HasPrefix(name, "silent."):
			return
		case strings.HasPrefix(name, "refused."):
			m.Rcode = dns.RcodeRefused
		case strings.HasPrefix(name, "failing."):
			m.Rcode = dns.RcodeServerFailure
		case strings.HasPrefix(name, "odd."):
			m.Rcode = dns.RcodeNotImplemented
		case strings.HasPrefix(name, "long.") && w.LocalAddr().Network() == "udp":
			m.Truncated = true
		case strings.HasPrefix(name, "spoofed.") && w.LocalAddr().Network() == "udp":
			wrong := m.Copy()
			wrong.Id++
			_ = w.WriteMsg(wrong)
		}
		known := false
		for _, rr := range zone {
			if rr.Header().Name == name {
				known = true
				alias := rr.Header().Rrtype == dns.TypeCNAME && strings.HasPrefix(name, "via.")
				if (alias || rr.Header().Rrtype == q.Question[0].Qtype) && !m.Truncated {
					m.Answer = append(m.Answer, rr)
				}
			}
		}
		if !known && m.Rcode == dns.RcodeSuccess {
			m.Rcode = dns.RcodeNameError
		}
		_ = w.WriteMsg(m)
	})
	udp, tcp := samePort(t)
	for _, s := range []*dns.Server{{PacketConn: udp, Handler: handler}, {Listener: tcp, Handler: handler}} {
		started := make(chan struct{})
		s.NotifyStartedFunc = func() { close(started) }
		go func() { _ = s.ActivateAndServe() }()
		<-started
		t.Cleanup(func() { _ = s.Shutdown() })
	}
	return udp.LocalAddr().String()
}

// samePort listens on one port for UDP and TCP; another program may have taken
// the one or the other.
func samePort(t *testing.T) (net.PacketConn, net.Listener) {
	t.Helper()
	for range 50 {
		udp, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		tcp, err := net.Listen("tcp", udp.LocalAddr().String())
		if err == nil {
			return udp, tcp
		}
		_ = udp.Close()
	}
	t.Fatal("no port is free for both UDP and TCP")
	return nil, nil
}

func TestDNS(t *testing.T) {
	server := nameServer(t,
		"www.example.com. 60 IN A 192.0.2.1", "www.example.com. 60 IN A 192.0.2.2", "www.example.com. 60 IN AAAA 2001:db8::1",
		"example.com. 60 IN MX 10 mail.example.com.", `example.com. 60 IN TXT "v=spf1 " "-all"`,
		"alias.example.com. 60 IN CNAME www.example.com.", "1.2.0.192.in-addr.arpa. 60 IN PTR www.example.com.",
		"long.example.com. 60 IN A 192.0.2.9", "spoofed.example.com. 60 IN A 192.0.2.8",
		"via.example.com. 60 IN A 192.0.2.7", "via.example.com. 60 IN CNAME other.example.com.",
	)
	r := open(t, Options{})
	for _, c := range []struct {
		name  string
		check object.DNSCheck
		state object.State
		parts []string
	}{
		{"an address", object.DNSCheck{Name: "www.example.com"}, object.OK, []string{"OK - A www.example.com at 127.0.0.1:", "is 192.0.2.1, 192.0.2.2, 0.", "|time=0.", "s;;;0"}},
		{"what is expected, in any order", object.DNSCheck{Name: "www.example.com", Expect: []string{"192.0.2.2", "192.0.2.1"}}, object.OK, nil},
		{"one of several is enough", object.DNSCheck{Name: "www.example.com", Expect: []string{"192.0.2.2"}}, object.OK, nil},
		{"something else than expected", object.DNSCheck{Name: "www.example.com", Expect: []string{"192.0.2.3"}}, object.Critical, []string{"is 192.0.2.1, 192.0.2.2, expected 192.0.2.3"}},
		{"an address of version 6", object.DNSCheck{Name: "www.example.com", Type: "aaaa", Expect: []string{"2001:DB8::1"}}, object.OK, nil},
		{"a mail exchanger", object.DNSCheck{Name: "example.com", Type: "MX", Expect: []string{"10 mail.example.com"}}, object.OK, nil},
		{"a text of several strings", object.DNSCheck{Name: "example.com", Type: "TXT", Expect: []string{"v=spf1 -all"}}, object.OK, nil},
		{"an alias", object.DNSCheck{Name: "alias.example.com", Type: "CNAME", Expect: []string{"www.example.com."}}, object.OK, nil},
		{"a name by address", object.DNSCheck{Name: "192.0.2.1", Type: "PTR", Expect: []string{"www.example.com"}}, object.OK, nil},
		{"an answer too long for UDP", object.DNSCheck{Name: "long.example.com", Expect: []string{"192.0.2.9"}}, object.OK, nil},
		{"an answer with the id of another", object.DNSCheck{Name: "spoofed.example.com", Expect: []string{"192.0.2.8"}}, object.OK, nil},
		{"a name without such a record", object.DNSCheck{Name: "www.example.com", Type: "MX"}, object.Critical, []string{"has no such record"}},
		{"a name that does not exist", object.DNSCheck{Name: "gone.example.com"}, object.Critical, []string{"the name does not exist", "time="}},
		{"a server that refuses", object.DNSCheck{Name: "refused.example.com"}, object.Critical, []string{"refuses to answer"}},
		{"a server that fails", object.DNSCheck{Name: "failing.example.com"}, object.Critical, []string{"failed to find out"}},
		{"too slow", object.DNSCheck{Name: "www.example.com", Warn: "0:0"}, object.Warning, nil},
		{"a type that is none", object.DNSCheck{Name: "www.example.com", Type: "X"}, object.Unknown, []string{"write A, AAAA"}},
		{"a server that answers something else", object.DNSCheck{Name: "odd.example.com"}, object.Critical, []string{"the server answers NOTIMP"}},
		{"an alias on the way to an address", object.DNSCheck{Name: "via.example.com", Expect: []string{"192.0.2.7"}}, object.OK, []string{"is 192.0.2.7,"}},
		{"a threshold that is none", object.DNSCheck{Name: "www.example.com", Warn: "x"}, object.Unknown, []string{"threshold of dns"}},
		{"no name", object.DNSCheck{}, object.Unknown, []string{"is no name to ask for"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.check.Server = server
			expect(t, do(t, r, object.Check{Kind: object.CheckDNS, DNS: &c.check}), c.state, c.parts...)
		})
	}
	got := r.Do(t.Context(), Request{Object: testSvc, Timeout: 150 * time.Millisecond, Check: object.Check{
		Kind: object.CheckDNS, DNS: &object.DNSCheck{Name: "silent.example.com", Server: server},
	}})
	expect(t, got, object.Critical, "no answer within 150ms")
}

func TestDNSAsksTheSystemsServer(t *testing.T) {
	server := nameServer(t, "www.example.com. 60 IN A 192.0.2.1")
	conf := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(conf, []byte("nameserver 192.0.2.53\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := open(t, Options{Resolver: conf})
	got, err := r.nameServer(&Request{Object: testSvc}, "")
	if err != nil || got != "192.0.2.53:53" {
		t.Errorf("got %s, %v", got, err)
	}
	if got, err = r.nameServer(&Request{Object: testSvc}, server); err != nil || got != server {
		t.Errorf("got %s, %v", got, err)
	}
	r = open(t, Options{Resolver: filepath.Join(t.TempDir(), "none")})
	expect(t, do(t, r, object.Check{Kind: object.CheckDNS, DNS: &object.DNSCheck{Name: "example.com"}}), object.Unknown, "name a server in the check")
}

func TestASystemWithoutNameServers(t *testing.T) {
	conf := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(conf, []byte("search example.com\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := open(t, Options{Resolver: conf})
	expect(t, do(t, r, object.Check{Kind: object.CheckDNS, DNS: &object.DNSCheck{Name: "example.com"}}),
		object.Unknown, conf+" names no name server; name one in the check")
}

func TestANameServerThatIsNotThere(t *testing.T) {
	r := open(t, Options{})
	check := object.DNSCheck{Name: "example.com", Server: closedPort(t)}
	expect(t, do(t, r, object.Check{Kind: object.CheckDNS, DNS: &check}), object.Critical, "A example.com at "+check.Server, "connection refused")
	check.Server = "a:b:c]"
	expect(t, do(t, r, object.Check{Kind: object.CheckDNS, DNS: &check}), object.Critical)
}
