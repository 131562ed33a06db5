package audit

import (
	"bytes"
	"context"
	"runtime"
	"sync"

	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/chain"
)

// Source is where a log is read from: Folder, Server or File.
type Source interface {
	// jobs calls yield with the parts of the log in order until it returns false. What a
	// part does runs beside others and returns what stands there.
	jobs(ctx context.Context, free *spare, yield func(job) bool) error
	// gap says why positions are not there, "" if nobody knows. It is asked in order.
	gap(from, to uint64) string
	// bounds is asked at the end, when reading has succeeded.
	bounds() bounds
	// size is how much there is to read, in what parts are counted in.
	size() uint64
}

// job decodes one part of the log.
type job func() part

// part is what was found in one part of the log, in order.
type part struct {
	entries []entry
	data    []byte // in which the texts of the entries lie
	share   uint64 // of the whole, see Progress.Of
	gone    uint64 // newest position that a record says was removed
	err     error  // the rest of the log cannot be read
}

// entry is one message of the log.
type entry struct {
	chain.Entry
	err error // it cannot be read
	// damage says that these are bytes which are no message: Seq is not known.
	damage bool
}

// Options of Verify.
type Options struct {
	// Keep bounds the violations that the report lists; 0 = 1000.
	Keep int
	// Progress is told from time to time how far reading is; nil = nobody.
	Progress func(Progress)
}

// Progress says how far reading is.
type Progress struct {
	Seq      uint64 // position
	Messages uint64 // read so far
	Done, Of uint64 // what part of the whole that is
}

// Verify reads the whole log up to its end, as it was when reading began, and returns
// what the invariants say of it. An error says that it could not be read.
func Verify(ctx context.Context, from Source, o Options) (chain.Report, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := run{Verifier: chain.Verifier{Keep: o.Keep}, from: from, tell: o.Progress}
	ahead := make(chan chan part, runtime.GOMAXPROCS(0))
	var failed error
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(ahead)
		failed = from.jobs(ctx, &r.free, func(j job) bool {
			out := make(chan part, 1)
			select {
			case ahead <- out:
			case <-ctx.Done():
				return false
			}
			go func() { out <- j() }()
			return true
		})
	})
	var err error
	for out := range ahead {
		p := <-out
		if err != nil {
			continue // what is on its way ends
		}
		if err = r.take(p); err != nil {
			cancel()
		}
	}
	reading.Wait()
	if err == nil {
		err = failed
	}
	if err == nil {
		r.end(from.bounds())
	}
	return r.Report(), err
}

// run is one verification.
type run struct {
	chain.Verifier
	from    Source
	free    spare
	reached uint64
	damaged error  // bytes in front of the next message
	gone    uint64 // newest position that the store says it has removed
	at      Progress
	tell    func(Progress)
}

// take verifies one part of the log.
func (r *run) take(p part) error {
	for i := range p.entries {
		x := &p.entries[i]
		if x.damage {
			r.damage(x.err)
			continue
		}
		r.damages(x.Seq)
		if r.reached != 0 && x.Seq > r.reached+1 {
			r.Removed(r.reached+1, x.Seq-1, r.from.gap(r.reached+1, x.Seq-1))
		}
		switch {
		case journal.Foreign(x.err):
			r.Foreign(x.Seq)
		case x.err != nil:
			r.Unreadable(x.Seq, x.err)
		default:
			r.Add(&x.Entry)
		}
		r.reached = max(r.reached, x.Seq)
	}
	r.gone = max(r.gone, p.gone)
	if n := len(p.entries); n > 0 && r.tell != nil {
		r.at = Progress{Seq: r.reached, Messages: r.at.Messages + uint64(n), Done: r.at.Done + p.share, Of: r.from.size()}
		r.tell(r.at)
	}
	r.free.put(p)
	return p.err
}

// decoder decodes messages one after the other.
type decoder struct {
	root []byte // of the log's subjects, with the last dot
}

func newDecoder(n bus.Names) *decoder { return &decoder{root: []byte(n.LogRoot + ".")} }

// stored decodes a message as it is stored. Most are only looked at, which takes a
// fraction of the time.
func (d *decoder) stored(x *entry, seq uint64, subject, headers, data []byte) {
	x.Seq, x.Subject, x.Whole, x.err = seq, bytes.TrimPrefix(subject, d.root), nil, nil
	if journal.LookStored(headers, data, &x.Glance) {
		return
	}
	e := &event.Event{Seq: seq}
	x.whole(e, journal.ReadStored(headers, data, e))
}

// delivered is stored for a message of a consumer.
func (d *decoder) delivered(x *entry, m *nats.Msg) {
	seq, _, _ := journal.DeliveredAs(m.Reply)
	x.Seq, x.Subject, x.Whole, x.err = seq, bytes.TrimPrefix([]byte(m.Subject), d.root), nil, nil
	if journal.LookDelivered(m, &x.Glance) {
		return
	}
	e := &event.Event{Seq: seq}
	x.whole(e, journal.ReadDelivered(m, e))
}

// whole takes an event that was decoded, or why it cannot be. Its own texts are no
// part of the data.
func (x *entry) whole(e *event.Event, err error) {
	if x.err = err; err == nil {
		x.Glance = event.Glance{}
		x.Of(e)
		x.Whole = e
	}
}

// spare are slices that are used again: parts are large, and clearing memory takes
// longer than reading a file into it.
type spare struct {
	mu   sync.Mutex
	idle []part
}

// typicalRecord is how many bytes a decision takes, to begin with.
const typicalRecord = 400

// get returns an empty slice of entries and one of so many bytes.
func (s *spare) get(size int64) part {
	s.mu.Lock()
	var p part
	if n := len(s.idle); n > 0 {
		p, s.idle = s.idle[n-1], s.idle[:n-1]
	}
	s.mu.Unlock()
	if int64(cap(p.data)) < size {
		p.data = make([]byte, size, size+size/8)
	}
	if p.entries == nil {
		p.entries = make([]entry, 0, size/typicalRecord+1)
	}
	return part{entries: p.entries[:0], data: p.data[:size]}
}

// put takes back what was verified.
func (s *spare) put(p part) {
	if p.data == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.idle) < 2*runtime.GOMAXPROCS(0) {
		s.idle = append(s.idle, p)
	}
}

// grow returns the slice with one more entry, in which anything may stand.
func grow(all []entry) ([]entry, *entry) {
	if n := len(all); n < cap(all) {
		all = all[:n+1]
	} else {
		all = append(all, entry{})
	}
	return all, &all[len(all)-1]
}

// allowance explains so many missing positions.
type allowance struct {
	left uint64
	why  string
}

func (a *allowance) gap(from, to uint64) string {
	if n := to - from + 1; n <= a.left {
		a.left -= n
		return a.why
	}
	return ""
}
