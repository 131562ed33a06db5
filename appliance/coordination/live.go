package coordination

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Live returns how many processes of a bucket have a heartbeat that has not expired,
// for whoever is no member. The view says less: when all have died at once, nobody is
// left who takes them out.
func Live(ctx context.Context, js jetstream.JetStream, bucket, path string) (n int, err error) {
	kv, err := js.KeyValue(ctx, bucket)
	if err != nil {
		return 0, fmt.Errorf("count the members of %s: %w", path, err)
	}
	keys, err := kv.ListKeysFiltered(ctx, path+"/member.*")
	if errors.Is(err, jetstream.ErrNoKeysFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("count the members of %s: %w", path, err)
	}
	for range keys.Keys() {
		n++
	}
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("count the members of %s: %w", path, err)
	}
	return n, nil
}
