package query

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
)

// Order is a sort key with its direction. The zero Order is by ID.
type Order struct {
	Key  string // one of Keys, "" = by ID
	Desc bool
}

// String returns the order as ParseOrder reads it.
func (o Order) String() string {
	if o.Desc {
		return "-" + o.Key
	}
	return o.Key
}

// ParseOrder reads a sort parameter: a key, with "-" in front for descending.
func ParseOrder(text string) (Order, error) {
	key, desc := strings.CutPrefix(text, "-")
	if key == "" && !desc {
		return Order{}, nil
	}
	if _, ok := keys[key]; !ok {
		return Order{}, fmt.Errorf("no sort key is called %q; write one of %s, with - in front for descending",
			key, strings.Join(Keys(), ", "))
	}
	return Order{Key: key, Desc: desc}, nil
}

// Keys returns the sort keys, sorted.
func Keys() []string {
	out := make([]string, 0, len(keys))
	for k := range keys {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// value is what an item is sorted by: a number, then a text. Equal values fall
// back to the ID, so that every order is total.
type value struct {
	N int64
	S string
}

// keys holds the value of each sort key.
var keys = map[string]func(i *projection.Item) value{
	"id":      func(i *projection.Item) value { return value{S: string(i.Object.ID)} },
	"host":    func(i *projection.Item) value { return value{S: i.Object.HostObject().Name} },
	"service": func(i *projection.Item) value { return value{S: i.Object.Name} },
	"state":   func(i *projection.Item) value { return value{N: int64(Severity(*i))} },
	"attempt": func(i *projection.Item) value { return value{N: int64(i.State.Status.Attempt)} },
	"output":  func(i *projection.Item) value { return value{S: i.State.Measure.Output} },
	"zone":    func(i *projection.Item) value { return value{S: i.Object.Zone} },

	"last_check":        func(i *projection.Item) value { return value{N: int64(i.State.Measure.LastCheck)} },
	"next_check":        func(i *projection.Item) value { return value{N: int64(i.State.Measure.NextCheck)} },
	"last_state_change": func(i *projection.Item) value { return value{N: int64(i.State.Status.LastChange)} },
	"latency":           func(i *projection.Item) value { return value{N: i.State.Measure.Latency} },
	"execution_time":    func(i *projection.Item) value { return value{N: i.State.Measure.Took} },
}

// Severity ranks how bad an item's state is: 0 fine, 1 pending, 2 WARNING, 3
// UNKNOWN, 4 CRITICAL, 5 UNREACHABLE, 6 DOWN.
func Severity(i projection.Item) int {
	s := i.State.Status
	if !s.Checked {
		return 1
	}
	if i.Object.Kind() == object.Host {
		return [...]int{0, 6, 5, 5}[min(s.State, 3)]
	}
	return [...]int{0, 2, 4, 3}[min(s.State, 3)]
}

// compare orders two items with their values under an order.
func (o Order) compare(a, b value, x, y object.ID) int {
	c := cmp.Or(cmp.Compare(a.N, b.N), cmp.Compare(a.S, b.S), cmp.Compare(x, y))
	if o.Desc {
		return -c
	}
	return c
}

func (o Order) rows(a, b row) int {
	c := cmp.Or(cmp.Compare(a.value.N, b.value.N), cmp.Compare(a.value.S, b.value.S), cmp.Compare(a.at, b.at))
	if o.Desc {
		return -c
	}
	return c
}

// smallest returns the first n rows in order. It changes rows. A page of a
// long list is picked with a heap, because sorting it all would cost more.
func (o Order) smallest(rows []row, n int) []row {
	if n > len(rows)/4 {
		slices.SortFunc(rows, o.rows)
		return rows[:n]
	}
	if n == 0 {
		return nil
	}
	heap := rows[:n] // the largest that was kept stands first
	for i := n/2 - 1; i >= 0; i-- {
		o.sink(heap, i)
	}
	for _, r := range rows[n:] {
		if o.rows(r, heap[0]) < 0 {
			heap[0] = r
			o.sink(heap, 0)
		}
	}
	slices.SortFunc(heap, o.rows)
	return heap
}

// sink moves an element of the heap down to its place.
func (o Order) sink(heap []row, i int) {
	for {
		largest := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
			if o.rows(heap[child], heap[largest]) > 0 {
				largest = child
			}
		}
		if largest == i {
			return
		}
		heap[i], heap[largest] = heap[largest], heap[i]
		i = largest
	}
}
