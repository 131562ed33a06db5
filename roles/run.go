package roles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/listen"
	"jaque.sh/jaque/appliance/service"
)

// Process is what a role gets from the process it runs in.
type Process struct {
	Logger  *slog.Logger
	Stdout  io.Writer
	Version string
	// CollectorSet says that the operator set GOGC or GOMEMLIMIT; the role then
	// leaves the garbage collector alone.
	CollectorSet bool
	// Reload receives a value for each SIGHUP; nil = never.
	Reload <-chan struct{}
	// Listener is an open HTTP listener; nil = the role opens one as the
	// settings say.
	Listener *listen.Server
	// Started is called once, when the role serves HTTP, with the address;
	// nil = nobody asks.
	Started func(address string)

	wrap func(service.Service) service.Service // of tests that end a service; nil = none
}

// ErrNotReleased says that a role exists in the contract, not yet in this build.
var ErrNotReleased = errors.New("not available in this release")

// Run runs a role until ctx ends. The error names what went wrong; ExitCode
// turns it into the process's exit status.
func Run(ctx context.Context, s Settings, p Process) error {
	for _, w := range append(s.idle(), s.Warnings...) {
		p.Logger.Warn("odd command line", "warning", w)
	}
	if !s.Role.Released {
		return fmt.Errorf("role %s is %w", s.Role.Name, ErrNotReleased)
	}
	if err := s.asMember(); err != nil {
		return err
	}
	return assemble(ctx, s, p)
}

// Exit statuses of the program.
const (
	ExitDone   = 0 // it did what it was told
	ExitFailed = 1 // it failed while running
	ExitUsage  = 2 // the command line or the config is wrong
)

// ExitCode returns the exit status for the result of Parse or Run.
func ExitCode(err error) int {
	var usage *UsageError
	var problems config.Problems
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &usage), errors.As(err, &problems):
		return ExitUsage
	}
	return ExitFailed
}
