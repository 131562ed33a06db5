package sourcecheck

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// rank orders the rooms: a room may import those of a higher rank.
var rank = map[string]int{"cmd": 0, "roles": 1, "web": 2, "appliance": 3, "assets": 4}

// forTests are the packages that several packages' tests stand on.
var forTests = []string{"appliance/command/rig", "appliance/rule/rehearse/trial", "web/sample"}

// keepers says which packages alone may import a library, which may in their
// tests, and where code that wants it belongs.
var keepers = []struct {
	library string
	by      []string
	tests   []string
	instead string
}{
	{"github.com/nats-io/nats-server", []string{"appliance/bus", "appliance/command/rig"}, []string{"appliance/bucket", "appliance/cluster", "appliance/journal", "appliance/queue", "appliance/coordination", "appliance/ingress", "appliance/forward", "appliance/sink/target", "appliance/access", "roles", "cmd/jaque"}, "the embedded server is started by appliance/bus"},
	{
		"github.com/nats-io/nats.go",
		[]string{"appliance/bus", "appliance/bucket", "appliance/cluster", "appliance/journal", "appliance/queue", "appliance/coordination", "appliance/ingress", "appliance/command", "appliance/forward", "appliance/sink/target", "appliance/sink/position", "appliance/backup", "appliance/audit"},
		[]string{"appliance/access", "appliance/audit", "cmd/jaque"},
		"streams, buckets and subjects are reached through appliance/bus, appliance/journal, appliance/queue, appliance/coordination, appliance/ingress and appliance/forward",
	},
	{"cuelang.org/go", []string{"appliance/config"}, nil, "CUE is read by appliance/config; take its checked values"},
	{"github.com/a-h/templ", []string{"web"}, nil, "HTML is made in web/page and web/part"},
	{"html/template", []string{"appliance/rule/message"}, nil, "HTML is made by templ components in web/page and web/part; operators' templates are for messages alone"},
	{"github.com/wneessen/go-mail", []string{"appliance/channel"}, nil, "mail is sent by appliance/channel"},
	{"github.com/prometheus/client_golang/prometheus/promauto", nil, nil, "metrics are built by newMetrics(reg) on a registry that is handed in"},
	{"net/http/pprof", nil, nil, "it registers on the default mux; profiles are taken with go test"},
	{"expvar", nil, nil, "it registers on the default mux; use a metric"},
}

// room is the first part of a path below the module.
func room(path string) string {
	first, _, _ := strings.Cut(path, "/")
	return first
}

// within tells whether path is the folder or below it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// importComplaint says what is wrong with from importing to (both below the
// module), or "". Tests of the core may use the rules to read their cases.
func importComplaint(from, to string, test bool) string {
	src, dst := room(from), room(to)
	srcRank, known := rank[src]
	dstRank, dstKnown := rank[dst]
	switch {
	case src == "docs" && within(to, from):
		return "" // a tool may be split into packages below its own
	case src == "docs" || src == "packaging":
		return "a tool in " + src + " drives the binary from outside and imports none of our packages"
	case !known:
		return src + " is no room; code lives in cmd, roles, web, appliance or assets"
	case !dstKnown:
		return to + " is no room to import from"
	case slices.Contains(forTests, to) && !test:
		return to + " is what tests stand on; only they import it"
	case src == "assets":
		return "assets holds embedded files and no logic; move the code to appliance"
	case dstRank < srcRank:
		return fmt.Sprintf("imports go cmd → roles → web → appliance → assets only; move what %s needs to %s or further right", from, src)
	case src == "roles" && dst == "roles" && from != "roles" && sibling(from) != sibling(to):
		return "a role never imports another role or the table of roles; they meet in events, shared code goes to appliance"
	case within(from, "appliance/core") && !within(to, "appliance/core") && !(test && within(to, "appliance/rule")):
		return "core imports only core; hand the value in as an argument"
	case within(from, "appliance/rule") && !within(to, "appliance/rule") && !within(to, "appliance/core"):
		return "rule imports only core and rule; what touches the world belongs in another package of appliance"
	}
	return ""
}

// sibling names the role a package belongs to: roles/engine/x → engine.
func sibling(path string) string {
	parts := strings.Split(path, "/")
	if len(parts) < 2 {
		return ""
	}
	return parts[1]
}

