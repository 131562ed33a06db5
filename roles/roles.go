package roles

import "strings"

// Name is a role as typed after -target.
type Name string

// The six roles.
const (
	All      Name = "all"
	Engine   Name = "engine"
	Worker   Name = "worker"
	UI       Name = "ui"
	Sink     Name = "sink"
	Notifier Name = "notifier"
)

// Reload says what a role does on SIGHUP.
type Reload uint8

// What a role does on SIGHUP.
const (
	ReloadIgnored Reload = iota // one log line, nothing else
	ReloadConfig                // the config is read again
)

// Role is one row of the table of roles.
type Role struct {
	Name    Name
	Summary string // one line for help and documentation
	Serves  string // what it answers over HTTP, for documentation
	Bucket  string // of its membership in the coordination store; "" = it joins none
	Notes   string // what else documentation says of it, in sentences
	Reload  Reload
	// OwnLog tells that the role can embed the event log; the others follow one
	// that another process serves.
	OwnLog bool
	// Released tells that this build can start the role.
	Released bool
}

// Roles returns the table of roles in the order of help and documentation.
func Roles() []Role {
	return []Role{
		{
			Name: All, OwnLog: true, Reload: ReloadConfig, Released: true,
			Summary: "everything in one process: schedule, execute, fold, append, dashboard, API and metrics",
			Serves:  "dashboard, API, metrics, health", Bucket: "membership/",
			Notes: "Every zone runs in this process; a config that uses other zones than `default` gets a warning. " +
				"Nothing crosses a network boundary unless a flag names another server.",
		},
		{
			Name: Engine, OwnLog: true, Reload: ReloadConfig, Released: true,
			Summary: "decides what runs and when, hands checks to workers over the queue, writes the log",
			Serves:  "dashboard, API, metrics, health", Bucket: "membership/",
			Notes: "It never runs a check of an object itself: each is published to the queue of its zone, and the engine " +
				"waits for the result. `-queue memory` is for development: the workers of every zone then run in the engine's process.",
		},
		{
			Name: Worker, Released: true,
			Summary: "pulls checks of its zones from the queue and executes them; no config, no log",
			Serves:  "metrics, health",
			Notes: "It holds no config, no log, no folded state and no secret of notifications. Plugins are those installed on the " +
				"worker's own machine. It opens one connection, to the server of its queue.",
		},
		{
			Name: UI, Released: true,
			Summary: "follows the log and serves dashboard and API; never runs a check",
			Serves:  "dashboard, API, metrics, health",
			Notes: "It cannot write to the log. With `-coordination nats://host:port` commands go to the engines over `jaque.work.cmd.ingress`; " +
				"without it, and with `-coordination memory`, they are answered with 503.",
		},
		{
			Name: Sink, Released: true,
			Summary: "follows the log and exports performance data",
			Serves:  "metrics, health", Bucket: "sink/membership/",
			Notes: "It runs the sinks of metrics that `-sinks` names, all without it. A sink with `input: \"events\"` is refused at startup. " +
				"After a change of its sinks restart it.",
		},
		{
			Name: Notifier, Reload: ReloadConfig, Released: true,
			Summary: "follows the log and delivers notifications",
			Serves:  "metrics, health", Bucket: "notifier/membership/",
			Notes: "It delivers what the engines decide when these run with `-notify-delivery notifier`. Several share the contacts.",
		},
	}
}

// Find returns the role of a name.
func Find(name Name) (Role, bool) {
	for _, r := range Roles() {
		if r.Name == name {
			return r, true
		}
	}
	return Role{}, false
}

// names lists the six roles for messages.
func names() string {
	var all []string
	for _, r := range Roles() {
		all = append(all, string(r.Name))
	}
	return strings.Join(all, ", ")
}
