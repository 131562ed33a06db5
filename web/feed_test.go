package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/web/sample"
	"jaque.sh/jaque/web/view"
	"jaque.sh/jaque/web/wire"
)

func TestPagesAreToldOfWhatTheyShow(t *testing.T) {
	log, results := event.Log, event.Results
	for name, c := range map[string]struct {
		page   object.ID
		about  object.ID
		stream event.Stream
		want   bool
	}{
		"a list shows every decision":                  {"", "a!x", log, true},
		"a list shows what concerns the whole system":  {"", "", log, true},
		"a list does not follow measurements":          {"", "a!x", results, false},
		"a service's page shows its own measurement":   {"a!x", "a!x", results, true},
		"a service's page shows its host":              {"a!x", "a", log, true},
		"a service's page does not show its neighbour": {"a!x", "a!y", log, false},
		"a host's page shows its services":             {"a", "a!x", results, true},
		"a host's page does not show other hosts":      {"a", "b", log, false},
		"nor their services":                           {"a", "ab!x", log, false},
	} {
		if got := concerns(c.page, &event.Event{Object: c.about, Stream: c.stream}); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestAFeedWantsWhatWasAskedFor(t *testing.T) {
	check := &event.Event{Kind: event.CheckResult, Also: []event.Kind{event.FlappingStarted}, Object: "a!x"}
	measured := &event.Event{Stream: event.Results, Kind: event.CheckResult, Object: "a!x"}
	for name, c := range map[string]struct {
		feed feed
		e    *event.Event
		want bool
	}{
		"all decisions by default":               {feed{}, check, true},
		"no measurements by default":             {feed{}, measured, false},
		"measurements when asked for":            {feed{results: true}, measured, true},
		"one object":                             {feed{object: "a!x"}, check, true},
		"not another one":                        {feed{object: "a"}, check, false},
		"a kind":                                 {feed{kinds: []event.Kind{event.CheckResult}}, check, true},
		"a kind that happened along with it too": {feed{kinds: []event.Kind{event.FlappingStarted}}, check, true},
		"not another kind":                       {feed{kinds: []event.Kind{event.AckSet}}, check, false},
	} {
		if got := c.feed.wants(c.e); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestPositionsAreReadAsTheyAreWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := journal.Position{Log: rapid.Uint64().Draw(t, "log"), Results: rapid.Uint64().Draw(t, "results")}
		instance := rapid.StringMatching(`[A-Za-z0-9]{0,12}`).Draw(t, "instance")
		text := (&site{Options: Options{Instance: instance}}).eventID(want)
		if got, by, err := parsePosition(text); err != nil || got != want || by != instance {
			t.Fatalf("%s is read as %+v of %q, %v", text, got, by, err)
		}
	})
}

func FuzzParsePosition(f *testing.F) {
	for _, s := range []string{"", "1-2", "1", "1-2-3", "-1-2", "01-2", " 1-2", "18446744073709551616-0", "1-2 ", "0", "1-2.k3f9", "1-2.", "1-2.a.b", "1-2.é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, by, err := parsePosition(text)
		if err == nil && text != "0" && (&site{Options: Options{Instance: by}}).eventID(p) != text {
			t.Errorf("%q is read as %+v of %q", text, p, by)
		}
		if err != nil && asFault(err) == nil {
			t.Errorf("%q: the client is not told: %v", text, err)
		}
	})
}

func TestAFeedTellsEachEventOnce(t *testing.T) {
	site := small()
	w := httptest.NewRecorder()
	f := &feed{site: bare(t, site), outlet: &outlet{w: w, ctl: http.NewResponseController(w), now: time.Now}, at: journal.Position{Log: 4, Results: 9}}
	for _, e := range []event.Event{
		{Seq: 4, Kind: event.AckSet, Object: "a"},
		{Seq: 5, Kind: event.AckSet, Object: "a"},
		{Seq: 5, Kind: event.AckSet, Object: "a"},
		{Stream: event.Results, Seq: 10, Kind: event.CheckResult, Object: "a"},
		{Seq: 6, Kind: event.AckCleared, Object: "a"},
	} {
		if err := f.tell(&e); err != nil {
			t.Fatal(err)
		}
	}
	var ids []string
	for line := range strings.Lines(w.Body.String()) {
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			ids = append(ids, strings.TrimSpace(id))
		}
	}
	// The measurement is not told, but its position is: nothing is replayed
	// twice after a reconnection.
	if !slices.Equal(ids, []string{"5-9", "6-10"}) {
		t.Errorf("told %v", ids)
	}
}

