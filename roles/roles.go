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
		},
		{
			Name: Engine, OwnLog: true, Reload: ReloadConfig, Released: true,
			Summary: "decides what runs and when, hands checks to workers over the queue, writes the log",
		},
		{
			Name: Worker, Released: true,
			Summary: "pulls checks of its zones from the queue and executes them; no config, no log",
		},
		{
			Name:    UI,
			Summary: "follows the log and serves dashboard and API; never runs a check",
		},
		{
			Name: Sink, Released: true,
			Summary: "follows the log and exports performance data",
		},
		{
			Name: Notifier, Reload: ReloadConfig, Released: true,
			Summary: "follows the log and delivers notifications",
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
