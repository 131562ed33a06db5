package coordination

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
	// Two patterns as in the watch of a member: what a process may read is the same then.
	keys, err := kv.ListKeysFiltered(ctx, path+"/view", path+"/member.*")
	if errors.Is(err, jetstream.ErrNoKeysFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("count the members of %s: %w", path, err)
	}
	for key := range keys.Keys() {
		if strings.HasPrefix(key, path+"/member.") {
			n++
		}
	}
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("count the members of %s: %w", path, err)
	}
	return n, nil
}
