package web

import (
	"cmp"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/net/html"

	"jaque.sh/jaque/web/sample"
)

var update = flag.Bool("update", false, "write the golden pages")

// outline writes the structure of a page: elements with what matters of their
// attributes, and text.
func outline(b *strings.Builder, n *html.Node, depth int) {
	switch n.Type {
	case html.TextNode:
		if text := strings.Join(strings.Fields(n.Data), " "); text != "" {
			fmt.Fprintf(b, "%s%q\n", strings.Repeat("  ", depth), text)
		}
		return
	case html.ElementNode:
		line := n.Data
		for _, a := range n.Attr {
			if slices.Contains([]string{"class", "href", "action", "name", "value", "datetime", "role", "aria-sort", "x", "width"}, a.Key) && !strings.HasPrefix(a.Val, "/assets/") {
				line += fmt.Sprintf(" %s=%q", a.Key, a.Val)
			}
		}
		fmt.Fprintf(b, "%s%s\n", strings.Repeat("  ", depth), line)
		if n.Data == "path" || n.Data == "head" {
			return
		}
		depth++
	}
	for c := range n.ChildNodes() {
		outline(b, c, depth)
	}
}

func parsePage(t *testing.T, url string, want int) *html.Node {
	t.Helper()
	resp, body := ask(t, http.MethodGet, url, "")
	if resp.StatusCode != want || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		t.Fatalf("%s: %s %s", url, resp.Status, body)
	}
	n, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestPagesHaveTheirStructure(t *testing.T) {
	srv := serve(t, options(sample.Office()))
	for name, path := range map[string]string{
		"home": "/", "services": "/services?sort=-state&filter=problem", "hosts": "/hosts", "service": "/services/web01/http",
		"host": "/hosts/mail01", "events": "/events?object=web03!http", "search": "/search?q=mail", "engine": "/status",
	} {
		structure(t, name, srv.URL+path)
	}
}

// structure compares the outline of a page with the one that is kept.
func structure(t *testing.T, name, url string) {
	t.Helper()
	var b strings.Builder
	outline(&b, parsePage(t, url, http.StatusOK), 0)
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run go test ./web -run Structure -update", err)
	}
	got, want := strings.Split(b.String(), "\n"), strings.Split(string(golden), "\n")
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Errorf("%s, line %d of the outline: got %q, want %q", name, i+1, at(got, i), at(want, i))
			break
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "nothing"
}

func TestOutputAndNamesNeverBecomeMarkup(t *testing.T) {
	o := options(sample.Office())
	o.Debug = true
	srv := serve(t, o)
	for name, path := range pages {
		want := map[string]int{"missing": 404, "filtered": 400}[name]
		harmless(t, name, parsePage(t, srv.URL+path, cmp.Or(want, http.StatusOK)))
	}
	_, body := ask(t, http.MethodGet, srv.URL+`/search?q="><script>alert(1)</script>`, "")
	if strings.Contains(body, "<script>alert") {
		t.Error("a search text became a script")
	}
}

// harmless complains of what a page has that only an attacker would put there.
func harmless(t *testing.T, name string, doc *html.Node) {
	t.Helper()
	scripts := 0
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "script" {
			scripts++
		}
		if slices.Contains([]string{"img", "iframe", "style"}, n.Data) {
			t.Errorf("%s: an element %s", name, n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || strings.HasPrefix(strings.ToLower(strings.TrimSpace(a.Val)), "javascript:") {
				t.Errorf("%s: attribute %s=%q of %s", name, a.Key, a.Val, n.Data)
			}
		}
	}
	if scripts != 1 {
		t.Errorf("%s: %d scripts", name, scripts)
	}
}

func TestHeadersForbidWhatPagesDoNotNeed(t *testing.T) {
	srv := serve(t, options(sample.Office()))
	for _, path := range []string{"/", "/nothing", root + "/hosts"} {
		resp, _ := ask(t, http.MethodGet, srv.URL+path, "")
		csp := resp.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, resp.Header)
		}
	}
}

func TestErrorsOfPagesArePages(t *testing.T) {
	o := options(sample.Office())
	srv := serve(t, o)
	for path, want := range map[string]int{"/nothing": 404, "/hosts/web1": 404, "/services?sort=x": 400, "/services?page=0": 400, "/events?kind=x": 400, "/sign-in": 404} {
		parsePage(t, srv.URL+path, want)
	}
	if resp, _ := ask(t, http.MethodPost, srv.URL+"/hosts", ""); resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST /hosts: %s, Allow %q", resp.Status, resp.Header.Get("Allow"))
	}
}

func TestSearchGoesStraightToTheObjectThatIsNamed(t *testing.T) {
	srv := serve(t, options(sample.Office()))
	for q, want := range map[string]string{"web01": "/hosts/web01", "web01!http": "/services/web01/http", "web": ""} {
		resp, _ := ask(t, http.MethodGet, srv.URL+"/search?q="+q, "")
		if got := resp.Header.Get("Location"); got != want {
			t.Errorf("%s leads to %q, want %q", q, got, want)
		}
	}
}

