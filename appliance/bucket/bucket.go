package bucket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ErrConflict: the key's revision is another one than expected.
var ErrConflict = errors.New("the key was changed by somebody else")

// Entry is what stands under a key.
type Entry struct {
	Value    []byte
	Revision uint64 // 0 = nothing stands there
	// Gone: there is no value. The key was never written, was removed, or has expired.
	Gone bool
	// Foreign: no process of jaque wrote it. Whoever may write it does so at its
	// revision, as over any other.
	Foreign bool
	Time    time.Time // when it was stored, by the server's clock

	subject string
}

// Bucket is one bucket of keys. Create it with New; any goroutine may use it. It is never
// watched and never read by a direct get: that takes a right by which a process has the
// server send what it wrote anywhere.
type Bucket struct {
	nc   *nats.Conn
	js   jetstream.JetStream
	name string
	wait time.Duration // for one answer
}

// answerWait is how long one answer is waited for at most, whoever asks: a leader that is
// just losing its place may never give one.
const answerWait = 5 * time.Second

// New returns a bucket, which must be declared. The connection stays the caller's.
func New(nc *nats.Conn, name string) (*Bucket, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", name, err)
	}
	return &Bucket{nc: nc, js: js, name: name, wait: answerWait}, nil
}

// Subject is where a key stands.
func (b *Bucket) Subject(key string) string { return "$KV." + b.name + "." + key }

// Exists tells whether the bucket is on the server.
func (b *Bucket) Exists(ctx context.Context) (bool, error) {
	_, err := b.js.Stream(ctx, "KV_"+b.name)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look for bucket %s: %w", b.name, err)
	}
	return true, nil
}

// codeNotFound is the server's code for a subject without messages.
const codeNotFound = 10037

// Get reads a key from the stream's leader: another replica may lag and show a key that
// is gone, or none that is there.
func (b *Bucket) Get(ctx context.Context, key string) (Entry, error) {
	return b.get(ctx, key, map[string]any{"last_by_subj": b.Subject(key)})
}

// Genuine returns the newest entry that a process of jaque wrote and that is still kept
// below a foreign one of this revision; it is gone if there is none.
func (b *Bucket) Genuine(ctx context.Context, key string, below uint64) (Entry, error) {
	found := Entry{Gone: true}
	for from := uint64(1); from < below; {
		e, err := b.get(ctx, key, map[string]any{"seq": from, "next_by_subj": b.Subject(key)})
		if err != nil {
			return Entry{}, err
		}
		if e.Revision == 0 || e.Revision >= below {
			break
		}
		if !e.Foreign {
			found = e
		}
		from = e.Revision + 1
	}
	return found, nil
}

// Held is what a bucket holds under one key.
type Held struct {
	Subject  string
	Revision uint64    // of the newest entry
	Time     time.Time // when that was stored, by the server's clock
	Genuine  bool      // a process of jaque wrote at least one of its entries
}

// Scan returns what stands under every key, in no order. It asks for each entry.
func (b *Bucket) Scan(ctx context.Context) ([]Held, error) {
	held := map[string]*Held{}
	for from := uint64(1); ; {
		e, err := b.get(ctx, ">", map[string]any{"seq": from, "next_by_subj": b.Subject(">")})
		if err != nil {
			return nil, err
		}
		if e.Revision == 0 {
			break
		}
		h := held[e.subject]
		if h == nil {
			h = &Held{Subject: e.subject}
			held[e.subject] = h
		}
		h.Revision, h.Time, h.Genuine = e.Revision, e.Time, h.Genuine || !e.Foreign
		from = e.Revision + 1
	}
	all := make([]Held, 0, len(held))
	for _, h := range held {
		all = append(all, *h)
	}
	return all, nil
}

func (b *Bucket) get(ctx context.Context, key string, request map[string]any) (Entry, error) {
	ask, err := json.Marshal(request)
	if err != nil {
		return Entry{}, fmt.Errorf("read key %s: %w", key, err)
	}
	ctx, cancel := context.WithTimeout(ctx, b.wait)
	defer cancel()
	m, err := b.nc.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET.KV_"+b.name, ask)
	if err != nil {
		return Entry{}, fmt.Errorf("read key %s: %w", key, err)
	}
	var r struct {
		Error   *jetstream.APIError `json:"error"`
		Message struct {
			Subject string    `json:"subject"`
			Seq     uint64    `json:"seq"`
			Headers []byte    `json:"hdrs"`
			Data    []byte    `json:"data"`
			Time    time.Time `json:"time"`
		} `json:"message"`
	}
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return Entry{}, fmt.Errorf("read key %s: %w", key, err)
	}
	switch {
	case r.Error != nil && r.Error.ErrorCode == codeNotFound:
		return Entry{Gone: true}, nil
	case r.Error != nil:
		return Entry{}, fmt.Errorf("read key %s: %w", key, r.Error)
	}
	h := parse(r.Message.Headers)
	return Entry{
		subject: r.Message.Subject,
		Value:   r.Message.Data, Revision: r.Message.Seq, Time: r.Message.Time,
		Gone: h.Get(deleteHeader) != "" || h.Get(markerHeader) != "", Foreign: !written(h),
	}, nil
}

// Put writes a key if its revision is the expected one, and returns the new revision.
// The server removes it after ttl; 0 = never.
func (b *Bucket) Put(ctx context.Context, key string, value []byte, expect uint64, ttl time.Duration) (uint64, error) {
	return b.publish(ctx, &nats.Msg{Subject: b.Subject(key), Data: value, Header: nats.Header{}}, key, expect, ttl)
}

// removedFor is how long a key says that it was removed, before nothing stands there.
const removedFor = time.Hour

// Remove removes a key if its revision is the expected one.
func (b *Bucket) Remove(ctx context.Context, key string, expect uint64) error {
	m := &nats.Msg{Subject: b.Subject(key), Header: nats.Header{deleteHeader: {"DEL"}}}
	_, err := b.publish(ctx, m, key, expect, removedFor)
	return err
}

// publish writes by compare-and-set. The client's own update takes no life time and
// would make a heartbeat permanent.
func (b *Bucket) publish(ctx context.Context, m *nats.Msg, key string, expect uint64, ttl time.Duration) (uint64, error) {
	opts := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(expect), jetstream.WithRetryAttempts(0)}
	if ttl > 0 {
		opts = append(opts, jetstream.WithMsgTTL(ttl))
	} else {
		m.Header[ttlHeader] = []string{never}
	}
	ack, err := b.js.PublishMsg(ctx, m, opts...)
	if wrongRevision(err) {
		return 0, fmt.Errorf("write key %s: %w", key, ErrConflict)
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
