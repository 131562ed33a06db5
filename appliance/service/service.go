package service

import (
	"context"
	"time"
)

// DefaultStopTimeout is how long a service may take to return after its context
// ended, unless it says otherwise.
const DefaultStopTimeout = 15 * time.Second

// Service is one part of a process.
type Service struct {
	// Name appears in /readyz, in logs and in the error that ends the process.
	Name string
	// Needs are the names of services that are ready before this one starts
	// and stop after it.
	Needs []string
	// StopTimeout is how long Run may take to return after its context ended;
	// then the process goes on stopping without it. 0 = DefaultStopTimeout.
	StopTimeout time.Duration
	// Last says that also in a hurry (FailFast) this service is told to stop only after
	// those that need it, or when half of the time is over.
	Last bool
	// Run blocks until ctx ends and then returns nil. It calls ready once, when
	// others may rely on it. Returning before ctx ends, even nil, means that
	// the part stopped by itself.
	Run func(ctx context.Context, ready func()) error
}

// State is where a service is in its life.
type State int32

// The states, in the order a service passes them.
const (
	Waiting  State = iota // for what it needs
	Starting              // runs, not yet ready
	Ready                 // others may rely on it
	Stopping              // was told to stop
	Stopped               // has returned, or never ran
)

// String returns the state in the words of /readyz.
func (s State) String() string {
	if s < Waiting || s > Stopped {
		return "unknown"
	}
	return [...]string{"waiting", "starting", "ready", "stopping", "stopped"}[s]
}

// Status is the state of one service by name.
type Status struct {
	Name  string
	State State
}
