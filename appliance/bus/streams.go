package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Names of everything on the server, as one installation's prefix makes them.
type Names struct {
	Log, Results, Snapshots, Members, State string // streams and buckets
	LogRoot, ResultRoot                     string // first tokens of the subjects, without the last dot
}

// NamesFor returns the names under a prefix: "" gives JAQUE_LOG and jaque.log.
func NamesFor(prefix string) Names {
	upper, lower := "", ""
	if prefix != "" {
		upper, lower = prefix+"_", prefix+"."
	}
	return Names{
		Log: upper + "JAQUE_LOG", Results: upper + "JAQUE_RESULTS",
		Snapshots: upper + "JAQUE_SNAPSHOTS", Members: upper + "JAQUE_MEMBERS", State: upper + "JAQUE_STATE",
		LogRoot: lower + "jaque.log", ResultRoot: lower + "jaque.result",
	}
}

// store is one row of the table: something that stands on the server.
type store struct {
	stream string // name of the stream behind it
	// derived: can be made again from the rest, or is kept for hours only. Its
	// loss is a warning; the loss of anything else stops the start.
	derived bool
	ensure  func(ctx context.Context, js jetstream.JetStream) error
}

// stores is the one table of what stands on the server.
func stores(n Names, r Retention) []store {
	return []store{
		{stream: n.Log, ensure: ensureStream(logStream(n, r))},
		{stream: n.Results, derived: true, ensure: ensureStream(resultsStream(n, r))},
		{stream: "OBJ_" + n.Snapshots, derived: true, ensure: ensureObjects(n.Snapshots)},
		{stream: "KV_" + n.Members, derived: true, ensure: ensureStream(bucketStream(n.Members, "heartbeats and views"))},
		{stream: "KV_" + n.State, ensure: ensureStream(bucketStream(n.State, "how far each sink has come; every sink may read all of it"))},
	}
}

// logStream holds decisions. Nothing but age removes from it: a position that is
// missing in the middle is damage. Atomic publish lets many appends share one
// sync of the disk.
func logStream(n Names, r Retention) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: n.Log, Subjects: []string{n.LogRoot + ".>"},
		Description: "decisions: what changes the state of an object",
		Storage:     jetstream.FileStorage, Retention: jetstream.LimitsPolicy,
		MaxAge: r.Log, MaxMsgs: -1, MaxBytes: -1, MaxMsgsPerSubject: -1,
		Discard: jetstream.DiscardOld, Duplicates: min(30*time.Second, r.Log),
		AllowDirect: true, AllowAtomicPublish: true, DenyDelete: true, Replicas: 1,
	}
}

// resultsStream holds measurements, flushed in the background.
func resultsStream(n Names, r Retention) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: n.Results, Subjects: []string{n.ResultRoot + ".>"},
		Description: "measurements: every check result",
		Storage:     jetstream.FileStorage, Retention: jetstream.LimitsPolicy,
		MaxAge: r.Results, MaxBytes: r.ResultsBytes, MaxMsgs: -1, MaxMsgsPerSubject: -1,
		Discard: jetstream.DiscardOld, Duplicates: min(time.Second, r.Results),
		AllowDirect: true, PersistMode: jetstream.AsyncPersistMode, Replicas: 1,
	}
}

func ensureStream(c jetstream.StreamConfig) func(context.Context, jetstream.JetStream) error {
	return func(ctx context.Context, js jetstream.JetStream) error {
		_, err := js.CreateOrUpdateStream(ctx, c)
		return err
	}
}

// bucketDuplicates is how long the server remembers the ids of writes to a bucket, as
// it does by itself.
const bucketDuplicates = 2 * time.Minute

// bucketStream is the stream behind a bucket of keys, as the client would make it but
// without roll-ups: with them whoever may write one key could empty the whole bucket.
// The server allows them wherever it leaves markers of keys that expired, so that there
// are none; who wants to know that a key is gone must look.
func bucketStream(name, what string) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: "KV_" + name, Subjects: []string{"$KV." + name + ".>"}, Description: what,
		Storage: jetstream.FileStorage, Retention: jetstream.LimitsPolicy,
		MaxMsgsPerSubject: 1, MaxMsgs: -1, MaxBytes: -1, MaxMsgSize: -1, MaxConsumers: -1,
		Discard: jetstream.DiscardNew, Duplicates: bucketDuplicates,
		AllowDirect: true, AllowMsgTTL: true, DenyDelete: true, Replicas: 1,
	}
}

func ensureObjects(name string) func(context.Context, jetstream.JetStream) error {
	return func(ctx context.Context, js jetstream.JetStream) error {
		_, err := js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket: name, Description: "the folded state at a position", Storage: jetstream.FileStorage, Replicas: 1,
		})
		return err
	}
}

// declare creates what is missing and updates what is there, and logs both.
func (b *Bus) declare(ctx context.Context) error {
	for _, s := range stores(b.names, b.opts.Retention) {
		before, err := streamConfig(ctx, b.js, s.stream)
		if err != nil {
			return fmt.Errorf("look at stream %s: %w", s.stream, err)
		}
		if err := s.ensure(ctx, b.js); err != nil {
			return fmt.Errorf("declare stream %s: %w%s", s.stream, err, adviceFor(err))
		}
		after, err := streamConfig(ctx, b.js, s.stream)
		if err != nil || after == nil {
			return fmt.Errorf("look at stream %s after declaring it: %w", s.stream, errors.Join(err, jetstream.ErrStreamNotFound))
		}
		switch {
		case before == nil:
			b.log.Info("stream created", "stream", s.stream, "max_age", after.MaxAge, "max_bytes", after.MaxBytes)
		case before.MaxAge != after.MaxAge || before.MaxBytes != after.MaxBytes:
			b.log.Info("retention changed", "stream", s.stream, "max_age", after.MaxAge, "max_age_before", before.MaxAge,
				"max_bytes", after.MaxBytes, "max_bytes_before", before.MaxBytes)
		}
	}
	return nil
}

// awaitPause is how often a process that declares nothing looks again.
const awaitPause = time.Second

// await waits until everything stands that another process declares.
func (b *Bus) await(ctx context.Context) error {
	for _, s := range stores(b.names, b.opts.Retention) {
		for {
			c, err := streamConfig(ctx, b.js, s.stream)
			if err != nil && (b.nc.IsConnected() || b.nc.IsClosed() || ctx.Err() != nil) {
				return fmt.Errorf("look at stream %s: %w", s.stream, err)
			}
			if c != nil {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("stream %s is not there: %w; start an engine on this server first, or correct -eventlog", s.stream, ctx.Err())
			case <-b.failed:
				return b.failure
			case <-time.After(awaitPause):
			}
		}
	}
	return nil
}

// streamConfig returns nil if there is no such stream.
func streamConfig(ctx context.Context, js jetstream.JetStream, name string) (*jetstream.StreamConfig, error) {
	s, err := js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &s.CachedInfo().Config, nil
}

func adviceFor(err error) string {
	var api *jetstream.APIError
	if errors.As(err, &api) && api.ErrorCode == 10047 { // storage resources exceeded
		return "; the log server's own limit of storage is too small for it: raise max_file_store there"
	}
	if errors.As(err, &api) && api.ErrorCode == 10052 { // invalid stream configuration
		return "; the server is older than 2.12, or the stream was made by something else: use another prefix"
	}
	return ""
}
