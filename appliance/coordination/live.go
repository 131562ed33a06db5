package coordination

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/bucket"
)

// Live returns how many members of a bucket have a heartbeat that has not expired, for
// whoever is no member. The view says more: when all have died at once, nobody is left
// who takes them out. What no member wrote is none: who lives writes it anew at once.
func Live(ctx context.Context, nc *nats.Conn, name, path string) (n int, err error) {
	b, err := bucket.New(nc, name)
	if err != nil {
		return 0, fmt.Errorf("count the members of %s: %w", path, err)
	}
	s := &JetStream{keys: b, path: path}
	v, _, err := decode(b.Get(ctx, s.viewKey()))
	if err != nil {
		return 0, fmt.Errorf("count the members of %s: %w", path, err)
	}
	for _, m := range v.Members {
		e, err := b.Get(ctx, s.memberKey(m.ID))
		if err != nil {
			return 0, fmt.Errorf("count the members of %s: %w", path, err)
		}
		if !e.Gone && !e.Foreign {
			n++
		}
	}
	return n, nil
}
