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

// Packaged returns who has users in the configuration that is shipped for an external
// nats-server, one of each role.
func Packaged() []Holder {
	return []Holder{
		{Role: Engine, ID: "engine"},
		{Role: Worker, ID: "worker", Zones: []string{"default"}},
		{Role: UI, ID: "ui"},
		{Role: Sink, ID: "sink"},
		{Role: Notifier, ID: "notifier"},
	}
}

// KeyVariable is the variable of the environment from which that configuration takes
// the public key of a user.
func KeyVariable(h Holder) string { return "JAQUE_" + strings.ToUpper(string(h.Role)) + "_KEY" }

const confHead = `# A nats-server for jaque: TLS, streams on disk, one user for each role, nobody else.
# Made from the table that jaque itself uses; see README.md beside it.

listen: "0.0.0.0:4222"
server_name: "jaque"

# The file and the key of the server's certificate.
tls {
  cert_file: $JAQUE_TLS_CERT
  key_file: $JAQUE_TLS_KEY
}

jetstream {
  store_dir: $JAQUE_STORE
  sync_interval: always # an event that was acknowledged survives a loss of power
}

max_connections: 4096
write_deadline: "10s"

authorization {
  timeout: 5
  users: [
`

// NATSConf returns the configuration of a nats-server that is shipped.
func NATSConf() string {
	var b strings.Builder
	b.WriteString(confHead)
	for _, h := range Packaged() {
		for line := range strings.Lines(NATSUser(h, "$"+KeyVariable(h))) {
			b.WriteString("    " + line)
		}
	}
	b.WriteString("  ]\n}\n")
	return b.String()
}
