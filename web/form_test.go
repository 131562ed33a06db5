package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/web/sample"
)

var formType = []string{"Content-Type", "application/x-www-form-urlencoded"}

func TestTheThemeIsKeptByTheBrowser(t *testing.T) {
	srv := serve(t, options(sample.Office()))
	for name, c := range map[string]struct {
		body   string
		status int
		value  string
		age    int
	}{
		"dark is kept for a year and more":         {"theme=dark&back=/hosts", 303, "dark", 400 * 24 * 3600},
		"light too":                                {"theme=light&back=/hosts", 303, "light", 400 * 24 * 3600},
		"auto forgets the choice":                  {"theme=auto&back=/hosts", 303, "", -1},
		"another word is refused, nothing is kept": {"theme=pink", 400, "", 0},
		"no word is refused":                       {"", 400, "", 0},
	} {
		resp, body := ask(t, http.MethodPost, srv.URL+"/theme", c.body, formType...)
		if resp.StatusCode != c.status {
			t.Errorf("%s: %s %s", name, resp.Status, body)
			continue
		}
		got := resp.Cookies()
		if c.status != 303 {
			if len(got) != 0 || !strings.Contains(body, "choose light, dark or auto") {
				t.Errorf("%s: cookies %v, %s", name, got, body)
			}
			continue
		}
		if len(got) != 1 || got[0].Name != "jaque_theme" || got[0].Value != c.value || got[0].MaxAge != c.age || !got[0].HttpOnly || resp.Header.Get("Location") != "/hosts" {
			t.Errorf("%s: cookies %v, leads to %q", name, got, resp.Header.Get("Location"))
		}
	}
}

func TestThePageKnowsTheThemeFromItsFirstByte(t *testing.T) {
	srv := serve(t, options(sample.Office()))
	for value, want := range map[string]string{"dark": `data-theme="dark"`, "light": `data-theme="light"`, "pink": `data-theme=""`, `"><b>`: `data-theme=""`} {
		_, body := ask(t, http.MethodGet, srv.URL+"/hosts", "", "Cookie", "jaque_theme="+url.QueryEscape(value))
		if !strings.Contains(body, want) {
			t.Errorf("with the cookie %q the page lacks %s", value, want)
		}
	}
}

func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	o := options(sample.Office())
	o.Token = "geheim"
	srv := serve(t, o)
	for _, path := range []string{"/theme", "/sign-in", "/sign-out", "/hosts/web01/check"} {
		for _, foreign := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"}} {
			resp, body := ask(t, http.MethodPost, srv.URL+path, "theme=dark&token=geheim", append(foreign, formType...)...)
			if resp.StatusCode != http.StatusForbidden || len(resp.Cookies()) != 0 || !strings.Contains(body, "from another site") {
				t.Errorf("%s with %v: %s, cookies %v", path, foreign, resp.Status, resp.Cookies())
			}
		}
	}
}

func TestSigningOutEndsTheSession(t *testing.T) {
	o := options(sample.Office())
	o.Token = "geheim"
	srv := serve(t, o)
	resp, _ := ask(t, http.MethodPost, srv.URL+"/sign-in", "token=geheim", formType...)
	session := resp.Cookies()[0]
	signed := []string{"Cookie", session.Name + "=" + session.Value}
	if _, body := ask(t, http.MethodGet, srv.URL+"/hosts", "", signed...); !strings.Contains(body, "Sign out") {
		t.Error("a browser that signed in is not offered to sign out")
	}
	resp, _ = ask(t, http.MethodPost, srv.URL+"/sign-out", "back=/hosts", append(signed, formType...)...)
	if c := resp.Cookies(); resp.StatusCode != 303 || len(c) != 1 || c[0].Name != session.Name || c[0].MaxAge >= 0 || resp.Header.Get("Location") != "/hosts" {
		t.Errorf("signing out: %s, cookies %v", resp.Status, c)
	}
	if _, body := ask(t, http.MethodGet, srv.URL+"/hosts", ""); !strings.Contains(body, "Sign in") || strings.Contains(body, "Sign out") {
		t.Error("a browser that is not signed in is not offered to")
	}
}

