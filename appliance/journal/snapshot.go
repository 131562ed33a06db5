package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/event"
)

// snapshotsKept is how many are kept; an older one is used when a newer one
// cannot be read.
const snapshotsKept = 3

const (
	positionKey = "position" // Position as JSON
	createdKey  = "streams"  // when both streams were created: another stream, another meaning of positions
)

// SaveSnapshot stores the data in chunks under a name that sorts by position, so
// that saving the same position again replaces it.
func (j *jetStream) SaveSnapshot(ctx context.Context, at Position, data []byte) error {
	if j.opts.ReadOnly {
		return ErrReadOnly
	}
	created, err := j.created(ctx)
	if err != nil {
		return fmt.Errorf("save snapshot: %w", err)
	}
	position, err := json.Marshal(at)
	if err != nil {
		return fmt.Errorf("save snapshot: %w", err)
	}
	meta := jetstream.ObjectMeta{
		Name:     fmt.Sprintf("snapshot-%020d-%020d", at.Log, at.Results),
		Metadata: map[string]string{positionKey: string(position), createdKey: created},
	}
	if _, err := j.objects.Put(ctx, meta, strings.NewReader(string(data))); err != nil {
		return fmt.Errorf("save snapshot %s: %w", meta.Name, err)
	}
	j.metrics.snapshot.Set(float64(time.Now().Unix()))
	all, rest, err := j.listSnapshots(ctx)
	if err != nil {
		return fmt.Errorf("save snapshot %s: remove old ones: %w", meta.Name, err)
	}
	for _, old := range all[min(len(all), snapshotsKept):] {
		if err := j.objects.Delete(ctx, old.Name); err != nil {
			return fmt.Errorf("remove old snapshot %s: %w", old.Name, err)
		}
	}
	if err := j.cleanSnapshots(ctx, rest); err != nil {
		return fmt.Errorf("save snapshot %s: remove what belongs to none: %w", meta.Name, err)
	}
	return nil
}

// LoadSnapshot tries the newest first and passes over what cannot be read, was
// taken from other streams, or does not match its digest.
func (j *jetStream) LoadSnapshot(ctx context.Context) (Position, []byte, error) {
	all, err := j.snapshots(ctx)
	if err != nil {
		return Position{}, nil, fmt.Errorf("load snapshot: %w", err)
	}
	created, err := j.created(ctx)
	if err != nil {
		return Position{}, nil, fmt.Errorf("load snapshot: %w", err)
	}
	for _, o := range all {
		at, data, err := j.readSnapshot(ctx, o, created)
		if ctx.Err() != nil {
			return Position{}, nil, fmt.Errorf("load snapshot: %w", ctx.Err())
		}
		if err == nil {
			j.metrics.snapshot.Set(float64(o.ModTime.Unix()))
			return at, data, nil
		}
		j.metrics.bad.Inc()
		j.opts.Logger.Warn("a snapshot cannot be used, an older one is tried", "snapshot", o.Name, "err", err)
	}
	return Position{}, nil, ErrNoSnapshot
}

// readSnapshot reads and checks one snapshot; the object store compares the
// digest of the data.
func (j *jetStream) readSnapshot(ctx context.Context, o *jetstream.ObjectInfo, created string) (Position, []byte, error) {
	var at Position
	if err := json.Unmarshal([]byte(o.Metadata[positionKey]), &at); err != nil {
		return at, nil, fmt.Errorf("read its position: %w", err)
	}
	if j.opts.ReadOnly || j.bus.Attached() { // else what is newer was removed when the journal was opened
		if end, err := j.End(ctx); err != nil || at.Log > end.Log {
			return at, nil, errors.Join(err, fmt.Errorf("it is newer than the log, which ends at %d", end.Log))
		}
	}
	was, now := strings.Split(o.Metadata[createdKey], " "), strings.Split(created, " ")
	if len(was) != len(now) || was[0] != now[0] {
		return at, nil, errors.New("it was taken from another log")
	}
	if was[1] != now[1] {
		at.Results = 0 // the measurements were made anew
	}
	ctx, cancel := context.WithTimeout(ctx, 2*j.opts.Timeout)
	defer cancel()
	data, err := j.objects.GetBytes(ctx, o.Name)
	if err != nil {
		return at, nil, err
	}
	if uint64(len(data)) != o.Size {
		return at, nil, fmt.Errorf("it has %d bytes instead of %d", len(data), o.Size)
	}
	return at, data, nil
}

