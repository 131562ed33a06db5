package query

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/filter"
	"jaque.sh/jaque/web/sample"
)

func TestPagesJoinToTheWhole(t *testing.T) {
	site := sample.Office()
	rapid.Check(t, func(t *rapid.T) {
		order := Order{Key: rapid.SampledFrom(append(Keys(), "")).Draw(t, "key")}
		order.Desc = order.Key != "" && rapid.Bool().Draw(t, "desc")
		f, err := filter.Parse(rapid.SampledFrom([]string{"", "problem", "host~web", "nowhere"}).Draw(t, "filter"))
		if err != nil {
			t.Fatal(err)
		}
		q := Query{Kind: rapid.SampledFrom([]object.Kind{object.Host, object.Service}).Draw(t, "kind"), Filter: f, Order: order}
		whole, err := Select(site.Projection, q)
		if err != nil {
			t.Fatal(err)
		}
		q.Limit = rapid.IntRange(1, 7).Draw(t, "limit")
		var ids []object.ID
		for {
			page, err := Select(site.Projection, q)
			if err != nil {
				t.Fatal(err)
			}
			if page.Total != whole.Total || len(page.Items) > q.Limit {
				t.Fatalf("a page of %d, total %d, want %d", len(page.Items), page.Total, whole.Total)
			}
			for _, i := range page.Items {
				ids = append(ids, i.Object.ID)
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
		for n, i := range whole.Items {
			if n >= len(ids) || ids[n] != i.Object.ID {
				t.Fatalf("pages give %v, different from the whole at %d", ids, n)
			}
		}
		if len(ids) != whole.Total {
			t.Fatalf("%d items on pages, %d in all", len(ids), whole.Total)
		}
	})
}

func TestPagingGoesOnWhereItStoodWhenItemsMove(t *testing.T) {
	site := sample.Office()
	q := Query{Kind: object.Service, Order: Order{Key: "state", Desc: true}, Limit: 3}
	page, err := Select(site.Projection, q)
	if err != nil {
		t.Fatal(err)
	}
	last := page.Items[2].Object.ID
	site.Result(last, object.OK, "fine again", time.Second)
	q.Cursor, q.Limit = page.Next, 0
	rest, err := Select(site.Projection, q)
	if err != nil {
		t.Fatal(err)
	}
	seen := slices.IndexFunc(rest.Items, func(i projection.Item) bool { return i.Object.ID == page.Items[0].Object.ID })
	if seen >= 0 || len(rest.Items) < 15 {
		t.Errorf("%d items follow, the first of the page before at %d", len(rest.Items), seen)
	}
}

func TestACursorOfAnotherOrderIsRefused(t *testing.T) {
	site := sample.Office()
	page, err := Select(site.Projection, Query{Kind: object.Service, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{page.Next, "!", "e30"} {
		q := Query{Kind: object.Service, Order: Order{Key: "host"}, Cursor: c}
		if _, err := Select(site.Projection, q); err != ErrCursor {
			t.Errorf("cursor %q: %v", c, err)
		}
	}
}

func TestWorstFirst(t *testing.T) {
	site := sample.Office()
	order, err := ParseOrder("-state")
	if err != nil || order.String() != "-state" {
		t.Fatalf("%v, %v", order, err)
	}
	r, err := Select(site.Projection, Query{Kind: object.Host, Order: order})
	if err != nil || r.Items[0].Object.ID != "mail01" {
		t.Errorf("first is %v, %v", r.Items[0].Object.ID, err)
	}
	for _, bad := range []string{"age", "-", "--state"} {
		if _, err := ParseOrder(bad); err == nil {
			t.Errorf("order %q is taken", bad)
		}
	}
}

func TestNearestIsWhatWasMeant(t *testing.T) {
	set := sample.Office().Set()
	for id, want := range map[object.ID]object.ID{
		"web1": "web01", "WEB01": "web01", "wbe02": "web02", "web01!htp": "web01!http", "db1!disk": "db01!disk",
		"nothing": "", "web01!something-else": "", "": "",
	} {
		if got, _ := Nearest(set, id); got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
}

func TestAPageOfALongListIsThatOfTheSortedList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.Int64Range(0, 5), 0, 60).Draw(t, "numbers")
		o := Order{Key: "state", Desc: rapid.Bool().Draw(t, "desc")}
		rows := make([]row, len(numbers))
		for i, n := range numbers {
			rows[i] = row{value: value{N: n}, at: i}
		}
		sorted := slices.SortedFunc(slices.Values(rows), o.rows)
		n := rapid.IntRange(0, len(rows)).Draw(t, "n")
		for i, r := range o.smallest(rows, n) {
			if r.at != sorted[i].at {
				t.Fatalf("place %d of %d holds %d, want %d", i, n, r.at, sorted[i].at)
			}
		}
	})
}
