package probe

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

func web(c object.HTTPCheck) object.Check { return object.Check{Kind: object.CheckHTTP, HTTP: &c} }

// site is a web server with one page for every way to answer.
func site(t testing.TB) (*httptest.Server, *http.ServeMux) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "all is well") })
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	mux.HandleFunc("/old", func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, "/ok", http.StatusFound) })
	mux.HandleFunc("/loop", func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, "/loop", http.StatusFound) })
	mux.HandleFunc("/echo", func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		_, _ = fmt.Fprintf(w, "%s %s %s [%s] %s", q.Method, q.Host, q.UserAgent(), body, q.Header.Get("X-Token"))
	})
	mux.HandleFunc("/big", func(w http.ResponseWriter, _ *http.Request) {
		page := strings.Repeat("x", 64<<10)
		for range 32 {
			_, _ = io.WriteString(w, page)
		}
		_, _ = io.WriteString(w, "the end")
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s, mux
}

func TestHTTP(t *testing.T) {
	r := open(t, Options{})
	s, _ := site(t)
	for _, c := range []struct {
		name  string
		check object.HTTPCheck
		state object.State
		parts []string
	}{
		{"a page", object.HTTPCheck{URL: "/ok"}, object.OK, []string{"OK - HTTP/1.1 200 OK, 11 bytes in 0.", "|time=0.", "s;;;0 size=11B;;;0"}},
		{"a page with a text", object.HTTPCheck{URL: "/ok", Contains: "well"}, object.OK, nil},
		{"a page without the text", object.HTTPCheck{URL: "/ok", Contains: "error"}, object.Critical, []string{`body does not contain "error"`}},
		{"a text beyond what is read", object.HTTPCheck{URL: "/big", Contains: "the end"}, object.Critical, []string{"size=1048576B"}},
		{"an error", object.HTTPCheck{URL: "/broken"}, object.Critical, []string{"502 Bad Gateway, expected below 400"}},
		{"an error that is expected", object.HTTPCheck{URL: "/broken", Status: []int{502}}, object.OK, nil},
		{"another status than expected", object.HTTPCheck{URL: "/ok", Status: []int{204, 304}}, object.Critical, []string{"expected 204 or 304"}},
		{"a redirect is the answer", object.HTTPCheck{URL: "/old"}, object.OK, []string{"302 Found, redirects to /ok"}},
		{"a redirect is followed", object.HTTPCheck{URL: "/old", Redirect: 1}, object.OK, []string{"200 OK, 11 bytes"}},
		{"a redirect too many is the answer", object.HTTPCheck{URL: "/loop", Redirect: 3, Status: []int{200}}, object.Critical, []string{"302 Found", "redirects to /loop"}},
		{"method, body and headers", object.HTTPCheck{URL: "/echo", Method: "POST", Body: "hi", Contains: "POST other jaque [hi] s3", Headers: map[string]string{"X-Token": "s3", "Host": "other"}}, object.OK, nil},
		{"too slow", object.HTTPCheck{URL: "/ok", Warn: "0:0"}, object.Warning, []string{"s;0:0;;0"}},
		{"a threshold that is none", object.HTTPCheck{URL: "/ok", Crit: "x"}, object.Unknown, []string{"critical threshold of http"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.check.URL = s.URL + c.check.URL
			expect(t, do(t, r, web(c.check)), c.state, c.parts...)
		})
	}
}

func TestHTTPThatCannotWork(t *testing.T) {
	r := open(t, Options{})
	closed := closedPort(t)
	rude := serveTCP(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "SSH-2.0\r\n")
		_, _ = io.Copy(io.Discard, c) // to hang up now would reset the connection
	})
	gone := serveTCP(t, func(net.Conn) {})
	for _, c := range []struct {
		name, url string
		state     object.State
		parts     []string
	}{
		{"nobody listens", "http://" + closed + "/", object.Critical, []string{"GET http://" + closed + "/: connection refused"}},
		{"something else listens", "http://" + rude + "/", object.Critical, []string{"malformed HTTP"}},
		{"the server hangs up", "http://" + gone + "/", object.Critical, []string{"GET http://" + gone}},
		{"a URL of another kind", "file:///etc/passwd", object.Unknown, []string{"is not of the web; write for example"}},
		{"no URL", "", object.Unknown, []string{"is not of the web"}},
		{"a URL that is none", "http://[", object.Unknown, []string{"correct url and method"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, do(t, r, web(object.HTTPCheck{URL: c.url})), c.state, c.parts...)
		})
	}
}

func TestRedirectsKeepConfiguredHeadersFromOthers(t *testing.T) {
	r := open(t, Options{})
	var seen atomic.Value
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) { seen.Store(q.Header.Get("X-Token")) }))
	defer other.Close()
	s, mux := site(t)
	mux.HandleFunc("/away", func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, other.URL, http.StatusFound) })
	c := object.HTTPCheck{URL: s.URL + "/away", Redirect: 2, Headers: map[string]string{"X-Token": "secret"}}
	expect(t, do(t, r, web(c)), object.OK)
	if seen.Load() != "" {
		t.Errorf("the other server got %q", seen.Load())
	}
}

func TestHTTPS(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "safe") }))
	defer s.Close()
	s.Config.ErrorLog = nil
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	expect(t, do(t, open(t, Options{Roots: roots}), web(object.HTTPCheck{URL: s.URL})), object.OK, "200 OK, 4 bytes")
	r := open(t, Options{Roots: x509.NewCertPool()})
	expect(t, do(t, r, web(object.HTTPCheck{URL: s.URL})), object.Critical, "certificate signed by unknown authority")
	expect(t, do(t, r, web(object.HTTPCheck{URL: s.URL, Insecure: true})), object.OK, "200 OK")
}

func TestHTTPEndsAtItsTimeout(t *testing.T) {
	r := open(t, Options{})
	silent := serveTCP(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	dripping := serveTCP(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 1024))
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx")
		_, _ = io.Copy(io.Discard, c)
	})
	for _, address := range []string{silent, dripping} {
		got := r.Do(t.Context(), Request{
			Object: testSvc, Check: web(object.HTTPCheck{URL: "http://" + address + "/"}), Timeout: 150 * time.Millisecond,
		})
		expect(t, got, object.Critical, "no answer within 150ms")
		if got.Took > 5_000_000 {
			t.Errorf("took %d µs", got.Took)
		}
	}
}

func TestHTTPLeavesNothingBehind(t *testing.T) {
	r := open(t, Options{})
	s, _ := site(t)
	do(t, r, web(object.HTTPCheck{URL: s.URL + "/ok"}))
	before := runtime.NumGoroutine()
	for _, page := range []string{"/ok", "/big", "/broken", "/old"} {
		for range 20 {
			do(t, r, web(object.HTTPCheck{URL: s.URL + page, Contains: "x"}))
		}
	}
	s.CloseClientConnections()
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before+2; <-time.After(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

func TestCausesAreInWordsForOperators(t *testing.T) {
	for _, c := range []struct{ err, want string }{
		{"no such host", "no such host"},
		{"readLoopPeekFailLocked: %!w(<nil>)", "malformed HTTP response, the server spoke before it was asked"},
	} {
		for _, err := range []error{errors.New(c.err), &url.Error{Op: "Get", URL: "http://h/", Err: errors.New(c.err)}} {
			if got := urlCause(err).Error(); got != c.want {
				t.Errorf("%v: got %q, want %q", err, got, c.want)
			}
		}
	}
}
