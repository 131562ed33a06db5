package object

// Period is a calendar: when something may happen.
type Period interface {
	// Name returns the name under which the config declares it.
	Name() string
	// String returns everything that the config says of it, so that two periods
	// with the same text are the same.
	String() string
	// Window tells whether the instant lies inside, and when that changes next;
	// 0 = never again.
	Window(at Time) (inside bool, until Time)
}

// Inside tells whether an instant lies in a period; nil is always.
func Inside(p Period, at Time) bool {
	if p == nil {
		return true
	}
	in, _ := p.Window(at)
	return in
}

// Handler is an event handler: a command that runs when an object's state
// changes. Its texts may contain macros.
type Handler struct {
	Name   string
	Plugin []string // argv; the first word is looked up in the plugin path
	Shell  string   // instead of Plugin: a line for /bin/sh -c
	// Environ hands the macros over as variables too (NAGIOS_HOSTNAME, …).
	Environ bool
}

// Dependency says when an object is left alone because of another one.
type Dependency struct {
	Master *Object
	// Execution and Notification are the master's states in which the dependent
	// object is not checked, and nobody is told about it.
	Execution, Notification StateMask
	// ExecutionPending and NotificationPending count a master that was never
	// checked among them.
	ExecutionPending, NotificationPending bool
	Period                                Period // when the dependency holds; nil = always
	// Inherits takes over what the master depends on itself.
	Inherits bool
	// Group names masters that stand in for each other: dependencies of one
	// object with the same group fail only together; "" = alone.
	Group string
}

// Contact is a person or channel that is told, as the config declares it.
type Contact struct {
	Name, Alias string
	Email       string
	Vars        map[string]string // upper-case names without "_"
	// Notify says what the contact is told; nil = nothing.
	Notify *ContactNotification
}