func TestAssetsAreKeptForGood(t *testing.T) {
	srv := serve(t, options(sample.Office()))
	_, body := ask(t, http.MethodGet, srv.URL+"/", "")
	_, rest, _ := strings.Cut(body, `stylesheet" href="`)
	path, _, _ := strings.Cut(rest, `"`)
	resp, css := ask(t, http.MethodGet, srv.URL+path, "")
	if resp.StatusCode != 200 || !strings.Contains(resp.Header.Get("Cache-Control"), "immutable") || !strings.Contains(css, "--crit") || strings.Contains(css, "http") {
		t.Errorf("%s: %s", path, resp.Status)
	}
	if resp, _ = ask(t, http.MethodGet, srv.URL+path, "", "If-None-Match", resp.Header.Get("ETag")); resp.StatusCode != http.StatusNotModified {
		t.Errorf("asked again: %s", resp.Status)
	}
	if resp, _ = ask(t, http.MethodGet, srv.URL+"/assets/jaque.css", ""); resp.StatusCode != http.StatusNotFound {
		t.Errorf("without its hash: %s", resp.Status)
	}
	o := options(sample.Office())
	o.Assets = fstest.MapFS{"jaque.css": {}}
	if _, err := New(o); err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("without a script: %v", err)
	}
}

func TestHealthNamesWhatIsNotReady(t *testing.T) { // S009, S154
	o := options(sample.Office())
	var missing []string
	o.Unready = func() []string { return missing }
	o.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "jaque_up 1") })
	srv := serve(t, o)
	for _, path := range []string{"/livez", "/healthz", "/readyz"} {
		if resp, body := ask(t, http.MethodGet, srv.URL+path, ""); resp.StatusCode != 200 || body != "ok\n" {
			t.Errorf("%s: %s %q", path, resp.Status, body)
		}
	}
	missing = []string{"projection: 12 events behind", "journal"}
	resp, body := ask(t, http.MethodGet, srv.URL+"/readyz", "")
	if resp.StatusCode != 503 || body != "not ready: projection: 12 events behind\nnot ready: journal\n" {
		t.Errorf("%s %q", resp.Status, body)
	}
	if _, body := ask(t, http.MethodGet, srv.URL+"/metrics", ""); body != "jaque_up 1" {
		t.Errorf("metrics: %q", body)
	}
}

func TestAProcessThatLostAPartIsNeverHealthy(t *testing.T) { // S134
	o := options(sample.Office())
	o.Failed = func() string { return "membership" }
	o.Unready = func() []string { return []string{"journal"} }
	srv := serve(t, o)
	for path, want := range map[string]string{
		"/livez": "failed: membership\n", "/healthz": "failed: membership\n", "/readyz": "failed: membership\nnot ready: journal\n",
	} {
		if resp, body := ask(t, http.MethodGet, srv.URL+path, ""); resp.StatusCode != 503 || body != want {
			t.Errorf("%s: %s %q, want %q", path, resp.Status, body, want)
		}
	}
}

func TestRequestsAreCountedByRoute(t *testing.T) {
	reg := prometheus.NewRegistry()
	o := options(sample.Office())
	o.Registerer = reg
	srv := serve(t, o)
	ask(t, http.MethodGet, srv.URL+"/hosts/web01", "")
	ask(t, http.MethodGet, srv.URL+"/hosts/web1", "")
	ask(t, http.MethodGet, srv.URL+"/wp-login.php", "")
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			key := f.GetName()
			for _, l := range m.GetLabel() {
				key += " " + l.GetValue()
			}
			got[key] = m.GetCounter().GetValue()
		}
	}
	for key, want := range map[string]float64{
		"jaque_http_requests_total 2xx host": 1, "jaque_http_requests_total 4xx host": 1, "jaque_http_requests_total 5xx host": 0,
		"jaque_http_requests_total 4xx other": 1, "jaque_http_streams_dropped_total": 0,
	} {
		if v, ok := got[key]; !ok || v != want {
			t.Errorf("%s is %v, %v, want %v", key, v, ok, want)
		}
	}
	if _, err := New(o); err == nil {
		t.Error("two handlers share a registry without an error")
	}
}

func TestOptionsThatAreMissingAreNamed(t *testing.T) {
	for name, strip := range map[string]func(*Options){
		"Projection": func(o *Options) { o.Projection = nil },
		"Status":     func(o *Options) { o.Status = nil },
		"Logger":     func(o *Options) { o.Logger = nil },
	} {
		o := options(sample.Office())
		strip(&o)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), name+" is missing") {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

func TestAPanicIsAnAnswerAndALogLine(t *testing.T) {
	o := options(sample.Office())
	o.Owner = nil
	calls := 0
	good := o.Status
	o.Status = func() Status {
		if calls++; calls > 1 {
			panic("no status")
		}
		return good()
	}
	srv := serve(t, o)
	resp, body := ask(t, http.MethodGet, srv.URL+root+"/status", "")
	if resp.StatusCode != http.StatusInternalServerError || strings.Contains(body, "no status") {
		t.Errorf("%s %s", resp.Status, body)
	}
}
