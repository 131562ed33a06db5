package macro

import (
	"strings"

	"jaque.sh/jaque/appliance/core/object"
)

// hostAddress is where a check goes that names no host.
const hostAddress = "$HOSTADDRESS$"

// ExpandCheck returns a check with the macros of all its texts expanded, ready
// to be executed. The words of a plugin's command line are expanded one by one
// and never split again. Where an address lacks its host, the object's address
// is filled in. The check itself is not changed.
func ExpandCheck(c object.Check, src *Source) object.Check {
	x := func(s string) string { return Expand(s, src, Options{}) }
	c.Plugin = list(c.Plugin, x)
	c.Shell = x(c.Shell)
	if c.HTTP != nil {
		c.HTTP = expandHTTP(*c.HTTP, x)
	}
	if c.TCP != nil {
		t := *c.TCP
		t.Address, t.Send, t.Expect = withHost(t.Address, x), x(t.Send), x(t.Expect)
		t.Warn, t.Crit = x(t.Warn), x(t.Crit)
		c.TCP = &t
	}
	if c.ICMP != nil {
		p := *c.ICMP
		if p.Address == "" {
			p.Address = hostAddress
		}
		p.Address = x(p.Address)
		p.WarnLoss, p.CritLoss, p.WarnRTT, p.CritRTT = x(p.WarnLoss), x(p.CritLoss), x(p.WarnRTT), x(p.CritRTT)
		c.ICMP = &p
	}
	if c.DNS != nil {
		d := *c.DNS
		d.Name, d.Type, d.Server, d.Expect = x(d.Name), x(d.Type), x(d.Server), list(d.Expect, x)
		d.Warn, d.Crit = x(d.Warn), x(d.Crit)
		c.DNS = &d
	}
	if c.TLS != nil {
		t := *c.TLS
		t.Address, t.ServerName = withHost(t.Address, x), x(t.ServerName)
		t.WarnDays, t.CritDays = x(t.WarnDays), x(t.CritDays)
		c.TLS = &t
	}
	if c.Dummy != nil {
		d := *c.Dummy
		d.Text, d.Period = x(d.Text), x(d.Period)
		c.Dummy = &d
	}
	if c.Aggregate != nil {
		a := *c.Aggregate
		a.Warn, a.Crit = x(a.Warn), x(a.Crit)
		c.Aggregate = &a
	}
	return c
}

func expandHTTP(h object.HTTPCheck, x func(string) string) *object.HTTPCheck {
	h.URL, h.Method, h.Body, h.Contains = x(h.URL), x(h.Method), x(h.Body), x(h.Contains)
	h.Warn, h.Crit = x(h.Warn), x(h.Crit)
	if len(h.Headers) > 0 {
		headers := make(map[string]string, len(h.Headers))
		for name, value := range h.Headers {
			headers[name] = x(value)
		}
		h.Headers = headers
	}
	return &h
}

// list expands words; a list in which there is nothing to expand is kept.
func list(words []string, x func(string) string) []string {
	for _, w := range words {
		if strings.IndexByte(w, '$') < 0 {
			continue
		}
		expanded := make([]string, len(words))
		for i, w := range words {
			expanded[i] = x(w)
		}
		return expanded
	}
	return words
}

// withHost expands "host:port" and fills in a missing host. An IPv6 address
// goes in brackets.
func withHost(address string, x func(string) string) string {
	if !strings.HasPrefix(address, ":") {
		return x(address)
	}
	host := x(hostAddress)
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		host = "[" + host + "]"
	}
	return host + x(address)
}
