package backup

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Sizes and times of a snapshot that the server sends.
const (
	chunkSize  = 256 << 10
	windowSize = 8 << 20 // sent ahead of what was taken
	// silenceMost is how long the server may say nothing; under load it waits for
	// locks and the disk.
	silenceMost = 60 * time.Second
)

// codeNoStream is the server's code for a stream that is not there.
const codeNoStream = jetstream.JSErrCodeStreamNotFound

// Server is a running log server as a source. The connection may ask it for the
// snapshots of the streams, see the role backup in appliance/access.
type Server struct{ Conn *nats.Conn }

// snapshotAnswer is the answer to a request for a snapshot.
type snapshotAnswer struct {
	Error  *jetstream.APIError    `json:"error"`
	State  *jetstream.StreamState `json:"state"`
	Config json.RawMessage        `json:"config"`
}

// Stream asks the server for a snapshot, which holds the stream as it is when the
// request arrives: what comes later is left out, whatever the load.
func (s Server) Stream(ctx context.Context, name string, fn func(*Message) error) (*Info, error) {
	info, err := s.stream(ctx, name, fn)
	if api := (*jetstream.APIError)(nil); errors.As(err, &api) && api.ErrorCode == codeNoStream {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("take stream %s: %w%s", name, err, s.advice(err))
	}
	return info, nil
}

func (s Server) stream(ctx context.Context, name string, fn func(*Message) error) (*Info, error) {
	created, err := s.created(ctx, name)
	if err != nil {
		return nil, err
	}
	sub, err := s.Conn.SubscribeSync(s.Conn.NewInbox())
	if err != nil {
		return nil, err
	}
	defer func() { _ = sub.Unsubscribe() }()             // the connection may be gone
	if err := sub.SetPendingLimits(-1, -1); err != nil { // the window bounds it
		return nil, err
	}
	a, err := s.request(ctx, name, sub.Subject)
	if err != nil {
		return nil, err
	}
	in := &chunks{ctx: ctx, sub: sub, max: silenceMost}
	if err := unpack(s2.NewReader(in), a.State.LastSeq, fn); err != nil {
		if in.err != nil && !errors.Is(in.err, io.EOF) {
			err = in.err
		}
		return nil, err
	}
	// The archive ends in front of the last chunk, which says that all went well.
	if _, err := io.Copy(io.Discard, in); err != nil {
		return nil, err
	}
	return &Info{Config: a.Config, Created: created, Last: a.State.LastSeq}, nil
}

func (s Server) created(ctx context.Context, stream string) (time.Time, error) {
	js, err := jetstream.New(s.Conn)
	if err != nil {
		return time.Time{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, silenceMost)
	defer cancel()
	info, err := js.Stream(ctx, stream)
	if err != nil {
		return time.Time{}, err
	}
	return info.CachedInfo().Created.UTC(), nil
}

func (s Server) request(ctx context.Context, stream, to string) (*snapshotAnswer, error) {
	ask, err := json.Marshal(map[string]any{"deliver_subject": to, "no_consumers": true, "chunk_size": chunkSize, "window_size": windowSize})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, silenceMost)
	defer cancel()
	m, err := s.ask(ctx, "$JS.API.STREAM.SNAPSHOT."+stream, ask)
	if err != nil {
		return nil, err
	}
	var a snapshotAnswer
	if err := json.Unmarshal(m.Data, &a); err != nil {
		return nil, err
	}
	if a.Error != nil {
		return nil, a.Error
	}
	if a.State == nil {
		return nil, errors.New("the server's answer does not say what the stream holds")
	}
	return &a, nil
}

// ask sends a request and waits for its answer. One that the server refuses has none, but
// the refusal comes before the answer to a ping behind it.
func (s Server) ask(ctx context.Context, subject string, body []byte) (*nats.Msg, error) {
	sub, err := s.Conn.SubscribeSync(s.Conn.NewInbox())
	if err != nil {
		return nil, err
	}
	defer func() { _ = sub.Unsubscribe() }() // the connection may be gone
	if err := s.Conn.PublishRequest(subject, sub.Subject, body); err != nil {
		return nil, err
	}
	if err := s.Conn.FlushWithContext(ctx); err != nil {
		return nil, err
	}
	if err := s.Conn.LastError(); errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), strconv.Quote(subject)) {
		return nil, err
	}
	m, err := sub.NextMsgWithContext(ctx)
	if err == nil && len(m.Data) == 0 && m.Header.Get("Status") == noResponders {
		return nil, nats.ErrNoResponders
	}
	return m, err
}

// noResponders is the status by which a server says that nobody takes a request.
const noResponders = "503"

