package web

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/operate"
	assets "jaque.sh/jaque/assets/web"
)

// Errors that a Commander returns to choose the answer. Any other error is
// internal: its text goes to the log, not to the client.
var (
	ErrUnavailable = errors.New("nobody can take the command now") // 503
	ErrInvalid     = errors.New("the command cannot be done")      // 400
	// ErrUnconfirmed: it was begun, and nobody knows yet what became of it. 503
	ErrUnconfirmed = errors.New("the log has not confirmed the command yet")
)

// Commander carries out what operators ask for. The report has one result for
// each action; the error is that of the whole, when nothing was begun.
type Commander interface {
	Do(ctx context.Context, actions []operate.Action) (operate.Report, error)
}

// Log is the part of the event log that is shown; journal.Journal is one.
type Log interface {
	History(ctx context.Context, q journal.Query) ([]event.Event, error)
	Follow(ctx context.Context, from journal.Position, fn func([]event.Event) error, caughtUp func()) error
	End(ctx context.Context) (journal.Position, error)
	Opened() journal.Position
}

// Status is what a process says about itself.
type Status struct {
	Version  string
	Role     string
	EngineID string
	Epoch    uint64   // of the membership view; the newest on the log counts if it is higher
	Members  []string // live engines
	Engines  []Engine // those, and others that were lost lately, by id
	Started  time.Time
	Latency  Latency
	Reload   Reload
}

// Engine is one of those that share the objects.
type Engine struct {
	ID         string
	Live       bool
	Joined     time.Time // start of its present run; zero = not known
	Gone       time.Time // when it was missed; zero for one that lives
	Objects    int       // that it owns
	Generation string    // of the config it works by, "" = not known
	Delivery   string    // local or notifier: who delivers what it asks for; "" = not known
}

// Latency is how late checks started lately, in seconds.
type Latency struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Reload is the outcome of the last load of the configuration.
type Reload struct {
	At         time.Time
	OK         bool     // the config in use is the one that was loaded last
	Generation string   // of the config in use
	Problems   []string // why it is not, or what it warns of
}

// Options is everything a handler needs. Projection, Status and Logger must be
// set.
type Options struct {
	Projection *projection.Projection
	History    Log       // nil = there is no history and no past
	Commands   Commander // nil = commands are handed to Submit
	Submit     Submitter // nil = writes answer 503
	ReadsOnly  string    // why writes answer 503, and what to do; "" = a common text
	Status     func() Status
	Instance   string                 // of this process run, letters and digits; in the ids of streamed events
	Owner      func(object.ID) string // engine that owns an object; nil = the process's own id
	Unready    func() []string        // what is not ready; nil = always ready
	Failed     func() string          // the part that ended by itself; "" or nil = none

	Metrics    http.Handler          // serves /metrics; nil = 404
	Registerer prometheus.Registerer // gets the request metrics; nil = nobody

	Token  string // of writes; "" = writes from loopback only
	Public bool   // reads without a token on addresses that are not loopback
	Debug  bool   // serve /gallery
	// Hosts are further names of a loopback listener, a port behind them does
	// not count: the one in -listen, those of a proxy in front.
	Hosts []string
	// Trouble says in sentences what is wrong with this process; nil = nothing.
	Trouble func() []string
	// Old tells whether what the projection shows may be old, because nothing arrives
	// from the log; nil = it never is.
	Old func() bool
	// Canary tells of the dead man's switch; nil = there is none.
	Canary func() Canary
	// Fleet tells of zones and workers; nil = this process hears none. It returns nil
	// while there are none.
	Fleet func() *Fleet
	// Delivery tells how notifications go out; nil = this process sends none.
	Delivery func() Delivery
	// Attempts returns how many attempts of this process at an open request have
	// failed, 0 if there were none; nil = this process sends none.
	Attempts func(request string) int
	// TestNotify sends a marked message to a contact over a channel, "" = over each;
	// nil = this process sends none. The error says that there is no such contact or
	// channel.
	TestNotify func(ctx context.Context, contact, channel string) ([]TestOutcome, error)

	Stop   <-chan struct{} // closed when the process stops, so that streams end
	Logger *slog.Logger
	Now    func() time.Time // nil = time.Now
	Assets fs.FS            // nil = the embedded ones
}

func (o *Options) check() error {
	switch {
	case o.Projection == nil:
		return errors.New("make web handler: Projection is missing")
	case o.Status == nil:
		return errors.New("make web handler: Status is missing")
	case o.Logger == nil:
		return errors.New("make web handler: Logger is missing")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Assets == nil {
		o.Assets = assets.Files()
	}
	if o.Unready == nil {
		o.Unready = func() []string { return nil }
	}
	if o.Failed == nil {
		o.Failed = func() string { return "" }
	}
	if o.Trouble == nil {
		o.Trouble = func() []string { return nil }
	}
	if o.Old == nil {
		o.Old = func() bool { return false }
	}
	if o.Registerer == nil {
		o.Registerer = prometheus.NewRegistry()
	}
	return nil
}
