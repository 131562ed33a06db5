package projection

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/klauspost/compress/s2"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/journal"
)

// snapshotFormat is the first line of a snapshot. A build writes the newest and
// still reads those before: the first ended with the states, the second with the
// index. What is behind that was not known then.
const (
	snapshotFormat = "jaque snapshot 3\n"
	secondFormat   = "jaque snapshot 2\n"
	firstFormat    = "jaque snapshot 1\n"
)

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
		rec = appendRecord(rec[:0], []byte(id))
		write(appendRecord(rec, fold.AppendState(nil, st)))
	}
	// What the states no longer tell is read behind them, so that nothing falls
	// between the two.
	write(appendRecord(nil, program.AppendState(nil, p.Program())))
	write(p.index.append(nil, object.Time(newest)))
	write(appendParts(nil, deliver.AppendOpen(nil, p.requests.copy())))
	_ = w.Close()
	return at, out.Bytes()
}

var errFormat = errors.New("not a snapshot of this build's format")

// Recall restores the newest snapshot that a journal holds and returns its size in
// bytes, 0 if there is none: then the whole log is to be read. It must come before
// the first Apply.
func (p *Projection) Recall(ctx context.Context, from interface {
	LoadSnapshot(ctx context.Context) (journal.Position, []byte, error)
},
) (size int, err error) {
	at, data, err := from.LoadSnapshot(ctx)
	if errors.Is(err, journal.ErrNoSnapshot) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("load the snapshot: %w", err)
	}
	if err := p.Restore(at, data); err != nil {
		return 0, fmt.Errorf("restore the snapshot: %w", err)
	}
	return len(data), nil
}

// Restore replaces all states by those of a snapshot. It must come before the
// first Apply. On an error nothing has changed.
func (p *Projection) Restore(at journal.Position, data []byte) error {
	r := &reader{r: s2.NewReader(bytes.NewReader(data))}
	format := string(r.bytes(len(snapshotFormat)))
	if !slices.Contains([]string{snapshotFormat, secondFormat, firstFormat}, format) {
		return errors.Join(errFormat, r.err)
	}
	epoch, newest, n := r.number(), r.number(), r.number()
	slots := map[object.ID]*slot{}
	var x index
	x.clear()
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
		x.move(id, nil, st.Status.Extra, 0)
	}
	known, open := &program.State{}, &deliver.Open{}
	if format != firstFormat {
		if raw := r.record(); r.err == nil {
			if err := program.DecodeState(raw, known); err != nil {
				return fmt.Errorf("the program's state: %w", err)
			}
		}
		x.read(r)
	}
	if format == snapshotFormat {
		if raw := r.parts(); r.err == nil {
			if err := deliver.DecodeOpen(raw, open); err != nil {
				return err
			}
		}
	}
	if r.err != nil {
		return fmt.Errorf("snapshot is cut off or damaged: %w", r.err)
	}
	p.mu.Lock()
	p.slots = slots
	p.mu.Unlock()
	p.index.take(&x)
	p.requests.take(open)
	p.program.Store(known)
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

// partSize is how much of something long stands in one record.
const partSize = 1 << 20

// appendParts appends something that may be longer than a record: how many records
// it is, and these.
func appendParts(dst, data []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64((len(data)+partSize-1)/partSize))
	for part := range slices.Chunk(data, partSize) {
		dst = appendRecord(dst, part)
	}
	return dst
}

// parts returns what appendParts wrote.
func (r *reader) parts() []byte {
	var data []byte
	for n := r.number(); n > 0 && r.err == nil; n-- {
		data = append(data, r.record()...)
	}
	return data
}

// append appends what the index knows beside the states.
func (x *index) append(dst []byte, now object.Time) []byte {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.prune(now)
	dst = binary.AppendUvarint(dst, x.highest.Comment)
	dst = binary.AppendUvarint(dst, x.highest.Downtime)
	dst = binary.AppendUvarint(dst, uint64(len(x.dropped)))
	byName := func(a, b occurrence) int {
		return cmp.Or(cmp.Compare(a.object, b.object), cmp.Compare(a.downtime, b.downtime))
	}
	for _, o := range slices.SortedFunc(maps.Keys(x.dropped), byName) {
		dst = appendRecord(dst, []byte(o.object))
		dst = appendRecord(dst, []byte(o.downtime))
		dst = binary.AppendUvarint(dst, uint64(x.dropped[o]))
	}
	return dst
}

// read takes in what append wrote.
func (x *index) read(r *reader) {
	x.highest.Comment = max(x.highest.Comment, r.number())
	x.highest.Downtime = max(x.highest.Downtime, r.number())
	for n := r.number(); n > 0 && r.err == nil; n-- {
		id := object.ID(r.record()) // a copy, before the next record takes its place
		downtime := string(r.record())
		x.dropped[occurrence{id, downtime}] = object.Time(r.number())
	}
}

// take replaces everything by what another index holds.
func (x *index) take(y *index) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.extras, x.downtimes, x.triggers, x.rules = y.extras, y.downtimes, y.triggers, y.rules
	x.byNumber, x.comments, x.highest, x.dropped = y.byNumber, y.comments, y.highest, y.dropped
	x.pruneAt = max(minPrune, 2*len(x.dropped))
}
