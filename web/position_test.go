package web

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/sample"
	"jaque.sh/jaque/web/wire"
)

// A process is killed and its last measurements with it. The next one gives
// their numbers again, and a client that comes back must hear of those.
func TestAStreamResumesAfterAKill(t *testing.T) {
	for name, c := range map[string]struct {
		id   string // found end is 4, then 5 and 6 are written
		want []string
	}{
		"an id of a process that was killed":          {"1-9.old", []string{"five", "six"}},
		"an id that names no process":                 {"1-9", []string{"five", "six"}},
		"an id of an older process that lost nothing": {"1-3.old", []string{"four", "five", "six"}},
		"an id of this process":                       {"1-5.k3f9a2", []string{"six"}},
		"the beginning":                               {"0", []string{"began", "one", "two", "three", "four", "five", "six"}},
	} {
		t.Run(name, func(t *testing.T) {
			site := small()
			site.Result("a!x", object.OK, "began", 0)
			for _, text := range []string{"one", "two", "three", "four"} {
				site.Repeat("a!x", text, 0)
			}
			site.Reopen()
			for _, text := range []string{"five", "six"} {
				site.Repeat("a!x", text, 0)
			}
			o := options(site)
			o.Instance = "k3f9a2"
			l := listen(t, serve(t, o).URL+root+"/events/stream?results=true&after="+c.id)
			var got []string
			for range c.want {
				var e struct{ Output string }
				if _, data := l.next(); json.Unmarshal([]byte(data), &e) != nil {
					t.Fatalf("no event: %s", data)
				}
				got = append(got, e.Output)
			}
			if !slices.Equal(got, c.want) || l.id != "1-6.k3f9a2" {
				t.Errorf("got %v up to %s, want %v", got, l.id, c.want)
			}
		})
	}
}

func TestAPositionOfAnotherLogIsRefused(t *testing.T) {
	srv := serve(t, options(sample.Office()))
	for _, id := range []string{"500-500", "500-0.k3f9a2", "38-1"} {
		resp, body := ask(t, http.MethodGet, srv.URL+root+"/events/stream", "", "Last-Event-ID", id)
		var p wire.Problem
		if err := json.Unmarshal([]byte(body), &p); err != nil || resp.StatusCode != http.StatusBadRequest ||
			!strings.Contains(p.Detail, "position "+id+" is from another log: this one ends at 37") {
			t.Errorf("%s: %s %s", id, resp.Status, body)
		}
	}
}
