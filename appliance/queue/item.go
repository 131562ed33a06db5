package queue

import (
	"log/slog"
	"time"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// Item is one check to execute, with everything a worker needs for it.
type Item struct {
	ID      string // of this work, not of the object
	Engine  string // who wants the result
	Object  object.ID
	Address string // of the host, for checks that do not name one
	Zone    string
	Check   object.Check // its macros are expanded; may hold secrets
	Timeout time.Duration
	Env     []string // KEY=value pairs for a plugin
	Due     object.Time
	Sent    object.Time   // by the engine's clock
	Life    time.Duration // so long after Sent nobody begins it

	// What the object's settings mean for its result.
	AggressiveHostChecking bool
	TimeoutState           object.State
}

// LogValue keeps arguments and environment, which may be secret, out of logs.
func (it *Item) LogValue() slog.Value {
	return slog.GroupValue(slog.String("id", it.ID), slog.String("object", string(it.Object)),
		slog.String("zone", it.Zone), slog.String("kind", string(it.Check.Kind)))
}

// wanted is how long the engine waits for the result.
func (it *Item) wanted() time.Duration { return it.Life + it.Timeout + margin }

// Result is what a worker's execution of an item said.
type Result struct {
	ID     string // of the item
	Worker string
	fold.Result
}
