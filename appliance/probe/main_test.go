package probe

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

func TestMain(m *testing.M) {
	if benchServer() {
		return
	}
	os.Exit(m.Run())
}

var (
	testHost = &object.Object{ID: "web01", Name: "web01", Address: "127.0.0.1", Rule: &object.Rule{}}
	testSvc  = &object.Object{ID: "web01!http", Name: "http", Host: testHost, Rule: &object.Rule{}}
)

func open(t testing.TB, o Options) *Runner {
	t.Helper()
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// do executes a check of the service.
func do(t testing.TB, r *Runner, c object.Check) fold.Result {
	t.Helper()
	return r.Do(t.Context(), Request{Object: testSvc, Check: c, Timeout: 30 * time.Second})
}

// expect compares a result with a state and parts of its texts.
func expect(t *testing.T, got fold.Result, state object.State, parts ...string) {
	t.Helper()
	if got.State != state {
		t.Errorf("state %s, want %s: %+v", got.State.Name(object.Service), state.Name(object.Service), got)
	}
	all := got.Output + "\n" + got.Long + "\n|" + got.Perfdata
	for _, p := range parts {
		if !strings.Contains(all, p) {
			t.Errorf("%q is missing in %q", p, all)
		}
	}
	if strings.ContainsAny(got.Output, "\n\r") || strings.ContainsAny(got.Perfdata, "\n\r") {
		t.Errorf("more than one line: %+v", got)
	}
	if got.Start == 0 || got.Took < 0 {
		t.Errorf("start %d, took %d", got.Start, got.Took)
	}
}

func script(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plugin")
	// A start meanwhile would hold the file open for writing in its child, and
	// the script could not be executed.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
