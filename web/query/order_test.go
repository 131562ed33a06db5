package query

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/filter"
	"jaque.sh/jaque/web/sample"
)

// random returns an installation in which anything may have happened.
func random(t *rapid.T) *sample.Site {
	rules := []*object.Rule{{Attempts: 3, Labels: map[string]string{"role": "web"}}, {Attempts: 1, Labels: map[string]string{"role": "db"}}}
	var objects []*object.Object
	for i := range rapid.IntRange(1, 4).Draw(t, "hosts") {
		h := &object.Object{ID: object.HostID(fmt.Sprint("h", i)), Name: fmt.Sprint("h", i), Rule: rules[i%2]}
		objects = append(objects, h)
		for j := range rapid.IntRange(0, 4).Draw(t, "services") {
			name := fmt.Sprint("s", j)
			objects = append(objects, &object.Object{ID: object.ServiceID(h.Name, name), Name: name, Host: h, Rule: rules[j%2], Zone: fmt.Sprint("z", j%3)})
		}
	}
	site := sample.New(objects...)
	for range rapid.IntRange(0, 20).Draw(t, "results") {
		o := rapid.SampledFrom(objects).Draw(t, "object")
		state := object.State(rapid.IntRange(0, 2).Draw(t, "state"))
		says := []sample.Say{}
		if rapid.Bool().Draw(t, "soft") {
			says = append(says, sample.Soft(1))
		}
		if rapid.Bool().Draw(t, "acknowledged") {
			says = append(says, sample.Ack("a", "b"))
		}
		ago := time.Duration(rapid.IntRange(0, 100).Draw(t, "ago")) * time.Second
		site.Result(o.ID, state, rapid.SampledFrom([]string{"fine", "broken", ""}).Draw(t, "output"), ago, says...)
	}
	return site
}

// naive selects by looking at every object and sorting them all.
func naive(p *projection.Projection, q Query) []object.ID {
	var items []projection.Item
	for _, o := range p.Set().Objects {
		item, _ := p.Get(o.ID)
		if o.Kind() == q.Kind && (q.Filter == nil || q.Filter.Match(o, item.State)) {
			items = append(items, item)
		}
	}
	slices.SortStableFunc(items, func(a, b projection.Item) int {
		c := cmp.Compare(a.Object.ID, b.Object.ID)
		if key := keys[q.Order.Key]; key != nil {
			x, y := key(&a), key(&b)
			c = cmp.Or(cmp.Compare(x.N, y.N), cmp.Compare(x.S, y.S), c)
		}
		if q.Order.Desc {
			return -c
		}
		return c
	})
	ids := make([]object.ID, len(items))
	for i := range items {
		ids[i] = items[i].Object.ID
	}
	return ids
}

// The index of problems, the heap and the pages give what looking at everything
// gives.
func TestSelectingIsLookingAtEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		site := random(t)
		text := rapid.SampledFrom([]string{"", "problem", "unhandled", "problem and label.role=web", "!problem", "state=CRITICAL", "problem or pending", "host=h1", "output~broken"}).Draw(t, "filter")
		f, err := filter.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		q := Query{Kind: object.Kind(rapid.IntRange(0, 1).Draw(t, "kind")), Filter: f}
		if rapid.Bool().Draw(t, "sorted") {
			q.Order = Order{Key: rapid.SampledFrom(Keys()).Draw(t, "key"), Desc: rapid.Bool().Draw(t, "desc")}
		}
		want := naive(site.Projection, q)
		q.Limit = rapid.IntRange(0, 5).Draw(t, "limit")
		var got []object.ID
		for n := 0; ; n++ {
			page, err := Select(site.Projection, q)
			if err != nil || page.Total != len(want) || n > len(want) {
				t.Fatalf("%q, page %d: total %d of %d, %v", text, n, page.Total, len(want), err)
			}
			for _, i := range page.Items {
				got = append(got, i.Object.ID)
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q by %q: got %v, want %v", text, q.Order, got, want)
		}
	})
}

func TestOrdersAreReadAsTheyAreWritten(t *testing.T) {
	for _, key := range append(Keys(), "") {
		for _, desc := range []bool{false, key != ""} {
			want := Order{Key: key, Desc: desc}
			if got, err := ParseOrder(want.String()); err != nil || got != want {
				t.Errorf("%q is read as %+v, %v", want, got, err)
			}
		}
	}
	for _, text := range []string{"-", "--state", "State", "state ", "age", "+state"} {
		if got, err := ParseOrder(text); err == nil || !strings.Contains(err.Error(), "write one of attempt, ") {
			t.Errorf("%q is read as %+v, %v", text, got, err)
		}
	}
}

func TestOffsetsBeyondTheEndAreEmpty(t *testing.T) {
	site := sample.Office()
	for _, order := range []Order{{}, {Key: "state", Desc: true}} {
		for offset, want := range map[int]int{0: 5, 15: 3, 18: 0, 1000: 0} {
			r, err := Select(site.Projection, Query{Kind: object.Service, Order: order, Offset: offset, Limit: 5})
			if err != nil || len(r.Items) != want || r.Total != 18 || (r.Next == "") != (offset >= 15) {
				t.Errorf("from %d by %q: %d of %d items, next %q, %v", offset, order, len(r.Items), r.Total, r.Next, err)
			}
		}
	}
}

func FuzzCursor(f *testing.F) {
	site := sample.Office()
	for _, order := range []Order{{}, {Key: "state", Desc: true}} {
		r, err := Select(site.Projection, Query{Kind: object.Service, Order: order, Limit: 3})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(r.Next)
	}
	f.Add("e30")
	f.Add("%%")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Select(site.Projection, Query{Kind: object.Service, Cursor: text})
		if err == nil && (r.Total != 18 || len(r.Items) > r.Total) {
			t.Errorf("%q gives %d of %d", text, len(r.Items), r.Total)
		}
	})
}
