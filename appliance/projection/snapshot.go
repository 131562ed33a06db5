package projection

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/s2"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
)

// snapshotFormat is the first line of a snapshot; a build reads only its own.
const snapshotFormat = "jaque snapshot 1\n"

// maxRecord bounds one record of a snapshot, so that a damaged length cannot ask
// for all memory.
const maxRecord = 16 << 20

// Encode returns the folded state for a snapshot and the position it is good
// from. It may run beside Apply: the position is read before the states, and a
// state that is ahead of it skips, by position, what is read twice.
func (p *Projection) Encode() (journal.Position, []byte) {
	at := p.Position()
	epoch, newest := p.fence.Load(), p.newest.Load()
	p.mu.RLock()
	ids := make([]object.ID, 0, len(p.slots))
	for id := range p.slots {
		ids = append(ids, id)
	}
	p.mu.RUnlock()
	slices.Sort(ids)

	var out bytes.Buffer
	w := s2.NewWriter(&out, s2.WriterConcurrency(1))
	var rec []byte
	write := func(b []byte) { _, _ = w.Write(b) } // a bytes.Buffer takes everything
	write([]byte(snapshotFormat))
	head := binary.AppendUvarint(nil, epoch)
	head = binary.AppendUvarint(head, uint64(newest))
	write(binary.AppendUvarint(head, uint64(len(ids))))
	for _, id := range ids {
		st := p.State(id)
		state := fold.AppendState(nil, st)
		rec = binary.AppendUvarint(rec[:0], uint64(len(id)))
		rec = append(rec, id...)
		rec = binary.AppendUvarint(rec, uint64(len(state)))
		write(append(rec, state...))
	}
	_ = w.Close()
	return at, out.Bytes()
}

var errFormat = errors.New("not a snapshot of this build's format")

// Restore replaces all states by those of a snapshot. It must come before the
// first Apply. On an error nothing has changed.
func (p *Projection) Restore(at journal.Position, data []byte) error {
	r := &reader{r: s2.NewReader(bytes.NewReader(data))}
	if string(r.bytes(len(snapshotFormat))) != snapshotFormat {
		return errors.Join(errFormat, r.err)
	}
	epoch, newest, n := r.number(), r.number(), r.number()
	slots := map[object.ID]*slot{}
	for i := uint64(0); i < n && r.err == nil; i++ {
		id := object.ID(r.record())
		st := &fold.State{}
		if raw := r.record(); r.err == nil {
			if err := fold.DecodeState(raw, st); err != nil {
				return fmt.Errorf("state of %q: %w", id, err)
			}
		}
		s := &slot{}
		s.state.Store(st)
		slots[id] = s
	}
	if r.err != nil {
		return fmt.Errorf("snapshot is cut off or damaged: %w", r.err)
	}
	p.mu.Lock()
	p.slots = slots
	p.mu.Unlock()
	p.position.Store(&at)
	p.fence.Store(epoch)
	p.newest.Store(int64(newest))
	p.Replace(p.Set())
	return nil
}

// reader reads records until the first error, which it keeps.
type reader struct {
	r   *s2.Reader
	buf []byte
	err error
}

func (r *reader) number() uint64 {
	if r.err != nil {
		return 0
	}
	n, err := binary.ReadUvarint(r.r)
	r.err = err
	return n
}

func (r *reader) bytes(n int) []byte {
	if r.err != nil {
		return nil
	}
	if n > maxRecord {
		r.err = fmt.Errorf("a record of %d bytes", n)
		return nil
	}
	if cap(r.buf) < n {
		r.buf = make([]byte, n)
	}
	b := r.buf[:n]
	_, r.err = io.ReadFull(r.r, b)
	return b
}

// record returns the next record; it is valid until the next call.
func (r *reader) record() []byte { return r.bytes(int(min(r.number(), maxRecord+1))) }
