package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/sample"
	"jaque.sh/jaque/web/wire"
)

type listAnswer struct {
	Items []map[string]any `json:"items"`
	Total int              `json:"total"`
	Next  string           `json:"next"`
}

// fields are the fields of an item that are promised, in their order.
var fields = strings.Fields(`host service state state_type attempt max_attempts output long_output perfdata last_check
	next_check last_state_change last_hard_state_change latency execution_time acknowledged downtime_depth flapping
	percent_state_change labels groups zone owner epoch check_kind acknowledgement in_downtime downtimes comments root
	settings check_period freshness stale`)

func TestItemsHaveExactlyTheFieldsThatArePromised(t *testing.T) { // S009
	srv := serve(t, options(sample.Office()))
	for path, want := range map[string][]string{
		"/services": fields,
		"/hosts":    slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return f == "service" }),
	} {
		var list listAnswer
		get(t, srv.URL+root+path, &list)
		if list.Total != len(list.Items) || list.Total == 0 || list.Next != "" {
			t.Fatalf("%s: %d items, total %d, next %q", path, len(list.Items), list.Total, list.Next)
		}
		var got []string
		for _, f := range want {
			if _, ok := list.Items[0][f]; ok {
				got = append(got, f)
			}
		}
		if len(got) != len(want) || len(list.Items[0]) != len(want) {
			t.Errorf("%s: has %v of %v, and %d fields", path, got, want, len(list.Items[0]))
		}
	}
}

func TestOneItemSaysWhatTheStateIs(t *testing.T) {
	srv := serve(t, options(sample.Office()))
	var item map[string]any
	get(t, srv.URL+root+"/services/web01/http", &item)
	for field, want := range map[string]any{
		"host": "web01", "service": "http", "state": "CRITICAL", "state_type": "hard", "attempt": 3.0, "max_attempts": 3.0,
		"last_check": "2026-03-01T11:59:40.000Z", "latency": 0.0012, "execution_time": 0.812, "acknowledged": false,
		"downtime_depth": 0.0, "flapping": false, "zone": "default", "owner": "engine-1", "epoch": 3.0, "check_kind": "http",
		"perfdata": "time=0.812s;1;3;0 size=512B;;;0", "last_state_change": "2026-03-01T11:57:00.000Z",
	} {
		if item[field] != want {
			t.Errorf("%s is %v, want %v", field, item[field], want)
		}
	}
	if labels, ok := item["labels"].(map[string]any); !ok || labels["role"] != "web" || labels["team"] != "platform" {
		t.Errorf("labels are %v", item["labels"])
	}
	var never map[string]any
	get(t, srv.URL+root+"/services/db01/backup?fields=state,last_check", &never)
	if len(never) != 2 || never["state"] != "PENDING" || never["last_check"] != nil {
		t.Errorf("an object that was never checked is %v", never)
	}
	var hostile map[string]any
	get(t, srv.URL+root+"/services/db01/"+url.PathEscape(sample.Hostile), &hostile)
	if hostile["service"] != sample.Hostile || hostile["output"] != sample.HostileOutput {
		t.Errorf("a name with slash, percent and quote comes back as %v", hostile)
	}
	var host map[string]any
	get(t, srv.URL+root+"/hosts/mail01", &host)
	if host["state"] != "DOWN" {
		t.Errorf("host state is %v", host["state"])
	}
}

func TestListsAreFilteredSortedAndPaged(t *testing.T) {
	srv := serve(t, options(sample.Office()))
	var all, paged []string
	for next, n := "", 0; ; n++ {
		var list listAnswer
		get(t, srv.URL+root+"/services?sort=-state&limit=5&fields=host,service&filter=problem&cursor="+next, &list)
		for _, i := range list.Items {
			paged = append(paged, i["host"].(string)+"!"+i["service"].(string))
		}
		if next = list.Next; next == "" {
			break
		}
		if len(list.Items) != 5 || n > 5 {
			t.Fatalf("page %d has %d items", n, len(list.Items))
		}
	}
	var list listAnswer
	get(t, srv.URL+root+"/services?sort=-state&filter=problem", &list)
	for _, i := range list.Items {
		all = append(all, i["host"].(string)+"!"+i["service"].(string))
	}
	if !slices.Equal(all, paged) || len(all) != 9 || list.Items[0]["state"] != "CRITICAL" || list.Items[8]["state"] != "WARNING" {
		t.Errorf("pages give %v, the whole is %v", paged, all)
	}
	get(t, srv.URL+root+"/services?filter="+url.QueryEscape("unhandled and host~WEB"), &list)
	if list.Total != 2 {
		t.Errorf("%d services of web hosts are unhandled, want 2", list.Total)
	}
}

