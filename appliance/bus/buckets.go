package bus

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"jaque.sh/jaque/appliance/bucket"
	"jaque.sh/jaque/appliance/throttle"
)

// bucketDuplicates is how long the server remembers the ids of writes to a bucket, as
// it does by itself.
const bucketDuplicates = 2 * time.Minute

// Bounds of a bucket. Whoever may ask the server for anything can have answers stored
// under keys of their choice, so that each is small and there is an end to them. The
// bound of messages is met before that of bytes: with one message for each key a full
// bucket still takes a new value of a key that is there, so that nobody who is a member
// falls out of it.
const (
	memberSize    = 16 << 10 // a view of a hundred members
	memberKeys    = 2048
	positionSize  = 512 // less than any answer of the server that describes a stream
	positionKeys  = 8192
	positionPast  = 16 // older values of a position, for when something else is stored over it
	bucketBytes   = 48 << 20
	objectChunk   = 256 << 10 // twice what the client writes
	cleanPause    = 5 * time.Second
	foreignGrace  = 2 * time.Minute // a member writes its key anew long before
	crowdedShare  = 8               // a bucket with more than an eighth of its messages is crowded
	cleanDeadline = time.Minute
)

// bucketStream is the stream behind a bucket of keys, as the client would make it but
// without roll-ups: with them whoever may write one key could empty the whole bucket.
// The server allows them wherever it leaves markers of keys that expired, so that there
// are none; who wants to know that a key is gone must look. Nor is there an age: the
// server forgets at its start that some keys are not to grow old.
func bucketStream(name, what string, size int32, keys, past int64) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: "KV_" + name, Subjects: []string{"$KV." + name + ".>"}, Description: what,
		Storage: jetstream.FileStorage, Retention: jetstream.LimitsPolicy,
		MaxMsgsPerSubject: past, MaxMsgs: keys, MaxBytes: bucketBytes, MaxMsgSize: size, MaxConsumers: -1,
		Discard: jetstream.DiscardNew, Duplicates: bucketDuplicates,
		AllowDirect: true, AllowMsgTTL: true, DenyDelete: true, Replicas: 1,
	}
}

func membersStream(n Names) jetstream.StreamConfig {
	return bucketStream(n.Members, "heartbeats and views", memberSize, memberKeys, 1)
}

func stateStream(n Names) jetstream.StreamConfig {
	return bucketStream(n.State, "how far each sink has come; every sink may read all of it", positionSize, positionKeys, positionPast)
}

// objectStream is the stream behind the snapshots, as the client would make it.
func objectStream(n Names) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: "OBJ_" + n.Snapshots, Subjects: []string{"$O." + n.Snapshots + ".C.>", "$O." + n.Snapshots + ".M.>"},
		Description: "the folded state at a position", Storage: jetstream.FileStorage,
		MaxMsgSize: objectChunk, MaxBytes: -1, Discard: jetstream.DiscardNew, AllowRollup: true, AllowDirect: true, Replicas: 1,
	}
}

// cleaner removes from the buckets what no process of jaque wrote and nobody uses.
type cleaner struct {
	b     *Bus
	grace time.Duration
	known map[string]bool // subjects at which something genuine was seen
	lines throttle.Lines
}

// cleanBuckets removes foreign entries until ctx ends.
func (b *Bus) cleanBuckets(ctx context.Context) {
	c := &cleaner{b: b, grace: foreignGrace, known: map[string]bool{}}
	tick := time.NewTicker(cleanPause)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.round(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// mine are the buckets that this process has to keep clean, with their bounds of keys: all
// where it declares the log, that of the members on a coordination server of its own.
func (c *cleaner) mine() map[string]uint64 {
	switch {
	case !c.b.opts.Attach && !c.b.opts.Bare:
		return map[string]uint64{c.b.names.Members: memberKeys, c.b.names.State: positionKeys}
	case c.b.meets.Load():
		return map[string]uint64{c.b.names.Members: memberKeys}
	}
	return nil
}

func (c *cleaner) round(ctx context.Context) {
	for name, bound := range c.mine() {
		one, cancel := context.WithTimeout(ctx, cleanDeadline)
		n, err := c.clean(one, name, bound)
		cancel()
		if n > 0 {
			c.b.metrics.foreign.Add(float64(n))
			c.b.log.Warn("entries that no process of jaque wrote were removed: somebody has the log server store its answers there", "bucket", name, "keys", n)
		}
		if left, ok := c.lines.Let(name); err != nil && ctx.Err() == nil && ok {
			c.b.log.Warn("foreign entries cannot be looked for", "bucket", name, "err", err, "left_out", left)
		}
	}
}

// clean looks at every key of a bucket. What stands over a key of members or sinks is left
// to them for a while, for they write it anew. In a crowded bucket only those keys are
// spared that are known to be theirs, so that there is room for those who are new.
func (c *cleaner) clean(ctx context.Context, name string, bound uint64) (removed int, err error) {
	s, err := c.b.js.Stream(ctx, "KV_"+name)
	if err != nil {
		return 0, err
	}
	crowded := s.CachedInfo().State.Msgs > bound/crowdedShare
	k, err := bucket.New(c.b.nc, name)
	if err != nil {
		return 0, err
	}
	all, err := k.Scan(ctx)
	for _, e := range all {
		if e.Genuine {
			c.known[e.Subject] = true
			continue
		}
		if time.Since(e.Time) < c.grace && (!crowded || c.known[e.Subject]) {
			continue
		}
		// Not what is written meanwhile.
		if err := s.Purge(ctx, jetstream.WithPurgeSubject(e.Subject), jetstream.WithPurgeSequence(e.Revision+1)); err != nil {
			return removed, err
		}
		delete(c.known, e.Subject)
		removed++
	}
	return removed, err
}
