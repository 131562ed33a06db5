package roles

import (
	"fmt"
	"path/filepath"
	"strings"

	"jaque.sh/jaque/appliance/rule/veil"
)

// DefaultListen is the HTTP address without -listen. It is not reachable from
// other machines.
const DefaultListen = "127.0.0.1:8420"

// defaultDataText describes DefaultData for help and documentation.
const defaultDataText = "/var/lib/jaque as root, else $XDG_STATE_HOME/jaque (~/.local/state/jaque); $STATE_DIRECTORY wins"

// DefaultData returns the folder of the embedded server without -data: what a
// service manager names in STATE_DIRECTORY, else the system's place for root and
// the user's place for everyone else; "" if there is no home.
func DefaultData(env Environment) string {
	if dir, ok := env.Lookup("STATE_DIRECTORY"); ok && dir != "" {
		first, _, _ := strings.Cut(dir, ":")
		return first
	}
	if env.Root {
		return "/var/lib/jaque"
	}
	if dir, ok := env.Lookup("XDG_STATE_HOME"); ok && filepath.IsAbs(dir) {
		return filepath.Join(dir, "jaque")
	}
	if home, ok := env.Lookup("HOME"); ok && home != "" {
		return filepath.Join(home, ".local", "state", "jaque")
	}
	return ""
}

// defaults returns settings with every default that is the same everywhere: the
// ones that the table prints in a form its own parser reads.
func (p *parser) defaults() Settings {
	var s Settings
	for _, f := range p.flags {
		switch f.Name {
		// Their defaults are texts for help: the role or the machine decides.
		case "target", "data", "engine-id", "sink-id", "notifier-id":
			continue
		}
		if f.Default == "" {
			continue
		}
		if err := f.Parse(&s)(f.Default); err != nil {
			panic(fmt.Sprintf("the default of -%s breaks its own rule: %v", f.Name, err))
		}
	}
	return s
}

// judge checks one flag against the role: refused, missing, or a bad value.
func (p *parser) judge(f Flag, s *Settings) {
	g, ok := p.given[f.Name]
	if !ok {
		if reason, required := f.Required[s.Role.Name]; required {
			p.problem("role %s requires -%s: %s", s.Role.Name, f.Name, reason)
		}
		return
	}
	// A refused flag is not read any further. Whether its value is right is of no
	// use to know, and it may name a file that this role has no right to.
	if reason, refused := f.Refused[s.Role.Name]; refused {
		p.problem("role %s refuses %s: %s", s.Role.Name, g.origin(), reason)
		return
	}
	if err := f.Parse(s)(g.value); err != nil {
		p.problem("%s: %s is %v", g.origin(), g.shown(), err)
		return
	}
	if f.Fits == nil {
		return
	}
	if why := f.Fits(s.Role, g.value); why != "" {
		p.problem("%s: role %s cannot use %q: %s", g.origin(), s.Role.Name, veil.Servers(g.value), why)
	}
}

// origin names the flag and, when it came from there, its environment twin.
func (g given) origin() string {
	if strings.HasPrefix(g.from, "-") {
		return g.from
	}
	return fmt.Sprintf("-%s (set by %s)", g.flag.Name, g.from)
}

// shown is the value for a message; secrets are not shown.
func (g given) shown() string {
	if g.flag.Secret {
		return "its value"
	}
	return fmt.Sprintf("%q", veil.Servers(g.value))
}

// crossCheck judges flags that depend on each other and reads secrets.
func (p *parser) crossCheck(s *Settings) {
	for _, f := range p.flags {
		if g, ok := p.given[f.FileOf+"-file"]; ok && f.FileOf != "" {
			p.readSecret(f, g, s)
		}
	}
	_, cert := p.given["nats-tls-cert"]
	_, key := p.given["nats-tls-key"]
	// Half a pair would start a server without the encryption that was asked for.
	if cert != key {
		p.problem("-nats-tls-cert and -nats-tls-key belong together: give both or none")
	}
	p.checkServers(s)
	if s.Role.Name == Engine && s.Queue == "memory" {
		s.Warnings = append(s.Warnings,
			"with -queue memory no worker in another process can reach this engine; use it for development only")
	}
}

// checkServers demands the embedded server where something is to stand on it.
func (p *parser) checkServers(s *Settings) {
	for _, f := range []struct{ flag, value string }{{"queue", s.Queue}, {"coordination", s.Coordination}} {
		if f.value != "embedded" || !s.Role.OwnLog || s.EventLog == "embedded" {
			continue
		}
		p.problem("-%s embedded needs the embedded server, which -eventlog %s does not start; write -%s nats://host:port, or leave -eventlog out",
			f.flag, veil.Servers(s.EventLog), f.flag)
	}
	if _, given := p.given["nats-listen"]; given && s.Role.OwnLog && s.EventLog != "embedded" {
		p.problem("-nats-listen opens the embedded server, which -eventlog %s does not start; leave one of them out", veil.Servers(s.EventLog))
	}
	if s.Role.Name == Engine && s.Queue == "embedded" && s.NATS.Listen == "" {
		s.Warnings = append(s.Warnings,
			"with -queue embedded and without -nats-listen no worker can reach this engine; name an address with -nats-listen")
	}
}

// readSecret takes the value of a secret from its file.
func (p *parser) readSecret(file Flag, g given, s *Settings) {
	// judge has reported both already.
	if _, refused := file.Refused[s.Role.Name]; refused || g.value == "" {
		return
	}
	if _, both := p.given[file.FileOf]; both {
		p.problem("-%s and -%s name the same secret: give only one", file.FileOf, file.Name)
		return
	}
	data, err := p.env.ReadFile(g.value)
	if err != nil {
		p.problem("%s: %v", g.origin(), err)
		return
	}
	secret, _ := p.find(file.FileOf)
	if err := secret.Parse(s)(strings.TrimSpace(string(data))); err != nil {
		p.problem("%s: the content of %s is %v", g.origin(), g.value, err)
	}
}

// fill sets the defaults that depend on the machine, where the role uses them.
func (p *parser) fill(s *Settings) {
	id := HostID(p.env.Host)
	s.Host = id
	_, s.meetsGiven = p.given["coordination"]
	for name, into := range map[string]*string{
		"engine-id": &s.EngineID, "sink-id": &s.SinkID, "notifier-id": &s.NotifierID,
	} {
		f, _ := p.find(name)
		if *into == "" && f.Cell(s.Role.Name) != "F" {
			*into = id
		}
	}
	if s.Data == "" && s.Role.OwnLog {
		s.Data = DefaultData(p.env)
	}
}
