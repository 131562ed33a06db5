package macro

import (
	"strings"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/expand"
)

// hostAddress is where a check goes that names no host.
const hostAddress = "$HOSTADDRESS$"

// ExpandCheck returns a check with the macros of all its texts expanded, ready
// to be executed. The words of a plugin's command line are expanded one by one
// and never split again. Where an address lacks its host, the object's address
// is filled in. The check itself is not changed.
func ExpandCheck(c object.Check, src *Source) object.Check {
	out := expand.Check(&c, func(s string) string { return Expand(s, src, Options{}) })
	if out.TCP != nil {
		out.TCP.Address = withHost(out.TCP.Address, src)
	}
	if out.TLS != nil {
		out.TLS.Address = withHost(out.TLS.Address, src)
	}
	if out.ICMP != nil && out.ICMP.Address == "" {
		out.ICMP.Address = Expand(hostAddress, src, Options{})
	}
	return out
}

// withHost puts the object's address in front of a lone ":port". An IPv6
// address goes in brackets.
func withHost(address string, src *Source) string {
	if !strings.HasPrefix(address, ":") {
		return address
	}
	host := Expand(hostAddress, src, Options{})
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		host = "[" + host + "]"
	}
	return host + address
}