func TestOnlyTheProofOfTheTokenIsASession(t *testing.T) {
	s := &site{Options: Options{Token: "geheim"}}
	other := &site{Options: Options{Token: "geheim2"}}
	for name, c := range map[string]struct {
		value string
		want  bool
	}{
		"the proof":                 {s.session(), true},
		"the token itself":          {"geheim", false},
		"nothing":                   {"", false},
		"the proof of another":      {other.session(), false},
		"the proof with a tail":     {s.session() + "0", false},
		"the proof in other letter": {strings.ToUpper(s.session()), false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.AddCookie(&http.Cookie{Name: cookie, Value: c.value})
		if got := s.signedIn(r); got != c.want {
			t.Errorf("%s: signed in is %v", name, got)
		}
	}
	none := &site{}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.AddCookie(&http.Cookie{Name: cookie, Value: none.session()})
	if none.signedIn(r) {
		t.Error("without a token somebody is signed in")
	}
}

func TestThereIsNothingToSignInToWithoutAToken(t *testing.T) {
	srv := serve(t, options(sample.Office()))
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		resp, body := ask(t, method, srv.URL+"/sign-in", "token=", formType...)
		if resp.StatusCode != http.StatusNotFound || !strings.Contains(body, "no token to sign in with") || len(resp.Cookies()) != 0 {
			t.Errorf("%s: %s, cookies %v", method, resp.Status, resp.Cookies())
		}
	}
}

