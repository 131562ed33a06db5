package query

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/filter"
)

// ErrCursor is returned for a cursor that was not made for the same order.
var ErrCursor = errors.New("the cursor does not belong to this sort order; start again without it")

// Query says which objects, in which order, from where.
type Query struct {
	Kind   object.Kind
	Filter *filter.Filter // nil = all
	Order  Order
	Cursor string // Result.Next of the page before; "" = from the start
	Offset int    // items skipped behind the cursor
	Limit  int    // items of a page; 0 = all
}

// Result is one page.
type Result struct {
	Items []projection.Item
	Total int    // matching items on all pages
	Next  string // cursor of the next page; "" = this is the last
}

// cursor is the place of the last item of a page. It holds the item's value,
// so that paging goes on where it stood even when the item has moved since.
type cursor struct {
	Order string    `json:"o"`
	N     int64     `json:"n,omitempty"`
	S     string    `json:"s,omitempty"`
	ID    object.ID `json:"i"`
}

// row is an item with its value under the order.
type row struct {
	item  projection.Item
	value value
	at    int // place by ID, which settles ties without looking at texts
}

// Select returns one page of the objects that match now.
func Select(p *projection.Projection, q Query) (Result, error) {
	after, err := q.decode()
	if err != nil {
		return Result{}, err
	}
	rows := q.collect(p)
	r := Result{Total: len(rows)}
	if after != nil {
		rows = slices.DeleteFunc(rows, func(a row) bool {
			return q.Order.compare(a.value, value{after.N, after.S}, a.item.Object.ID, after.ID) <= 0
		})
	}
	left := len(rows)
	to := left
	if q.Limit > 0 {
		to = min(to, q.Offset+q.Limit)
	}
	// Objects are in the order of their IDs already.
	if q.Order.Key != "" {
		rows = q.Order.smallest(rows, to)
	}
	from := min(q.Offset, to)
	r.Items = make([]projection.Item, 0, to-from)
	for _, one := range rows[from:to] {
		r.Items = append(r.Items, one.item)
	}
	if to < left && to > from {
		r.Next = q.encode(rows[to-1])
	}
	return r, nil
}

// collect returns the rows of the items that are of the kind and match.
func (q *Query) collect(p *projection.Projection) []row {
	look := filter.Look(p.State)
	if q.Filter != nil && q.Filter.NeedsProblem() {
		problems := p.Problems()
		rows := make([]row, 0, len(problems))
		for _, item := range problems {
			rows = q.keep(look, rows, item)
		}
		return rows
	}
	set := p.Set()
	objects, most := set.Hosts, len(set.Hosts)
	if q.Kind == object.Service {
		objects, most = set.Objects, len(set.Objects)-len(set.Hosts)
	}
	rows := make([]row, 0, most)
	for _, o := range objects {
		if o.Kind() == q.Kind {
			rows = q.keep(look, rows, projection.Item{Object: o, State: p.State(o.ID)})
		}
	}
	return rows
}

func (q *Query) keep(look filter.Look, rows []row, item projection.Item) []row {
	if item.Object.Kind() != q.Kind || (q.Filter != nil && !q.Filter.MatchIn(item.Object, item.State, look)) {
		return rows
	}
	rows = append(rows, row{item: item, at: len(rows)})
	if key := keys[q.Order.Key]; key != nil {
		last := &rows[len(rows)-1]
		last.value = key(&last.item)
	}
	return rows
}

func (q *Query) encode(last row) string {
	c := cursor{Order: q.Order.String(), N: last.value.N, S: last.value.S, ID: last.item.Object.ID}
	data, err := json.Marshal(c)
	if err != nil {
		panic("query: a cursor of texts and numbers has no JSON: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

func (q *Query) decode() (*cursor, error) {
	if q.Cursor == "" {
		return nil, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err != nil {
		return nil, ErrCursor
	}
	var c cursor
	if err := json.Unmarshal(data, &c); err != nil || c.Order != q.Order.String() {
		return nil, ErrCursor
	}
	return &c, nil
}
