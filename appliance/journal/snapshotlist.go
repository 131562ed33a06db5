package journal

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"jaque.sh/jaque/appliance/bucket"
)

// What the server stores of its own answers may also stand among the snapshots. The
// client's own list of them waits for ever behind one that it cannot read.

// leftover is a message among the snapshots that belongs to none, the newest of its
// subject.
type leftover struct {
	subject string
	upTo    uint64 // 0 = it may belong to one that is being written
}

// snapshots lists what is there, newest first.
func (j *jetStream) snapshots(ctx context.Context) ([]*jetstream.ObjectInfo, error) {
	all, _, err := j.listSnapshots(ctx)
	return all, err
}

// listSnapshots also returns what belongs to no snapshot.
func (j *jetStream) listSnapshots(ctx context.Context) (all []*jetstream.ObjectInfo, rest []leftover, err error) {
	stream, err := j.bus.JetStream().Stream(ctx, "OBJ_"+j.names.Snapshots)
	if err != nil {
		return nil, nil, err
	}
	root := "$O." + j.names.Snapshots + "."
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(root+">"))
	if err != nil {
		return nil, nil, err
	}
	parts := map[string]bool{}
	for subject := range info.State.Subjects {
		name, ok := strings.CutPrefix(subject, root+"M.")
		if !ok {
			continue
		}
		m, err := stream.GetLastMsgForSubject(ctx, subject)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, nil, err
		}
		if o := snapshotInfo(m, name); o != nil {
			all = append(all, o)
			parts[root+"C."+o.NUID] = true
			continue
		}
		rest = append(rest, leftover{subject, m.Sequence + 1})
	}
	for subject := range info.State.Subjects {
		if strings.HasPrefix(subject, root+"C.") && !parts[subject] {
			rest = append(rest, leftover{subject: subject})
		}
	}
	slices.SortFunc(all, func(a, b *jetstream.ObjectInfo) int { return strings.Compare(b.Name, a.Name) })
	return all, rest, nil
}

// snapshotInfo reads what describes a snapshot, nil if it was removed or nobody wrote it:
// what is written is rolled up, which no other stream takes.
func snapshotInfo(m *jetstream.RawStreamMsg, name string) *jetstream.ObjectInfo {
	if m.Header.Get("Nats-Rollup") != "sub" || len(m.Header[bucket.StreamHeader]) > direct {
		return nil
	}
	var o jetstream.ObjectInfo
	if err := json.Unmarshal(m.Data, &o); err != nil || o.Deleted || o.NUID == "" || base64.URLEncoding.EncodeToString([]byte(o.Name)) != name {
		return nil
	}
	o.ModTime = m.Time
	return &o
}

// cleanSnapshots removes what belongs to no snapshot; parts of one only when they were
// seen before, because another process may be writing it.
func (j *jetStream) cleanSnapshots(ctx context.Context, rest []leftover) error {
	stream, err := j.bus.JetStream().Stream(ctx, "OBJ_"+j.names.Snapshots)
	if err != nil {
		return err
	}
	before := j.rest
	j.rest = map[string]bool{}
	for _, l := range rest {
		opts := []jetstream.StreamPurgeOpt{jetstream.WithPurgeSubject(l.subject)}
		switch {
		case l.upTo > 0:
			opts = append(opts, jetstream.WithPurgeSequence(l.upTo))
		case !before[l.subject]:
			j.rest[l.subject] = true
			continue
		}
		if err := stream.Purge(ctx, opts...); err != nil {
			return err
		}
	}
	return nil
}
