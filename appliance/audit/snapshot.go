package audit

import (
	"context"
	"errors"
	"time"

	"jaque.sh/jaque/appliance/backup"
	"jaque.sh/jaque/appliance/bus"
)

// Sizes and times of a snapshot.
const (
	batchBytes = 1 << 20
	// answerMost is how long the server may take to begin: a consumer does as well.
	answerMost = 10 * time.Second
)

// errNoStream: the server does not know the log as a stream that it can send.
var errNoStream = errors.New("there is no such stream")

// spanned is where a message lies in the data of a batch: the lengths of its texts, one
// behind the other.
type spanned struct {
	seq                    uint64
	subject, headers, data uint32
}

// snapshotReader has the server send the log as it does for a backup, many messages in
// each of its own: that costs both sides a third of what a consumer does.
type snapshotReader struct {
	stream   stream
	patience time.Duration // until the first message
	names    bus.Names
	free     *spare
	yield    func(job) bool
	batch    part
	marks    []spanned
	next     uint64 // position behind the last message that was handed on
	ended    bool   // nobody wants more
}

// run hands on what the server sends. Whoever gets an error can go on at next.
func (r *snapshotReader) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	late := time.AfterFunc(r.patience, cancel)
	defer late.Stop()
	info, err := r.stream(ctx, r.names.Log, func(m *backup.Message) error {
		late.Stop()
		return r.add(m)
	})
	if r.ended {
		return nil
	}
	if more := r.flush(); !more {
		return nil
	}
	if err == nil && info == nil {
		err = errNoStream
	}
	return err
}

// add takes one message.
func (r *snapshotReader) add(m *backup.Message) error {
	size := len(m.Subject) + len(m.Headers) + len(m.Data)
	if len(r.batch.data)+size > batchBytes && !r.flush() {
		return errEnough
	}
	if r.batch.data == nil {
		r.batch = r.free.get(batchBytes)
		r.batch.data = r.batch.data[:0]
	}
	r.marks = append(r.marks, spanned{m.Seq, uint32(len(m.Subject)), uint32(len(m.Headers)), uint32(len(m.Data))})
	r.batch.data = append(append(append(r.batch.data, m.Subject...), m.Headers...), m.Data...)
	r.next = m.Seq + 1
	return nil
}

// flush hands on what was collected; false = nobody wants more.
func (r *snapshotReader) flush() bool {
	p, marks := r.batch, r.marks
	if r.batch, r.marks = (part{}), make([]spanned, 0, cap(marks)); len(marks) == 0 {
		return true
	}
	n := r.names
	more := r.yield(func() part { return readSpans(p, marks, n) })
	r.ended = !more
	return more
}

// readSpans decodes the messages of a batch.
func readSpans(p part, marks []spanned, n bus.Names) part {
	d := newDecoder(n)
	rest := p.data
	cut := func(size uint32) []byte {
		text := rest[:size:size]
		rest = rest[size:]
		return text
	}
	for _, m := range marks {
		subject, headers, data := cut(m.subject), cut(m.headers), cut(m.data)
		var x *entry
		p.entries, x = grow(p.entries)
		d.stored(x, m.seq, subject, headers, data)
	}
	p.share = uint64(len(marks))
	return p
}
