package bus

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"jaque.sh/jaque/appliance/rule/veil"
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
	ensure  func(ctx context.Context, b *Bus, before *jetstream.StreamConfig) error
}

// stores is the one table of what stands on the server.
func stores(n Names, r Retention) []store {
	return []store{
		{stream: n.Log, ensure: ensureStream(logStream(n, r))},
		{stream: n.Results, derived: true, ensure: ensureStream(resultsStream(n, r))},
		{stream: "OBJ_" + n.Snapshots, derived: true, ensure: ensureStream(objectStream(n))},
		{stream: "KV_" + n.Members, derived: true, ensure: ensureStream(membersStream(n))},
		{stream: "KV_" + n.State, ensure: ensureStream(stateStream(n))},
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

func ensureStream(c jetstream.StreamConfig) func(context.Context, *Bus, *jetstream.StreamConfig) error {
	return func(ctx context.Context, b *Bus, before *jetstream.StreamConfig) error {
		_, err := b.js.CreateOrUpdateStream(ctx, b.shape(c, before))
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
		if b.leaves(before) {
			continue
		}
		if err := b.mayMake(s.stream, before); err != nil {
			return err
		}
		if err := s.ensure(ctx, b, before); err != nil {
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
	var names []string
	for _, s := range stores(b.names, b.opts.Retention) {
		names = append(names, s.stream)
	}
	return b.awaitStreams(ctx, names, "waiting for an engine to make the log", b.opts.Waiting)
}

// silentMost is how long a server that a process waits at may answer nothing at all.
const silentMost = 2 * time.Minute

// awaitStreams waits until streams are there. why is told what is waited for whenever
// that changes, which is what for as long as the server answers.
func (b *Bus) awaitStreams(ctx context.Context, names []string, what string, why func(string)) error {
	w := &awaiting{b: b, why: why, heard: time.Now()}
	return b.telling(w.said, func() error {
		for _, name := range names {
			if err := w.await(ctx, name, what); err != nil {
				return err
			}
		}
		return nil
	})
}

// awaiting is a wait for what another process declares.
type awaiting struct {
	b     *Bus
	why   func(string)
	heard time.Time // when the server last answered
	last  atomic.Pointer[string]
}

func (w *awaiting) said() string {
	if text := w.last.Load(); text != nil {
		return *text
	}
	return "looking at the log server"
}

func (w *awaiting) say(text string) {
	if w.last.Swap(&text); w.why != nil {
		w.why(text)
	}
}

func (w *awaiting) await(ctx context.Context, name, what string) error {
	b, where := w.b, veil.Servers(w.b.opts.URL)
	for {
		one, cancel := context.WithTimeout(ctx, settleWait)
		c, err := streamConfig(one, b.js, name)
		cancel()
		switch {
		case c != nil:
			return nil
		case err == nil:
			w.heard = time.Now()
			w.say(what)
		case ctx.Err() != nil:
		case !b.nc.IsConnected():
			w.heard = time.Now() // it is tried for ever to reach it
			w.say("the log server " + where + " cannot be reached")
		case !errors.Is(err, context.DeadlineExceeded):
			return fmt.Errorf("look at stream %s on the log server %s: %w", name, where, err)
		case time.Since(w.heard) > silentMost:
			return fmt.Errorf("look at stream %s: the log server %s has answered nothing for %s: %w; see whether it hangs, and whether the credentials of -nats-creds are for this role",
				name, where, silentMost, err)
		default:
			w.say("the log server " + where + " does not answer")
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("stream %s is not there: %w; start an engine on this server first, or correct -eventlog", name, ctx.Err())
		case <-b.failed:
			return b.failure
		case <-time.After(awaitPause):
		}
	}
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
