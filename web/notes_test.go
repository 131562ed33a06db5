package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/web/sample"
	"jaque.sh/jaque/web/view"
)

// telling returns the options of a process that tells people, with a canary.
func telling(s *sample.Site) Options {
	o := options(s)
	o.Canary = func() Canary {
		return Canary{Enabled: true, Every: time.Minute, Last: sample.Now.Add(-20 * time.Second)}
	}
	return o
}

// rows returns the decisions that a page of the log lists, as "object KIND", and
// where older ones are.
func rows(t *testing.T, url string) (list []string, older string) {
	t.Helper()
	for n := range parsePage(t, url, http.StatusOK).Descendants() {
		if n.Type == html.ElementNode && n.Data == "p" && class(n) == "what" {
			list = append(list, strings.Join(strings.Fields(text(n, "whose")+" "+text(n, "kind")), " "))
		}
		if n.Type == html.ElementNode && n.Data == "a" && valueOf(n, "rel") == "next" {
			older = valueOf(n, "href")
		}
	}
	return list, older
}

func valueOf(n *html.Node, key string) string {
	v, _ := attr(n, key)
	return v
}

func class(n *html.Node) string { return valueOf(n, "class") }

// text returns the text of an element inside another, by its class.
func text(n *html.Node, name string) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode && class(c.Parent) == name {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

func TestPagesAboutTellingHaveTheirStructure(t *testing.T) {
	srv := serve(t, telling(sample.Told()))
	for name, path := range map[string]string{
		"notifications": "/notifications?since=2026-03-01T11:50:00Z", "contacts": "/contacts", "explain": "/explain?object=db01!replication",
		"told": "/services/web01/http",
	} {
		structure(t, name, srv.URL+path)
	}
}

func TestWhatOthersSayNeverBecomesMarkupWherePeopleAreTold(t *testing.T) {
	s := sample.Told()
	s.Set().Contacts[`<b>"x"</b>`] = &object.Contact{Name: `<b>"x"</b>`, Alias: sample.HostileOutput}
	s.Set().ContactGroups[`<img src=y>`] = []string{`<b>"x"</b>`, "maria"}
	o := telling(s)
	o.Canary = func() Canary {
		return Canary{Enabled: true, Every: time.Minute, Hop: "<img src=z>", Reason: sample.HostileReason}
	}
	o.Delivery = func() Delivery {
		return Delivery{Open: 3, Channels: []ChannelState{{Name: "<i>", Failing: sample.Now, Reason: sample.HostileReason}}}
	}
	srv := serve(t, o)
	for name, path := range told {
		want := map[string]int{"notes-wrong": 400, "explain-wrong": 404}[name]
		harmless(t, name, parsePage(t, srv.URL+path, cmp.Or(want, http.StatusOK)))
	}
	for _, path := range []string{"/notifications", "/contacts", "/explain"} {
		for _, q := range []string{"object", "contact", "channel", "kind", "since", "before", "name", "at"} {
			resp, body := ask(t, http.MethodGet, srv.URL+path+`?`+q+`=%22%3E%3Cscript%3Ealert(1)%3C/script%3E`, "")
			if strings.Contains(body, "<script>alert") || resp.StatusCode >= 500 {
				t.Errorf("%s with %s: %s", path, q, resp.Status)
			}
		}
	}
}

func TestTheNotificationLogIsNarrowedByItsAddress(t *testing.T) {
	srv := serve(t, telling(sample.Told()))
	for query, want := range map[string]string{
		"object=web01":                                       "web01!disk PROBLEM, web01!http PROBLEM",
		"object=web01!http":                                  "web01!http PROBLEM",
		"kind=RECOVERY":                                      "web03!http RECOVERY, rack7 RECOVERY",
		"contact=boss&object=mail01":                         "mail01!queue FLAPPINGSTART, mail01!queue PROBLEM, mail01!imap PROBLEM, mail01 PROBLEM",
		"outcome=waiting":                                    "web01!disk PROBLEM, web01!http PROBLEM, mail01!queue FLAPPINGSTART, mail01 PROBLEM",
		"outcome=abandoned&contact=maria":                    "web01!disk PROBLEM",
		"outcome=failed&channel=email":                       "web01!disk PROBLEM, db01!disk PROBLEM",
		"outcome=delivered&channel=telegram&contact=jo":      "rack7!disk23 RECOVERY, rack7!disk23 PROBLEM",
		"outcome=suppressed&state=CRITICAL":                  "web04!load PROBLEM, mail01!imap PROBLEM, db01!replication PROBLEM",
		"state=DOWN":                                         "mail01 PROBLEM, rack7 PROBLEM",
		"since=2026-03-01T11:57:30Z":                         "web04!load PROBLEM, web01!disk PROBLEM",
		"since=2026-03-01T02:30&until=2026-03-01T09:00:30Z":  "db01!disk PROBLEM, web03!http RECOVERY, web03!http PROBLEM",
		"contact=nobody":                                     "",
		"object=web01!http&outcome=suppressed&channel=email": "",
	} {
		got, _ := rows(t, srv.URL+"/notifications?"+query)
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: got %q, want %q", query, strings.Join(got, ", "), want)
		}
	}
}

