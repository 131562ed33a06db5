package handover

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
)

// visited is a set of 64-bit hashes in open addressing; 0 marks a free place.
type visited struct {
	slots []uint64
	n     int
}

func (s *visited) add(h uint64) bool {
	if h == 0 {
		h = 1
	}
	if s.n >= len(s.slots)/4*3 {
		s.grow()
	}
	mask := uint64(len(s.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch s.slots[i] {
		case h:
			return false
		case 0:
			s.slots[i] = h
			s.n++
			return true
		}
	}
}

func (s *visited) grow() {
	old := s.slots
	s.slots = make([]uint64, max(2*len(old), 1<<12))
	mask := uint64(len(s.slots) - 1)
	for _, h := range old {
		if h == 0 {
			continue
		}
		i := h & mask
		for s.slots[i] != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = h
	}
}

// arena holds encoded states one behind the other, in blocks that are used again.
type arena struct {
	blocks [][]byte
	at     int // of the block that is written
	n      int
}

const blockSize = 1 << 20

func (a *arena) reset() {
	for i := range a.blocks {
		a.blocks[i] = a.blocks[i][:0]
	}
	a.at, a.n = 0, 0
}

func (a *arena) add(b []byte) {
	if len(a.blocks) == 0 || len(a.blocks[a.at])+len(b)+1 > blockSize {
		if len(a.blocks) > 0 {
			a.at++
		}
		if a.at == len(a.blocks) {
			a.blocks = append(a.blocks, make([]byte, 0, blockSize))
		}
	}
	to := append(a.blocks[a.at], uint8(len(b)))
	a.blocks[a.at] = append(to, b...)
	a.n++
}

// each calls f with every state until it returns false.
func (a *arena) each(f func([]byte) bool) {
	for _, block := range a.blocks {
		for len(block) > 0 {
			n := int(block[0])
			if !f(block[1 : 1+n]) {
				return
			}
			block = block[1+n:]
		}
	}
}

// found is what a search has found.
type found struct {
	states   int
	depth    int // levels, the first state's included
	took     time.Duration
	violated invariant
	trace    []string // how the violation came about
	more     bool     // the search ended at its limit
	bodies   int
}

func (f *found) rate() float64 { return float64(f.states) / max(f.took.Seconds(), 1e-9) }

// parents remembers how each state was reached, for searches that end with a finding.
type parents struct {
	state [][]byte
	from  []int32
	by    []act
}

// search visits every state breadth first. With traced it remembers how each was
// reached, which takes memory; limit bounds the states, 0 = all.
func (m *model) search(w world, traced bool, limit int) (f found) {
	began := time.Now()
	defer func() { f.took, f.bodies = time.Since(began), len(m.bodies) }()
	var seen visited
	var p *parents
	if traced {
		p = &parents{}
	}
	now, next := &arena{}, &arena{}
	buf := w.encode(make([]byte, 0, 256), m)
	seen.add(xxhash.Sum64(buf))
	now.add(buf)
	p.add(buf, -1, act{})
	f.states = 1
	first := 0 // number of the first state of the level
	for ; now.n > 0 && f.violated == 0 && !f.more; f.depth++ {
		i := first - 1
		first = f.states
		now.each(func(b []byte) bool {
			i++
			w.decode(b, m)
			m.eachStep(&w, func(a act, c *world) bool {
				buf = c.encode(buf[:0], m)
				if !seen.add(xxhash.Sum64(buf)) {
					return true
				}
				f.states++
				f.violated = m.violated(c)
				next.add(buf)
				p.add(buf, int32(i), a)
				f.more = limit > 0 && f.states >= limit
				return f.violated == 0 && !f.more
			})
			return f.violated == 0 && !f.more
		})
		now, next = next, now
		next.reset()
	}
	if f.violated != 0 {
		f.depth++
		f.trace = p.trace(m)
	}
	return f
}

// eachStep calls f with the state after every step that is possible, until it returns
// false.
func (m *model) eachStep(w *world, f func(act, *world) bool) {
	for k := range kinds {
		engines, xs := m.engines, 1
		switch k {
		case decide, answer, repeat:
			xs = m.objects
		case adopt, adoptMembers:
			xs = int(w.nviews)
		case expire:
			engines, xs = 1, m.engines
		case land, deny, known, timeout, lose:
			engines, xs = 1, int(w.nnet)
		case reset:
			engines = 1
		case remove:
			engines, xs = 1, m.objects
		}
		for e := range engines {
			for x := range xs {
				m.next = *w
				if a := (act{k, uint8(e), uint8(x)}); m.step(&m.next, a) && !f(a, &m.next) {
					return
				}
			}
		}
	}
}

func (p *parents) add(b []byte, from int32, by act) {
	if p != nil {
		p.state, p.from, p.by = append(p.state, append([]byte(nil), b...)), append(p.from, from), append(p.by, by)
	}
}

// trace says how the last state was reached.
func (p *parents) trace(m *model) []string {
	if p == nil {
		return nil
	}
	var out []string
	for i := int32(len(p.from) - 1); p.from[i] >= 0; i = p.from[i] {
		var before world
		before.decode(p.state[p.from[i]], m)
		out = append([]string{m.say(&before, p.by[i])}, out...)
	}
	return out
}

// report logs what a search has found.
func (f *found) report(t testing.TB) {
	t.Helper()
	text := fmt.Sprintf("%d states, depth %d, %d bodies, %.2f s, %.0f states/s", f.states, f.depth, f.bodies, f.took.Seconds(), f.rate())
	if f.violated != 0 {
		text += fmt.Sprintf("; %s violated in %d steps:\n\t%s", f.violated, len(f.trace), strings.Join(f.trace, "\n\t"))
	}
	t.Log(text)
}

func TestTheSetKeepsEveryHash(t *testing.T) {
	var s visited
	var b [8]byte
	for round := range 2 {
		for i := range uint64(100_000) {
			binary.LittleEndian.PutUint64(b[:], i)
			if s.add(xxhash.Sum64(b[:])) != (round == 0) {
				t.Fatalf("round %d, number %d", round, i)
			}
		}
	}
	if s.add(0) != true || s.add(0) || s.n != 100_001 {
		t.Errorf("%d hashes, want one more than 100000", s.n)
	}
}
