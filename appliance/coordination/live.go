package coordination

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
)

// Live returns how many members of a bucket have a heartbeat that has not expired, for
// whoever is no member. The view says more: when all have died at once, nobody is left
// who takes them out.
func Live(ctx context.Context, nc *nats.Conn, bucket, path string) (n int, err error) {
	s := &JetStream{keys: &kvBucket{nc: nc, name: bucket}, path: path}
	v, _, err := s.decode(s.keys.get(ctx, s.viewKey()))
	if err != nil {
		return 0, fmt.Errorf("count the members of %s: %w", path, err)
	}
	for _, m := range v.Members {
		e, err := s.keys.get(ctx, s.memberKey(m.ID))
		if err != nil {
			return 0, fmt.Errorf("count the members of %s: %w", path, err)
		}
		if !e.gone {
			n++
		}
	}
	return n, nil
}
