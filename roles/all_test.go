package roles

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/roles/engine"
	"jaque.sh/jaque/web"
)

const shop = `package site

hosts: web01: {address: "192.0.2.7", vars: COLOR: "blue", check: dummy: state: "UP"}
services: greeting: {on: {}, interval: "1s", retry: "1s", attempts: 1, check: dummy: {state: "WARNING", text: "hello $HOSTNAME$ at $HOSTADDRESS$, $_HOSTCOLOR$ $USER1$"}}
services: door: {on: {}, check: passive: {}}
settings: macros: USER1: "secretly"
`

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// folder writes a config and returns its path.
func folder(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.cue")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// appliances run in the test's own process.
type started struct {
	t      *testing.T
	url    string
	reload chan struct{}
	stop   func() error
}

func startAll(t *testing.T, path string, more ...string) *started {
	t.Helper()
	args := append([]string{"-config", path, "-listen", "127.0.0.1:0", "-eventlog", "memory"}, more...)
	s, err := Parse(args, world(nil))
	if err != nil {
		t.Fatal(err)
	}
	return startWith(t, s)
}

// startWith starts what the settings say.
func startWith(t *testing.T, s Settings) *started {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	address, done := make(chan string, 1), make(chan error, 1)
	x := &started{t: t, reload: make(chan struct{})}
	p := Process{Logger: quiet(), Stdout: io.Discard, Version: "test", Reload: x.reload, Started: func(a string) { address <- a }}
	go func() { done <- Run(ctx, s, p) }()
	x.stop = func() error { cancel(); return <-done }
	select {
	case a := <-address:
		x.url = "http://" + a
	case err := <-done:
		t.Fatalf("did not start: %v", err)
	}
	return x
}

func (x *started) call(method, path, body string) (int, string) {
	x.t.Helper()
	req, err := http.NewRequestWithContext(x.t.Context(), method, x.url+path, strings.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := (&http.Client{Timeout: 10 * time.Second}).Do(req)
	if err != nil {
		x.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func (x *started) until(path, text string) {
	x.t.Helper()
	var got string
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, got = x.call(http.MethodGet, path, ""); strings.Contains(got, text) {
			return
		}
	}
	x.t.Fatalf("%s never held %q:\n%s", path, text, got)
}

// S008, S009: one process checks, folds, appends, serves, and obeys. Two of them
// fit into one process.
func TestTwoAppliancesRunBesideEachOther(t *testing.T) {
	path := folder(t, shop)
	a, b := startAll(t, path), startAll(t, path)
	const greeting = "/api/v1/services/web01/greeting"
	for _, x := range []*started{a, b} {
		x.until("/readyz", "ok")
		x.until(greeting, "hello web01 at 192.0.2.7, blue secretly")
		x.until(greeting, `"state":"WARNING"`)
	}
	code, text := a.call(http.MethodPost, "/api/v1/commands",
		`{"command":"submit-result","object":"web01!door","state":"CRITICAL","output":"left open"}`)
	if code != http.StatusAccepted {
		t.Fatalf("submit: %d %s", code, text)
	}
	a.until("/api/v1/services/web01/door", "left open")
	if _, text := b.call(http.MethodGet, "/api/v1/services/web01/door", ""); !strings.Contains(text, "PENDING") {
		t.Errorf("the other appliance heard of it: %s", text)
	}
	code, text = a.call(http.MethodPost, "/api/v1/commands", `{"command":"check-now","object":"web01!door"}`)
	if code != http.StatusBadRequest || !strings.Contains(text, "submit a result instead") {
		t.Errorf("check-now of a passive service: %d %s", code, text)
	}
	if _, text := a.call(http.MethodGet, "/api/v1/status", ""); !strings.Contains(text, `"role":"all"`) ||
		!strings.Contains(text, `"engine_id":"web-1-example"`) {
		t.Errorf("status: %s", text)
	}
	if err := errors.Join(a.stop(), b.stop()); err != nil {
		t.Fatal(err)
	}
}

func TestAReloadIsAllOrNothing(t *testing.T) {
	path := folder(t, shop)
	x := startAll(t, path)
	x.until("/readyz", "ok")
	rewrite := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		x.reload <- struct{}{}
	}
	rewrite(strings.Replace(shop, "192.0.2.7", "", 1))
	x.until("/api/v1/status", `"last_reload_successful":false`)
	x.until("/metrics", "jaque_config_reload_failures_total 1")
	x.until("/api/v1/services/web01/greeting", "192.0.2.7")
	rewrite(strings.Replace(shop, "192.0.2.7", "192.0.2.8", 1))
	x.until("/api/v1/status", `"last_reload_successful":true`)
	x.until("/api/v1/services/web01/greeting", "192.0.2.8")
	if err := x.stop(); err != nil {
		t.Fatal(err)
	}
}

func TestAStartThatFailsLeavesNothingOpen(t *testing.T) {
	s, err := Parse([]string{"-config", folder(t, shop), "-listen", "127.0.0.1:0"}, world(nil))
	if err != nil {
		t.Fatal(err)
	}
	want := "there is no home folder to keep the event log in; name a folder with -data"
	if err := Run(t.Context(), s, Process{Logger: quiet()}); err == nil || err.Error() != want || ExitCode(err) != ExitFailed {
		t.Fatalf("got %v, want %s", err, want)
	}
}

func TestWhatThisReleaseCannotDoIsSaid(t *testing.T) {
	for _, r := range Roles() {
		s, err := Parse(arguments(minimal(t, r.Name, "")), world(nil))
		if err != nil {
			t.Fatal(err)
		}
		if r.Released {
			continue
		}
		err = Run(t.Context(), s, Process{Logger: quiet()})
		if want := fmt.Sprintf("role %s is not available in this release", r.Name); err == nil || err.Error() != want || ExitCode(err) != ExitFailed {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	s, err := Parse(strings.Fields("-config x -smtp-host h -livestatus-listen :1"), world(nil))
	if got := len(s.idle()); err != nil || got != 1 {
		t.Errorf("got %d warnings, %v", got, err)
	}
}

func TestExitStatus(t *testing.T) {
	for want, err := range map[int]error{ExitDone: nil, ExitFailed: errors.New("x"), ExitUsage: &UsageError{}} {
		if got := ExitCode(err); got != want {
			t.Errorf("%v: got %d, want %d", err, got, want)
		}
	}
	if got := ExitCode(fmt.Errorf("read: %w", config.Problems{{Text: "x"}})); got != ExitUsage {
		t.Errorf("a wrong config: got %d", got)
	}
}

func TestTheEnginesErrorsChooseTheAnswer(t *testing.T) {
	for _, c := range []struct{ from, want error }{
		{engine.ErrNotFound, web.ErrInvalid},
		{engine.ErrRefused, web.ErrInvalid},
		{engine.ErrBusy, web.ErrUnavailable},
		{engine.ErrStopping, web.ErrUnavailable},
	} {
		if got := forWeb(fmt.Errorf("x: %w", c.from)); !errors.Is(got, c.want) || !errors.Is(got, c.from) {
			t.Errorf("%v: got %v", c.from, got)
		}
	}
	if forWeb(nil) != nil {
		t.Error("no error became one")
	}
}

func TestTheStateFileHoldsEveryObject(t *testing.T) {
	c, problems := config.Load(folder(t, shop), config.Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var out bytes.Buffer
	if err := writeState(&out, projection.New(c.Set), "e1", time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	var state struct {
		Time     string
		Hosts    []struct{ Host, State, Owner string }
		Services []struct{ Host, Service, State string }
	}
	if err := json.Unmarshal(out.Bytes(), &state); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	if len(state.Hosts) != 1 || len(state.Services) != 2 || state.Hosts[0].Owner != "e1" || state.Services[0].State != "PENDING" {
		t.Fatalf("got %s", out.String())
	}
	var line struct {
		Stream string
		Seq    uint64
	}
	e := &event.Event{Stream: event.Results, Seq: 7, Kind: event.CheckResult, Object: object.HostID("a"), Measure: &event.Measure{Output: "<b>"}}
	if err := json.Unmarshal(appendEvent(nil, e), &line); err != nil || line.Stream != "results" || line.Seq != 7 {
		t.Fatalf("got %+v, %v", line, err)
	}
}

func TestTLSFilesThatAreNoneAreErrors(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	text := folder(t, "no certificate")
	for want, n := range map[string]NATS{
		"read the authorities of -nats-tls-ca: open " + none:             {TLSCA: none},
		text + " holds no certificate in PEM form":                       {TLSCA: text},
		"read -nats-tls-cert and -nats-tls-key: open " + none:            {TLSCert: none, TLSKey: none},
		"read -nats-tls-cert and -nats-tls-key: tls: failed to find any": {TLSCert: text, TLSKey: text},
	} {
		if _, err := n.tlsConfig(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if c, err := (NATS{}).tlsConfig(); c != nil || err != nil {
		t.Errorf("without files: %v, %v", c, err)
	}
}

// What a plugin or a submitter wrote never becomes a command of the shell.
func TestOutputMacrosCannotInjectIntoAShellLine(t *testing.T) {
	dir := t.TempDir()
	trap := filepath.Join(dir, "owned")
	x := startAll(t, folder(t, `package site
hosts: ph: {check: passive: {}}
services: inj: {hosts: ["ph"], interval: "1s", retry: "1s", check: shell: "echo pre $HOSTOUTPUT$ $LONGHOSTOUTPUT$ $HOSTPERFDATA$ post"}
`))
	x.until("/readyz", "ok")
	evil := "x `touch " + trap + "1` $(touch " + trap + "2) & touch " + trap + "3 | touch " + trap + "4"
	body, _ := json.Marshal(map[string]string{
		"command": "submit-result", "object": "ph", "state": "UP",
		"output": evil, "long_output": "; touch " + trap + "5\ntouch " + trap + "6", "perfdata": "a=1; touch " + trap + "7",
	})
	if code, text := x.call(http.MethodPost, "/api/v1/commands", string(body)); code != http.StatusAccepted {
		t.Fatalf("submit: %d %s", code, text)
	}
	deadline := time.Now().Add(10 * time.Second)
	for !strings.Contains(x.service("ph", "inj"), "pre x") {
		if time.Now().After(deadline) {
			t.Fatalf("the shell line has not run on the new output: %s", x.service("ph", "inj"))
		}
		time.Sleep(20 * time.Millisecond) // polls a running appliance
	}
	if left, _ := filepath.Glob(trap + "*"); len(left) > 0 {
		t.Errorf("the shell ran what stood in the output: %v", left)
	}
	if err := x.stop(); err != nil {
		t.Error(err)
	}
}

// service returns the API's answer about one service.
func (x *started) service(host, name string) string {
	_, text := x.call(http.MethodGet, "/api/v1/services/"+host+"/"+name, "")
	return text
}

func TestMacrosOfTheSettingsAnswerUnderTheirOwnNames(t *testing.T) {
	x := startAll(t, folder(t, `package site
hosts: h: {}
services: s: {on: {}, interval: "1s", retry: "1s", check: dummy: {text: "[$FOO$] [$USER2$]"}}
settings: macros: {FOO: "plain", USER2: "two"}
`))
	deadline := time.Now().Add(10 * time.Second)
	for !strings.Contains(x.service("h", "s"), "[plain] [two]") {
		if time.Now().After(deadline) {
			t.Fatalf("macros are not answered: %s", x.service("h", "s"))
		}
		time.Sleep(20 * time.Millisecond) // polls a running appliance
	}
	if err := x.stop(); err != nil {
		t.Error(err)
	}
}
