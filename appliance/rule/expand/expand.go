package expand

import "jaque.sh/jaque/appliance/core/object"

// Check returns a copy of a check in which text has replaced every string that
// an operator wrote. What text returns for one string must not depend on the
// order of the calls.
func Check(c *object.Check, text func(string) string) object.Check {
	out := *c
	out.Plugin = list(c.Plugin, text)
	out.Shell = text(c.Shell)
	out.HTTP = http(c.HTTP, text)
	if c.TCP != nil {
		t := *c.TCP
		each(text, &t.Address, &t.Send, &t.Expect, &t.Warn, &t.Crit)
		out.TCP = &t
	}
	if c.ICMP != nil {
		t := *c.ICMP
		each(text, &t.Address, &t.WarnLoss, &t.CritLoss, &t.WarnRTT, &t.CritRTT)
		out.ICMP = &t
	}
	if c.DNS != nil {
		t := *c.DNS
		each(text, &t.Name, &t.Type, &t.Server, &t.Warn, &t.Crit)
		t.Expect = list(t.Expect, text)
		out.DNS = &t
	}
	if c.TLS != nil {
		t := *c.TLS
		each(text, &t.Address, &t.ServerName, &t.WarnDays, &t.CritDays)
		out.TLS = &t
	}
	if c.Dummy != nil {
		t := *c.Dummy
		each(text, &t.Text, &t.Period)
		out.Dummy = &t
	}
	if c.Aggregate != nil {
		t := *c.Aggregate
		each(text, &t.Warn, &t.Crit)
		out.Aggregate = &t
	}
	return out
}

func http(c *object.HTTPCheck, text func(string) string) *object.HTTPCheck {
	if c == nil {
		return nil
	}
	t := *c
	each(text, &t.URL, &t.Method, &t.Body, &t.Contains, &t.Warn, &t.Crit)
	if c.Headers != nil {
		t.Headers = make(map[string]string, len(c.Headers))
		for name, value := range c.Headers {
			t.Headers[name] = text(value)
		}
	}
	return &t
}

func each(text func(string) string, fields ...*string) {
	for _, f := range fields {
		*f = text(*f)
	}
}

// list returns the texts replaced, in a new slice if any differs.
func list(texts []string, text func(string) string) []string {
	out, own := texts, false
	for i, t := range texts {
		r := text(t)
		if r == t {
			continue
		}
		if !own {
			out, own = append([]string(nil), texts...), true
		}
		out[i] = r
	}
	return out
}
