package access

import (
	"fmt"
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/rule/near"
)

// Role is a kind of process that has credentials.
type Role string

// The roles with rights of their own. A process of role all has its server inside.
const (
	Engine   Role = "engine"
	Worker   Role = "worker"
	UI       Role = "ui"
	Sink     Role = "sink"
	Notifier Role = "notifier"
	// Backup is no role of a process that stays: it reads everything, for "jaque backup"
	// and "jaque log verify".
	Backup Role = "backup"
)

// Roles returns them in the order of documentation.
func Roles() []Role { return []Role{Engine, Worker, UI, Sink, Notifier, Backup} }

// ParseRole reads the name of a role.
func ParseRole(name string) (Role, error) {
	if slices.Contains(Roles(), Role(name)) {
		return Role(name), nil
	}
	var all []string
	for _, r := range Roles() {
		all = append(all, string(r))
	}
	if name == "all" {
		return "", fmt.Errorf("role all needs no credentials: its log server runs inside; write one of %s", strings.Join(all, ", "))
	}
	for _, r := range all {
		if near.Distance(name, r, 2) <= 2 {
			return "", fmt.Errorf("%q is no role; did you mean %s?", name, r)
		}
	}
	return "", fmt.Errorf("%q is no role with credentials; write one of %s", name, strings.Join(all, ", "))
}

// Holder is who has the rights.
type Holder struct {
	Role Role
	// ID names the credentials; that of an engine is its -engine-id.
	ID     string
	Zones  []string // of a worker
	Prefix string   // of the installation, as of the bus; "" = none
}
