package schedule

import "jaque.sh/jaque/appliance/core/object"

// Queue orders small integer keys by due time: a 4-ary heap with the position of
// every key, so that one key's due time changes in O(log n) and without
// allocation. The zero Queue is empty and ready. It is not safe for concurrent
// use.
type Queue struct {
	heap []item
	at   []int32 // key → index in heap + 1; 0 = not queued
}

type item struct {
	due object.Time
	key int32
}

// before orders by due time, then by key, so that the order never depends on
// the history of the heap.
func (a item) before(b item) bool {
	if a.due != b.due {
		return a.due < b.due
	}
	return a.key < b.key
}

// Len returns the number of queued keys.
func (q *Queue) Len() int { return len(q.heap) }

// Set queues a key for a due time, or moves it there. Keys are small integers
// from 0; the queue keeps a table as long as the largest.
func (q *Queue) Set(key int32, due object.Time) {
	for int(key) >= len(q.at) {
		q.at = append(q.at, make([]int32, int(key)+1-len(q.at))...)
	}
	it := item{due, key}
	if p := q.at[key]; p != 0 {
		i := int(p - 1)
		old := q.heap[i]
		q.heap[i] = it
		if it.before(old) {
			q.up(i)
		} else {
			q.down(i)
		}
		return
	}
	q.heap = append(q.heap, it)
	q.at[key] = int32(len(q.heap))
	q.up(len(q.heap) - 1)
}

// Remove takes a key out. A key that is not queued is left alone.
func (q *Queue) Remove(key int32) {
	if int(key) >= len(q.at) || q.at[key] == 0 {
		return
	}
	i := int(q.at[key] - 1)
	q.at[key] = 0
	last := len(q.heap) - 1
	moved := q.heap[last]
	q.heap = q.heap[:last]
	if i == last {
		return
	}
	q.heap[i] = moved
	q.at[moved.key] = int32(i + 1)
	q.up(i)
	q.down(int(q.at[moved.key] - 1))
}

// Due returns when a key is due; ok is false if it is not queued.
func (q *Queue) Due(key int32) (due object.Time, ok bool) {
	if int(key) >= len(q.at) || q.at[key] == 0 {
		return 0, false
	}
	return q.heap[q.at[key]-1].due, true
}

// Next returns the earliest due time; ok is false if the queue is empty.
func (q *Queue) Next() (due object.Time, ok bool) {
	if len(q.heap) == 0 {
		return 0, false
	}
	return q.heap[0].due, true
}

// Pop takes out the earliest key that is due at now; ok is false if none is.
func (q *Queue) Pop(now object.Time) (key int32, due object.Time, ok bool) {
	if len(q.heap) == 0 || q.heap[0].due > now {
		return 0, 0, false
	}
	it := q.heap[0]
	q.Remove(it.key)
	return it.key, it.due, true
}

func (q *Queue) up(i int) {
	it := q.heap[i]
	for i > 0 {
		parent := (i - 1) / 4
		if !it.before(q.heap[parent]) {
			break
		}
		q.put(i, q.heap[parent])
		i = parent
	}
	q.put(i, it)
}

func (q *Queue) down(i int) {
	it := q.heap[i]
	for {
		best, first := -1, 4*i+1
		for c := first; c < min(first+4, len(q.heap)); c++ {
			if best < 0 || q.heap[c].before(q.heap[best]) {
				best = c
			}
		}
		if best < 0 || !q.heap[best].before(it) {
			break
		}
		q.put(i, q.heap[best])
		i = best
	}
	q.put(i, it)
}

func (q *Queue) put(i int, it item) {
	q.heap[i] = it
	q.at[it.key] = int32(i + 1)
}