// Wherever a form says that it came from, a browser is led to a path of this
// site.
func TestFormsLeadBackToThisSite(t *testing.T) {
	for to, want := range map[string]string{
		"/hosts?filter=a": "/hosts?filter=a", "/": "/", "": "/", "hosts": "/", "//evil.example/": "/", "https://evil.example/": "/",
		`/\evil.example`: "/", "/a\x00b": "/", "javascript:alert(1)": "/", "/%zz": "/",
	} {
		r := httptest.NewRequest(http.MethodPost, "/theme", strings.NewReader(url.Values{"back": {to}}.Encode()))
		r.Header.Set("Content-Type", formType[1])
		if got := back(r); got != want {
			t.Errorf("from %q back to %q, want %q", to, got, want)
		}
	}
	base, err := url.Parse("http://jaque.example/theme")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"/", `\`, "//", ":", "evil.example", "http", "@", "?", "#", "%2f", "\t", "a", "."})
		to := strings.Join(rapid.SliceOfN(part, 0, 6).Draw(t, "to"), "")
		r := httptest.NewRequest(http.MethodGet, "/sign-in?back="+url.QueryEscape(to), nil)
		got := back(r)
		u, err := base.Parse(got)
		if err != nil || u.Host != "jaque.example" || !strings.HasPrefix(got, "/") {
			t.Fatalf("from %q back to %q, which is %v, %v", to, got, u, err)
		}
	})
}

func TestTheCheckButtonSaysWhyItCannotBeUsed(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Options)
		path   string
		want   string
	}{
		"results that others submit":            {func(*Options) {}, "/services/db01/backup", "results of this object are submitted to jaque"},
		"a process that only reads":             {func(o *Options) { o.Commands = nil }, "/services/web01/http", "this process only reads"},
		"a token that the browser has not sent": {func(o *Options) { o.Token = "x" }, "/services/web01/http", "sign in to change anything"},
	} {
		o := options(sample.Office())
		c.change(&o)
		_, body := ask(t, http.MethodGet, serve(t, o).URL+c.path, "")
		if !strings.Contains(body, c.want) || !strings.Contains(body, "disabled") {
			t.Errorf("%s: the page lacks %q or the button is not disabled", name, c.want)
		}
	}
	_, body := ask(t, http.MethodGet, serve(t, options(sample.Office())).URL+"/services/web01/http", "")
	if strings.Contains(body, "disabled") {
		t.Error("a button that works is disabled")
	}
}

func TestOnlyThisMachineIsLocal(t *testing.T) {
	for name, c := range map[string]struct {
		host string
		want bool
	}{
		"localhost":             {"localhost", true},
		"localhost with a port": {"LocalHost:8080", true},
		"IPv4 loopback":         {"127.0.0.1:8080", true},
		"another IPv4 loopback": {"127.1.2.3", true},
		"IPv6 loopback":         {"[::1]:8080", true},
		"IPv4 within IPv6":      {"[::ffff:127.0.0.1]:80", true},
		"a name that ends so":   {"evil.localhost.example", false},
		"a name below it":       {"a.localhost", false},
		"another address":       {"192.0.2.1:8080", false},
		"no name":               {"", false},
	} {
		if got := loopbackName(c.host); got != c.want {
			t.Errorf("%s: %q is local: %v", name, c.host, got)
		}
	}
	for _, h := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		w := direct(t, options(sample.Office()), http.MethodPost, root+"/commands", "127.0.0.1:1", "127.0.0.1:2", "localhost", check,
			"Content-Type", "application/json", h, "x")
		if w.Code != http.StatusForbidden {
			t.Errorf("behind a proxy that says %s: %d", h, w.Code)
		}
	}
}

func TestSecretsAreComparedWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		if !same(a, a) || same(a, b) != (a == b) || same(a, a+"x") {
			t.Fatalf("%q and %q", a, b)
		}
	})
}

func TestMethodsThatARouteDoesNotHaveAreNamed(t *testing.T) {
	srv := serve(t, options(sample.Office()))
	for path, allow := range map[string]string{
		"/hosts": "GET, HEAD", "/theme": "POST", root + "/services": "GET, HEAD", root + "/commands": "POST", "/hosts/web01/check": "POST", "/livez": "GET, HEAD",
	} {
		resp, body := ask(t, http.MethodDelete, srv.URL+path, "")
		if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != allow || !strings.Contains(body, "DELETE is not answered here") {
			t.Errorf("%s: %s, Allow %q, want %q", path, resp.Status, resp.Header.Get("Allow"), allow)
		}
	}
}

func TestHeadAnswersWithoutABody(t *testing.T) {
	srv := serve(t, options(sample.Office()))
	for _, path := range []string{"/", "/hosts", root + "/services", root + "/openapi.json", "/livez"} {
		resp, body := ask(t, http.MethodHead, srv.URL+path, "", "Accept-Encoding", "gzip")
		want, _ := ask(t, http.MethodGet, srv.URL+path, "")
		if resp.StatusCode != 200 || body != "" || resp.Header.Get("Content-Type") != want.Header.Get("Content-Type") {
			t.Errorf("%s: %s, %d bytes, %s", path, resp.Status, len(body), resp.Header.Get("Content-Type"))
		}
	}
}

func TestAcceptEncodingIsRead(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": false, "gzip, br": true, "br,gzip": true, "gzip;q=0": false, "gzip; q=0.0": false, "gzip;q=0.1": true,
		"gzip;q=x": true, "gzip;level=9": true, "xgzip": false, "identity;q=1, *;q=0": false,
	} {
		if got := accepts(header); got != want {
			t.Errorf("%q: %v, want %v", header, got, want)
		}
	}
}

func TestOnlyTextIsPacked(t *testing.T) {
	for kind, want := range map[string]bool{
		"text/html; charset=utf-8": true, "text/css": true, "application/json": true, "application/problem+json": true, "image/svg+xml": true,
		"image/png": false, "application/octet-stream": false, "": false,
	} {
		if got := packable(kind); got != want {
			t.Errorf("%q: %v, want %v", kind, got, want)
		}
	}
}

func TestAnAnswerIsPackedWholeOrNotAtAll(t *testing.T) {
	for name, c := range map[string]struct {
		accept, kind string
		first, rest  int
		packed       bool
	}{
		"a long text":                           {"gzip", "text/plain", 4096, 4096, true},
		"a short text":                          {"gzip", "text/plain", smallest - 1, 0, false},
		"the first bytes decide":                {"gzip", "text/plain", 10, 1 << 16, false},
		"a picture is as small as it gets":      {"gzip", "image/png", 4096, 4096, false},
		"a client that cannot unpack":           {"br", "text/plain", 4096, 4096, false},
		"exactly as long as it is worth it for": {"gzip", "text/plain", smallest, 0, true},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", c.accept)
		z := compress(w, r)
		z.Header().Set("Content-Type", c.kind)
		z.Header().Set("Content-Length", fmt.Sprint(c.first+c.rest))
		z.WriteHeader(http.StatusTeapot)
		for _, n := range []int{c.first, c.rest} {
			if _, err := z.Write([]byte(strings.Repeat("x", n))); err != nil {
				t.Fatal(err)
			}
		}
		z.close()
		got := w.Header().Get("Content-Encoding") == "gzip"
		if got != c.packed || w.Code != http.StatusTeapot || (w.Header().Get("Content-Length") == "") != c.packed || w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s: packed %v, %d, headers %v", name, got, w.Code, w.Header())
		}
		if whole := c.first + c.rest; !c.packed && w.Body.Len() != whole || c.packed && w.Body.Len() >= whole {
			t.Errorf("%s: %d bytes of %d", name, w.Body.Len(), whole)
		}
	}
}
