package access

import (
	"fmt"
	"strings"
	"unicode"
)

// NATSUser returns the entry of a user in the configuration of a nats-server.
func NATSUser(h Holder, key string) string {
	publish, subscribe := Subjects(Rights(h))
	var b strings.Builder
	who := string(h.Role)
	if len(h.Zones) > 0 {
		who += " of " + strings.Map(oneLine, strings.Join(h.Zones, ", "))
	}
	fmt.Fprintf(&b, "{ # %s: %s\n  nkey: %s\n  permissions: {\n", h.ID, who, key)
	for _, part := range []struct {
		name     string
		subjects []string
	}{{"publish", publish}, {"subscribe", subscribe}} {
		fmt.Fprintf(&b, "    %s: { allow: [\n", part.name)
		for _, s := range part.subjects {
			fmt.Fprintf(&b, "      %q\n", s)
		}
		b.WriteString("    ] }\n")
	}
	b.WriteString("  }\n}\n")
	return b.String()
}

// oneLine keeps a comment on its line: what follows it would be configuration.
func oneLine(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return '?'
}
