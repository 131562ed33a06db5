package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/s2"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/journal"
)

// Target is an empty log server that a backup is restored into.
type Target struct {
	Bus      *bus.Bus       // opened Bare
	Progress func(Progress) // nil = nobody is told
}

// Restore checks the file, makes sure that nothing of the installation is on the server,
// and brings back every stream with the positions, times, subjects and headers that it
// had. After an error what it made is removed again. Who is a member now is not
// restored: the engines that start afterwards register under an epoch above every one on
// the log.
func (t Target) Restore(ctx context.Context, f *File) (Manifest, error) {
	m, err := f.Check(ctx)
	if err != nil {
		return m, err
	}
	if err := t.empty(ctx, m.Names()); err != nil {
		return m, err
	}
	return m, t.fill(ctx, f, &m)
}

// empty refuses a server that holds something of the installation.
func (t Target) empty(ctx context.Context, n bus.Names) error {
	ctx, cancel := context.WithTimeout(ctx, silenceMost)
	defer cancel()
	for _, name := range append(n.Kept(), "KV_"+n.Members) {
		s, err := t.Bus.JetStream().Stream(ctx, name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("look at stream %s: %w", name, err)
		}
		return fmt.Errorf("%w: the server has a stream %s with %d messages already; a backup is restored into a server or a folder without one. Stop every jaque on it and remove its streams, or take another server",
			ErrNotEmpty, name, s.CachedInfo().State.Msgs)
	}
	return nil
}

// fill sends every stream; m is what the file holds.
func (t Target) fill(ctx context.Context, f *File, m *Manifest) (err error) {
	var made []string
	var up *upload
	defer func() {
		if err != nil && up != nil {
			up.abandon(err)
		}
		if err != nil {
			err = errors.Join(err, t.undo(ctx, made))
		}
	}()
	var sent int64
	finish := func() error {
		if up == nil {
			return nil
		}
		done := up
		up = nil
		return done.finish(ctx)
	}
	begin := func(s Stream) error {
		if err := finish(); err != nil {
			return err
		}
		made = append(made, s.Name)
		up, err = t.begin(ctx, m.Names(), s)
		return err
	}
	// A stream without messages has no part, and its position counts all the same.
	next := 0
	err = f.Each(ctx, func(stream string, part []byte) error {
		for ; up == nil || up.want.Name != stream; next++ {
			if err := begin(m.Streams[next]); err != nil {
				return err
			}
		}
		if sent += int64(len(part)); t.Progress != nil {
			t.Progress(Progress{Stream: stream, Bytes: sent})
		}
		return up.put(part)
	})
	for ; err == nil && next < len(m.Streams); next++ {
		err = begin(m.Streams[next])
	}
	if err == nil {
		err = finish()
	}
	if err != nil {
		return err
	}
	// The snapshots of the state name the streams that they belong to.
	n := m.Names()
	if m.stream("OBJ_"+n.Snapshots).Name == "" {
		return nil
	}
	return journal.AdoptSnapshots(ctx, t.Bus, m.Log().Created, m.stream(n.Results).Created)
}

// undo removes the streams that were made.
func (t Target) undo(ctx context.Context, made []string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	var errs []error
	for _, name := range made {
		if err := t.Bus.JetStream().DeleteStream(ctx, name); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			errs = append(errs, fmt.Errorf("remove stream %s again: %w; remove it by hand before the next try", name, err))
		}
	}
	return errors.Join(errs...)
}

// config is the configuration that a stream is made with: one replica, which engines
// raise when they find a cluster. Measurements are flushed in the background again.
func config(s *Stream, n bus.Names) (map[string]any, error) {
	var c map[string]any
	if err := json.Unmarshal(s.Config, &c); err != nil {
		return nil, fmt.Errorf("read the configuration of stream %s: %w", s.Name, err)
	}
	delete(c, "Created")
	c["num_replicas"] = 1
	if s.Name == n.Results {
		c["persist_mode"] = "async"
	}
	return c, nil
}

// upload is one stream on its way to the server.
type upload struct {
	want   Stream
	pipe   *io.PipeWriter
	zip    *s2.Writer
	answer chan result
}

// result is how the server ends a restore.
type result struct {
	state jetstream.StreamState
	err   error
}

