package roles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/service"
)

// broken ends one service of a process by itself, as if it had failed.
type broken struct {
	name   string
	end    chan struct{} // closed when it shall end
	ended  chan struct{} // closed when the process knows that it does
	looked chan struct{} // closed when health was asked for after that

	mu    sync.Mutex // guards names
	names []string   // of all services
}

var errBroken = errors.New("it broke")

func newBroken(name string) *broken {
	return &broken{name: name, end: make(chan struct{}), ended: make(chan struct{}), looked: make(chan struct{})}
}

// wrap is that of Process. The service tidies up as it does at a stop.
func (b *broken) wrap(s service.Service) service.Service {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.names = append(b.names, s.Name)
	run := s.Run
	switch {
	case s.Name == b.name:
	case s.Name == "http" && b.name != "":
		// The listener would often be gone before anybody can look.
		s.Run = func(ctx context.Context, ready func()) error {
			inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
			defer cancel()
			context.AfterFunc(ctx, func() { <-b.looked; cancel() })
			return run(inner, ready)
		}
		return s
	default:
		return s
	}
	s.Run = func(ctx context.Context, ready func()) error {
		inner, cancel := context.WithCancel(ctx)
		defer cancel()
		isReady := make(chan struct{})
		done := make(chan error, 1)
		go func() {
			done <- run(inner, func() { ready(); close(isReady) })
		}()
		select {
		case <-isReady:
		case err := <-done:
			return err
		}
		select {
		case <-b.end:
		case <-ctx.Done():
			return <-done
		}
		err := service.Fail(ctx, errBroken)
		close(b.ended)
		<-b.looked
		cancel()
		return errors.Join(err, <-done)
	}
	return s
}

// exitRole is how a process of a role is started among others.
type exitRole struct {
	name Name
	args func(n int64) string // n differs in each
}

// exitRoles starts a server with an engine that has declared its streams, and returns
// how each role is started.
func exitRoles(t *testing.T) []exitRole {
	t.Helper()
	n := freshServer(t)
	url := n.ClientURL()
	path, dir := folder(t, shop+"sinks: numbers: {input: \"metrics\", file: {path: \"numbers.jsonl\"}}\n"), t.TempDir()
	x := startWith(t, exitSettings(t, fmt.Sprintf("-target engine -config %s -eventlog %s -queue %s -coordination %s -notify-delivery notifier", path, url, url, url)))
	x.until("/readyz", "ok")
	t.Cleanup(func() {
		if err := x.stop(); err != nil {
			t.Error(err)
		}
	})
	own := func(n int64) string {
		home := filepath.Join(dir, fmt.Sprint(n))
		return fmt.Sprintf("-config %s -data %s -coordination embedded -command-file %s.pipe -events-out %s.events -snapshot-out %s.state", path, home, home, home, home)
	}
	follower := fmt.Sprintf("-config %s -eventlog %s -coordination %s ", path, url, url)
	return []exitRole{
		{All, own},
		{Engine, func(n int64) string { return own(n) + " -queue embedded -notify-delivery notifier" }},
		{Worker, func(int64) string { return "-queue " + url }},
		{UI, func(int64) string { return follower }},
		{Sink, func(n int64) string { return follower + fmt.Sprintf("-heartbeat-ttl 2s -sink-id s%d", n) }},
		{Notifier, func(n int64) string { return follower + fmt.Sprintf("-heartbeat-ttl 2s -notifier-id n%d", n) }},
	}
}

func exitSettings(t *testing.T, args string) Settings {
	t.Helper()
	s, err := Parse(append(strings.Fields(args), "-listen", "127.0.0.1:0"), world(nil))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// startBroken starts a process and returns its address and what it ends with.
func startBroken(t *testing.T, s Settings, b *broken) (*started, <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	address, done := make(chan string, 1), make(chan error, 1)
	p := Process{Logger: quiet(), Stdout: io.Discard, Version: "test", wrap: b.wrap, Started: func(a string) { address <- a }}
	go func() { done <- Run(ctx, s, p) }()
	x := &started{t: t, stop: func() error { cancel(); return <-done }}
	select {
	case a := <-address:
		x.url = "http://" + a
	case err := <-done:
		t.Fatalf("it did not start: %v", err)
	}
	t.Cleanup(cancel)
	return x, done
}

var healthPaths = []string{"/livez", "/healthz", "/readyz"}

// health asks a path; 0 = nothing answers.
func health(url, path string) int {
	res, err := (&http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}).Get(url + path)
	if err != nil {
		return 0
	}
	_ = res.Body.Close()
	return res.StatusCode
}

// S003, S004: whichever service of whichever role ends by itself, the process ends
// with an error that names it, and is not healthy from that moment on.
func TestAProcessThatLosesAServiceIsNeverHealthyAgain(t *testing.T) {
	var number, lost, refused atomic.Int64
	roles := exitRoles(t)
	t.Run("roles", func(t *testing.T) {
		for _, role := range roles {
			settings := func(t *testing.T) Settings {
				return exitSettings(t, fmt.Sprintf("-target %s %s", role.name, role.args(number.Add(1))))
			}
			all := newBroken("")
			x, _ := startBroken(t, settings(t), all)
			x.until("/readyz", "ok")
			if err := x.stop(); err != nil {
				t.Fatalf("role %s does not stop: %v", role.name, err)
			}
			for _, name := range all.names {
				t.Run(fmt.Sprintf("%s loses %s", role.name, name), func(t *testing.T) {
					t.Parallel()
					refused.Add(loseService(t, settings(t), name))
					lost.Add(1)
				})
			}
		}
	})
	if n := lost.Load(); n > 40 && refused.Load() == 0 { // the listener of a single one may be gone at once
		t.Errorf("%d processes ended, and health was never asked meanwhile", n)
	}
	t.Logf("%d services of %d roles ended by themselves; health was refused %d times until the processes were gone",
		lost.Load(), len(roles), refused.Load())
}

// loseService ends a service of a process and returns how often health was refused.
func loseService(t *testing.T, s Settings, name string) (refused int64) {
	b := newBroken(name)
	x, done := startBroken(t, s, b)
	for _, path := range healthPaths[:2] {
		if code := health(x.url, path); code != http.StatusOK {
			t.Errorf("%s answers %d before anything ended", path, code)
		}
	}
	close(b.end)
	select {
	case <-b.ended:
	case err := <-done:
		t.Fatalf("the process ended before its service: %v", err)
	}
	for first := true; ; first = false {
		for _, path := range healthPaths {
			switch health(x.url, path) {
			case http.StatusOK:
				t.Errorf("%s answers 200 after %s ended", path, name)
			case http.StatusServiceUnavailable:
				refused++
			}
		}
		if first {
			close(b.looked)
		}
		select {
		case err := <-done:
			judgeEnd(t, err, name)
			return refused
		default:
		}
	}
}

func judgeEnd(t *testing.T, err error, name string) {
	t.Helper()
	var e *service.Error
	if !errors.As(err, &e) || e.Service != name || !errors.Is(err, errBroken) {
		t.Errorf("the process ended with %v, want an error of service %s", err, name)
		return
	}
	if want := "service " + name + ": it broke"; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("the process ended with %q, want %q first", err, want)
	}
	if code := ExitCode(err); code != ExitFailed {
		t.Errorf("the exit status is %d, want %d", code, ExitFailed)
	}
}
