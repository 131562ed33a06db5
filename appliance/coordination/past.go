package coordination

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/bucket"
	"jaque.sh/jaque/appliance/rule/membership"
)

// Past is what the record of a bucket says of the members of before, for one that is
// about to register.
type Past struct {
	// View is the newest one; epoch 0 = there was never a record, or it was lost.
	View membership.View
	Time time.Time // when it was written, by the server's clock; zero = never
	// Hidden: something that no member wrote stands in its place.
	Hidden bool
}

// Before returns what there was in a bucket.
func Before(ctx context.Context, nc *nats.Conn, name, path string) (Past, error) {
	b, err := bucket.New(nc, name)
	if err != nil {
		return Past{}, fmt.Errorf("look for earlier members of %s: %w", path, err)
	}
	v, e, err := decode(b.Get(ctx, path+"/view"))
	if err != nil || e.Gone || e.Foreign {
		return Past{Hidden: e.Foreign}, err
	}
	return Past{View: v.View, Time: e.Time}, nil
}

// Empty tells since when a bucket was without members until one registered as the
// only one of the view v, in this process and not before a time. It is zero if there
// never were any; ok is false if that is not known.
func (p Past) Empty(v membership.View, began time.Time) (since time.Time, ok bool) {
	switch {
	case p.Hidden || len(v.Members) != 1 || len(p.View.Members) > 0:
		return time.Time{}, false
	case p.View.Epoch == 0: // the first view of a record takes its epoch from the clock
		return time.Time{}, began.UnixMilli() > 0 && v.Epoch >= uint64(began.UnixMilli())
	}
	return p.Time, v.Epoch == p.View.Epoch+1
}
