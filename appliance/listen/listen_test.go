package listen

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/service"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// run runs a service alone.
func run(ctx context.Context, s service.Service) error {
	g, err := service.New(quiet(), []service.Service{s})
	if err != nil {
		return err
	}
	return g.Run(ctx)
}

// serve runs a handler and returns its address and a function that stops it and
// returns the result.
func serve(t *testing.T, h http.Handler) (string, func() error) {
	t.Helper()
	s, err := Open(t.Context(), "127.0.0.1:0", "-listen", quiet())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx, s.Service("http", h)) }()
	return "http://" + s.Addr(), func() error { cancel(); return <-done }
}

func get(t *testing.T, url string) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return (&http.Client{Timeout: 20 * time.Second}).Do(req)
}

func TestARunningRequestMayFinishAndAStreamIsEnded(t *testing.T) {
	entered, release := make(chan string, 2), make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/slow", func(w http.ResponseWriter, _ *http.Request) {
		entered <- "slow"
		<-release
		_, _ = io.WriteString(w, "done")
	})
	mux.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		entered <- "stream"
		<-r.Context().Done()
	})
	url, stop := serve(t, mux)
	answers := make(chan string, 2)
	for _, path := range []string{"/slow", "/stream"} {
		go func() {
			r, err := get(t, url+path)
			if err != nil {
				answers <- path + err.Error()
				return
			}
			body, _ := io.ReadAll(r.Body)
			_ = r.Body.Close()
			answers <- path + " " + string(body)
		}()
	}
	<-entered
	<-entered
	go close(release)
	if err := stop(); err != nil {
		t.Fatalf("stop: %v", err)
	}
	got := <-answers + <-answers
	if !strings.Contains(got, "/slow done") || !strings.Contains(got, "/stream ") {
		t.Fatalf("answers: %q", got)
	}
	if _, err := get(t, url+"/slow"); err == nil {
		t.Fatal("it still accepts connections")
	}
}

func TestAnAddressThatCannotBeHadNamesTheFlag(t *testing.T) {
	first, err := Open(t.Context(), "127.0.0.1:0", "-listen", quiet())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = first.Close() })
	cases := map[string]struct{ address, want string }{
		"an address in use": {first.Addr(), "listen on " + first.Addr() +
			": another process uses this address; stop it or choose another with -listen: address already in use"},
		"an address of another machine": {"192.0.2.1:0", "listen on 192.0.2.1:0" +
			": this machine has no such address; choose another with -listen: cannot assign requested address"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Open(t.Context(), c.address, "-listen", quiet())
			if err == nil || err.Error() != c.want {
				t.Fatalf("got %v, want %s", err, c.want)
			}
		})
	}
	if _, err := Open(t.Context(), "no such host.:1", "-listen", quiet()); err == nil ||
		!strings.Contains(err.Error(), "choose another with -listen") {
		t.Fatalf("a name that does not resolve: %v", err)
	}
}

func TestAListenerThatFailsEndsTheService(t *testing.T) {
	s, err := Open(t.Context(), "127.0.0.1:0", "-listen", quiet())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	err = run(t.Context(), s.Service("http", http.NotFoundHandler()))
	if err == nil || !strings.Contains(err.Error(), "service http: serve http on 127.0.0.1:") {
		t.Fatalf("got %v", err)
	}
}

func TestABodyReachesTheHandler(t *testing.T) {
	url, stop := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := (&http.Client{Timeout: 20 * time.Second}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(r.Body); string(body) != "hello" {
		t.Fatalf("got %q", body)
	}
	_ = r.Body.Close()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsServedEarlyMakesWayForTheService(t *testing.T) {
	say := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
	}
	body := func(url string) string {
		r, err := get(t, url)
		if err != nil {
			return err.Error()
		}
		defer func() { _ = r.Body.Close() }()
		text, _ := io.ReadAll(r.Body)
		return string(text)
	}
	open := func() *Server {
		s, err := Open(t.Context(), "127.0.0.1:0", "-listen", quiet())
		if err != nil {
			t.Fatal(err)
		}
		s.Early(say("waiting"))
		if got := body("http://" + s.Addr()); got != "waiting" {
			t.Errorf("at first it says %q", got)
		}
		return s
	}
	s := open()
	run := s.Service("http", say("here"))
	ctx, cancel := context.WithCancel(t.Context())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- run.Run(ctx, func() { close(ready) }) }()
	<-ready
	if got := body("http://" + s.Addr()); got != "here" {
		t.Errorf("then it says %q", got)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("the stop: %v", err)
	}
	given := open()
	if err := given.Close(); err != nil {
		t.Errorf("given up: %v", err)
	}
	if got := body("http://" + given.Addr()); !strings.Contains(got, "refused") {
		t.Errorf("given up it says %q", got)
	}
}
