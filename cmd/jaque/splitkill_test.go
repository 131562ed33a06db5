package main

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var restarts = flag.Int("nats-restarts", 1, "how often TestChecksGoOnAcrossRestarts restarts engine and NATS server")

const slowCheck = `package site

defaults: {interval: "1m", retry: "1m", timeout: "30s"}
hosts: a: {check: dummy: state: "UP"}
services: slow: {hosts: ["a"], check: plugin: ["%s", "slow"]}
`

// checkNow asks for a check at once.
func (x *split) checkNow(id string) {
	x.t.Helper()
	code, text := x.engine.post("/api/v1/commands", fmt.Sprintf(`{"command":"check-now","object":%q}`, id))
	if code != 202 {
		x.t.Fatalf("check-now: %d %s", code, text)
	}
}

// post sends JSON to the API and returns status and text of the answer.
func (r *running) post(path, body string) (int, string) {
	r.t.Helper()
	res, err := (&http.Client{Timeout: patience}).Post(r.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// A worker that is killed in the middle of a check loses nothing: another one
// executes it, within the check's timeout.
func TestACheckWhoseWorkerIsKilledIsExecutedByAnotherOne(t *testing.T) {
	t.Parallel()
	x := newSplit(t, slowCheck)
	x.startEngine()
	x.engine.until("/readyz", "ok")
	victim := x.worker("default")
	x.checkNow("a!slow")
	x.await("the check runs", func() bool { return len(x.runs()) == 1 })
	began := time.Now()
	second := x.worker("default")
	victim.signal(syscall.SIGKILL)
	x.await("another worker runs it", func() bool { return len(x.runs()) == 2 })
	took := time.Since(began)
	x.engine.until("/api/v1/services/a/slow", x.runs()[1].output)
	if x.runs()[1].parent != second.cmd.Process.Pid || took > 30*time.Second {
		t.Errorf("after %s: %v, the second worker is %d", took, x.runs(), second.cmd.Process.Pid)
	}
	x.await("its result stands in the file of events", func() bool { return x.results()[x.runs()[1].output] > 0 })
	x.noneTwice()
	second.until("/metrics", "jaque_queue_redelivered_total 1")
	t.Logf("redone %s after the kill", took.Round(time.Millisecond))
}

// A worker that is told to stop finishes what it runs.
func TestAWorkerThatStopsFinishesItsChecks(t *testing.T) {
	t.Parallel()
	x := newSplit(t, slowCheck)
	x.startEngine()
	x.engine.until("/readyz", "ok")
	w := x.worker("default")
	x.checkNow("a!slow")
	x.await("the check runs", func() bool { return len(x.runs()) == 1 })
	w.signal(syscall.SIGTERM)
	w.await("stopping")
	if err := os.WriteFile(filepath.Join(x.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code := w.end(); code != 0 {
		t.Errorf("ended with %d:\n%s", code, w.log())
	}
	x.engine.until("/api/v1/services/a/slow", x.runs()[0].output)
	if n := len(x.runs()); n != 1 {
		t.Errorf("%d runs, want 1", n)
	}
}

const steady = `package site

defaults: {interval: "1s", retry: "1s", timeout: "10s"}
hosts: a: {check: dummy: state: "UP"}
services: {for i in [1, 2, 3, 4] for j in [1, 2, 3, 4, 5] {"s\(i)\(j)": {hosts: ["a"], check: plugin: ["%s", "s\(i)\(j)"]}}}
`

// S081: workers stay while the engine is started again, and both while the NATS server
// is; without an engine no check runs, and each time checks go on.
func TestChecksGoOnAcrossRestarts(t *testing.T) {
	t.Parallel()
	x := newSplit(t, steady)
	early := x.worker("default") // before there is an engine
	early.until("/readyz", "not ready: no engine has made the queue of zone default yet; start one")
	x.startEngine()
	x.goesOn("the start")
	early.until("/readyz", "ok")
	for range *restarts {
		x.engine.signal(syscall.SIGTERM)
		if code := x.engine.end(); code != 0 {
			t.Fatalf("the engine ended with %d:\n%s", code, x.engine.log())
		}
		x.eachOnce()
		x.startEngine()
		x.goesOn("another engine")
		x.nats.restart()
		x.goesOn("another NATS server")
		// A server that ends takes along which items were finished a moment before: they
		// may be executed again, and that result is refused.
		x.noneTwice()
		for _, r := range []*running{early, x.engine} {
			r.until("/readyz", "ok")
		}
	}
	for output := range x.results() {
		if strings.HasPrefix(output, "UNKNOWN") {
			t.Errorf("a check was lost: %s", output)
		}
	}
	t.Logf("%d runs over %d restarts of engine and NATS server", len(x.runs()), *restarts)
}

// goesOn waits until every service has run again, and its result is known.
func (x *split) goesOn(after string) {
	x.t.Helper()
	before := len(x.runs())
	x.await("checks go on after "+after, func() bool {
		told, fresh := x.results(), map[string]bool{}
		for _, r := range x.runs()[before:] {
			if told[r.output] > 0 {
				fresh[r.service] = true
			}
		}
		return len(fresh) == 20
	})
}