func TestErrorsAreProblemsThatSayWhatToWrite(t *testing.T) {
	srv := serve(t, options(sample.Office()))
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/services?filter=stat%3DOK":     {400, `no field is called \"stat\"`},
		"/services?sort=age":             {400, `no sort key is called \"age\"; write one of attempt,`},
		"/services?limit=0":              {400, `limit is \"0\"; write a number from 1`},
		"/services?limit=5&limit=6":      {400, `given 2 times`},
		"/services?flter=x":              {400, `no parameter is called \"flter\" here; write some of filter, sort`},
		"/services?fields=state,age":     {400, `no field is called \"age\"`},
		"/services?cursor=x":             {400, `the cursor does not belong`},
		"/hosts?fields=service":          {400, `no field is called \"service\"`},
		"/hosts/web1":                    {404, `did you mean \"web01\"?`},
		"/services/web01/htp":            {404, `\"did_you_mean\":\"web01!http\"`},
		"/services/web01/nothing-at-all": {404, `no service is called`},
		"/nothing":                       {404, `/api/v1/hosts`},
		"/events?kind=check":             {400, `no kind of event is called \"check\"`},
		"/events?since=yesterday":        {400, `write a time as in`},
		"/events?limit=99999":            {400, `from 1 to 10000`},
		"/events?results=maybe":          {400, `write true or false`},
		"/events?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z": {400, `swap them`},
		"/events/stream?after=12": {400, `write the id of an event`},
		"/status?x=1":             {400, `none is known`},
		"/commands":               {405, `use POST`},
	} {
		resp, body := ask(t, http.MethodGet, srv.URL+root+path, "")
		if resp.StatusCode != want.status || resp.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %s, %s", path, resp.Status, resp.Header.Get("Content-Type"))
		}
		var p wire.Problem
		if err := json.Unmarshal([]byte(body), &p); err != nil || p.Status != want.status || p.Title == "" {
			t.Errorf("%s: problem %+v, %v", path, p, err)
		}
		if text := strings.ReplaceAll(want.text, `\"did_you_mean\":\"web01!http\"`, `"did_you_mean":"web01!http"`); !strings.Contains(body, text) {
			t.Errorf("%s: %s\nwant in it: %s", path, body, text)
		}
	}
	resp, body := ask(t, http.MethodGet, srv.URL+root+"/services?filter=a%20%28", "")
	var p wire.Problem
	if err := json.Unmarshal([]byte(body), &p); err != nil || p.Column != 4 {
		t.Errorf("%s: column %d, want 4: %s", resp.Status, p.Column, body)
	}
}

