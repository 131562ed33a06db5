package page

import (
	"strings"
	"testing"

	"github.com/a-h/templ"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/sample"
	"jaque.sh/jaque/web/view"
)

// html renders a page on one line without needless blanks.
func html(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// expect says what a page must and must not hold; "!" in front means not.
func expect(t *testing.T, name, page string, want ...string) {
	t.Helper()
	for _, w := range want {
		text, not := strings.CutPrefix(w, "!")
		if strings.Contains(page, text) == not {
			t.Errorf("%s: has %q: %v\n%s", name, text, not, page)
		}
	}
}

func TestListsShowWhatTheyAre(t *testing.T) {
	list := func(q view.ListRequest) string {
		return html(t, List(view.NewList(view.Chrome{}, q, nil, 120, sample.Now)))
	}
	expect(t, "a plain list", list(view.ListRequest{Kind: object.Host, Page: 1}),
		"<h1>Hosts</h1>", `action="/hosts"`, "declares no hosts yet", "!complaint", "!As it was at", `!name="sort"`, `!name="at"`, `!rel="prev"`)
	expect(t, "a list in the middle", list(view.ListRequest{Kind: object.Service, Page: 2, Sort: "host", Filter: `a"b`}),
		`value="a&#34;b"`, `name="sort" value="host"`, `rel="prev" href="/services?filter=a%22b&amp;sort=host"`, "page=3", "Nothing matches")
	expect(t, "a filter that cannot be read", list(view.ListRequest{Kind: object.Service, Page: 1, Filter: "(", Error: "column 2: <what>"}),
		`aria-invalid`, `aria-describedby="complaint"`, `role="alert"`, "column 2: &lt;what&gt;")
	expect(t, "a list as it was", list(view.ListRequest{Kind: object.Service, Page: 1, Sort: "host", At: object.At(sample.Now)}),
		`<time datetime="2026-03-01T12:00:00Z">2026-03-01 12:00:00 UTC</time>`, `name="at" value="2026-03-01T12:00:00Z"`,
		`<a href="/services?sort=host">Show the present</a>`)
}

func TestFailuresSayWhatWasMeant(t *testing.T) {
	f := view.Failure{Status: 404, Title: "Not Found", Detail: `no host is called "<web1>"`}
	expect(t, "without a guess", html(t, Failure(f)), "404", "Not Found", "&lt;web1&gt;", "!<web1>", "!/hosts/web01")
	f.Near = view.Link{Label: "web01", URL: "/hosts/web01"}
	expect(t, "with a guess", html(t, Failure(f)), `href="/hosts/web01"`, "web01")
}

func TestSigningInAsksForTheToken(t *testing.T) {
	expect(t, "at first", html(t, SignIn(view.SignIn{Back: "/hosts?a=1&b=2"})),
		`type="password"`, `name="token"`, `name="back" value="/hosts?a=1&amp;b=2"`, `method="post"`, `action="/sign-in"`, `autofocus`, `!role="alert"`, `!aria-invalid`)
	expect(t, "after a wrong one", html(t, SignIn(view.SignIn{Error: "This is not the token."})), `role="alert"`, "This is not the token.",
		`aria-invalid="true"`, `aria-describedby="complaint"`, `id="complaint"`, `autofocus`)
}

func TestSearchesSayWhatWasFound(t *testing.T) {
	expect(t, "nothing", html(t, Search(view.Search{Text: "<nothing>"})), "&lt;nothing&gt;", "!<nothing>", "!card mini")
	row := view.Row{Badge: view.Badge{Name: "UP", Tone: "ok"}, Host: "a", Name: "a", URL: "/hosts/a"}
	expect(t, "a host", html(t, Search(view.Search{Text: "a", Hosts: []view.Row{row}})), `href="/hosts/a"`, "card mini", "!<h2>Services")
	expect(t, "more than is shown", html(t, Search(view.Search{Text: "a", Hosts: []view.Row{row}, AllHosts: view.Link{Label: "all 90 hosts", URL: "/hosts?filter=a"}})),
		`href="/hosts?filter=a"`, "all 90 hosts")
	expect(t, "a filter that cannot be read", html(t, Search(view.Search{Text: "(", Error: "column 2"})), `role="alert"`, "column 2")
}

func TestTheEnginePageSaysWhatIsWrong(t *testing.T) {
	fine := view.Engine{Reload: view.Reload{Badge: view.Badge{Name: "LOADED", Tone: "ok"}, Generation: "4f2a91"}, Engines: []view.EngineRow{{Name: "e1", Share: "3 of 5 objects"}, {Name: "e2", Gone: true}}}
	expect(t, "all is well", html(t, Engine(fine)), "LOADED", "4f2a91", "<bdi>e1</bdi>", "3 of 5 objects", "!REFUSED")
	fine.Reload.Badge, fine.Reload.Problems = view.Badge{Name: "REFUSED", Tone: "crit"}, []string{"site.cue:3: <bad>"}
	fine.Unready = []string{"journal"}
	expect(t, "a config that was refused", html(t, Engine(fine)), "REFUSED", "site.cue:3: &lt;bad&gt;", "journal")
}

func TestEventsLeadToOlderOnes(t *testing.T) {
	v := view.NewEvents(view.Chrome{}, "a!b", "", nil, sample.Now)
	expect(t, "the oldest", html(t, Events(v)), "a!b", "!until=")
	v.Older = "/events?until=2026-03-01T12%3A00%3A00Z"
	expect(t, "more", html(t, Events(v)), `href="/events?until=2026-03-01T12%3A00%3A00Z"`)
	v.Error = "kind is wrong"
	expect(t, "what cannot be read", html(t, Events(v)), `role="alert"`, "kind is wrong")
}