// advice says what to do about a server that does not answer.
func (s Server) advice(err error) string {
	switch {
	case errors.Is(err, nats.ErrPermissionViolation):
		return "; the credentials are not allowed to: make them with \"jaque credentials backup\""
	case errors.Is(err, nats.ErrNoResponders):
		return "; the server keeps no streams: is it the server of the event log?"
	case errors.Is(err, context.DeadlineExceeded):
		return "; the credentials may not be allowed to: make them with \"jaque credentials backup\", or the stream has no leader at the moment"
	}
	return ""
}

// archiveMagic begins what a log server since 2.15 sends. Older ones send their files,
// with an index that under load is newer than the messages beside it.
const archiveMagic = "NATSARC1"

// stateEntry is the name of the first entry, which says what the stream holds.
const stateEntry = "state.json"

// unpack reads a snapshot of a stream that ends at a position.
func unpack(r io.Reader, last uint64, fn func(*Message) error) error {
	in := bufio.NewReaderSize(r, chunkSize)
	magic := make([]byte, len(archiveMagic))
	if _, err := io.ReadFull(in, magic); err != nil {
		return err
	}
	if string(magic) != archiveMagic {
		return errors.New("the log server is older than 2.15 and its snapshots are not consistent under load; upgrade it, or stop everything and take the backup of its folder")
	}
	var buf []byte
	var m Message
	for first := true; ; first = false {
		var err error
		if buf, err = readMessage(in, &m, buf); err != nil {
			return err
		}
		switch {
		case first && string(m.Subject) == stateEntry:
		case first:
			return errors.New("the log server's snapshot does not say what it holds")
		case m.Seq == 0: // the end
			return nil
		case m.Seq > last:
			return fmt.Errorf("the log server sends position %d of a stream that ends at %d", m.Seq, last)
		default:
			if err := fn(&m); err != nil {
				return err
			}
		}
	}
}

// readMessage reads one message; its texts lie in the buffer, which is used again.
func readMessage(in *bufio.Reader, m *Message, buf []byte) ([]byte, error) {
	var lengths [3]uint64
	var err error
	uint := func(v *uint64) {
		if err == nil {
			*v, err = binary.ReadUvarint(in)
		}
	}
	if uint(&lengths[0]); err == nil {
		m.Time, err = binary.ReadVarint(in)
	}
	uint(&m.Seq)
	uint(&lengths[1])
	uint(&lengths[2])
	if err != nil {
		return buf, noEOF(err)
	}
	if max(lengths[0], lengths[1], lengths[2]) > partMost {
		return buf, errMessage
	}
	size := lengths[0] + lengths[1] + lengths[2]
	if uint64(cap(buf)) < size {
		buf = make([]byte, size)
	}
	buf = buf[:size]
	if _, err := io.ReadFull(in, buf); err != nil {
		return buf, noEOF(err)
	}
	m.Subject, m.Headers, m.Data = buf[:lengths[0]], buf[lengths[0]:lengths[0]+lengths[1]], buf[lengths[0]+lengths[1]:]
	return buf, nil
}

// noEOF is the error of bytes that end too early.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// chunks are the messages of a snapshot as one stream of bytes.
type chunks struct {
	ctx  context.Context //nolint:containedctx // io.Reader has no other way
	sub  *nats.Subscription
	max  time.Duration
	rest []byte
	n    uint64 // chunks so far
	err  error  // io.EOF at the right end
}

// Read waits for the next chunk and tells the server that it was taken.
func (c *chunks) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		if c.err == nil {
			c.err = c.next()
		}
		if c.err != nil {
			return 0, c.err
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *chunks) next() error {
	ctx, cancel := context.WithTimeout(c.ctx, c.max)
	defer cancel()
	m, err := c.sub.NextMsgWithContext(ctx)
	switch {
	case err != nil && c.ctx.Err() != nil:
		return c.ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no word from the log server for %s; is it still running?", c.max)
	case err != nil:
		return err
	}
	if len(m.Data) == 0 {
		return ended(m)
	}
	c.rest, c.n = m.Data, c.n+1
	if m.Reply == "" { // the last one
		return nil
	}
	if at := m.Reply[strings.LastIndexByte(m.Reply, '.')+1:]; at != strconv.FormatUint(c.n, 10) {
		return fmt.Errorf("a part of the snapshot was lost on the way: part %s came instead of %d; try again", at, c.n)
	}
	return m.Respond(nil)
}

// ended reads how the server ends a snapshot.
func ended(m *nats.Msg) error {
	switch status := m.Header.Get("Status"); status {
	case "", "204":
		return io.EOF
	case "500":
		return fmt.Errorf("the log server could not read the stream: %s; \"jaque log verify\" looks at it more closely", m.Header.Get("Description"))
	default:
		return fmt.Errorf("the log server gave up: %s %s", status, m.Header.Get("Description"))
	}
}
