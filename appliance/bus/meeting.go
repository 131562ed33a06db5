package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"jaque.sh/jaque/appliance/rule/veil"
)

// meetingTimeout bounds the declaration of the members' bucket on a server.
const meetingTimeout = 20 * time.Second

// DeclareMembers declares the bucket of the members on an external server that keeps no
// log; nothing else is made there. A bucket that stands there is left as it is.
func (b *Bus) DeclareMembers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, meetingTimeout)
	defer cancel()
	c := membersStream(b.names)
	before, err := streamConfig(ctx, b.js, c.Name)
	if err == nil && before == nil {
		if _, err = b.js.CreateStream(ctx, c); err == nil {
			b.log.Info("bucket of the members created", "bucket", b.names.Members, "server", veil.Servers(b.opts.URL))
		}
	}
	if err == nil || errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		b.meets.Store(true)
		return nil
	}
	return fmt.Errorf("declare the members' bucket %s on the coordination server %s: %w%s",
		b.names.Members, veil.Servers(b.opts.URL), err, b.adviceToMeet(err))
}

func (b *Bus) adviceToMeet(err error) string {
	var api *jetstream.APIError
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return "; start that server with JetStream, or name another one with -coordination"
	case errors.Is(err, context.DeadlineExceeded):
		return "; see whether that server answers and has JetStream, and whether the credentials of -nats-creds are those of an engine"
	case errors.As(err, &api):
		return adviceFor(err)
	}
	return ""
}

// AwaitMembers waits until an engine has declared the members' bucket on the server.
// why is told what is waited for whenever that changes; nil = nobody is.
func (b *Bus) AwaitMembers(ctx context.Context, why func(string)) error {
	return b.awaitStreams(ctx, []string{"KV_" + b.names.Members}, "waiting for an engine to make the members' bucket on "+veil.Servers(b.opts.URL), why)
}
