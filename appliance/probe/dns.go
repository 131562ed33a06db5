package probe

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"jaque.sh/jaque/appliance/core/object"
)

// dns asks a name server and judges what it says.
func (r *Runner) dns(ctx context.Context, req *Request, c *object.DNSCheck) answer {
	l, err := parseLimits("dns", c.Warn, c.Crit)
	if err != nil {
		return unknown("%v", err)
	}
	query, kind, err := dnsQuery(c)
	if err != nil {
		return unknown("%v", err)
	}
	server, err := r.nameServer(req, c.Server)
	if err != nil {
		return unknown("%v", err)
	}
	what := fmt.Sprintf("%s %s at %s", kind, c.Name, server)
	start := time.Now()
	resp, err := r.ask(ctx, "udp", server, query)
	if err == nil && resp.Truncated {
		resp, err = r.ask(ctx, "tcp", server, query)
	}
	if err != nil {
		return failure(ctx, req, what, err)
	}
	took := time.Since(start)
	values := dnsValues(resp, query.Question[0].Qtype)
	a := judgeDNS(c, resp, values, what, l.judge(took.Seconds()))
	a.output += ", " + seconds(took) + "s"
	a.perfdata = perf("time", seconds(took), "s", c.Warn, c.Crit)
	return a
}

func dnsQuery(c *object.DNSCheck) (*dns.Msg, string, error) {
	kind := strings.ToUpper(c.Type)
	if kind == "" {
		kind = "A"
	}
	if !slices.Contains([]string{"A", "AAAA", "CNAME", "MX", "NS", "TXT", "SOA", "SRV", "PTR"}, kind) {
		return nil, "", fmt.Errorf("%q is no record type for a dns check; write A, AAAA, CNAME, MX, NS, TXT, SOA, SRV or PTR", c.Type)
	}
	name := c.Name
	if kind == "PTR" && net.ParseIP(name) != nil {
		name, _ = dns.ReverseAddr(name)
	}
	if _, ok := dns.IsDomainName(name); !ok || name == "" {
		return nil, "", fmt.Errorf("%q is no name to ask for; write for example \"www.example.com\"", c.Name)
	}
	m := new(dns.Msg)
	m.SetQuestion(dns.Fqdn(name), dns.StringToType[kind])
	m.SetEdns0(1232, false)
	return m, kind, nil
}

// nameServer returns host:port of the server to ask.
func (r *Runner) nameServer(req *Request, configured string) (string, error) {
	if configured != "" {
		return hostPort(req, configured, "53")
	}
	conf, err := dns.ClientConfigFromFile(r.opts.Resolver)
	if err != nil {
		return "", fmt.Errorf("read the system's name servers: %w; name a server in the check", err)
	}
	if len(conf.Servers) == 0 {
		return "", fmt.Errorf("%s names no name server; name one in the check", r.opts.Resolver)
	}
	return net.JoinHostPort(conf.Servers[0], conf.Port), nil
}

// ask sends a query and waits for the answer with its id.
func (r *Runner) ask(ctx context.Context, network, server string, query *dns.Msg) (*dns.Msg, error) {
	raw, err := r.dialer.DialContext(ctx, network, server)
	if err != nil {
		return nil, err
	}
	defer func() { _ = raw.Close() }()
	defer context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })()
	conn := &dns.Conn{Conn: raw, UDPSize: 4096}
	if err := conn.WriteMsg(query); err != nil {
		return nil, err
	}
	for {
		resp, err := conn.ReadMsg()
		if err != nil && (resp == nil || ctx.Err() != nil) {
			return nil, err
		}
		if err == nil && resp.Response && resp.Id == query.Id {
			return resp, nil
		}
	}
}

// dnsValues returns the data of the records of a type, sorted.
func dnsValues(resp *dns.Msg, kind uint16) []string {
	var values []string
	for _, rr := range resp.Answer {
		if rr.Header().Rrtype != kind {
			continue
		}
		if txt, ok := rr.(*dns.TXT); ok {
			values = append(values, strings.Join(txt.Txt, ""))
			continue
		}
		values = append(values, strings.TrimPrefix(rr.String(), rr.Header().String()))
	}
	slices.Sort(values)
	return values
}

func judgeDNS(c *object.DNSCheck, resp *dns.Msg, values []string, what string, byTime object.State) answer {
	if resp.Rcode != dns.RcodeSuccess {
		return say(object.Critical, "%s: %s", what, rcodeText(resp.Rcode))
	}
	if len(values) == 0 {
		return say(object.Critical, "%s: the name has no such record", what)
	}
	got := strings.Join(values, ", ")
	for _, want := range c.Expect {
		if !slices.ContainsFunc(values, func(v string) bool { return sameValue(v, want) }) {
			return say(object.Critical, "%s is %s, expected %s", what, got, strings.Join(c.Expect, ", "))
		}
	}
	return say(byTime, "%s is %s", what, got)
}

func sameValue(a, b string) bool {
	return strings.EqualFold(strings.TrimSuffix(a, "."), strings.TrimSuffix(b, "."))
}

func rcodeText(code int) string {
	switch code {
	case dns.RcodeNameError:
		return "the name does not exist"
	case dns.RcodeRefused:
		return "the server refuses to answer"
	case dns.RcodeServerFailure:
		return "the server failed to find out"
	}
	return "the server answers " + dns.RcodeToString[code]
}