// bare is the inside of a handler, without routes.
func bare(t testing.TB, s *sample.Site) *site {
	t.Helper()
	o := options(s)
	if err := o.check(); err != nil {
		t.Fatal(err)
	}
	return &site{Options: o}
}

func TestAQuietStreamShowsThatItLives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		site := small()
		o := options(site)
		stop := make(chan struct{})
		o.Stop = stop
		h, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "http://localhost"+root+"/events/stream", nil)
		done := make(chan struct{})
		go func() {
			h.ServeHTTP(w, r.WithContext(contextWithAddr(r, loopAddr{})))
			close(done)
		}()
		time.Sleep(3*heartbeat + time.Second)
		close(stop)
		<-done
		if n := strings.Count(w.Body.String(), ": still here"); n != 3 {
			t.Errorf("%d signs of life in three beats: %s", n, w.Body)
		}
	})
}

// loopAddr is a loopback address.
type loopAddr struct{}

func (loopAddr) Network() string { return "tcp" }
func (loopAddr) String() string  { return "127.0.0.1:1" }

func TestResultsOfCommandsAreRead(t *testing.T) {
	for name, c := range map[string]struct {
		kind               object.Kind
		q                  request
		state              object.State
		output, long, fail string
	}{
		"a state by name":                           {object.Service, request{State: json.RawMessage(`"CRITICAL"`), Output: "x"}, object.Critical, "x", "", ""},
		"a state in small letters":                  {object.Host, request{State: json.RawMessage(`"unreachable"`)}, object.Unreachable, "", "", ""},
		"a plugin's exit code":                      {object.Service, request{State: json.RawMessage(`3`)}, object.Unknown, "", "", ""},
		"further lines of the output":               {object.Service, request{State: json.RawMessage(`0`), Output: "a\nb\nc"}, object.OK, "a", "b\nc", ""},
		"further lines and more":                    {object.Service, request{State: json.RawMessage(`0`), Output: "a\nb", Long: "c"}, object.OK, "a", "b\nc", ""},
		"one line that ends":                        {object.Service, request{State: json.RawMessage(`0`), Output: "a\n"}, object.OK, "a", "", ""},
		"a service's state is none of a host":       {object.Host, request{State: json.RawMessage(`"CRITICAL"`)}, 0, "", "", `state is "CRITICAL"; write one of UP, DOWN, UNREACHABLE`},
		"a host has three states":                   {object.Host, request{State: json.RawMessage(`3`)}, 0, "", "", "state is 3; write one of UP"},
		"a service has four":                        {object.Service, request{State: json.RawMessage(`4`)}, 0, "", "", "state is 4; write one of OK"},
		"no state below zero":                       {object.Service, request{State: json.RawMessage(`-1`)}, 0, "", "", "state is -1"},
		"no half state":                             {object.Service, request{State: json.RawMessage(`1.5`)}, 0, "", "", "state is 1.5"},
		"a state that is none of the two":           {object.Service, request{State: json.RawMessage(`[1]`)}, 0, "", "", "state is [1]"},
		"a state that was forgotten":                {object.Service, request{}, 0, "", "", "state is missing"},
		"PENDING is no state that can be submitted": {object.Service, request{State: json.RawMessage(`"PENDING"`)}, 0, "", "", `state is "PENDING"`},
	} {
		got, err := c.q.result(c.kind)
		if c.fail != "" {
			if f := asFault(err); f == nil || f.Status != 400 || !strings.Contains(f.Detail, c.fail) {
				t.Errorf("%s: %v, want %q", name, err, c.fail)
			}
			continue
		}
		if err != nil || got.State != c.state || got.Output != c.output || got.Long != c.long || !got.Passive {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// The pages of a history join to the whole, also where many events have the
// same time.
func TestOlderEventsJoinToTheWhole(t *testing.T) {
	site := small()
	for i := range 3*lines + 7 {
		site.Result("a!x", object.State(i%4), fmt.Sprintf("output %d.", i), time.Duration(3*lines-i/3)*time.Second)
	}
	srv := serve(t, options(site))
	seen := map[int]bool{}
	path := "/events?object=a!x"
	for n := 0; path != ""; n++ {
		if n > 12 {
			t.Fatal("the pages do not end")
		}
		_, body := ask(t, http.MethodGet, srv.URL+path, "")
		for i := range 3*lines + 7 {
			if strings.Contains(body, fmt.Sprintf("output %d.", i)) {
				seen[i] = true
			}
		}
		path = older(body)
	}
	if len(seen) != 3*lines+7 {
		t.Errorf("the pages show %d of %d events", len(seen), 3*lines+7)
	}
}

// older returns the address of the next page of a history, "" on the last.
func older(body string) string {
	for part := range strings.SplitSeq(body, `href="`) {
		link, _, _ := strings.Cut(part, `"`)
		if strings.HasPrefix(link, "/events?") && strings.Contains(link, "until=") {
			return strings.ReplaceAll(link, "&amp;", "&")
		}
	}
	return ""
}

func TestHistoryIsRefusedWhereItCannotBeRead(t *testing.T) {
	srv := serve(t, options(small()))
	for name, c := range map[string]struct{ query, want string }{
		"a kind that is none":          {"kind=check.result,boom", `no kind of event is called "boom"`},
		"times are RFC 3339":           {"since=1769846400", "write a time as in 2026-01-31T08:00:00Z"},
		"the end needs the same":       {"until=now", `until is "now"`},
		"an empty stretch":             {"since=2026-01-01T00:00:00Z&until=2026-01-01T00:00:00Z", "since is not before until"},
		"no events":                    {"limit=0", "from 1 to 10000"},
		"too many events":              {"limit=10001", "from 1 to 10000"},
		"a number that is none":        {"limit=ten", "from 1 to 10000"},
		"yes is not true":              {"results=yes", "write true or false"},
		"a parameter that is unknown":  {"from=1", "write some of object, kind"},
		"a parameter that comes twice": {"object=a&object=b", "given 2 times"},
	} {
		resp, body := ask(t, http.MethodGet, srv.URL+root+"/events?"+c.query, "")
		var p wire.Problem
		if err := json.Unmarshal([]byte(body), &p); err != nil || resp.StatusCode != 400 || !strings.Contains(p.Detail, c.want) {
			t.Errorf("%s: %s %s, want %q", name, resp.Status, body, c.want)
		}
	}
	resp, body := ask(t, http.MethodGet, srv.URL+root+"/events?kind=boom", "")
	var p wire.Problem
	if err := json.Unmarshal([]byte(body), &p); err != nil || len(p.Known) != len(allKinds) {
		t.Errorf("%s: the kinds that are known are not told: %s", resp.Status, body)
	}
}

// The mux takes a part of a path that is "/" for none.
func TestAServiceMayBeCalledSlash(t *testing.T) {
	rule := &object.Rule{Attempts: 1, Check: object.Check{Kind: object.CheckTCP}}
	h := &object.Object{ID: object.HostID("h"), Name: "h", Rule: rule}
	s := &object.Object{ID: object.ServiceID("h", "/"), Name: "/", Host: h, Rule: rule}
	o := options(sample.New(h, s))
	asked := &commands{}
	o.Commands = asked
	srv := serve(t, o)
	for path, want := range map[string]int{
		root + "/services/h/%2F": 200, view.URL(s.ID): 200, "/services/h/": 404, "/services/h/a/b": 404, "/services/h/%2F/x": 404, root + "/services/h/%2F%2F": 404,
	} {
		if resp, body := ask(t, http.MethodGet, srv.URL+path, ""); resp.StatusCode != want || (want == 404 && strings.Contains(body, "...")) {
			t.Errorf("%s: %s %.200s", path, resp.Status, body)
		}
	}
	resp, _ := ask(t, http.MethodPost, srv.URL+view.URL(s.ID)+"/check", "")
	if resp.StatusCode != http.StatusSeeOther || !slices.Equal(asked.taken, []string{"check h!/"}) {
		t.Errorf("asked for a check: %s, %v", resp.Status, asked.taken)
	}
}

// Whatever a name holds, its address leads to it and its page shows it as text.
func TestEveryNameHasAnAddress(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		name := rapid.StringOfN(rapid.SampledFrom([]rune(`ab/%?#&;"'<> .\+é雪`)), 1, 8, -1).Draw(r, "name")
		if strings.Trim(name, ".") == "" {
			return // "." and ".." are no names: paths would lose them
		}
		rule := &object.Rule{Attempts: 1}
		h := &object.Object{ID: object.HostID("h"), Name: "h", Rule: rule}
		s := &object.Object{ID: object.ServiceID("h", name), Name: name, Host: h, Rule: rule}
		handler, err := New(options(sample.New(h, s)))
		if err != nil {
			r.Fatal(err)
		}
		req := httptest.NewRequest(http.MethodGet, "http://localhost"+root+"/services/h/"+url.PathEscape(name)+"?fields=service", nil)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, req.WithContext(contextWithAddr(req, loopAddr{})))
		var got struct{ Service string }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Service != name {
			r.Fatalf("%q: %d %s", name, w.Code, w.Body)
		}
	})
}
