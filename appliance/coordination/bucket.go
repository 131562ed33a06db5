package coordination

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/textproto"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// errConflict: the key's revision is another one than expected.
var errConflict = errors.New("the key was changed by somebody else")

// entry is what stands under a key. A key that was deleted or has expired has a
// revision and no value.
type entry struct {
	value    []byte
	revision uint64 // 0 = never written
	gone     bool
	time     time.Time // when it was written, by the server's clock
}

// bucket is the store of keys. It is never watched: that takes a right to make
// consumers, with which a process has the server send what it wrote anywhere. A test
// puts faults between it and its user.
type bucket interface {
	// get reads from the stream's leader: another replica may lag and show a key
	// that is gone, or none that is there.
	get(ctx context.Context, key string) (entry, error)
	// put writes if the key's revision is the expected one; ttl 0 = for ever.
	put(ctx context.Context, key string, value []byte, expect uint64, ttl time.Duration) (uint64, error)
	// remove deletes if the key's revision is the expected one.
	remove(ctx context.Context, key string, expect uint64) error
}

// kvBucket is a bucket on JetStream.
type kvBucket struct {
	nc   *nats.Conn
	js   jetstream.JetStream
	name string
}

func (b *kvBucket) subject(key string) string { return "$KV." + b.name + "." + key }

// codeNotFound is the server's code for a subject without messages.
const codeNotFound = 10037

func (b *kvBucket) get(ctx context.Context, key string) (entry, error) {
	ask, err := json.Marshal(map[string]string{"last_by_subj": b.subject(key)})
	if err != nil {
		return entry{}, fmt.Errorf("read key %s: %w", key, err)
	}
	m, err := b.nc.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET.KV_"+b.name, ask)
	if err != nil {
		return entry{}, fmt.Errorf("read key %s: %w", key, err)
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
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return entry{}, fmt.Errorf("read key %s: %w", key, err)
	}
	switch {
	case r.Error != nil && r.Error.ErrorCode == codeNotFound:
		return entry{gone: true}, nil
	case r.Error != nil:
		return entry{}, fmt.Errorf("read key %s: %w", key, r.Error)
	}
	return entry{value: r.Message.Data, revision: r.Message.Seq, gone: deleted(r.Message.Headers), time: r.Message.Time}, nil
}

// deleted tells whether a message only says that its key is gone: deleted by
// somebody, or by the server when it expired.
func deleted(headers []byte) bool {
	_, block, ok := bytes.Cut(headers, []byte("\r\n")) // behind the protocol's version
	if !ok {
		return false
	}
	h, err := textproto.NewReader(bufio.NewReader(bytes.NewReader(block))).ReadMIMEHeader()
	if err != nil {
		return false
	}
	return h.Get("KV-Operation") != "" || h.Get("Nats-Marker-Reason") != ""
}

func (b *kvBucket) put(ctx context.Context, key string, value []byte, expect uint64, ttl time.Duration) (uint64, error) {
	return b.publish(ctx, &nats.Msg{Subject: b.subject(key), Data: value}, key, expect, ttl)
}

func (b *kvBucket) remove(ctx context.Context, key string, expect uint64) error {
	m := &nats.Msg{Subject: b.subject(key), Header: nats.Header{"KV-Operation": {"DEL"}}}
	_, err := b.publish(ctx, m, key, expect, 0)
	return err
}

// publish writes by compare-and-set. The client's own update takes no TTL and
// would make a heartbeat permanent.
func (b *kvBucket) publish(ctx context.Context, m *nats.Msg, key string, expect uint64, ttl time.Duration) (uint64, error) {
	opts := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(expect), jetstream.WithRetryAttempts(0)}
	if ttl > 0 {
		opts = append(opts, jetstream.WithMsgTTL(ttl))
	}
	ack, err := b.js.PublishMsg(ctx, m, opts...)
	if wrongRevision(err) {
		return 0, fmt.Errorf("write key %s: %w", key, errConflict)
	}
	if err != nil {
		return 0, fmt.Errorf("write key %s: %w", key, err)
	}
	return ack.Sequence, nil
}

func wrongRevision(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == 10071 || api.ErrorCode == 10164)
}
