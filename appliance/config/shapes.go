package config

import "time"

// Period is a named span of time as it is declared. What it means is among the
// periods of the object set.
type Period struct {
	Name     string
	Alias    string
	Timezone string   // IANA name; "" = the server's
	Ranges   []string // "monday-friday 09:00-17:00"
	Except   []string // "2026-12-25"
	Exclude  []string // names of periods that are taken out
}

// Contact is a person or channel that can be told something.
type Contact struct {
	Name     string
	Alias    string
	Email    string
	Telegram Secret // chat id
	Webhook  Secret // URL
	Period   string // name of a Period; "" = always
	Groups   []string
	Vars     map[string]string // upper-case names without "_"
}

// Match is one label with the values that satisfy it.
type Match struct {
	Label  string
	Values []string
}

// Policy says who is told what, and when.
type Policy struct {
	Match    []Match // all must hold; none = every object
	Notify   []string
	After    time.Duration // how long a problem must last first
	Repeat   time.Duration // between repetitions; 0 = once
	Period   string
	Escalate []Escalation // sorted as declared
}

// Escalation is a further circle of people after some time.
type Escalation struct {
	After  time.Duration
	Notify []string
}

// Sink is an exporter: what it reads and where it writes.
type Sink struct {
	Name    string
	Input   string            // "metrics" or "events"
	Target  string            // "influx", "file", ...
	Options map[string]Secret // the target's settings as text
}

// View is a saved filter of the dashboard.
type View struct {
	Name, Title, Filter string
}

// User is somebody who may sign in.
type User struct {
	Name     string
	Password Secret // argon2id hash
	Role     string // "viewer", "operator" or "admin"
}

// HTTP holds what the config says about the dashboard and API.
type HTTP struct {
	PublicReads bool // reads need no sign-in even beyond loopback
	// Hosts are names under which a loopback listener is reached, such as that
	// of a proxy in front of it.
	Hosts []string
}
