package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/web/sample"
)

// commands is a Commander that remembers.
type commands struct {
	taken []string
	err   error
}

func (c *commands) Do(_ context.Context, actions []operate.Action) (operate.Report, error) {
	report := operate.Report{ID: "c1"}
	for _, a := range actions {
		c.taken = append(c.taken, c.words(a))
		report.Results = append(report.Results, operate.Result{Object: a.Object, Err: c.err})
	}
	return report, nil
}

// words says what an action is.
func (c *commands) words(a operate.Action) string {
	switch x := a.Command.(type) {
	case fold.Reschedule:
		return "check " + string(a.Object)
	case fold.Result:
		return strings.Join([]string{"submit", string(a.Object), x.State.Name(a.Object.Kind()), x.Output, x.Long, x.Perfdata}, "|")
	}
	return fmt.Sprintf("%s %+v %+v", a.Object, a.Command, a.Program)
}

func options(s *sample.Site) Options {
	return Options{
		Projection: s.Projection, History: s, Commands: &commands{},
		Status: func() Status {
			return Status{
				Version: "0.1.0", Role: "all", EngineID: "engine-1", Epoch: 3, Members: []string{"engine-1"}, Engines: fleetOfThree(), Started: sample.Now.Add(-5 * time.Hour),
				Latency: Latency{P50: 0.0011, P95: 0.006, P99: 0.013, Max: 0.31},
				Reload:  Reload{At: sample.Now.Add(-5 * time.Hour), OK: true, Generation: "4f2a91"},
			}
		},
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Now:    func() time.Time { return sample.Now },
	}
}

// serve starts the handler on a loopback port.
func serve(t testing.TB, o Options) *httptest.Server {
	t.Helper()
	h, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	o.Stop = stop
	srv := httptest.NewServer(h)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv
}

// ask sends a request and returns the answer with its body read.
func ask(t testing.TB, method, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(data)
}

// get asks for JSON into v.
func get(t testing.TB, url string, v any) {
	t.Helper()
	resp, body := ask(t, http.MethodGet, url, "")
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s: %s", url, resp.Status, body)
	}
	if err := json.Unmarshal([]byte(body), v); err != nil {
		t.Fatalf("GET %s: %v in %s", url, err, body)
	}
}

var errBroken = errors.New("secret detail")

// contextWithAddr returns a request's context as a server on addr makes it.
func contextWithAddr(r *http.Request, addr net.Addr) context.Context {
	return context.WithValue(r.Context(), http.LocalAddrContextKey, addr)
}

// fleetOfThree is this engine beside one that lives and one that has died.
func fleetOfThree() []Engine {
	return []Engine{
		{ID: "engine-1", Live: true, Joined: sample.Now.Add(-5 * time.Hour), Objects: 14, Generation: "4f2a91c07d22", Delivery: "local"},
		{ID: "engine-2", Live: true, Joined: sample.Now.Add(-time.Hour), Objects: 11, Generation: "4f2a91c07d22", Delivery: "local"},
		{ID: "engine-3", Joined: sample.Now.Add(-9 * time.Hour), Gone: sample.Now.Add(-12 * time.Minute), Generation: "0b11d3a2a5e1", Delivery: "notifier"},
	}
}
