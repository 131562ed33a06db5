package journal

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Options of a journal. The zero Options are usable.
type Options struct {
	Logger     *slog.Logger          // nil = discard
	Registerer prometheus.Registerer // nil = metrics are kept but not shown
	// Zone names the zone of an object; nil = "default". It is a token of the
	// subject of measurements, nothing else depends on it.
	Zone func(object.ID) string
	// MaxInFlight bounds measurements without an answer; 0 = 8192.
	MaxInFlight int
	// Timeout is how long an answer is waited for; 0 = 10 s.
	Timeout time.Duration
	// Instance begins, with a "-" behind it, the ids of the events that this process alone
	// makes up. They can be guessed; the ids of the messages that carry them cannot. ""
	// = there are none.
	Instance string
	// ReadOnly says that the connection may not write: nothing is put in order when
	// the journal is opened, and whatever would be written fails with ErrReadOnly.
	ReadOnly bool
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Zone == nil {
		o.Zone = func(object.ID) string { return "default" }
	}
	if o.MaxInFlight <= 0 {
		o.MaxInFlight = 8192
	}
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Second
	}
	return o
}

// Last tokens of the subjects that are not an object's own.
const (
	systemToken  = "_system"
	outcomeToken = "outcome"
)

// place returns where a decision goes behind the root of the log, and whether
// its position is compared.
func place(e *event.Event) (tail string, compared bool, err error) {
	if e.Object == "" {
		topic := e.Facts["topic"]
		if topic == "" {
			return "", false, fmt.Errorf("append %s: an event without an object needs Facts[\"topic\"]", e.Kind)
		}
		return systemToken + "." + object.ID(topic).Token(), false, nil
	}
	if e.Kind.Outcome() {
		// A subject of its own, because the writer may not own the object.
		return e.Object.Token() + "." + outcomeToken, false, nil
	}
	return e.Object.Token(), true, nil
}
