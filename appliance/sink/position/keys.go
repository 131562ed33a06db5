package position

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/sink"
)

// Keys keeps each position under a key of its own. Create it with New; any goroutine
// may use it.
type Keys struct {
	nc     *nats.Conn
	js     jetstream.JetStream
	bucket string

	mu    sync.Mutex
	known map[string]known // by name of the sink; guarded by mu
}

// known is what this process knows of a key.
type known struct {
	revision uint64           // that it read or wrote last
	others   journal.Position // how far another process has come since Load
}

var _ sink.Positions = (*Keys)(nil)

// New returns the positions in a bucket, which must be there. The connection stays
// the caller's.
func New(nc *nats.Conn, bucket string) (*Keys, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("open the positions of sinks: %w", err)
	}
	return &Keys{nc: nc, js: js, bucket: bucket, known: map[string]known{}}, nil
}

// key is where the position of a sink stands. A key may not hold "%", and the token
// no "=".
func key(name string) string {
	return "sink." + strings.ReplaceAll(object.ID(name).Token(), "%", "=")
}

func (k *Keys) subject(name string) string { return "$KV." + k.bucket + "." + key(name) }

// patience bounds one request to the server.
const patience = 5 * time.Second

// Load returns the position of a sink, and remembers which one that was.
func (k *Keys) Load(ctx context.Context, name string) (at journal.Position, saved time.Time, err error) {
	e, err := k.read(ctx, name)
	if err != nil {
		return at, saved, fmt.Errorf("read the position of sink %s: %w", name, err)
	}
	k.know(name, known{revision: e.revision})
	return e.at, e.saved, nil
}

// entry is what stands under a key. One that was deleted has a revision all the same.
type entry struct {
	at       journal.Position
	saved    time.Time // zero = there is no position
	revision uint64    // 0 = never written
}

// codeNotFound is the server's code for a subject without messages.
const codeNotFound = 10037

// read asks the stream's leader, who packs the value into an answer of its own. A
// direct get would deliver it as it is, and to wherever the one who asks says: a sink
// that has the right to it could write a position that is an event, and have the server
// put it on the log.
func (k *Keys) read(ctx context.Context, name string) (e entry, err error) {
	ask, err := json.Marshal(map[string]string{"last_by_subj": k.subject(name)})
	if err != nil {
		return e, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	m, err := k.nc.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET.KV_"+k.bucket, ask)
	if err != nil {
		return e, err
	}
	var r struct {
		Error   *jetstream.APIError `json:"error"`
		Message struct {
			Seq     uint64    `json:"seq"`
			Headers []byte    `json:"hdrs"`
			Data    []byte    `json:"data"`
			Time    time.Time `json:"time"`
		} `json:"message"`
	}
	switch err = json.Unmarshal(m.Data, &r); {
	case err != nil:
		return e, fmt.Errorf("the server's answer: %w", err)
	case r.Error != nil && r.Error.ErrorCode == codeNotFound:
		return e, nil
	case r.Error != nil:
		return e, r.Error
	}
	e.revision = r.Message.Seq
	if bytes.Contains(r.Message.Headers, []byte("KV-Operation:")) {
		return e, nil // deleted by hand: it begins anew
	}
	if err := json.Unmarshal(r.Message.Data, &e.at); err != nil {
		return e, fmt.Errorf("%w; delete the key %s of bucket %s to begin anew", err, key(name), k.bucket)
	}
	e.saved = r.Message.Time
	return e, nil
}

// races is how often a position is tried against others who write it.
const races = 5

// Save keeps the position of a sink by compare-and-set. As long as nobody else has
// written it since Load, it may also go back: the log may be another one. Else it
// becomes the later of both, in each stream.
func (k *Keys) Save(ctx context.Context, name string, at journal.Position) error {
	mine := k.of(name)
	for range races {
		next := later(at, mine.others)
		revision, err := k.put(ctx, name, next, mine.revision)
		if err == nil {
			mine.revision = revision
			k.know(name, mine)
			return nil
		}
		if !conflict(err) {
			return fmt.Errorf("save the position of sink %s: %w", name, err)
		}
		now, err := k.read(ctx, name)
		if err != nil {
			return fmt.Errorf("save the position of sink %s: %w", name, err)
		}
		mine = known{revision: now.revision, others: later(mine.others, now.at)}
		k.know(name, mine)
		if later(at, now.at) == now.at && !now.saved.IsZero() {
			return nil
		}
	}
	return fmt.Errorf("save the position of sink %s: other processes write it all the time; let one of them run it", name)
}

// later returns the furthest of two positions in each stream.
func later(a, b journal.Position) journal.Position {
	return journal.Position{Log: max(a.Log, b.Log), Results: max(a.Results, b.Results)}
}

// put writes the key if its revision is the expected one.
func (k *Keys) put(ctx context.Context, name string, at journal.Position, expect uint64) (uint64, error) {
	data, err := json.Marshal(at)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ack, err := k.js.PublishMsg(ctx, &nats.Msg{Subject: k.subject(name), Data: data},
		jetstream.WithExpectLastSequencePerSubject(expect), jetstream.WithRetryAttempts(0))
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// conflict tells whether the key had another revision than the expected one.
func conflict(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == 10071 || api.ErrorCode == 10164)
}

func (k *Keys) of(name string) known {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known[name]
}

func (k *Keys) know(name string, what known) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known[name] = what
}
