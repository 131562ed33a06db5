package build

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/objectfile"
)

// Build makes a set of the hosts and services among objects. The set is
// complete even if there are problems, as far as it could be made; only a
// caller that reports them all should look at it then. Time periods are in UTC.
func Build(objects []*objectfile.Object, main objectfile.Main) (*object.Set, objectfile.Problems) {
	return BuildIn(time.UTC, objects, main)
}

// BuildIn is Build with time periods in a zone: that of ZoneName, else that of
// the process.
func BuildIn(zone *time.Location, objects []*objectfile.Object, main objectfile.Main) (*object.Set, objectfile.Problems) {
	b := &builder{
		main: main, unit: main.Number("interval_length", 60),
		hosts: map[string]*object.Object{}, source: map[string]*objectfile.Object{},
		groups: newGroups("hostgroup"), serviceGroups: newGroups("servicegroup"), contactGroups: newGroups("contactgroup"),
		contacts: map[string]*object.Contact{}, commands: map[string]string{},
	}
	settings, problems := Settings(main)
	b.problems = problems
	// Without a usable unit every interval would be a problem of its own.
	if d := main.Find("interval_length"); d != nil && b.unit <= 0 {
		b.problems.Add(d.Pos, "interval_length %q is no number of seconds; write for example 60", d.Value)
		b.unit = 60
	}
	b.index(objects)
	b.calendar(objects, zone)
	b.people(objects)
	for _, o := range objects {
		// Templates are resolved, so the order of files means nothing any more; what
		// refers to hosts comes in a later pass.
		if o.Type == "host" {
			b.host(o)
		}
	}
	b.link()
	for _, o := range objects {
		if o.Type == "service" {
			b.service(o)
		}
	}
	b.linkServices()
	b.dependencies(objects)
	b.escalations(objects)
	b.notifications(objects)
	set := object.NewSet("", settings, b.made())
	b.fill(set)
	return set, b.problems
}

// fill adds what a set holds beside hosts and services. A group without members
// is a group all the same.
func (b *builder) fill(set *object.Set) {
	set.Periods = b.periodSet()
	set.Contacts = b.contacts
	set.ContactGroups = map[string][]string{}
	for name, g := range b.contactGroups.byName {
		set.ContactGroups[name] = sorted(slices.Collect(maps.Keys(g.members)))
	}
	for _, all := range []*groups{b.groups, b.serviceGroups} {
		for _, name := range all.order {
			if _, ok := set.Groups[name]; !ok {
				set.Groups[name] = nil
			}
		}
	}
	set.HostHandler = b.globalHandler("global_host_event_handler")
	set.ServiceHandler = b.globalHandler("global_service_event_handler")
}

// builder goes through the objects three times: hosts first, then what they say
// about each other and groups, then services, which need both.
type builder struct {
	main     objectfile.Main
	unit     float64 // seconds
	problems objectfile.Problems

	calendars calendars
	order     []*object.Object // hosts in the order of their definitions
	hosts     map[string]*object.Object
	source    map[string]*objectfile.Object // hosts by name
	commands  map[string]string             // command lines

	groups, serviceGroups, contactGroups *groups
	contacts                             map[string]*object.Contact
	declared                             map[*object.Dependency]*objectfile.Object
	services                             []service
	onHost                               map[string][]string // names of services by host
	byID                                 map[object.ID]int
}

// index notes the objects that others name.
func (b *builder) index(objects []*objectfile.Object) {
	for _, o := range objects {
		switch o.Type {
		case "command":
			b.commands[o.Name] = o.Text("command_line", "")
		case "hostgroup":
			b.define(b.groups, o)
		case "servicegroup":
			b.define(b.serviceGroups, o)
		case "contactgroup":
			b.define(b.contactGroups, o)
		}
	}
}

// host makes one host, without what refers to others.
func (b *builder) host(o *objectfile.Object) {
	if other := b.source[o.Name]; other != nil {
		b.problems.Add(o.Pos, "host %q is already defined at %s; rename one of them", o.Name, other.Pos)
		return
	}
	b.legal(o)
	h := &object.Object{
		ID: object.HostID(o.Name), Name: o.Name, Alias: o.Text("alias", ""),
		Address: o.Text("address", o.Name), Vars: o.Vars(),
		Rule: b.rule(object.Host, o),
	}
	b.source[o.Name] = o
	b.hosts[o.Name] = h
	b.order = append(b.order, h)
}

// legal reports characters of a name that the main file forbids.
func (b *builder) legal(o *objectfile.Object) {
	illegal := b.main.Text("illegal_object_name_chars", "")
	if o.Type == "host" {
		// It separates host and service in the identity of a service.
		illegal += "!"
	}
	if i := strings.IndexAny(o.Name, illegal); i >= 0 {
		b.problems.Add(o.Pos, "the name of %s %q has the illegal character %q; write the name without it",
			o.Type, o.Name, o.Name[i])
	}
}

