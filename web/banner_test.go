package web

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"jaque.sh/jaque/web/sample"
)

// everyPage are the pages that people look at, one of each kind.
var everyPage = []string{
	"/", "/hosts", "/services", "/hosts/web01", "/services/web01/http", "/events", "/search?q=web", "/status", "/hosts/none", "/nothing",
}

func TestEveryPageSaysWhatIsWrongWithJaque(t *testing.T) {
	var reload Reload
	var trouble []string
	o := options(sample.Office())
	status := o.Status
	o.Status = func() Status {
		st := status()
		st.Reload = reload
		return st
	}
	o.Trouble = func() []string { return trouble }
	srv := serve(t, o)
	const refused = "The last configuration was refused: it has 2 problems. The one before stays in use."
	const full = "The event log is not being written: the oldest event waits for 12 s."
	for name, c := range map[string]struct {
		reload  Reload
		trouble []string
		want    []string
	}{
		"all is well":                  {reload: Reload{At: sample.Now, OK: true}},
		"warnings are on one page":     {reload: Reload{At: sample.Now, OK: true, Problems: []string{"a", "b"}}},
		"nothing was loaded yet":       {},
		"a reload was refused":         {reload: Reload{At: sample.Now, Problems: []string{"a", "b"}}, want: []string{refused}},
		"the log is not written":       {reload: Reload{At: sample.Now, OK: true}, trouble: []string{full}, want: []string{full}},
		"both, what is worse in front": {reload: Reload{At: sample.Now, Problems: []string{"a", "b"}}, trouble: []string{full}, want: []string{full, refused}},
	} {
		reload, trouble = c.reload, c.trouble
		for _, path := range everyPage {
			_, body := ask(t, http.MethodGet, srv.URL+path, "")
			if got := banners(body); !slices.Equal(got, c.want) {
				t.Errorf("%s: %s says %q, want %q", name, path, got, c.want)
			}
		}
		var st struct{ Trouble []string }
		_, body := ask(t, http.MethodGet, srv.URL+root+"/status", "")
		if err := json.Unmarshal([]byte(body), &st); err != nil || st.Trouble == nil || !slices.Equal(st.Trouble, c.trouble) {
			t.Errorf("%s: status says %q, want %q", name, st.Trouble, c.trouble)
		}
	}
}

// banners returns the texts of a page's banners and checks that each leads on.
func banners(body string) []string {
	var out []string
	for part := range strings.SplitSeq(body, `<p class="banner">`) {
		_, text, ok := strings.Cut(part, "</svg>")
		text, rest, _ := strings.Cut(strings.TrimSpace(text), "</span>")
		if ok && strings.HasPrefix(text, "<span>") && strings.Contains(rest, `<a href="/status">See the engine</a>`) {
			out = append(out, strings.TrimPrefix(text, "<span>"))
		}
	}
	if out != nil && len(out) != strings.Count(body, `class="banner"`) {
		out = append(out, "a banner without a link")
	}
	return out
}
