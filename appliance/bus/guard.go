package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// What the server does by itself with a damaged store (2.15.3, found by the
// tests beside this file) and what the guard makes of it:
//
//   - a torn or unreadable record: the block is cut off in front of it, the
//     later records of that block are gone, later blocks stay. One warning line.
//   - an unreadable record under a valid index.db: not looked at; reading that
//     position fails later.
//   - a missing or broken index.db: rebuilt from the blocks, nothing is lost.
//   - an index.db that is newer than the blocks: the stream keeps its last
//     position and has a hole at its end.
//   - a missing block: a hole, or at the front a later first position.
//   - a missing or broken meta.inf, a missing folder: the stream is left out
//     with one warning line, and creating it again would start at 1 (or take up
//     what blocks are left).
//
// All of these start without an error. The guard therefore keeps two small
// files beside the store: what was acknowledged (written in place after every
// group of appends: exact after kill -9, at most a second old after a power
// cut) and marks of all streams, at most ten seconds old. At start it reads the
// blocks first (verify.go) and compares afterwards: the log must reach the
// acknowledged position, have no hole, and begin no later than its retention
// explains. What does not add up stops the start and changes nothing, until an
// operator accepts that loss; then only the unreadable bytes go (salvage.go). A
// derived stream goes on by itself, with a warning that counts.

// damage is a kind of damage, as a metric label.
type damage string

const (
	damageTail        damage = "tail"        // bytes were cut off a block that held nothing acknowledged
	damageDescription damage = "description" // meta.inf was unreadable, the blocks were taken up again
	damageDerived     damage = "derived"     // a stream that can be made again was lost
	damageMarks       damage = "marks"       // there was a store, but no marks
	damageReplica     damage = "replica"     // a copy was unreadable, and others have the stream
	damageAccepted    damage = "accepted"    // a loss that an operator accepted
)

var damages = []damage{damageTail, damageDescription, damageDerived, damageMarks, damageReplica, damageAccepted}

// ErrLoss: the store of the embedded server lost what it had acknowledged. The
// error names the folder and what to do.
var ErrLoss = errors.New("log store lost data")

const (
	ackPause     = 20 * time.Millisecond // between two writes of the acknowledged file
	ackSync      = time.Second           // between two syncs of it
	marksRefresh = 10 * time.Second
)

// errUnled: a copy answered for a stream that has no leader. It may have been away while
// the others went on, so that what it lacks is no loss.
var errUnled = errors.New("it has no leader")

// guard notices when the store comes back with less than it had.
type guard struct {
	data    string
	names   Names
	stores  []store
	log     *slog.Logger
	metrics *metrics

	known *marks // as found at start; nil = none
	acked uint64 // as found at start
	file  *os.File
	began time.Time

	// shared: other members of a cluster keep the streams too, or instead. What this
	// folder lacks is no loss then; what the cluster lacks is.
	shared bool
	quorum func() bool // the cluster can answer; always so without one
	// givenUp are the removals known now by which an operator gave up what the log may have
	// lacked. What is missing after one is no loss that anybody has to accept again; nil =
	// there are none.
	givenUp func() []string

	accepting bool            // an operator accepts what is lost at this start
	salvaged  map[string]bool // streams whose blocks were changed at this start

	measured atomic.Uint64 // last position of the measurements in the marks
	logged   atomic.Uint64 // last position of the log in the marks

	last   atomic.Uint64
	wake   chan struct{}
	done   chan struct{}
	cancel context.CancelFunc
	once   sync.Once
}

func newGuard(b *Bus, p *peering) (*guard, error) {
	g := &guard{
		data: b.opts.Data, names: b.names, stores: stores(b.names, b.opts.Retention),
		log: b.log, metrics: b.metrics, wake: make(chan struct{}, 1), done: make(chan struct{}),
		began: time.Now(), accepting: accepted(b.opts.Data), salvaged: map[string]bool{},
		quorum: func() bool { return true },
	}
	if p != nil {
		g.shared, g.quorum, g.givenUp = p.start.shared, func() bool { return p.look().quorum() }, p.folders.givenUp
	}
	var err error
	if g.known, err = readMarks(g.data); err != nil {
		if !g.accepting {
			return nil, err
		}
		g.repaired(damageAccepted)
		g.log.Warn("the marks of the log store cannot be read, and that was accepted", "err", err)
	}
	path := filepath.Join(g.data, ackFile)
	if g.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	g.acked = readAck(g.file)
	g.last.Store(g.acked)
	g.logged.Store(g.reached(g.names.Log))
	if err := g.checkFolders(); err != nil {
		return nil, errors.Join(err, g.file.Close())
	}
	if err := g.checkBlocks(); err != nil {
		return nil, errors.Join(err, g.file.Close())
	}
	return g, nil
}