func TestWhatTheLogCannotBeNarrowedToIsSaid(t *testing.T) {
	srv := serve(t, telling(sample.Told()))
	for query, want := range map[string]string{
		"kind=PROBLM": "write one of PROBLEM", "outcome=lost": "write one of delivered", "state=BAD": "write one of OK", "since=yesterday": "write a time as in",
		"since=2026-03-02T00:00:00Z&until=2026-03-01T00:00:00Z": "swap them", "before=x": "write a position of the log", "before=0": "write a position of the log",
	} {
		resp, body := ask(t, http.MethodGet, srv.URL+"/notifications?"+query, "")
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(body, want) || !strings.Contains(body, `name="outcome"`) {
			t.Errorf("%s: %s, has %q: %v", query, resp.Status, want, strings.Contains(body, want))
		}
	}
}

// unreadable is a log that cannot be read.
type unreadable struct{ Log }

func (unreadable) History(context.Context, journal.Query) ([]event.Event, error) {
	return nil, errors.New("no quorum")
}

func TestPagesAboutTellingSurviveALogThatCannotBeRead(t *testing.T) {
	s := sample.Told()
	o := telling(s)
	o.History = unreadable{s}
	srv := serve(t, o)
	for path, want := range map[string]int{"/notifications": 503, "/contacts": 200, "/status": 200, "/services/web01/http": 200} {
		if resp, _ := ask(t, http.MethodGet, srv.URL+path, ""); resp.StatusCode != want {
			t.Errorf("%s: %s, want %d", path, resp.Status, want)
		}
	}
	o.History, o.Registerer = nil, nil
	srv = serve(t, o)
	for path, want := range map[string]int{"/notifications": 503, "/contacts": 200, "/status": 200, "/services/web01/http": 200, "/explain?object=web01": 200} {
		if resp, _ := ask(t, http.MethodGet, srv.URL+path, ""); resp.StatusCode != want {
			t.Errorf("without a log, %s: %s, want %d", path, resp.Status, want)
		}
	}
}

func TestThePagesOfTheLogHaveEachDecisionOnce(t *testing.T) {
	s := sample.Told()
	want := map[string]int{}
	for n := range 130 {
		id := object.ID([]string{"web02!http", "web03!disk"}[n%2])
		state := []object.State{object.Critical, object.Critical, object.OK, object.OK}[n%4]
		s.Result(id, state, fmt.Sprint("turn ", n), 30*time.Second)
	}
	all, _ := s.History(t.Context(), journal.Query{Kinds: noteKinds(), Since: sample.Now.Add(-noteWindow), Limit: 10_000})
	for _, e := range all {
		for _, n := range e.Notes {
			if e.Object.Host() != "rack7" {
				want[string(e.Object)+" "+n.Kind]++
			}
		}
	}
	srv := serve(t, telling(s))
	got, pages := map[string]int{}, 0
	for at := "/notifications?since=2026-02-28T10:30:00Z"; at != ""; pages++ {
		list, older := rows(t, srv.URL+at)
		if len(list) > view.NoteRows || pages > 10 {
			t.Fatalf("page %d has %d rows", pages, len(list))
		}
		for _, row := range list {
			got[row]++
		}
		at = older
	}
	for row, n := range want {
		if got[row] != n {
			t.Errorf("%s is listed %d times, want %d", row, got[row], n)
		}
	}
	if pages < 3 {
		t.Errorf("%d pages", pages)
	}
}

func TestTheCanaryIsOnTheEnginePage(t *testing.T) {
	for name, c := range map[string]struct {
		canary Canary
		want   string
	}{
		"there is none":              {Canary{}, "There is no canary"},
		"its rounds come":            {Canary{Enabled: true, Every: time.Minute, Last: sample.Now.Add(-30 * time.Second)}, "ALIVE"},
		"it stopped at a hop":        {Canary{Enabled: true, Every: time.Minute, Last: sample.Now.Add(-10 * time.Minute), Hop: "delivery"}, "<b>delivery</b>"},
		"two rounds are missing":     {Canary{Enabled: true, Every: time.Minute, Last: sample.Now.Add(-121 * time.Second)}, "LATE"},
		"the first never came":       {Canary{Enabled: true, Every: time.Minute}, "LATE"},
		"the first is still to come": {Canary{Enabled: true, Every: 10 * time.Hour}, "WAITING"},
	} {
		o := options(sample.Told())
		o.Canary = func() Canary { return c.canary }
		srv := serve(t, o)
		if _, body := ask(t, http.MethodGet, srv.URL+"/status", ""); !strings.Contains(body, c.want) {
			t.Errorf("%s: the page does not say %q", name, c.want)
		}
	}
}

func TestExplainSaysWhatIsUnknown(t *testing.T) {
	srv := serve(t, telling(sample.Told()))
	for query, want := range map[string]struct {
		status int
		text   string
	}{
		"":                                     {200, "Write the name of a host or of a service"},
		"object=web1":                          {404, "web01"},
		"object=web01&contact=mari":            {404, "maria"},
		"object=web01&kind=PROBLM":             {400, "PROBLEM"},
		"object=web01&at=yesterday":            {400, "write a time as in"},
		"object=web01&at=2026-03-01T11:00":     {200, "As it was at 2026-03-01 11:00:00 UTC"},
		"object=web01&at=2026-03-02T11:00:00Z": {200, "As if nothing happened until 2026-03-02 11:00:00 UTC"},
		"object=db01!replication":              {200, "acknowledged by maria"},
	} {
		resp, body := ask(t, http.MethodGet, srv.URL+"/explain?"+query, "")
		if resp.StatusCode != want.status || !strings.Contains(body, want.text) {
			t.Errorf("%q: %s, says %q: %v", query, resp.Status, want.text, strings.Contains(body, want.text))
		}
	}
}
