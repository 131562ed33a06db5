package channel

import (
	"context"
	"time"

	"jaque.sh/jaque/appliance/rule/message"
)

// Channel is one way to one contact. Any goroutine may use it.
type Channel interface {
	// Send hands a message over. Nil means that the other side has taken it. An
	// error is an *Error, which says whether trying again is of use and whether the
	// message may have arrived. Send returns soon after ctx ends.
	Send(ctx context.Context, m *message.Message) error
}

// Error is why a message was not taken.
type Error struct {
	Err error // for people; holds no secret
	// Permanent says that the same message will never be taken.
	Permanent bool
	// RetryAfter is how long the other side wants to be left alone; 0 = it has not
	// said.
	RetryAfter time.Duration
	// MayHaveArrived says that the other side may have taken the message all the
	// same: it has got it and nobody knows what it made of it. The next attempt says
	// so. False after an answer that refuses it and where nothing was handed over.
	MayHaveArrived bool
}

// Error returns why, for people.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
