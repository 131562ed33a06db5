package deliver

// heap keeps the smallest of its items at hand. Each item knows its place, so that
// one in the middle can be taken out or move when what it is ordered by changes.
type heap[T any] struct {
	items []T
	less  func(a, b T) bool
	place func(T) *int // where the item keeps its place; -1 = it is not in the heap
}

func (h *heap[T]) len() int { return len(h.items) }

// first returns the smallest item of a heap that is not empty.
func (h *heap[T]) first() T { return h.items[0] }

func (h *heap[T]) push(x T) {
	*h.place(x) = len(h.items)
	h.items = append(h.items, x)
	h.up(len(h.items) - 1)
}

func (h *heap[T]) pop() T {
	x := h.items[0]
	h.remove(x)
	return x
}

// remove takes an item out; one that is not in the heap is left alone.
func (h *heap[T]) remove(x T) {
	i := *h.place(x)
	if i < 0 {
		return
	}
	last := len(h.items) - 1
	h.swap(i, last)
	var none T
	h.items[last] = none
	h.items = h.items[:last]
	*h.place(x) = -1
	if i < last {
		h.fix(h.items[i])
	}
}

// fix puts an item in its place after what it is ordered by has changed.
func (h *heap[T]) fix(x T) {
	i := *h.place(x)
	h.down(i)
	h.up(*h.place(x))
}

func (h *heap[T]) swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	*h.place(h.items[i]), *h.place(h.items[j]) = i, j
}

func (h *heap[T]) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.less(h.items[i], h.items[parent]) {
			return
		}
		h.swap(i, parent)
		i = parent
	}
}

func (h *heap[T]) down(i int) {
	for {
		child := 2*i + 1
		if child+1 < len(h.items) && h.less(h.items[child+1], h.items[child]) {
			child++
		}
		if child >= len(h.items) || !h.less(h.items[child], h.items[i]) {
			return
		}
		h.swap(i, child)
		i = child
	}
}
