package journal

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Sizes of the index of the log.
const (
	// extentSize is how many positions are read at once and forgotten at once.
	extentSize = 4096
	// extentsKept bounds the memory: so many times extentSize entries of 32 bytes
	// are 64 MiB, two million decisions.
	extentsKept = 512
)

// entry is what the index keeps of one event: enough to leave out nearly all that
// a query does not ask for. The zero entry is a position without an event.
type entry struct {
	time   object.Time
	words  uint64 // two bits for each word
	kinds  uint32 // one bit for each kind
	object uint32 // hashes of the object, its host, and what about returns
	host   uint32
	id     uint32
}

// index remembers of the log, which never changes, what stands where, so that a
// query reads only events that it asks for. It is filled by the queries
// themselves, from the end of the log as far back as they look.
type index struct {
	seed  maphash.Seed
	bits  map[event.Kind]uint32
	other uint32 // of kinds that this build does not know

	mu      sync.Mutex // guards what follows
	extents map[uint64]*extent
	clock   uint64
}

// extent is a stretch of positions; its first one is a multiple of extentSize.
type extent struct {
	filling chan struct{} // holds one token while somebody reads

	// Guarded by the index. Entries are only ever appended: what is in front of the
	// length stays as it is.
	entries []entry
	used    uint64
}

func newIndex() *index {
	x := &index{seed: maphash.MakeSeed(), bits: map[event.Kind]uint32{}, other: 1 << 31, extents: map[uint64]*extent{}}
	for i, k := range []event.Kind{
		event.CheckResult, event.FlappingStarted, event.FlappingStopped, event.FlappingSampled, event.AckSet, event.AckCleared,
		event.CommentAdded, event.CommentRemoved, event.DowntimeScheduled, event.DowntimeStarted, event.DowntimeEnded,
		event.DowntimeCancelled, event.ObjectAdded, event.ObjectChanged, event.ObjectRemoved, event.SettingChanged,
		event.CommandRejected, event.EngineJoined, event.EngineLeft, event.EpochRaised, event.ConfigLoaded, event.CheckScheduled,
		event.HandlerRan, event.RootChanged, event.NotificationRequested, event.NotificationIntended, event.NotificationSuppressed,
		event.NotificationDelivered, event.NotificationFailed, event.NotificationAbandoned,
	} {
		x.bits[k] = 1 << i
	}
	return x
}

func (x *index) kind(k event.Kind) uint32 {
	if bit := x.bits[k]; bit != 0 {
		return bit
	}
	return x.other
}

func (x *index) short(s string) uint32 { return uint32(maphash.String(x.seed, s)) }

func (x *index) word(s string) uint64 {
	h := maphash.String(x.seed, s)
	return 1<<(h&63) | 1<<(h>>6&63)
}

// entry returns what is kept of an event.
func (x *index) entry(e *event.Event) entry {
	out := entry{time: e.Time, kinds: x.kind(e.Kind), object: x.short(string(e.Object)), id: x.short(about(e))}
	if e.Object != "" {
		out.host = x.short(e.Object.Host())
	}
	for _, k := range e.Also {
		out.kinds |= x.kind(k)
	}
	for w := range words(e) {
		out.words |= x.word(w)
	}
	return out
}

// sieve is a query as the index knows it: what it keeps back is not asked for,
// what it lets through may be.
type sieve struct {
	since, until object.Time // 0 = no bound
	words        uint64
	kinds        uint32
	object, host uint32
	ofObject     bool
	ofHost       bool
	ids          map[uint32]bool
}

func (x *index) sieve(q *Query) *sieve {
	s := &sieve{kinds: ^uint32(0), ofObject: q.Object != "", ofHost: q.Host != "", object: x.short(string(q.Object)), host: x.short(q.Host)}
	if !q.Since.IsZero() {
		s.since = object.At(q.Since)
	}
	if !q.Until.IsZero() {
		s.until = object.At(q.Until)
	}
	if len(q.Kinds) > 0 {
		s.kinds = 0
	}
	for _, k := range q.Kinds {
		s.kinds |= x.kind(k)
	}
	for _, w := range q.Words {
		s.words |= x.word(w)
	}
	for _, id := range q.IDs {
		if s.ids == nil {
			s.ids = make(map[uint32]bool, len(q.IDs))
		}
		s.ids[x.short(id)] = true
	}
	return s
}

