package config

import (
	"os"
	"path/filepath"
	"sort"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/oncall"
)

// Options says how a config is loaded. The zero value reads the real files and
// environment.
type Options struct {
	// ReadSecret returns the content of the file that a "file:PATH" reference
	// names, made relative to the config's folder; nil = the disk,
	// regular files of at most 1 MiB.
	ReadSecret func(name string) ([]byte, error)
	// LookupEnv returns the variable that "env:NAME" names; nil = os.LookupEnv.
	LookupEnv func(name string) (string, bool)
	// IsPlugin tells whether a path is a program that may be run as a plugin;
	// nil = the disk is asked.
	IsPlugin func(path string) bool
	// Elsewhere says that other machines execute the checks: what this one lacks for
	// them is no reason to warn. Handlers are executed by the process itself.
	Elsewhere bool
	// AllZonesLocal warns of zones other than "default", for a process that
	// runs every zone itself.
	AllZonesLocal bool
	// Zones adds a service for each zone of workers, for a process that watches
	// them; see ZoneID.
	Zones bool
	// Now is the time from which schedules are looked at for gaps; nil = the clock's.
	Now func() time.Time
}

// Config is one checked generation. Nobody may change it.
type Config struct {
	Set      *object.Set
	Folder   string // of the config; relative paths lie in it
	Warnings Problems
	Files    []string // every file that was read, for watching
	Rules    int      // service rules declared
	Zones    []string // whose checks workers execute, sorted

	Periods  map[string]Period
	Contacts map[string]Contact
	Policies []Policy // in the order they are declared
	// Schedules are the declared on-call schedules, OnCall what they mean.
	Schedules map[string]Schedule
	OnCall    map[string]*oncall.Schedule
	Sinks     map[string]Sink
	Views     map[string]View
	Users     map[string]User

	PluginPath []string
	Macros     map[string]Secret // program macros: USER1 and others
	HTTP       HTTP
	Delivery   Delivery

	zones []*object.Object // services that WithZones adds
}

// Load reads a CUE file or the CUE package in a folder, with its inventories,
// and checks everything. It returns either a config or what is wrong with it,
// all at once and sorted by place. It changes nothing and may run at any time.
func Load(path string, opts Options) (*Config, Problems) {
	src := readSource(path)
	if src.root == nil {
		return nil, src.problems.sorted()
	}
	dir := filepath.Dir(path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		dir = path
	}
	l := newLoader(src, dir, opts)
	l.declarations()
	l.holes()
	l.references()
	l.problems = append(l.problems, src.problems...)
	l.expand()
	l.problems = append(l.problems, unreported(src.refused, l.problems)...)
	if len(l.problems) > 0 {
		return nil, telling(l.problems.sorted())
	}
	l.textWarnings()
	l.warn()
	l.out.Warnings = l.out.Warnings.sorted()
	l.out.Set.Generation = l.generation()
	return l.out, nil
}

// loader holds the declarations of one config between the steps of Load.
type loader struct {
	decoder
	opts Options
	src  *source
	dir  string
	out  *Config

	base      timing // defaults over the schema's
	zone      string
	hostCheck *check
	settings  object.Settings
	hosts     []*host
	byName    map[string]*host
	groups    map[string][]*host
	rules     []*rule
	persons   []*person
	circle    map[string][]string // names of contacts by group
	schedules []*schedule
	policies  []*policy
	delivery  delivery
	calendars []*calendar
	compiled  map[string]object.Period
	depends   []*dependency
	global    handlers

	spare  []object.Object // allocated in one piece, not used yet
	shared map[digest]*object.Rule
	plain  map[*check]*object.Rule // of hosts without timing of their own
	built  []built
	checks []*check // that objects use and that hold macros or plugins
	custom []string // macros of every declared variable, once they were asked for
	clash  map[[2]string]bool
	ahead  map[string][]span // times of periods that were asked for
	// wanted are the contacts that somebody names, and the schedules behind "oncall ".
	wanted   map[string]bool
	canaries map[object.ID]bool // hosts and services that jaque adds
	hints    int                // suggestions looked for in large sets
	// incomplete holds what may be declared in a part that could not be read:
	// host, group, service, contact or period.
	incomplete map[string]bool
}

// newLoader prepares an empty generation; nil hooks become those of the system.
func newLoader(src *source, dir string, opts Options) *loader {
	l := &loader{
		src: src, dir: dir, opts: opts, byName: map[string]*host{}, groups: map[string][]*host{},
		shared: map[digest]*object.Rule{}, plain: map[*check]*object.Rule{}, clash: map[[2]string]bool{},
		incomplete: map[string]bool{}, compiled: map[string]object.Period{},
		circle: map[string][]string{}, wanted: map[string]bool{},
		out: &Config{
			Folder: dir,
			Files:  append([]string(nil), src.files...), Periods: map[string]Period{}, Contacts: map[string]Contact{},
			Schedules: map[string]Schedule{}, OnCall: map[string]*oncall.Schedule{},
			Sinks: map[string]Sink{}, Views: map[string]View{}, Users: map[string]User{}, Macros: map[string]Secret{},
		},
	}
	l.strings, l.decoder.unknown = newInterner(), map[Position]bool{}
	if opts.Now == nil {
		l.opts.Now = time.Now
	}
	read, env := opts.ReadSecret, opts.LookupEnv
	if read == nil {
		read = func(name string) ([]byte, error) { return readRegular(name, maxSecret) }
	}
	if env == nil {
		env = os.LookupEnv
	}
	l.secrets = secrets{lookupEnv: env, readFile: func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return read(name)
	}}
	return l
}

