package object

import (
	"sort"
	"time"
)

// Object is one host or service as the config declares it. Objects are made
// once per config generation and never change after that, so any goroutine may
// read them. There are up to 100,000 of them: what many share stands in Rule.
type Object struct {
	ID    ID
	Name  string // host or service name as declared
	Alias string // name for people; "" = Name
	Host  *Object
	Rule  *Rule

	// Host fields; nil or "" for services, which read them through Host.
	Address  string
	Parents  []*Object
	Children []*Object
	Services []*Object
	// Depends are the dependencies in which the object is the dependent one.
	Depends []*Dependency
	// Notify says whom problems are told to; nil = nobody.
	Notify *Notification

	Labels map[string]string
	Groups []string
	Vars   map[string]string // custom variables, upper-case names without "_"

	Zone string // a service's own zone, else its host's
}

// Kind tells host from service.
func (o *Object) Kind() Kind {
	if o.Host == nil {
		return Host
	}
	return Service
}

// HostObject returns the host itself, or the host a service runs on.
func (o *Object) HostObject() *Object {
	if o.Host == nil {
		return o
	}
	return o.Host
}

// Label returns the object's value for a label: a service's rule first, then
// its own, then its host's.
func (o *Object) Label(key string) (string, bool) {
	if v, ok := o.Labels[key]; ok {
		return v, true
	}
	if v, ok := o.Rule.Labels[key]; ok {
		return v, true
	}
	if o.Host != nil {
		return o.Host.Label(key)
	}
	return "", false
}

// AllLabels returns a new map of every label the object answers to in Label.
func (o *Object) AllLabels() map[string]string {
	all := map[string]string{}
	if o.Host != nil {
		all = o.Host.AllLabels()
	}
	for k, v := range o.Rule.Labels {
		all[k] = v
	}
	for k, v := range o.Labels {
		all[k] = v
	}
	return all
}

// Rule is what every object made by one declaration shares: the check, its
// timing and how results are judged. Durations are positive unless said.
type Rule struct {
	Name     string // path of the declaration, for error texts: "services.http"
	Check    Check
	Interval time.Duration // between regular checks; 0 = never scheduled regularly
	Retry    time.Duration // between checks while the problem is soft
	Timeout  time.Duration // of one execution
	Attempts int           // results needed for a hard problem, at least 1

	Volatile bool
	Initial  State // state before the first result

	Active  bool // scheduled checks run
	Passive bool // submitted results are accepted

	// Freshness is how old the last result may become before the object counts
	// as stale; 0 = never stale.
	Freshness time.Duration
	// FreshAuto computes Freshness from the intervals of the present state while
	// it is 0 (Nagios: check_freshness with freshness_threshold 0).
	FreshAuto bool

	// CheckPeriod is when scheduled checks run, HandlerPeriod when event handlers
	// do, NotePeriod when people are told; nil = always.
	CheckPeriod, HandlerPeriod, NotePeriod Period

	Handler *Handler // run on changes of state; nil = none
	// Off are switches that the config turns off, beside Active, Passive and
	// FlapDetection.
	Off Switches

	FlapDetection bool
	FlapLow       float64 // percent; 0 = the program's
	FlapHigh      float64 // percent; 0 = the program's
	FlapIgnore    StateMask

	Labels       map[string]string
	Notes        string
	NotesURL     string
	ActionURL    string
	NoteInterval time.Duration // notification interval; used by host flap sampling too
}

// StateMask is a set of states, bit n for State(n).
type StateMask uint8

// Has tells whether the set contains a state.
func (m StateMask) Has(s State) bool { return m&(1<<s) != 0 }

// Settings are the program-wide switches and thresholds that the judging of
// results depends on. The zero value is not useful; see DefaultSettings.
type Settings struct {
	On Program // what is switched on for the whole program

	ServiceFlapLow, ServiceFlapHigh float64 // percent
	HostFlapLow, HostFlapHigh       float64 // percent

	// AggressiveHostChecking makes a plugin's WARNING mean DOWN for hosts
	// (Nagios: use_aggressive_host_checking).
	AggressiveHostChecking bool
	// PassiveHostsAreSoft counts attempts for passive host results
	// (Nagios: passive_host_checks_are_soft).
	PassiveHostsAreSoft bool
	// TranslatePassiveHosts recomputes a passive DOWN or UNREACHABLE from the
	// parents (Nagios: translate_passive_host_checks).
	TranslatePassiveHosts bool
	// TimeoutState is the state of a service whose check timed out.
	TimeoutState State
}

// DefaultSettings returns jaque's defaults: Nagios' meanings, flap detection on.
func DefaultSettings() Settings {
	return Settings{
		On:             ProgramDefault,
		ServiceFlapLow: 20, ServiceFlapHigh: 30, HostFlapLow: 20, HostFlapHigh: 30,
		TimeoutState: Critical,
	}
}

// ActiveChecks tells whether scheduled checks of a kind of object run at all.
func (s *Settings) ActiveChecks(k Kind) bool {
	return s.On.Has(byKind(k, ProgramHostChecks, ProgramServiceChecks))
}

// PassiveChecks tells whether submitted results of a kind of object are accepted
// at all.
func (s *Settings) PassiveChecks(k Kind) bool {
	return s.On.Has(byKind(k, ProgramPassiveHosts, ProgramPassiveServices))
}

// Freshness tells whether objects of a kind can go stale at all.
func (s *Settings) Freshness(k Kind) bool {
	return s.On.Has(byKind(k, ProgramHostFreshness, ProgramServiceFreshness))
}

func byKind(k Kind, host, service Program) Program {
	if k == Host {
		return host
	}
	return service
}

// Set is every object of one config generation.
type Set struct {
	Generation string // hash of the config it was made from
	Settings   Settings
	Objects    []*Object            // hosts and services, sorted by ID
	Hosts      []*Object            // sorted by ID
	Groups     map[string][]*Object // hosts and services by the names of their groups

	Periods       map[string]Period
	Contacts      map[string]*Contact
	ContactGroups map[string][]string // names of contacts by group
	// HostHandler and ServiceHandler run on every change of state, before the
	// object's own; nil = none.
	HostHandler, ServiceHandler *Handler

	index map[ID]*Object
}

// NewSet sorts and indexes objects and links Services, Children and Groups from
// Host, Parents and Groups names. The caller has validated that IDs are unique.
func NewSet(generation string, settings Settings, objects []*Object) *Set {
	s := &Set{
		Generation: generation, Settings: settings, Objects: objects,
		Groups: map[string][]*Object{}, index: make(map[ID]*Object, len(objects)),
	}
	sort.Slice(objects, func(i, j int) bool { return objects[i].ID < objects[j].ID })
	for _, o := range objects {
		s.index[o.ID] = o
		if o.Host != nil {
			o.Host.Services = append(o.Host.Services, o)
		} else {
			s.Hosts = append(s.Hosts, o)
			for _, p := range o.Parents {
				p.Children = append(p.Children, o)
			}
		}
		for _, g := range o.Groups {
			s.Groups[g] = append(s.Groups[g], o)
		}
	}
	return s
}

// Get returns the object with an ID, nil if there is none.
func (s *Set) Get(id ID) *Object { return s.index[id] }