// link resolves what hosts say about other hosts and groups.
func (b *builder) link() {
	for _, h := range b.order {
		o := b.source[h.Name]
		for _, name := range o.Names("parents") {
			p := b.hosts[name]
			// A host that waited for itself could never be told from an unreachable one.
			if p == nil || p == h {
				b.problems.Add(o.At("parents"), "%q is not a valid parent of host %q; name another host that is defined", name, h.Name)
				continue
			}
			h.Parents = append(h.Parents, p)
		}
		b.join(b.groups, o, "hostgroups", h.Name)
	}
	b.rings()
	b.expandHostGroups()
}

// rule reads what hosts and services have in common.
func (b *builder) rule(kind object.Kind, o *objectfile.Object) *object.Rule {
	r := &object.Rule{
		Name:     o.Type + " " + o.Name,
		Interval: b.units(o, "check_interval", 5), Retry: b.units(o, "retry_interval", 1),
		NoteInterval: b.units(o, "notification_interval", 30),
		Timeout:      b.timeout(kind, o), Attempts: b.attempts(o),
		Volatile: o.Bool("is_volatile", false), Initial: b.initial(kind, o),
		Active: o.Bool("active_checks_enabled", true), Passive: o.Bool("passive_checks_enabled", true),
		FlapDetection: o.Bool("flap_detection_enabled", true),
		FlapLow:       o.Number("low_flap_threshold", 0), FlapHigh: o.Number("high_flap_threshold", 0),
		FlapIgnore: b.flapIgnore(kind, o), Check: b.check(o),
		CheckPeriod: b.periodOf(o, "check_period"), HandlerPeriod: b.periodOf(o, "event_handler_period"),
		NotePeriod: b.periodOf(o, "notification_period"),
		Handler:    b.handler(o), Off: off(o),
		Notes: o.Text("notes", ""), NotesURL: o.Text("notes_url", ""), ActionURL: o.Text("action_url", ""),
	}
	if o.Bool("check_freshness", false) {
		r.Freshness = seconds(math.Trunc(max(0, o.Number("freshness_threshold", 0))))
		r.FreshAuto = r.Freshness == 0
	}
	b.told(o)
	return r
}

// units reads a number of time units.
func (b *builder) units(o *objectfile.Object, name string, def float64) time.Duration {
	n := o.Number(name, def)
	if n < 0 {
		b.problems.Add(o.At(name), "%s of %s %q is below 0; write 0 or more", name, o.Type, o.Name)
		return 0
	}
	return seconds(n * b.unit)
}

// seconds converts a number of seconds; what is too large is cut.
func seconds(n float64) time.Duration {
	n *= float64(time.Second)
	if n >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(math.Round(n))
}

// timeout returns how long one execution may take: the object's own (Naemon),
// else the main file's for its kind.
func (b *builder) timeout(kind object.Kind, o *objectfile.Object) time.Duration {
	def := b.main.Number("service_check_timeout", 60)
	if kind == object.Host {
		def = b.main.Number("host_check_timeout", 30)
	}
	// The object's own timeout is Naemon's; Nagios has only that of the kind.
	if n := o.Number("check_timeout", def); n > 0 {
		return seconds(n)
	}
	b.problems.Add(o.At("check_timeout"), "the timeout of %s %q is not above 0; write a number of seconds such as 60", o.Type, o.Name)
	return time.Minute
}

// attempts reads max_check_attempts, which has no default.
func (b *builder) attempts(o *objectfile.Object) int {
	n := o.Number("max_check_attempts", 0)
	// Nagios refuses an object without attempts too: a default would decide when
	// people are woken.
	if n < 1 || n > math.MaxInt32 {
		b.problems.Add(o.At("max_check_attempts"), "%s %q needs max_check_attempts, a positive integer such as 3", o.Type, o.Name)
		return 1
	}
	return int(n)
}

func (b *builder) initial(kind object.Kind, o *objectfile.Object) object.State {
	d := o.Find("initial_state")
	if d == nil {
		return object.OK
	}
	state, ok := stateOf(kind, d.Value)
	if !ok {
		b.problems.Add(d.Pos, "invalid initial_state %q of %s %q; write %s", d.Value, o.Type, o.Name, letters(kind))
	}
	return state
}

func letters(kind object.Kind) string {
	if kind == object.Host {
		return "o, d or u"
	}
	return "o, w, u or c"
}

// flapIgnore returns the states that flap_detection_options does not list.
func (b *builder) flapIgnore(kind object.Kind, o *objectfile.Object) object.StateMask {
	all := "owcu"
	if kind == object.Host {
		all = "odu"
	}
	// Listed is what counts, kept is what does not: a rule without the directive
	// then has the zero value.
	var ignored object.StateMask = 1<<len(all) - 1
	listed := o.Options("flap_detection_options", all, all, &b.problems)
	for i := range len(listed) {
		if s, ok := stateOf(kind, listed[i:]); ok {
			ignored &^= 1 << s
		}
	}
	return ignored
}