// declarations reads every section.
func (l *loader) declarations() {
	s := l.open(nil, l.src.root)
	l.readDefaults(s)
	s.each("hosts", func(at *path, f field) {
		l.read(at, f.pos, f.name, f.node, false)
	})
	l.out.Files = append(l.out.Files, l.inventories(s, l.dir, func(h inventoryHost) {
		at := (*path)(nil).field("hosts").field(h.name)
		if h.name == "" {
			at = nil // a list item without a name
		}
		l.read(at, h.pos, h.name, h.tree, h.listed)
	})...)
	s.each("services", func(at *path, f field) { l.rules = append(l.rules, l.rule(at, f)) })
	l.readDuties(s)
	l.readPeople(s)
	s.done()
	l.out.Rules = len(l.rules)
	sort.Slice(l.depends, func(i, j int) bool { return l.depends[i].name < l.depends[j].name })
	sort.Slice(l.rules, func(i, j int) bool { return l.rules[i].key < l.rules[j].key })
	sort.Slice(l.hosts, func(i, j int) bool { return l.hosts[i].name < l.hosts[j].name })
	for _, h := range l.hosts {
		for _, g := range h.groups {
			l.groups[g] = append(l.groups[g], h)
		}
	}
}

// readDefaults puts the operator's defaults and settings over those of the schema.
func (l *loader) readDefaults(s *section) {
	at := s.at.field("defaults")
	l.base, l.zone, _ = l.defaults(at, l.src.schemaDefaults)
	own, zone, hostCheck := l.defaults(at, s.take("defaults"))
	l.base, l.hostCheck = l.base.over(own), hostCheck
	if zone != "" {
		l.zone = zone
	}
	none := &Config{Macros: map[string]Secret{}}
	base := l.decoder.settings(at, l.src.schemaSettings, object.DefaultSettings(), none)
	l.settings = l.decoder.settings(s.at.field("settings"), s.take("settings"), base, l.out)
}

// maxContacts bounds the contacts of a config.
const maxContacts = 50_000

// readPeople reads the sections that no object depends on.
func (l *loader) readPeople(s *section) {
	s.each("periods", func(at *path, f field) {
		c := l.period(at, f)
		l.out.Periods[c.Name] = c.Period
		l.calendars = append(l.calendars, c)
	})
	if contacts := s.n.get("contacts"); contacts != nil && len(contacts.fields) > maxContacts {
		l.bad(s.at.field("contacts"), contacts.pos, "%d contacts; at most %d are taken, so put those who share an address together", len(contacts.fields), maxContacts)
		return
	}
	s.each("contacts", func(at *path, f field) {
		c := l.contact(at, f)
		l.out.Contacts[c.Name] = c.Contact
		l.persons = append(l.persons, c)
		for _, g := range c.Groups {
			l.circle[g] = append(l.circle[g], c.Name)
		}
	})
	s.each("oncall", func(at *path, f field) {
		c := l.schedule(at, f)
		l.out.Schedules[c.Name] = c.Schedule
		l.schedules = append(l.schedules, c)
	})
	s.list("policies", func(at *path, n *node) {
		p := l.policy(at, n)
		l.out.Policies = append(l.out.Policies, p.Policy)
		l.policies = append(l.policies, p)
	})
	l.delivery = l.decoder.delivery(s.at.field("delivery"), s.take("delivery"))
	l.out.Delivery = l.delivery.Delivery
	s.each("sinks", func(at *path, f field) {
		v := l.sink(at, f, l.dir)
		l.out.Sinks[v.Name] = v
	})
	s.each("views", func(at *path, f field) {
		v := l.view(at, f)
		l.out.Views[v.Name] = v
	})
	s.each("users", func(at *path, f field) {
		v := l.user(at, f)
		l.out.Users[v.Name] = v
	})
}

// read decodes one host and adds it.
func (l *loader) read(at *path, pos Position, name string, n *node, listed bool) {
	before := len(l.problems)
	h := l.host(at, pos, name, n, listed)
	h.flawed = len(l.problems) > before || n.holdsBad()
	if groups := n.get("groups"); groups != nil && groups.holdsBad() {
		l.incomplete["group"] = true
	}
	l.declare(h)
}

// declare adds a host unless its name is taken.
func (l *loader) declare(h *host) {
	if badName(h.name) != "" {
		return // reported where it was read
	}
	if first, taken := l.byName[h.name]; taken {
		// Who wrote a wrong field into a host of an inventory may not have meant to
		// declare it at all.
		if first.flawed || h.flawed {
			return
		}
		l.bad(h.at, h.pos, "declared twice, first at %s; keep one", first.pos)
		return
	}
	l.byName[h.name] = h
	l.hosts = append(l.hosts, h)
}
