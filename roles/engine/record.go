package engine

import (
	"slices"
	"time"
)

// record is a measurement that the results stream has acknowledged. That proves little:
// the stream is not synced for each, so that a server that dies, or a stream that is made
// anew, may lose it, and the object would wait for ever.
type record struct {
	seq uint64
	key int32
	id  string
	at  time.Time // of the acknowledgement
}

// onRecorded takes note of the position of a measurement that an object waits for. One
// that was sent after others were acknowledged has a position behind theirs, or those
// were lost.
func (e *Engine) onRecorded(a *appended, p *pending) {
	all := e.state.records
	for n := len(all); n > 0 && all[n-1].seq >= a.seq && all[n-1].at.Before(p.sent); n-- {
		e.lost(all[n-1])
		all = all[:n-1]
	}
	i := len(all)
	for i > 0 && all[i-1].seq > a.seq {
		i-- // acknowledgements may overtake each other
	}
	e.state.records = slices.Insert(all, i, record{a.seq, a.key, a.id, time.Now()})
}

// passedRecords looks for measurements that were acknowledged at a position which the
// tail has reached, and that have not come back.
func (e *Engine) passedRecords(seq uint64) {
	all, n := e.state.records, 0
	for ; n < len(all) && all[n].seq <= seq; n++ {
		e.lost(all[n])
	}
	if n > 0 {
		e.state.records = slices.Delete(all, 0, n)
	}
}

// lost records a measurement again if its object still waits for it. It does so once:
// what the tail had read of a stream that was lost may say again what is not so.
func (e *Engine) lost(r record) {
	p := e.state.pending[r.key]
	if p == nil || p.id() != r.id || p.behind || p.missed {
		return
	}
	p.missed = true
	e.log.Debug("a measurement that the log had taken was lost and is recorded again", "object", string(e.state.entries[r.key].id()))
	e.publish(r.key, p)
}

// missLook is how often it is looked for measurements that did not come back.
const missLook = 10 * time.Second

// missMeasurements sends again what the results stream took and lost where nothing else
// has shown that it did.
func (e *Engine) missMeasurements() {
	s, now := &e.state, time.Now()
	if now.Sub(s.missing) < missLook {
		return
	}
	s.missing = now
	lost := 0
	for key, p := range s.pending {
		if !p.behind && p.write.Missed(now.Sub(p.sent)) {
			lost++
			e.publish(key, p)
		}
	}
	if lost > 0 {
		e.log.Warn("measurements that the log had taken did not come back and are recorded again", "objects", lost)
	}
}
