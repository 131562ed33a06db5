package web

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"jaque.sh/jaque/web/sample"
)

const check = `{"command":"check-now","object":"web01!http"}`

func TestCommandsAreTaken(t *testing.T) {
	o := options(sample.Office())
	c := &commands{}
	o.Commands = c
	srv := serve(t, o)
	for _, body := range []string{
		check,
		`{"command":"submit-result","object":"db01!backup","state":"warning","output":"slow\nline 2\n","long_output":"line 3","perfdata":"a=1"}`,
		`{"command":"submit-result","object":"mail01","state":1,"output":"no answer"}`,
	} {
		resp, text := ask(t, http.MethodPost, srv.URL+root+"/commands", body, "Content-Type", "application/json; charset=utf-8")
		if resp.StatusCode != http.StatusAccepted || !strings.Contains(text, `"id":"c`) {
			t.Errorf("%s: %s %s", body, resp.Status, text)
		}
	}
	want := "check web01!http\nsubmit|db01!backup|WARNING|slow|line 2\n\nline 3|a=1\nsubmit|mail01|DOWN|no answer||"
	if got := strings.Join(c.taken, "\n"); got != want {
		t.Errorf("took %q, want %q", got, want)
	}
}

func TestCommandsThatCannotBeDoneSayWhy(t *testing.T) {
	for _, c := range []struct {
		body   string
		status int
		text   string
		err    error
	}{
		{`{"object":"web01"}`, 400, "command is missing", nil},
		{`{"command":"acknowledge","object":"web01"}`, 400, "comment is missing", nil},
		{`{"command":"reboot","object":"web01"}`, 400, "no command is called", nil},
		{`{"command":"check-now"}`, 400, "the target is missing; write one of object, objects, group, filter", nil},
		{`{"command":"check-now","object":"web1"}`, 404, `did you mean \"web01\"?`, nil},
		{`{"command":"check-now","object":"web01","output":"x"}`, 400, "check-now takes no output", nil},
		{`{"command":"check-now","objct":"web01"}`, 400, `did you mean \"object\"?`, nil},
		{`{"command":"check-now","object":"web01"} {}`, 400, "one command at a time", nil},
		{`{"command":`, 400, "before its JSON is complete", nil},
		{`{"command":"submit-result","object":"web01","state":"CRITICAL"}`, 400, "write one of UP, DOWN", nil},
		{`{"command":"submit-result","object":"web01!http","state":7}`, 400, "write one of OK, WARNING", nil},
		{`{"command":"submit-result","object":"web01!http"}`, 400, "state is missing", nil},
		{`{"command":"check-now","object":"web01","output":"` + strings.Repeat("x", largest) + `"}`, 413, "is larger than", nil},
		{check, 503, "try again", ErrUnavailable},
		{check, 503, "may still take effect", ErrUnconfirmed},
		{check, 503, "may still take effect", context.Canceled}, // the engine has ended, the client has not gone
		{check, 400, "cannot be done", ErrInvalid},
		{check, 500, "the log of this process says what", errBroken},
	} {
		o := options(sample.Office())
		o.Commands = &commands{err: c.err}
		resp, text := ask(t, http.MethodPost, serve(t, o).URL+root+"/commands", c.body, "Content-Type", "application/json")
		if resp.StatusCode != c.status || !strings.Contains(text, c.text) || strings.Contains(text, "secret") {
			t.Errorf("%.80s: %s %s, want %d with %q", c.body, resp.Status, text, c.status, c.text)
		}
	}
}