// keeperComplaint says what is wrong with a package importing a library, or "".
func keeperComplaint(from, library string, test bool) string {
	for _, k := range keepers {
		if !within(library, k.library) {
			continue
		}
		if !slices.ContainsFunc(k.by, func(by string) bool { return within(from, by) }) && !(test && slices.Contains(k.tests, from)) {
			return k.instead
		}
	}
	return ""
}

func TestImportsPointOneWay(t *testing.T) {
	for _, p := range packages(t) {
		check := func(imports []string, test bool) {
			for _, to := range imports {
				c := keeperComplaint(p.path(), to, test)
				if ours(to) && to != p.ImportPath {
					c = importComplaint(p.path(), below(to), test)
				}
				if c != "" {
					t.Errorf("%s imports %s: %s", p.path(), to, c)
				}
			}
		}
		check(p.Imports, false)
		check(p.TestImports, true)
		check(p.XTestImports, true)
	}
}

func TestImportRule(t *testing.T) {
	for _, c := range []struct {
		name, from, to string
		test, ok       bool
	}{
		{"a command may start a role", "cmd/jaque", "roles/engine", false, true},
		{"a command may use an asset", "cmd/jaque", "assets/css", false, true},
		{"a test may use what tests stand on", "appliance/forward", "appliance/command/rig", true, true},
		{"nothing else may", "appliance/forward", "appliance/command/rig", false, false},
		{"a role may use the web", "roles/ui", "web/page", false, true},
		{"the table of roles names every role", "roles", "roles/engine", false, true},
		{"a role may have packages of its own", "roles/engine", "roles/engine/wheel", false, true},
		{"a role does not import its sibling", "roles/engine", "roles/worker", false, false},
		{"a role does not import the table", "roles/engine", "roles", false, false},
		{"the web does not know the roles", "web", "roles/ui", false, false},
		{"appliance does not know the web", "appliance/journal", "web/view", false, false},
		{"nothing imports a command", "appliance/journal", "cmd/jaque", false, false},
		{"core knows only core", "appliance/core/fold", "appliance/rule/period", false, false},
		{"core may use core", "appliance/core/fold", "appliance/core/event", false, true},
		{"a test of the core may read its cases with a rule", "appliance/core/fold", "appliance/rule/nagios", true, true},
		{"a test of the core does not use the journal", "appliance/core/fold", "appliance/journal", true, false},
		{"a rule may use the core", "appliance/rule/macro", "appliance/core/object", false, true},
		{"a rule does not touch the world", "appliance/rule/macro", "appliance/config", false, false},
		{"assets have no logic", "assets/css", "assets", false, false},
		{"a tool of docs may have packages of its own", "docs/formal/check", "docs/formal/check/tla", false, true},
		{"tools of docs stand alone", "docs/develop/bench", "appliance/core/object", false, false},
		{"other folders are no rooms", "pkg/util", "appliance/core/object", false, false},
		{"nobody imports a tool", "cmd/jaque", "docs/develop/bench", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := importComplaint(c.from, c.to, c.test)
			if (got == "") != c.ok {
				t.Fatalf("%s → %s: got complaint %q, want fine=%v", c.from, c.to, got, c.ok)
			}
		})
	}
}

func TestKeeperRule(t *testing.T) {
	for _, c := range []struct {
		name, from, library string
		test, ok            bool
	}{
		{"the bus starts the server", "appliance/bus", "github.com/nats-io/nats-server/v2/server", false, true},
		{"the journal does not", "appliance/journal", "github.com/nats-io/nats-server/v2/server", false, false},
		{"the journal's tests do", "appliance/journal", "github.com/nats-io/nats-server/v2/server", true, true},
		{"the projection's tests do not", "appliance/projection", "github.com/nats-io/nats-server/v2/server", true, false},
		{"the buckets are a client", "appliance/bucket", "github.com/nats-io/nats.go/jetstream", false, true},
		{"the journal is a client", "appliance/journal", "github.com/nats-io/nats.go/jetstream", false, true},
		{"a role is no client", "roles/engine", "github.com/nats-io/nats.go", false, false},
		{"pages are templ", "web/page", "github.com/a-h/templ", false, true},
		{"a role makes no HTML", "roles/ui", "github.com/a-h/templ", false, false},
		{"other libraries are free", "roles/ui", "net/http", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := keeperComplaint(c.from, c.library, c.test)
			if (got == "") != c.ok {
				t.Fatalf("%s → %s: got complaint %q, want fine=%v", c.from, c.library, got, c.ok)
			}
		})
	}
}