// folder is where the server keeps a stream.
func (g *guard) folder(stream string) string {
	return StreamFolder(g.data, stream)
}

// repaired counts a damage that the start goes on with; the caller logs it.
func (g *guard) repaired(d damage) { g.metrics.repairs.WithLabelValues(string(d)).Inc() }

// loss is the error of a loss that stops the start, nil if an operator accepts it.
func (g *guard) loss(stream, format string, v ...any) error {
	if g.accepting {
		g.repaired(damageAccepted)
		g.log.Warn("a loss was accepted", "stream", stream, "folder", g.folder(stream), "what", fmt.Sprintf(format, v...))
		return nil
	}
	return fmt.Errorf("%w: %s: %s; stop, restore the data folder from a backup, or %s",
		ErrLoss, g.folder(stream), fmt.Sprintf(format, v...), acceptLoss(g.data))
}

// had tells whether the stream held data when it was last seen.
func (g *guard) had(stream string) bool {
	if g.known == nil {
		return stream == g.names.Log && g.acked > 0
	}
	return g.known.Streams[stream].Last > 0 || stream == g.names.Log && g.acked > 0
}

// checkFolders runs in front of the server, which would leave a missing stream
// out without a word.
func (g *guard) checkFolders() error {
	if g.shared {
		return nil
	}
	for _, s := range g.stores {
		if !g.had(s.stream) {
			continue
		}
		if _, err := os.Stat(filepath.Join(g.folder(s.stream), "msgs")); err == nil {
			continue
		}
		if g.sequenced(s.stream) {
			continue // its blocks are missed, see checkBlocks
		}
		if !s.derived {
			if err := g.loss(s.stream, "the folder is missing, and it held data"); err != nil {
				return err
			}
		}
		g.forget(s.stream, "its folder is missing")
	}
	return nil
}

// forget gives up a derived stream.
func (g *guard) forget(stream, why string) {
	g.repaired(damageDerived)
	g.log.Warn("a stream lost data and goes on with what is left", "stream", stream, "folder", g.folder(stream), "why", why)
	if g.known != nil {
		delete(g.known.Streams, stream)
	}
}

// beforeDeclare tells apart a stream that is new and one the server left out.
func (g *guard) beforeDeclare(ctx context.Context, js jetstream.JetStream) error {
	if g.shared {
		return nil // not every member keeps every stream
	}
	for _, s := range g.stores {
		blocks, _ := filepath.Glob(filepath.Join(g.folder(s.stream), "msgs", "*.blk"))
		if len(blocks) == 0 && !g.had(s.stream) {
			continue
		}
		c, err := streamConfig(ctx, js, s.stream)
		if err != nil {
			return fmt.Errorf("look at stream %s: %w", s.stream, err)
		}
		if c == nil && !g.salvaged[s.stream] {
			g.repaired(damageDescription)
			g.log.Warn("the description of a stream is damaged, it is rebuilt from its blocks",
				"stream", s.stream, "folder", g.folder(s.stream))
		}
	}
	return nil
}

// appliedMost is how long a cluster may take to bring its streams to where they were. A
// leader that was just chosen answers at once, and applies what its log holds a moment
// later, or after seconds on a busy machine.
const appliedMost = 30 * time.Second