func TestWhoMayWrite(t *testing.T) { // S146
	loop, wide := "127.0.0.1:8080", "192.0.2.5:8080"
	json := []string{"Content-Type", "application/json"}
	for name, c := range map[string]struct {
		token        string
		public       bool
		none         bool // no commander
		local        string
		remote, host string
		header       []string
		want         int
	}{
		"a program on the machine without a token": {local: loop, remote: "127.0.0.1:99", host: "localhost:8080", header: json, want: 202},
		"IPv6 loopback":                                     {local: "[::1]:8080", remote: "[::1]:99", host: "[::1]:8080", header: json, want: 202},
		"another machine without a token":                   {public: true, local: wide, remote: "192.0.2.9:99", host: "jaque", header: json, want: 403},
		"this machine over its own address":                 {public: true, local: wide, remote: "192.0.2.5:99", host: "jaque", header: json, want: 403},
		"behind a proxy on the machine":                     {local: loop, remote: "127.0.0.1:99", host: "localhost", header: append([]string{"X-Forwarded-For", "1.2.3.4"}, json...), want: 403},
		"a name that was made to point here":                {local: loop, remote: "127.0.0.1:99", host: "evil.example:8080", header: json, want: 421},
		"a page of another site":                            {local: loop, remote: "127.0.0.1:99", host: "localhost", header: append([]string{"Sec-Fetch-Site", "cross-site"}, json...), want: 403},
		"an old browser on another site":                    {local: loop, remote: "127.0.0.1:99", host: "localhost", header: append([]string{"Origin", "https://evil.example"}, json...), want: 403},
		"a form instead of JSON":                            {local: loop, remote: "127.0.0.1:99", host: "localhost", header: []string{"Content-Type", "text/plain"}, want: 400},
		"no token where one is needed":                      {token: "geheim", local: loop, remote: "127.0.0.1:99", host: "localhost", header: json, want: 401},
		"a wrong token":                                     {token: "geheim", local: loop, remote: "127.0.0.1:99", host: "localhost", header: append([]string{"Authorization", "Bearer geheimx"}, json...), want: 401},
		"the token from another machine":                    {token: "geheim", local: wide, remote: "192.0.2.9:99", host: "jaque", header: append([]string{"Authorization", "Bearer geheim"}, json...), want: 202},
		"the token in a page of another site":               {token: "geheim", local: wide, remote: "192.0.2.9:99", host: "jaque", header: append([]string{"Authorization", "Bearer geheim", "Sec-Fetch-Site", "cross-site"}, json...), want: 403},
		"a process that only reads":                         {none: true, local: loop, remote: "127.0.0.1:99", host: "localhost", header: json, want: 503},
		"an address that nobody opened, though it is local": {local: wide, remote: "127.0.0.1:99", host: "localhost", header: json, want: 403},
	} {
		o := options(sample.Office())
		o.Token, o.Public = c.token, c.public
		if c.none {
			o.Commands = nil
		}
		w := direct(t, o, http.MethodPost, root+"/commands", c.local, c.remote, c.host, check, c.header...)
		if w.Code != c.want {
			t.Errorf("%s: %d %s, want %d", name, w.Code, w.Body, c.want)
		}
		if w.Code == http.StatusUnauthorized && w.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%s: 401 without WWW-Authenticate", name)
		}
	}
}

// direct calls the handler as if the request had come over given addresses.
func direct(t *testing.T, o Options, method, path, local, remote, host, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	h, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	addr, err := net.ResolveTCPAddr("tcp", local)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(addr)))
	r.RemoteAddr, r.Host = remote, host
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestWhoMayRead(t *testing.T) {
	for name, c := range map[string]struct {
		token  string
		public bool
		local  string
		want   int
	}{
		"loopback":                                {local: "127.0.0.1:1", want: 200},
		"an open address that nobody allowed":     {local: "192.0.2.5:1", want: 403},
		"an open address that the config allowed": {local: "192.0.2.5:1", public: true, want: 200},
		"an open address with a token":            {local: "192.0.2.5:1", token: "geheim", want: 200},
	} {
		o := options(sample.Office())
		o.Token, o.Public = c.token, c.public
		for _, path := range []string{"/", root + "/status"} {
			if w := direct(t, o, http.MethodGet, path, c.local, "192.0.2.9:9", c.local, ""); w.Code != c.want {
				t.Errorf("%s: %s: %d, want %d", name, path, w.Code, c.want)
			}
		}
		if w := direct(t, o, http.MethodGet, "/livez", c.local, "192.0.2.9:9", c.local, ""); w.Code != 200 {
			t.Errorf("%s: /livez: %d", name, w.Code)
		}
	}
}

