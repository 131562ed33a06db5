package journal

import (
	"context"
	"errors"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Errors that a caller branches on.
var (
	// ErrConflict: the object's subject moved past the expected position. The
	// append may or may not have landed; only the tail decides.
	ErrConflict = errors.New("journal: the object's last position is another")
	// ErrUnknown: it is not known whether the append landed (time-out, lost
	// connection). Retry only the identical event, or wait for the tail.
	ErrUnknown = errors.New("journal: outcome of the append is unknown")
	// ErrClosed: the journal was closed.
	ErrClosed = errors.New("journal: closed")
	// ErrReadOnly: the journal was opened to be read.
	ErrReadOnly = errors.New("journal: it was opened to be read only")
	// ErrNoSnapshot: there is no usable snapshot.
	ErrNoSnapshot = errors.New("journal: no snapshot")
)

// Position is how far both streams have been read. Seq 0 = nothing.
type Position struct {
	Log     uint64 `json:"log"`
	Results uint64 `json:"results"`
}

// Done receives the outcome of an append: the position it got, or an error. It
// is called exactly once, on a goroutine of the journal, and must not block.
type Done func(seq uint64, err error)

// Journal is the event log. Any method may be called from any goroutine.
type Journal interface {
	// Append puts a decision on the log if the object's last position is still
	// expect (0 = none). Events without an object carry a topic in
	// Facts["topic"] and are appended without that check. It returns at once;
	// the order of appends to one object is the caller's affair (one at a time).
	Append(e *event.Event, expect uint64, done Done)
	// Record puts a measurement on the results stream. done may be nil. It
	// blocks while too many are in flight, at most until ctx ends.
	Record(ctx context.Context, e *event.Event, done Done) error
	// Follow calls fn with batches of events of both streams behind from, in
	// order within each stream, until ctx ends (nil) or it fails. caughtUp is
	// called once, after fn has returned for the last event that stood on the
	// streams when Follow began. A position of measurements beyond the end of
	// their stream counts as that end, as it is when Follow begins: everything
	// recorded afterwards is delivered. Beyond the end of the log is an error.
	Follow(ctx context.Context, from Position, fn func([]event.Event) error, caughtUp func()) error
	// End returns the last positions of both streams now, EndOf that of one of them: each
	// is kept by a leader of its own, and one may answer while the other does not.
	End(ctx context.Context) (Position, error)
	EndOf(ctx context.Context, s event.Stream) (uint64, error)
	// Opened returns the last positions of both streams when this process opened
	// the log. Measurements are not synced one by one: after a crash their stream
	// may end earlier than a reader has read, and positions behind Opened may
	// have been given out a second time. A reader that kept a position of an
	// earlier process goes on from the lesser of it and Opened.
	Opened() Position
	// LastOf returns the position of the last decision about an object that is
	// still kept, 0 if there is none, and with which position the next append about
	// it is compared: another one where something that is no event stands behind it.
	LastOf(ctx context.Context, id object.ID) (last, compared uint64, err error)
	// History returns events that match, newest first.
	History(ctx context.Context, q Query) ([]event.Event, error)
	// SaveSnapshot keeps data as the folded state at a position; the last few
	// are kept. LoadSnapshot returns the newest readable one, or ErrNoSnapshot.
	SaveSnapshot(ctx context.Context, at Position, data []byte) error
	LoadSnapshot(ctx context.Context) (Position, []byte, error)
	// Close waits for appends in flight, as long as ctx allows, and stops.
	Close(ctx context.Context) error
}

// Query selects history. The zero Query selects the newest events of all.
type Query struct {
	Object object.ID    // one object; "" = all
	Kinds  []event.Kind // any of them, also among Also; empty = all
	Since  time.Time    // decided at or after; zero = no bound
	Until  time.Time    // decided before; zero = no bound
	Before Position     // only events in front of these positions; 0 = no bound
	After  uint64       // only events of the log behind this position
	Host   string       // a host and its services; "" = all
	// IDs are ids of decisions, or of requests, whose outcomes are meant; empty = all.
	IDs []string
	// Words must all stand in an event about telling people: kinds of notification,
	// contacts, channels or the kinds of channels, or the name of the state.
	Words []string
	Limit int // at most so many; 0 = 100
	// Results adds measurements that changed nothing. A decision and the
	// measurement it came from are one result: the measurement is left out.
	Results bool

	ids map[string]bool // IDs, to look up; see ready
}
