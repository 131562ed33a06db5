package config

import (
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

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

// Contact is a person or channel that can be told something. What of the objects a
// contact is told stands in the object set; here is where the channels lead.
type Contact struct {
	Name     string
	Alias    string
	Email    string
	Telegram Secret   // chat id
	Webhook  *Webhook // nil = none
	// Chat are addresses of chat and on-call services: "slack://…", "ntfy://…".
	Chat    []Secret
	Command *object.Handler // run for each notification; nil = none
	Period  string          // name of a Period; "" = always
	Groups  []string
	Vars    map[string]string // upper-case names without "_"
}

// Webhook is an address that messages are posted to.
type Webhook struct {
	URL     Secret
	Key     Secret            // for the HMAC signature; "" = none
	Headers map[string]Secret // beside those of jaque
	Body    string            // a template; "" = jaque's JSON
}

// Delivery says how messages go out.
type Delivery struct {
	URL      string        // of the dashboard, for links; "" = none
	Deadline time.Duration // how long a message is tried
	// Rates bound the messages to one contact over a channel, Templates say what
	// stands in them; both by the channel's name.
	Rates       map[string]Rate
	Templates   map[string]Template
	TelegramAPI string // base address
	Canary      Canary
}

// Rate is so many messages in a time.
type Rate struct {
	Messages int
	Per      time.Duration
}

// Template holds the operator's own texts of a channel; "" = jaque's.
type Template struct{ Subject, Text, HTML string }

// Canary is the dead man's switch: a check whose every round is told to the outside.
type Canary struct {
	Every   time.Duration // 0 = there is none
	URL     Secret        // asked with GET after each round; "" = none
	Contact string        // told of each round; "" = nobody
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