func TestStatusSaysHowThingsAre(t *testing.T) {
	srv := serve(t, options(sample.Office()))
	_, body := ask(t, http.MethodGet, srv.URL+root+"/status", "")
	for _, want := range []string{
		`"version":"0.1.0"`, `"role":"all"`, `"engine_id":"engine-1"`, `"epoch":3`, `"members":["engine-1"]`, `"engines":[{"id":"engine-1","live":true,"joined":`, `"gone":null,"objects":14,"share":0.56`,
		`{"id":"engine-3","live":false,`, `"age":20`,
		`"log":{"seq":37,"results_seq":2,`, `"DOWN":1`, `"UNREACHABLE":0`, `"CRITICAL":5`, `"p99":0.013`, `"last_reload_successful":true`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
}

func TestHistoryIsNarrowedAndNewestFirst(t *testing.T) {
	srv := serve(t, options(sample.Office()))
	var h struct{ Items []wire.Event }
	_, body := ask(t, http.MethodGet, srv.URL+root+"/events?object=web03!http&kind=check.result&since=2026-03-01T00:00:00Z", "")
	if err := json.Unmarshal([]byte(strings.ReplaceAll(body, `"time":`, `"at":`)), &h); err != nil {
		t.Fatal(err)
	}
	if len(h.Items) != 2 || h.Items[0].Now.State != "OK" || h.Items[0].Was.State != "WARNING" || !h.Items[0].Transition {
		t.Errorf("history is %s", body)
	}
	_, body = ask(t, http.MethodGet, srv.URL+root+"/events?object=web01!http&results=true&limit=1", "")
	if !strings.Contains(body, `"stream":"results"`) {
		t.Errorf("results are left out of %s", body)
	}
	o := options(sample.Office())
	o.History = nil
	if resp, _ := ask(t, http.MethodGet, serve(t, o).URL+root+"/events", ""); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("without a log: %s", resp.Status)
	}
}

func TestOpenAPIDescribesTheRoutesThatAreServed(t *testing.T) {
	srv := serve(t, options(sample.Office()))
	var doc struct {
		OpenAPI    string                               `json:"openapi"`
		Paths      map[string]map[string]map[string]any `json:"paths"`
		Components struct{ Schemas map[string]any }     `json:"components"`
	}
	get(t, srv.URL+root+"/openapi.json", &doc)
	s := &site{}
	if len(doc.Paths) != len(s.apiRoutes()) || doc.OpenAPI != "3.1.0" {
		t.Errorf("%d paths, want %d", len(doc.Paths), len(s.apiRoutes()))
	}
	for _, r := range s.apiRoutes() {
		ops := doc.Paths[r.path]
		if (ops["get"] != nil) != (r.get != nil) || (ops["post"] != nil) != (r.post != nil) {
			t.Errorf("%s: described %v", r.path, ops)
		}
	}
	raw, err := json.Marshal(doc.Paths)
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(string(raw), `"#/components/schemas/`) {
		if name, _, ok := strings.Cut(part, `"`); ok && !strings.HasPrefix(part, "{") && doc.Components.Schemas[name] == nil {
			t.Errorf("schema %q is not described", name)
		}
	}
	// Every parameter of the description is taken, every other one refused.
	for path, ops := range doc.Paths {
		params, _ := ops["get"]["parameters"].([]any)
		for _, p := range params {
			if m := p.(map[string]any); m["in"] == "query" && m["description"] == "" {
				t.Errorf("%s: parameter %v says nothing", path, m["name"])
			}
		}
	}
}

func TestAnswersArePackedWhenAskedFor(t *testing.T) {
	srv := serve(t, options(sample.Office()))
	for accept, want := range map[string]string{"gzip": "gzip", "br, gzip;q=0.5": "gzip", "gzip;q=0": "", "identity": ""} {
		resp, body := ask(t, http.MethodGet, srv.URL+root+"/services", "", "Accept-Encoding", accept)
		if got := resp.Header.Get("Content-Encoding"); got != want || resp.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("Accept-Encoding %q: %q, Vary %q", accept, got, resp.Header.Get("Vary"))
		}
		if packed := !strings.HasPrefix(body, `{"items"`); packed != (want == "gzip") {
			t.Errorf("Accept-Encoding %q: packed %v", accept, packed)
		}
	}
	resp, _ := ask(t, http.MethodGet, srv.URL+root+"/services/web01/http?fields=state", "", "Accept-Encoding", "gzip")
	if resp.Header.Get("Content-Encoding") != "" {
		t.Error("a small answer was packed")
	}
}

func TestAnIDIsNoHostName(t *testing.T) {
	srv := serve(t, options(sample.Office()))
	resp, body := ask(t, http.MethodGet, srv.URL+root+"/hosts/"+url.PathEscape(string(object.ServiceID("web01", "http"))), "")
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("%s: %s", resp.Status, body)
	}
}