func (s *sieve) passes(e *entry) bool {
	return e.kinds&s.kinds != 0 && e.words&s.words == s.words && (s.since == 0 || e.time >= s.since) && (s.until == 0 || e.time < s.until) &&
		(!s.ofObject || e.object == s.object) && (!s.ofHost || e.host == s.host) && (s.ids == nil || s.ids[e.id])
}

// extent returns the stretch with a number, new if it is not known, and makes room
// for it.
func (x *index) extent(n uint64) (*extent, []entry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.clock++
	k := x.extents[n]
	if k == nil {
		for len(x.extents) >= extentsKept {
			oldest := n
			for m, other := range x.extents {
				if oldest == n || other.used < x.extents[oldest].used {
					oldest = m
				}
			}
			delete(x.extents, oldest)
		}
		k = &extent{filling: make(chan struct{}, 1), entries: make([]entry, 0, extentSize)}
		x.extents[n] = k
	}
	k.used = x.clock
	return k, k.entries
}

// add appends to a stretch what was read behind its end.
func (x *index) add(k *extent, more []entry) []entry {
	x.mu.Lock()
	defer x.mu.Unlock()
	k.entries = append(k.entries, more...)
	return k.entries
}

// known returns the entries of a stretch up to a position that is on the log,
// read now where they are not known. Who else wants the same waits.
func (j *jetStream) known(ctx context.Context, n, end uint64) ([]entry, error) {
	k, entries := j.index.extent(n)
	want := int(min(end-n*extentSize+1, extentSize))
	if len(entries) >= want {
		return entries[:want], nil
	}
	select {
	case k.filling <- struct{}{}:
		defer func() { <-k.filling }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if entries = j.index.add(k, nil); len(entries) >= want {
		return entries[:want], nil
	}
	begin := n*extentSize + uint64(len(entries))
	events, _, seen, err := j.window(ctx, event.Log, "", max(begin, 1), end)
	if err != nil {
		return nil, err
	}
	// A replica that lags answers less than is there: only what is in front of
	// something that was read is known not to be there.
	read := make([]entry, 0, extentSize)
	if seen >= begin {
		read = read[:min(seen, end)-begin+1]
	}
	for i := range events {
		read[events[i].Seq-begin] = j.index.entry(&events[i])
	}
	entries = j.index.add(k, read)
	return entries[:min(want, len(entries))], nil
}

// sift reads the newest events of the log that are asked for by means of the
// index, newest first.
func (j *jetStream) sift(ctx context.Context, q *Query) ([]event.Event, error) {
	st, err := j.state(ctx, event.Log)
	if err != nil || st.Msgs == 0 {
		return nil, err
	}
	end := st.LastSeq
	if q.Before.Log != 0 {
		end = min(end, q.Before.Log-1)
	}
	var found []event.Event
	var positions []uint64
	sieve := j.index.sieve(q)
	take := func() error {
		events, err := j.fetch(ctx, positions)
		for i := range events {
			if len(found) < q.limit() && q.selects(&events[i]) {
				found = append(found, events[i])
			}
		}
		positions = positions[:0]
		return err
	}
	first := max(st.FirstSeq, q.After+1)
	for old := false; end >= first && !old && len(found) < q.limit(); {
		n := end / extentSize
		entries, err := j.known(ctx, n, end)
		if err != nil {
			return nil, err
		}
		newest := object.Time(0)
		for i, e := range slices.Backward(entries) {
			newest = max(newest, e.time)
			if seq := n*extentSize + uint64(i); seq >= first && sieve.passes(&e) {
				positions = append(positions, seq)
			}
			if len(found)+len(positions) >= q.limit() {
				if err := take(); err != nil {
					return nil, err
				}
			}
			if len(found) >= q.limit() {
				break
			}
		}
		if old = newest != 0 && newest < sieve.since.Add(-late); n == 0 {
			break
		}
		end = n*extentSize - 1
	}
	return found, take()
}