// begin asks the server to take a stream.
func (t Target) begin(ctx context.Context, n bus.Names, s Stream) (*upload, error) {
	c, err := config(&s, n)
	if err != nil {
		return nil, err
	}
	state, err := json.Marshal(map[string]any{
		"messages": s.Messages, "bytes": s.Bytes, "first_seq": s.First, "last_seq": s.Last, "consumer_count": 0,
	})
	if err != nil {
		return nil, fmt.Errorf("restore stream %s: %w", s.Name, err)
	}
	ask, err := json.Marshal(map[string]any{"config": c, "state": json.RawMessage(state)})
	if err != nil {
		return nil, fmt.Errorf("restore stream %s: %w", s.Name, err)
	}
	wait, cancel := context.WithTimeout(ctx, silenceMost)
	defer cancel()
	m, err := t.Bus.Conn().RequestWithContext(wait, "$JS.API.STREAM.RESTORE."+s.Name, ask)
	if err != nil {
		return nil, fmt.Errorf("restore stream %s: %w; a restore needs credentials that may do everything on the server", s.Name, err)
	}
	var a struct {
		Error *jetstream.APIError `json:"error"`
		To    string              `json:"deliver_subject"`
	}
	if err := json.Unmarshal(m.Data, &a); err != nil {
		return nil, fmt.Errorf("restore stream %s: %w", s.Name, err)
	}
	if a.Error != nil {
		return nil, fmt.Errorf("restore stream %s: %w", s.Name, a.Error)
	}
	r, w := io.Pipe()
	u := &upload{want: s, pipe: w, zip: compressor(w), answer: make(chan result, 1)}
	go func() {
		got := send(ctx, t.Bus.Conn(), a.To, r)
		if got.err == nil {
			_ = r.Close()
		} else {
			_ = r.CloseWithError(got.err) // whoever writes more gets the error
		}
		u.answer <- got
	}()
	return u, u.put(append([]byte(archiveMagic), appendMessage(nil, &Message{
		Subject: []byte(stateEntry), Time: s.Created.UnixNano(), Data: state,
	})...))
}

// pieceMost is how many bytes of an archive are sent as one part, before compression. The
// server gives up a restore of which it has finished no part within 5 s, and an embedded
// one stores each message with a sync of the disk: so many bytes hold about a hundred
// messages, for which a slow disk has 50 ms each.
const pieceMost = 8 << 10

// compressor compresses an archive in blocks that can be read one by one, and writes each
// by itself.
func compressor(w io.Writer) *s2.Writer {
	return s2.NewWriter(w, s2.WriterConcurrency(1), s2.WriterBlockSize(pieceMost))
}

// put sends bytes of the stream's archive.
func (u *upload) put(data []byte) error {
	if _, err := u.zip.Write(data); err != nil {
		return fmt.Errorf("restore stream %s: %w", u.want.Name, err)
	}
	return nil
}

// finish waits until the server has the stream and compares what it has.
func (u *upload) finish(ctx context.Context) error {
	err := u.put(appendMessage(nil, &Message{})) // the end
	if err == nil {
		err = u.zip.Close()
	}
	if err == nil {
		err = u.pipe.Close()
	}
	var got result
	select {
	case got = <-u.answer:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err = errors.Join(err, got.err); err != nil {
		return fmt.Errorf("restore stream %s: %w", u.want.Name, err)
	}
	if got.state.LastSeq != u.want.Last {
		return fmt.Errorf("restore stream %s: the server has it up to position %d instead of %d", u.want.Name, got.state.LastSeq, u.want.Last)
	}
	return nil
}

// abandon ends an upload that came to nothing.
func (u *upload) abandon(err error) {
	u.pipe.CloseWithError(err)
	<-u.answer
}

// ahead is how many parts are on their way at once.
const ahead = 16

// restoreMost bounds how long the server may take to make a stream from its files.
const restoreMost = 30 * time.Minute

// send brings the bytes to a subject in parts as they are written, each of which is
// answered, and returns what the server says in the end.
func send(ctx context.Context, nc *nats.Conn, to string, r io.Reader) result {
	sub, err := nc.SubscribeSync(nc.NewInbox())
	if err != nil {
		return result{err: err}
	}
	defer func() { _ = sub.Unsubscribe() }() // the connection may be gone
	flying := 0
	answered := func(most time.Duration) (*nats.Msg, error) {
		wait, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		m, err := sub.NextMsgWithContext(wait)
		if err != nil {
			return nil, fmt.Errorf("the log server does not answer: %w", err)
		}
		flying--
		return m, refusal(m.Data)
	}
	part := make([]byte, 2*pieceMost) // what does not compress grows a little
	for {
		n, err := r.Read(part)
		if n > 0 {
			if err := nc.PublishRequest(to, sub.Subject, part[:n]); err != nil {
				return result{err: err}
			}
			for flying++; flying >= ahead; {
				if _, err := answered(silenceMost); err != nil {
					return result{err: err}
				}
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return result{err: err}
		}
	}
	if err := nc.PublishRequest(to, sub.Subject, nil); err != nil {
		return result{err: err}
	}
	for flying++; ; {
		m, err := answered(restoreMost)
		if err != nil {
			return result{err: err}
		}
		if flying == 0 {
			return final(m.Data)
		}
	}
}

// refusal reads an error out of the answer to a part, which is empty if all is well.
func refusal(data []byte) error {
	var a struct {
		Error *jetstream.APIError `json:"error"`
	}
	if len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return err
	}
	if a.Error == nil {
		return nil
	}
	if strings.Contains(a.Error.Description, io.ErrClosedPipe.Error()) { // how the server says that it has given up
		return fmt.Errorf("the server stored nothing for 5 s and gave the restore up: its disk is too slow or too busy; try again: %w", a.Error)
	}
	return a.Error
}

// final reads what the server has made.
func final(data []byte) result {
	var a struct {
		State *jetstream.StreamState `json:"state"`
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return result{err: fmt.Errorf("the server's last answer: %w", err)}
	}
	if a.State == nil {
		return result{err: errors.New("the server's last answer does not say what it has")}
	}
	return result{state: *a.State}
}
