package config

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/threshold"
)

// check is one declared check with the place it was declared at.
type check struct {
	check     object.Check
	freshness time.Duration // of a passive check
	fresh     bool          // a passive check says its freshness
	at        *path
	pos       Position
	members   []ref // of an aggregate
	macros    []*macroUse
	used      bool // by an object
	local     bool // by an object that this process may check itself
	handler   bool // not a check but an event handler
}

// noCheck is the check of a host that is not checked itself.
var noCheck = check{check: object.Check{Kind: object.CheckNone}}

// laterKinds are the kinds that the language has a name for already.
var laterKinds = []string{"wasm", "ssh", "smtp", "ntp", "snmp", "nrpe", "grpc"}

// check reads a check. Nil means absent or unusable; the difference is in has.
func (s *section) check(name string, k object.Kind) *check {
	n := s.take(name)
	if n == nil {
		return nil
	}
	at := s.at.field(name)
	// The most common slip: a command line where the kind of check belongs. It
	// gets an answer of its own instead of a list of kinds.
	if n.kind == kindText || n.kind == kindList {
		s.d.bad(at, n.pos, `%s is not a check; write {plugin: ["check_disk", "-w", "20%%"]} or {http: {url: "..."}}`, n.show())
		return nil
	}
	c := s.d.open(at, n)
	out := &check{at: at, pos: n.pos, macros: macrosIn(at, n, false, nil)}
	found := c.readKinds(out, k)
	// A kind of a later release counts as given, so that the operator does not
	// read "says nothing" about a check that says something.
	for _, later := range laterKinds {
		if c.n.get(later) != nil {
			c.asked = append(c.asked, later)
			s.d.bad(at.field(later), c.n.get(later).pos, "checks of kind %s are not available in this release; use a plugin", later)
			found++
		}
	}
	c.done()
	switch {
	// What could not be opened, or is one known kind, needs no further words;
	// mistakes inside a kind were reported while it was read.
	case c.n == nil, found == 1 && out.check.Kind != "":
		break
	case found == 0 && len(c.n.fields) == 0:
		s.d.bad(at, n.pos, `says nothing; write one of %s`, strings.Join(c.asked, ", "))
	case found > 1:
		s.d.bad(at, n.pos, "%d kinds of check are given; keep one", found)
	}
	if out.check.Kind == "" {
		return nil
	}
	return out
}

// readKinds reads every kind that is given and returns how many that are.
func (s *section) readKinds(out *check, k object.Kind) int {
	found := 0
	read := func(name string, kind object.CheckKind, fn func(*section)) {
		s.asked = append(s.asked, name)
		n := s.n.get(name)
		// Only presence counts here: a kind that is there and wrong must not also
		// be reported as missing.
		if n == nil {
			return
		}
		found++
		out.check.Kind = kind
		if fn == nil || n.kind == kindBad {
			return
		}
		body := s.d.open(s.at.field(name), n)
		fn(body)
		body.done()
	}
	c := &out.check
	read("plugin", object.CheckPlugin, nil)
	c.Plugin = s.argv("plugin")
	read("shell", object.CheckPlugin, nil)
	c.Shell = s.text("shell")
	read("http", object.CheckHTTP, func(b *section) { c.HTTP = b.http() })
	read("tcp", object.CheckTCP, func(b *section) { c.TCP = b.tcp() })
	read("icmp", object.CheckICMP, func(b *section) { c.ICMP = b.icmp() })
	read("dns", object.CheckDNS, func(b *section) { c.DNS = b.dns() })
	read("tls", object.CheckTLS, func(b *section) { c.TLS = b.tls() })
	read("dummy", object.CheckDummy, func(b *section) { c.Dummy = b.dummy(k) })
	read("passive", object.CheckPassive, func(b *section) {
		out.freshness, out.fresh = b.duration("freshness", 0, true), b.has("freshness")
	})
	read("aggregate", object.CheckAggregate, func(b *section) { c.Aggregate, out.members = b.aggregate() })
	// plugin and shell are asked for twice in a row, here and by their readers;
	// the list is shown to operators, so each name stands once.
	s.asked = slices.Compact(s.asked)
	return found
}

