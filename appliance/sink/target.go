package sink

import (
	"context"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/rule/sample"
)

// Target is where a sink writes to. One goroutine uses it at a time.
type Target interface {
	// Write hands a batch over and returns how many bytes it took. Nil means that
	// the other side has taken it, as far as its protocol can say so. An error is
	// temporary unless it is an *Error that says otherwise; after one any part of
	// the batch may have arrived. Write returns soon after ctx ends and keeps nothing
	// of the batch.
	Write(ctx context.Context, b *Batch) (int, error)
	// Close lets go of connections and files.
	Close() error
}

// Error is why a batch, or a part of it, was not taken.
type Error struct {
	Err error // for people; holds no secret
	// Permanent says that the same batch will never be taken, because of what is in
	// it. What an operator can put right, such as a password, is not permanent.
	Permanent bool
	// RetryAfter is how long the other side wants to be left alone; 0 = it has not
	// said.
	RetryAfter time.Duration
	// Partial says that the other side has judged each item by itself: it has taken
	// all but those of Refused, for good, and of Again, for now.
	Partial bool
	Refused []Refusal
	Again   []int
}

// Refusal is one item that a target will never take.
type Refusal struct {
	Index  int // in the batch
	Reason string
}

// Error returns why, for people.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Document is one event with its text.
type Document struct {
	Event event.Event
	JSON  []byte // one object on one line, without a line feed
}

// Batch is what is handed over at once: samples or documents, never both.
type Batch struct {
	Samples []sample.Sample
	Events  []Document
}

// Len returns the number of items.
func (b *Batch) Len() int { return len(b.Samples) + len(b.Events) }

// slice returns the items from i to j, which stay those of the batch.
func (b *Batch) slice(i, j int) *Batch {
	if len(b.Samples) > 0 {
		return &Batch{Samples: b.Samples[i:j]}
	}
	return &Batch{Events: b.Events[i:j]}
}

// pick returns some of the items; indices that are none are left out.
func (b *Batch) pick(indices []int) *Batch {
	out := &Batch{}
	for _, i := range indices {
		switch {
		case i >= 0 && i < len(b.Samples):
			out.Samples = append(out.Samples, b.Samples[i])
		case i >= 0 && i < len(b.Events):
			out.Events = append(out.Events, b.Events[i])
		}
	}
	return out
}

// join returns the items of both in order.
func (b *Batch) join(other *Batch) *Batch {
	return &Batch{
		Samples: append(append([]sample.Sample(nil), b.Samples...), other.Samples...),
		Events:  append(append([]Document(nil), b.Events...), other.Events...),
	}
}

// describe names one item for people.
func (b *Batch) describe(i int) string {
	const most = 200
	text := ""
	switch {
	case i >= 0 && i < len(b.Samples):
		s := &b.Samples[i]
		text = s.Name
		for _, l := range s.Labels {
			text += " " + l.Name + "=" + l.Value
		}
	case i >= 0 && i < len(b.Events):
		e := &b.Events[i].Event
		text = string(e.Kind) + " " + string(e.Object) + " " + e.ID
	}
	if len(text) > most {
		text = text[:most] + "…"
	}
	return text
}
