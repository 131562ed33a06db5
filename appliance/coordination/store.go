package coordination

import (
	"context"
	"errors"

	"jaque.sh/jaque/appliance/rule/membership"
)

// Store keeps the view of one bucket. Its methods may be called from any
// goroutine; Register comes first.
type Store interface {
	// Register makes m a member and returns the view that says so. Its epoch lies
	// above every earlier one and above the newest seen on the log.
	Register(ctx context.Context, m membership.Member, newestOnLog uint64) (membership.View, error)
	// Repair raises the epoch above the newest seen on the log, if it is not.
	Repair(ctx context.Context, newestOnLog uint64) (membership.View, error)
	// Leave takes the member out at once, so that others need not wait for its
	// TTL. Only the member itself leaves.
	Leave(ctx context.Context, id string) error
	// StepOut takes the member out of the view as Leave does, while its process goes on:
	// views are followed, Run does not end, and Register makes it a member again, under
	// a newer epoch. It fails with ErrLast, and changes nothing, where no other member
	// would be left. After any other failure it is not known whether the member is out;
	// Register settles that too.
	StepOut(ctx context.Context, id string) (membership.View, error)
	// View returns the newest view that this process knows, epoch 0 before
	// Register.
	View() membership.View
	// Watch has fn called with every newer view, in order and one at a time, from
	// now until cancel. It must not block. Views in between may be left out.
	Watch(fn func(membership.View)) (cancel func())
	// Alive tells whether this process may act as a member by its own clock: its peers
	// have not declared it dead, and will not at once. It is false before Register
	// and after Leave or StepOut.
	Alive() bool
	// Run keeps the membership until ctx ends, then returns nil. It calls ready
	// once. An error says why this process is no member any more: it must end,
	// for its peers have taken over or will.
	Run(ctx context.Context, ready func()) error
}

var (
	_ Store = (*Memory)(nil)
	_ Store = (*JetStream)(nil)
)

// The buckets of the members store.
const (
	Engines   = "membership"
	Sinks     = "sink/membership"
	Notifiers = "notifier/membership"
)

// Errors of a membership.
var (
	// ErrNotMember is returned when a view is asked for before Register.
	ErrNotMember = errors.New("coordination: not registered")
	// ErrTaken: another live process runs under the same id.
	ErrTaken = errors.New("coordination: the id is taken by another live process")
	// ErrExpired: the peers have declared this process dead, or will have.
	ErrExpired = errors.New("coordination: membership expired")
	// ErrLast: the member is the only one, and nobody would take over from it.
	ErrLast = errors.New("coordination: no other member is there")
	// ErrStoreLost: the view record is missing or older than one seen before.
	ErrStoreLost = errors.New("coordination: the store has lost its record")
)