// argv reads a command line as a list of words.
func (s *section) argv(name string) []string {
	n := s.n.get(name)
	// A command line as one text would have to be split, and no rule for that is
	// right for every quote; so jaque shows the list instead of guessing.
	if n != nil && n.kind == kindText {
		s.d.bad(s.at.field(name), n.pos, "%s is one text; write a list, one item per word: [%s]", n.show(), quoteWords(n.text))
		s.asked = append(s.asked, name)
		return nil
	}
	words := s.texts(name)
	if n != nil && n.kind == kindList && (len(n.items) == 0 || len(words) > 0 && words[0] == "") {
		s.d.bad(s.at.field(name), n.pos, `the first word must name a program; write ["check_disk", "-w", "20%%"]`)
	}
	return words
}

// quoteWords shows a command line as the list it should be.
func quoteWords(line string) string {
	words := strings.Fields(line)
	for i, w := range words {
		words[i] = quote(w)
	}
	return strings.Join(words, ", ")
}

// http reads #HTTP.
func (s *section) http() *object.HTTPCheck {
	c := &object.HTTPCheck{
		URL: s.text("url"), Method: strings.ToUpper(s.text("method")), Headers: s.table("headers", false),
		Body: s.prose("body"), Contains: s.text("contains"), Insecure: s.flag("insecure", false),
		Redirect: s.whole("redirect", 0, 0, 20), Warn: s.limits("warn"), Crit: s.limits("crit"),
	}
	s.need("url", `"https://$HOSTADDRESS$/"`)
	// A URL may hold macros, so it is not parsed: only its scheme, which decides
	// about the probe, must be readable now.
	if c.URL != "" && !strings.Contains(c.URL, "://") {
		s.d.bad(s.at.field("url"), s.n.get("url").pos, "%s has no scheme; write %s", quote(c.URL), quote("http://"+c.URL))
	} else if scheme, _, _ := strings.Cut(c.URL, "://"); c.URL != "" && scheme != "http" && scheme != "https" && !strings.Contains(scheme, "$") {
		s.d.bad(s.at.field("url"), s.n.get("url").pos, "%s is neither http nor https; write one of them", quote(scheme))
	}
	s.list("status", func(at *path, n *node) {
		if v, ok := s.d.whole(at, n, 100, 599); ok {
			c.Status = append(c.Status, v)
		}
	})
	return c
}

// tcp reads #TCP.
func (s *section) tcp() *object.TCPCheck {
	return &object.TCPCheck{
		Address: s.hostPort(true), Send: s.text("send"), Expect: s.text("expect"),
		Warn: s.limits("warn"), Crit: s.limits("crit"),
	}
}

// hostPort reads address ("host:port") or port.
func (s *section) hostPort(needed bool) string {
	address, port := s.text("address"), s.whole("port", 0, 1, 65535)
	at := s.at.field("address")
	switch {
	// Reported as a whole already.
	case s.bad || s.n == nil:
	case !s.has("address") && !s.has("port"):
		if needed {
			s.d.bad(s.at, s.n.pos, `neither port nor address is given; write port: 22 or address: "192.0.2.1:22"`)
		}
	case s.has("address") && s.has("port"):
		s.d.bad(s.at.field("port"), s.n.get("port").pos, "both port and address are given; keep one")
	// The probe puts the object's address in front of a lone port.
	case port > 0:
		return s.d.strings.get(":" + strconv.Itoa(port))
	// With a macro in it nobody can say yet what the address will be.
	case address != "" && !strings.Contains(address, "$"):
		_, p, err := net.SplitHostPort(address)
		if v, perr := strconv.Atoi(p); err != nil || perr != nil || v < 1 || v > 65535 {
			s.d.bad(at, s.n.get("address").pos, `%s is not host:port; write "192.0.2.1:22", or ":22" for the host's address`, quote(address))
		}
	}
	return address
}

