package roles

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// startEngine starts an engine whose workers are in its own process.
func startEngine(t *testing.T, path string, more ...string) *started {
	t.Helper()
	return startAll(t, path, append([]string{"-target", "engine", "-queue", "memory"}, more...)...)
}

const zoned = `package site

defaults: {interval: "1s", retry: "1s"}
hosts: a: {check: dummy: state: "UP"}
hosts: b: {zone: "dmz", check: dummy: state: "UP"}
services: s: {on: {}, check: dummy: text: "round"}
`

func TestAnEngineInMemoryServesEveryZoneOfItsConfig(t *testing.T) {
	path := folder(t, zoned)
	x := startEngine(t, path)
	x.until("/api/v1/services/a/s", "round")
	x.until("/api/v1/services/b/s", "round")
	more := zoned + "hosts: c: {zone: \"far\", check: dummy: state: \"UP\"}\n"
	if err := os.WriteFile(path, []byte(more), 0o600); err != nil {
		t.Fatal(err)
	}
	x.reload <- struct{}{}
	x.until("/api/v1/services/c/s", "round")
	x.until("/metrics", `jaque_queue_dispatched_total{outcome="unanswered"} 0`)
	x.until("/readyz", "ok")
	if err := x.stop(); err != nil {
		t.Fatal(err)
	}
}

// S013: without a worker nothing is executed, whatever the engine could execute.
func TestAnEngineRunsNoCheckItself(t *testing.T) {
	dir := t.TempDir()
	trace := filepath.Join(dir, "ran")
	plugin := filepath.Join(dir, "check_trace")
	if err := os.WriteFile(plugin, []byte("#!/bin/sh\necho x >> "+trace+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := folder(t, `package site
defaults: {interval: "1s", retry: "1s", timeout: "1s", attempts: 1}
hosts: a: {check: dummy: state: "UP"}
services: s: {on: {}, check: plugin: ["`+plugin+`"]}
services: all: {on: {}, check: aggregate: {members: ["a"]}}
`)
	s, err := Parse(strings.Fields("-target engine -queue embedded -config "+path+" -data "+filepath.Join(dir, "data")+" -listen 127.0.0.1:0"), world(nil))
	if err != nil {
		t.Fatal(err)
	}
	x := startWith(t, s)
	x.until("/api/v1/services/a/s", `"state":"UNKNOWN"`)
	x.until("/api/v1/services/a/s", "no worker serves zone default")
	x.until("/api/v1/hosts/a", `"state":"DOWN"`)
	x.until("/api/v1/services/a/all", `"state":"CRITICAL"`)
	if err := x.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(trace); !os.IsNotExist(err) {
		t.Errorf("the engine ran the plugin: %v", err)
	}
}

func TestWhatStandsOnTheEmbeddedServerNeedsOne(t *testing.T) {
	for _, c := range []struct{ name, args, want string }{
		{
			"a queue beside a log in memory", "-target engine -config x -queue embedded -eventlog memory",
			"-queue embedded needs the embedded server, which -eventlog memory does not start; write -queue nats://host:port, or leave -eventlog out",
		},
		{
			"a queue beside the log of another server", "-target engine -config x -queue embedded -eventlog nats://h:1",
			"-queue embedded needs the embedded server, which -eventlog nats://h:1 does not start; write -queue nats://host:port, or leave -eventlog out",
		},
		{
			"a membership beside a log in memory", "-config x -coordination embedded -eventlog memory",
			"-coordination embedded needs the embedded server, which -eventlog memory does not start; write -coordination nats://host:port, or leave -eventlog out",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse(strings.Fields(c.args), world(nil))
			if got := problemsOf(err); !slices.Equal(got, []string{c.want}) || ExitCode(err) != ExitUsage {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	for args, want := range map[string]string{
		"-target engine -config x -queue embedded":                      "no worker can reach this engine; name an address with -nats-listen",
		"-target engine -config x -queue embedded -nats-listen :4222":   "",
		"-target engine -config x -queue memory":                        "no worker in another process can reach this engine",
		"-target engine -config x -queue nats://h:1 -eventlog embedded": "",
	} {
		s, err := Parse(strings.Fields(args), world(nil))
		got := strings.Join(s.Warnings, "\n")
		if err != nil || !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: got %q, %v, want %q", args, got, err, want)
		}
	}
}

func TestWorkersOnOneMachineHaveDifferentNames(t *testing.T) {
	one, two := workerID("web-1", "ABCDEFGH2345"), workerID("web-1", "ZBCDEFGH2345")
	if one != "web-1-abcde" || one == two {
		t.Errorf("got %s and %s", one, two)
	}
	if checkIdentifier(one) != nil {
		t.Errorf("%s is no id", one)
	}
}

func TestAWorkerHasRoomInEveryZone(t *testing.T) {
	if n := checksAtOnce(1); n < 128 || n > 1024 {
		t.Errorf("one zone: %d checks at once", n)
	}
	if n := checksAtOnce(500); n < 16*500 {
		t.Errorf("500 zones: %d checks at once", n)
	}
}