// A page of another site can make its own name point to this machine and then
// read whatever answers to that name.
func TestALoopbackListenerAnswersToItsOwnNames(t *testing.T) {
	const loop = "127.0.0.1:8080"
	for name, c := range map[string]struct {
		local, host string
		hosts       []string
		public      bool
		want        int
	}{
		"localhost":                              {loop, "localhost:8080", nil, false, 200},
		"localhost in capitals without a port":   {loop, "LOCALHOST", nil, false, 200},
		"an address":                             {loop, "127.0.0.1:1", nil, false, 200},
		"another loopback address":               {"127.0.0.2:80", "127.0.0.2", nil, false, 200},
		"IPv6":                                   {"[::1]:8080", "[::1]:8080", nil, false, 200},
		"IPv6 without a port":                    {"[::1]:8080", "[::1]", nil, false, 200},
		"no name at all":                         {loop, "", nil, false, 200},
		"the name it listens on":                 {loop, "monitor:8080", []string{"monitor:8080"}, false, 200},
		"the name of a proxy":                    {loop, "jaque.example", []string{"127.0.0.1:8080", "Jaque.example"}, false, 200},
		"any name where reads are public":        {loop, "jaque.example", nil, true, 200},
		"any name on an address for others":      {"192.0.2.5:80", "jaque.example", nil, true, 200},
		"a name that was made to point here":     {loop, "evil.example:8080", nil, false, 421},
		"one that begins like a name of its own": {loop, "localhost.evil.example", nil, false, 421},
		"an address of another machine":          {loop, "192.0.2.5", nil, false, 421},
		"a listener without a name":              {loop, ":8080", []string{":8080"}, false, 421},
	} {
		o := options(sample.Office())
		o.Hosts, o.Public = c.hosts, c.public
		for _, path := range []string{"/", root + "/services", "/live?at=x", "/readyz"} {
			w := direct(t, o, http.MethodGet, path, c.local, "127.0.0.1:9", c.host, "")
			if path == "/live?at=x" && c.want == 200 && w.Code == 400 {
				continue
			}
			if w.Code != c.want {
				t.Errorf("%s: %s: %d, want %d", name, path, w.Code, c.want)
			}
			if c.want == 421 && (w.Header().Get("Content-Type") != "application/problem+json" || strings.Contains(w.Body.String(), "problems")) {
				t.Errorf("%s: %s: %s", name, path, w.Body)
			}
		}
	}
}

func TestABrowserSignsInAndAsksForACheck(t *testing.T) {
	o := options(sample.Office())
	c := &commands{}
	o.Commands, o.Token = c, "geheim"
	srv := serve(t, o)
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	page := srv.URL + "/services/web01/http"
	if _, body := ask(t, http.MethodGet, page, ""); !strings.Contains(body, "sign in to change anything") {
		t.Error("the page does not say how to get to write")
	}
	if resp, _ := ask(t, http.MethodPost, page+"/check", "", form...); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without signing in: %s", resp.Status)
	}
	if resp, body := ask(t, http.MethodPost, srv.URL+"/sign-in", "token=falsch", form...); resp.StatusCode != http.StatusUnauthorized || !strings.Contains(body, "not the token") {
		t.Errorf("a wrong token: %s", resp.Status)
	}
	resp, _ := ask(t, http.MethodPost, srv.URL+"/sign-in", "token=geheim&back=/services/web01/http", form...)
	session := resp.Cookies()
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/services/web01/http" || len(session) != 1 {
		t.Fatalf("signing in: %s to %q", resp.Status, resp.Header.Get("Location"))
	}
	if s := session[0]; !s.HttpOnly || s.SameSite != http.SameSiteStrictMode || strings.Contains(s.Value, "geheim") {
		t.Errorf("the cookie is %v", s)
	}
	cookie := append([]string{"Cookie", session[0].Name + "=" + session[0].Value}, form...)
	resp, _ = ask(t, http.MethodPost, page+"/check", "", cookie...)
	if resp.StatusCode != http.StatusSeeOther || len(c.taken) != 1 {
		t.Errorf("signed in: %s, took %v", resp.Status, c.taken)
	}
	resp, _ = ask(t, http.MethodPost, page+"/check", "", append([]string{"Sec-Fetch-Site", "cross-site"}, cookie...)...)
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("from another site: %s", resp.Status)
	}
	resp, _ = ask(t, http.MethodPost, srv.URL+"/sign-in", "token=geheim&back=//evil.example/", form...)
	if to := resp.Header.Get("Location"); to != "/" {
		t.Errorf("leads to %q", to)
	}
}
