package coordination

import (
	"context"
	"time"

	"jaque.sh/jaque/appliance/bucket"
)

// keys is the bucket. A test puts faults between it and its user.
type keys interface {
	Get(ctx context.Context, key string) (bucket.Entry, error)
	Put(ctx context.Context, key string, value []byte, expect uint64, ttl time.Duration) (uint64, error)
	Remove(ctx context.Context, key string, expect uint64) error
}