// applied waits until the streams that members keep together have reached what this one
// knows of them, as long as that may take: what is missing then is lost.
func (g *guard) applied(ctx context.Context, last func(ctx context.Context, stream string) (uint64, error)) {
	if !g.shared {
		return
	}
	most := appliedMost
	if len(g.newlyGiven()) > 0 {
		most = settleWait // what an operator gave up never comes
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for {
		behind := false
		for _, s := range g.stores {
			want := g.reached(s.stream)
			if want == 0 {
				continue
			}
			one, done := context.WithTimeout(ctx, settleWait)
			now, err := last(one, s.stream)
			done()
			behind = behind || err != nil || now < want
		}
		if !behind {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(removePause):
		}
	}
}

// afterDeclare compares what the server recovered with what was known and writes
// the first marks.
func (g *guard) afterDeclare(ctx context.Context, js jetstream.JetStream) error {
	for _, s := range g.stores {
		info, err := streamInfo(ctx, js, s.stream)
		if err != nil {
			return err
		}
		if info.State.Lost != nil {
			g.repaired(damageTail)
			g.log.Warn("the log server cut unreadable bytes off a stream", "stream", s.stream,
				"folder", g.folder(s.stream), "bytes", info.State.Lost.Bytes, "positions", info.State.Lost.Msgs)
		}
		if err := g.checkStream(s, info); err != nil {
			return err
		}
	}
	if err := g.refresh(ctx, js); err != nil {
		return err
	}
	return g.settle()
}

// begin keeps the marks from now on.
func (g *guard) begin(ctx context.Context, js jetstream.JetStream) {
	ctx, g.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go g.keep(ctx, js)
}

func (g *guard) checkStream(s store, info *jetstream.StreamInfo) error {
	st := info.State
	if g.shared && info.Cluster != nil && info.Cluster.Leader == "" && info.Config.Replicas > 1 {
		return fmt.Errorf("look at stream %s: %w", s.stream, errUnled)
	}
	if s.stream == g.names.Log {
		return g.checkLog(info)
	}
	if g.known == nil {
		return nil
	}
	if s.stream == g.names.Results {
		g.checkResults(info)
		return nil
	}
	if st.LastSeq >= g.known.Streams[s.stream].Last {
		return nil
	}
	why := fmt.Sprintf("it ends at %d and had reached %d", st.LastSeq, g.known.Streams[s.stream].Last)
	if !s.derived {
		return g.loss(s.stream, "%s", why)
	}
	g.forget(s.stream, why)
	return nil
}

// checkResults counts measurements that were there when the stream was last
// looked at and that retention does not explain. What checkBlocks told of is not
// told again.
func (g *guard) checkResults(info *jetstream.StreamInfo) {
	st, was := info.State, g.known.Streams[g.names.Results]
	if g.salvaged[g.names.Results] {
		return
	}
	lost := uint64(0)
	if st.LastSeq < was.Last {
		lost += was.Last - st.LastSeq
	}
	if st.Msgs > 0 && was.Messages > 0 {
		holes, known := st.LastSeq-st.FirstSeq+1-st.Msgs, was.Last-was.First+1-was.Messages
		lost += holes - min(holes, known)
	}
	young := info.Config.MaxAge <= 0 || time.Since(was.FirstTime) < info.Config.MaxAge
	full := info.Config.MaxBytes > 0 && st.Bytes > uint64(info.Config.MaxBytes/2)
	if was.Messages > 0 && young && !full && st.FirstSeq > was.First {
		lost += min(st.FirstSeq-was.First, was.Messages)
	}
	if lost > 0 {
		g.repaired(damageDerived)
		g.log.Warn("a stream lost data and goes on with what is left", "stream", g.names.Results, "folder", g.folder(g.names.Results),
			"why", "measurements are missing", "lost", lost)
	}
}

// checkLog holds the log to its invariants: it reaches what was acknowledged,
// every position between its first and last is there, and its first position
// is no later than retention explains.
func (g *guard) checkLog(info *jetstream.StreamInfo) error {
	st := info.State
	holes := uint64(0)
	if st.Msgs > 0 {
		holes = st.LastSeq - st.FirstSeq + 1 - st.Msgs
	}
	if g.known == nil && g.acked == 0 {
		if st.LastSeq > 0 && !g.shared {
			g.repaired(damageMarks)
			g.log.Warn("the log has no marks, it is taken as it is", "folder", g.folder(g.names.Log), "last", st.LastSeq, "holes", holes)
		}
		return nil
	}
	want, known := g.reached(g.names.Log), uint64(0)
	if g.known != nil {
		known = g.known.Gaps
	}
	if given := g.newlyGiven(); st.LastSeq < want && len(given) > 0 {
		g.repaired(damageAccepted)
		g.log.Warn("the log goes on without what was acknowledged and given up with members that never come back", "last", st.LastSeq, "acknowledged", want, "removals", given)
		if err := g.lower(st.LastSeq); err != nil {
			return err
		}
	} else if st.LastSeq < want {
		if err := g.loss(g.names.Log, "the log ends at position %d, but %d was acknowledged", st.LastSeq, want); err != nil {
			return err
		}
	}
	if st.Msgs == 0 {
		return g.checkFront(info.Config.MaxAge, st.LastSeq+1)
	}
	if holes > known && !g.salvaged[g.names.Log] {
		err := g.loss(g.names.Log, "%d positions between %d and %d are missing%s", holes-known, st.FirstSeq, st.LastSeq, firstOf(st.Deleted))
		if err != nil {
			return err
		}
	}
	return g.checkFront(info.Config.MaxAge, st.FirstSeq)
}

func (g *guard) given() []string {
	if g.givenUp == nil {
		return nil
	}
	return g.givenUp()
}

// newlyGiven are the removals by which something was given up since the marks were written.
func (g *guard) newlyGiven() (all []string) {
	for _, one := range g.given() {
		if g.known == nil || !slices.Contains(g.known.Given, one) {
			all = append(all, one)
		}
	}
	return all
}

// lower takes a position for the end of what was acknowledged.
func (g *guard) lower(end uint64) error {
	g.acked = min(g.acked, end)
	g.last.Store(end)
	if err := g.writeAck(true); err != nil {
		return fmt.Errorf("write the acknowledged position: %w", err)
	}
	return nil
}

func (g *guard) checkFront(maxAge time.Duration, first uint64) error {
	if g.known == nil {
		return nil
	}
	oldest := time.Now().Add(-maxAge)
	for _, d := range g.known.Days {
		if maxAge > 0 && d.Time.Before(oldest) {
			continue
		}
		if first > d.Seq {
			return g.loss(g.names.Log, "the log begins at position %d, but %d of %s must still be there", first, d.Seq, d.Time.UTC().Format(time.RFC3339))
		}
	}
	return nil
}

func firstOf(deleted []uint64) string {
	if len(deleted) == 0 {
		return ""
	}
	return fmt.Sprintf(", the first is %d", deleted[0])
}

func streamInfo(ctx context.Context, js jetstream.JetStream, name string) (*jetstream.StreamInfo, error) {
	s, err := js.Stream(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("look at stream %s: %w", name, err)
	}
	info, err := s.Info(ctx, jetstream.WithDeletedDetails(true))
	if err != nil {
		return nil, fmt.Errorf("look at stream %s: %w", name, err)
	}
	return info, nil
}

// refresh writes marks of what the streams hold now.
func (g *guard) refresh(ctx context.Context, js jetstream.JetStream) error {
	m := &marks{Streams: map[string]streamMark{}, Given: g.given()}
	if g.known != nil {
		m.Days = g.known.Days
	}
	for _, s := range g.stores {
		info, err := streamInfo(ctx, js, s.stream)
		if err != nil {
			return err
		}
		st := info.State
		mark := streamMark{Created: info.Created.UTC(), Last: st.LastSeq, Replicas: info.Config.Replicas}
		if g.sequenced(s.stream) && st.Msgs > 0 {
			mark.Messages, mark.First, mark.FirstTime = st.Msgs, st.FirstSeq, st.FirstTime.UTC()
		}
		m.Streams[s.stream] = mark
		if s.derived || s.stream != g.names.Log {
			continue
		}
		if ledNow(info) && st.LastSeq < g.last.Load() && len(g.newlyGiven()) > 0 {
			if err := g.lower(st.LastSeq); err != nil {
				return err
			}
		}
		if g.accepting { // what was accepted at the front is not missed again
			m.Days = slices.DeleteFunc(m.Days, func(d dayMark) bool { return d.Seq < st.FirstSeq })
		}
		if st.Msgs > 0 {
			m.Gaps = st.LastSeq - st.FirstSeq + 1 - st.Msgs
			oldest := time.Time{}
			if info.Config.MaxAge > 0 {
				oldest = time.Now().Add(-info.Config.MaxAge)
			}
			if len(m.Days) == 0 {
				m.addDay(st.FirstSeq, st.FirstTime, oldest)
			}
			m.addDay(st.LastSeq, st.LastTime, oldest)
		}
	}
	if err := m.write(g.data); err != nil {
		return err
	}
	g.known = m
	g.measured.Store(m.Streams[g.names.Results].Last)
	g.logged.Store(m.Streams[g.names.Log].Last)
	return nil
}
