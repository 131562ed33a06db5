package view

import (
	"net/url"
	"strconv"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
)

// PageSize is how many rows a list shows at once.
const PageSize = 50

// List is a list of hosts or services.
type List struct {
	Chrome  Chrome
	Heading string
	Path    string
	Host    bool // a list of hosts
	Filter  string
	Error   string // what is wrong with the filter or the sort key
	Sort    string
	Quick   []Link // filters worth a click
	Heads   []Head
	Rows    []Row
	Range   string // "51 to 100 of 230"
	Prev    string
	Next    string
	Empty   string // why there is no row
	At      string // the instant as it stands in addresses, "" = now
	Then    When   // the instant, seen from itself
	Present string // the same list now
	Bar     Bulk
}

// Head is the head of a column.
type Head struct {
	Label string
	URL   string // "" = cannot be sorted by
	Order string // ascending, descending, "" = sorted by another column
	Class string
}

// ListRequest is what a list's address says.
type ListRequest struct {
	Kind   object.Kind
	Filter string
	Sort   string
	Page   int // from 1
	Error  string
	At     object.Time // 0 = now
	Why    string      // why this browser cannot change anything, "" = it can
}

// NewList fills a list from the items of one page.
func NewList(c Chrome, q ListRequest, items []projection.Item, total int, now time.Time) List {
	l := List{
		Chrome: c, Heading: "Services", Path: "/" + q.Kind.String() + "s", Host: q.Kind == object.Host,
		Filter: q.Filter, Error: q.Error, Sort: q.Sort, Rows: NewRows(items, now),
	}
	if l.Host {
		l.Heading = "Hosts"
	}
	if q.At != 0 {
		l.At, l.Then = q.instant(), NewWhen(q.At, now)
		present := q
		present.At = 0
		l.Present = present.url(q.Sort, q.Filter, 1)
	}
	l.Heads = q.heads()
	if q.At == 0 && q.Error == "" && q.Why == "" && len(items) > 0 {
		Pickable(l.Rows)
		l.Bar = NewBulk(q.Kind.String(), q.Filter, total, q.url(q.Sort, q.Filter, q.Page))
	}
	l.Quick = q.quick()
	from := (q.Page-1)*PageSize + 1
	if len(items) > 0 {
		l.Range = Number(from) + " to " + Number(from+len(items)-1) + " of " + Number(total)
	}
	if q.Page > 1 {
		l.Prev = q.url(q.Sort, q.Filter, q.Page-1)
	}
	if from-1+len(items) < total {
		l.Next = q.url(q.Sort, q.Filter, q.Page+1)
	}
	switch {
	case len(items) > 0 || q.Error != "":
	case q.Filter != "":
		l.Empty = "Nothing matches this filter."
	default:
		l.Empty = "The configuration declares no " + q.Kind.String() + "s yet."
	}
	return l
}

func (q ListRequest) url(sort, filter string, page int) string {
	v := url.Values{}
	if filter != "" {
		v.Set("filter", filter)
	}
	if sort != "" {
		v.Set("sort", sort)
	}
	if page > 1 {
		v.Set("page", strconv.Itoa(page))
	}
	if q.At != 0 {
		v.Set("at", q.instant())
	}
	u := "/" + q.Kind.String() + "s"
	if len(v) > 0 {
		u += "?" + v.Encode()
	}
	return u
}

// instant writes At as addresses have it.
func (q ListRequest) instant() string { return q.At.Std().Format(time.RFC3339Nano) }

func (q ListRequest) heads() []Head {
	columns := []struct{ label, key, class string }{
		{"State", "-state", "state"},
		{"Host", "host", "name"},
		{"Service", "service", "name"},
		{"Output", "", "output"},
		{"Since", "-last_state_change", "when"},
		{"Checked", "-last_check", "when"},
	}
	var heads []Head
	for _, c := range columns {
		if q.Kind == object.Host && c.key == "service" {
			continue
		}
		h := Head{Label: c.label, Class: c.class}
		if c.key != "" {
			h.URL, h.Order = q.headURL(c.key)
		}
		heads = append(heads, h)
	}
	return heads
}

// headURL returns where a column's head leads: its own order first, the
// opposite when the list has that already.
func (q ListRequest) headURL(key string) (to, order string) {
	opposite := "-" + key
	if key[0] == '-' {
		opposite = key[1:]
	}
	words := map[bool]string{true: "descending", false: "ascending"}
	switch q.Sort {
	case key:
		return q.url(opposite, q.Filter, 1), words[key[0] == '-']
	case opposite:
		return q.url(key, q.Filter, 1), words[opposite[0] == '-']
	}
	return q.url(key, q.Filter, 1), ""
}

func (q ListRequest) quick() []Link {
	filters := []Link{{Label: "all"}, {Label: "unhandled", Key: "unhandled"}, {Label: "problems", Key: "problem"}}
	if q.Kind == object.Service {
		filters = append(filters, Link{Label: "critical", Key: "state=CRITICAL"}, Link{Label: "warning", Key: "state=WARNING"})
	}
	filters = append(filters,
		Link{Label: "acknowledged", Key: "acknowledged"}, Link{Label: "in downtime", Key: "downtime"},
		Link{Label: "flapping", Key: "flapping"}, Link{Label: "pending", Key: "pending"})
	for i := range filters {
		filters[i].URL = q.url(q.Sort, filters[i].Key, 1)
		filters[i].Current = filters[i].Key == q.Filter
	}
	return filters
}