// icmp reads #ICMP. What is absent is for the probe to choose.
func (s *section) icmp() *object.ICMPCheck {
	return &object.ICMPCheck{
		Address: s.text("address"), Count: s.whole("count", 0, 1, 100),
		WarnLoss: s.limits("warn_loss"), CritLoss: s.limits("crit_loss"),
		WarnRTT: s.limits("warn_rtt"), CritRTT: s.limits("crit_rtt"),
	}
}

// dns reads #DNS.
func (s *section) dns() *object.DNSCheck {
	c := &object.DNSCheck{
		Name:   s.text("name"),
		Type:   s.oneOf("type", "", "A", "AAAA", "CNAME", "MX", "NS", "TXT", "SOA", "SRV", "PTR"),
		Server: s.text("server"), Expect: s.texts("expect"),
		Warn: s.limits("warn"), Crit: s.limits("crit"),
	}
	s.need("name", `"www.example.com"`)
	return c
}

// tls reads #TLS.
func (s *section) tls() *object.TLSCheck {
	return &object.TLSCheck{
		Address: s.hostPort(true), ServerName: s.text("server_name"), Insecure: s.flag("insecure", false),
		WarnDays: s.limits("warn_days"), CritDays: s.limits("crit_days"),
	}
}

// dummy reads #Dummy with the states of the kind of object it is for.
func (s *section) dummy(k object.Kind) *object.DummyCheck {
	c := &object.DummyCheck{State: s.stateField("state", k), Text: s.prose("text")}
	s.list("states", func(at *path, n *node) {
		// A wrong state is left out and reported; the others keep their order.
		if st, ok := s.d.state(at, n, k); ok {
			c.States = append(c.States, st)
		}
	})
	if d := s.duration("period", 0, false); d > 0 {
		c.Period = d.String()
	}
	if s.has("state") && s.has("states") {
		s.d.bad(s.at.field("states"), s.n.get("states").pos, "both state and states are given; keep one")
	}
	return c
}

// aggregate reads #Aggregate and returns its members as references too; whether
// they exist is known only when every object is made.
func (s *section) aggregate() (*object.AggregateCheck, []ref) {
	c := &object.AggregateCheck{}
	var members []ref
	s.list("members", func(at *path, n *node) {
		if v, ok := s.d.text(at, n); ok {
			c.Members = append(c.Members, object.ID(v))
			members = append(members, ref{v, at, n.pos})
		}
	})
	c.Warn, c.Crit = s.limits("warn"), s.limits("crit")
	s.need("members", `["db01!mysql", "db02!mysql"]`)
	if n := s.n.get("members"); n != nil && n.kind == kindList && len(n.items) == 0 {
		s.d.bad(s.at.field("members"), n.pos, `no members; write ["db01!mysql", "db02!mysql"]`)
	}
	return c, members
}

// limits reads a threshold range. A number stands for the text of it.
func (s *section) limits(name string) string {
	n := s.take(name)
	if n == nil {
		return ""
	}
	// warn: 20 and warn: "20" mean the same; a
	// range is a text everywhere behind this point.
	v, ok := s.d.strings.get(n.text), n.kind == kindNumber
	if !ok {
		v, ok = s.d.text(s.at.field(name), n)
	}
	if !ok {
		return ""
	}
	// A range with a macro is checked when the macro has a value.
	if why := badRange(v); why != "" && !strings.Contains(v, "$") {
		s.d.bad(s.at.field(name), n.pos, "%s", why)
		return ""
	}
	return v
}

// badRange says what is wrong with a Nagios threshold range, "" if nothing is.
func badRange(text string) string {
	if _, err := threshold.Parse(text); err == nil {
		return ""
	}
	at, rest := "", text
	if r, ok := strings.CutPrefix(text, "@"); ok {
		at, rest = "@", r
	}
	// Two ends in the wrong order are put right in the error, if that helps.
	if low, high, both := strings.Cut(rest, ":"); both {
		if _, err := threshold.Parse(at + high + ":" + low); err == nil && low != "" && high != "" {
			return fmt.Sprintf("%s starts above its end; write %s", quote(text), quote(at+high+":"+low))
		}
	}
	return fmt.Sprintf(`%s is not a range; write "10", "10:", "~:10", "10:20" or "@10:20"`, quote(text))
}