// created returns when both streams were made, log first.
func (j *jetStream) created(ctx context.Context) (string, error) {
	var made [2]time.Time
	for i, s := range []event.Stream{event.Log, event.Results} {
		stream, err := j.bus.JetStream().Stream(ctx, j.streamName(s))
		if err != nil {
			return "", fmt.Errorf("look at stream %s: %w", j.streamName(s), err)
		}
		made[i] = stream.CachedInfo().Created
	}
	return madeAt(made[0], made[1]), nil
}

// dropFutureSnapshots removes snapshots from behind the end of the log: the log
// lost its end and an operator accepted it, and soon those positions would be
// taken by other events. One from behind the end of the measurements begins at
// their end from now on, for the same reason.
func (j *jetStream) dropFutureSnapshots(ctx context.Context, end Position) error {
	all, err := j.snapshots(ctx)
	if err != nil {
		return err
	}
	for _, o := range all {
		var at Position
		if json.Unmarshal([]byte(o.Metadata[positionKey]), &at) != nil {
			continue // LoadSnapshot passes it over
		}
		if at.Log > end.Log {
			j.metrics.bad.Inc()
			j.opts.Logger.Warn("a snapshot is newer than the log and is removed", "snapshot", o.Name, "at", at.Log, "end", end.Log)
			if err := j.objects.Delete(ctx, o.Name); err != nil {
				return fmt.Errorf("remove snapshot %s: %w", o.Name, err)
			}
			continue
		}
		if at.Results <= end.Results {
			continue
		}
		position, err := json.Marshal(Position{Log: at.Log, Results: end.Results})
		if err != nil {
			return fmt.Errorf("correct snapshot %s: %w", o.Name, err)
		}
		meta := o.ObjectMeta
		meta.Metadata[positionKey] = string(position)
		if err := j.objects.UpdateMeta(ctx, o.Name, meta); err != nil {
			return fmt.Errorf("correct snapshot %s: %w", o.Name, err)
		}
	}
	return nil
}

// AdoptSnapshots says of snapshots that were taken from streams made at the given times
// that they belong to those that stand on the server now: a backup has brought back the
// same events at the same positions, on streams that were made anew.
func AdoptSnapshots(ctx context.Context, b *bus.Bus, log, results time.Time) error {
	j := &jetStream{bus: b, names: b.Names()}
	var err error
	if j.objects, err = b.JetStream().ObjectStore(ctx, j.names.Snapshots); err != nil {
		return fmt.Errorf("adopt snapshots %s: %w", j.names.Snapshots, err)
	}
	now, err := j.created(ctx)
	if err != nil {
		return fmt.Errorf("adopt snapshots: %w", err)
	}
	all, err := j.snapshots(ctx)
	if err != nil {
		return fmt.Errorf("adopt snapshots: %w", err)
	}
	for _, o := range all {
		if o.Metadata[createdKey] != madeAt(log, results) {
			continue
		}
		meta := o.ObjectMeta
		meta.Metadata[createdKey] = now
		if err := j.objects.UpdateMeta(ctx, o.Name, meta); err != nil {
			return fmt.Errorf("adopt snapshot %s: %w", o.Name, err)
		}
	}
	return nil
}

// madeAt is how a snapshot says when its streams were made.
func madeAt(log, results time.Time) string {
	return log.UTC().Format(time.RFC3339Nano) + " " + results.UTC().Format(time.RFC3339Nano)
}
