package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// asProgram makes the test binary behave as the program.
const asProgram = "TEST_RUN_AS_JAQUE"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// command is the program with arguments, in an environment of its own.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), exe, args...)
	c.Env = []string{asProgram + "=1", "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	c.Dir = t.TempDir()
	return c
}

// finish runs the program to its end.
func finish(t *testing.T, c *exec.Cmd) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String(), errs.String()
}

const siteText = `package site

hosts: web01: {address: "127.0.0.1", check: dummy: state: "UP"}
services: quiet: {on: {}, check: dummy: state: "OK"}
defaults: {interval: "1s", retry: "1s"}
`

// site writes a config and returns its path.
func site(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.cue")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// patience is how long a test waits for what takes a moment: on a machine with much
// else to do a moment is long.
const patience = time.Minute

// running is the program in the background, with its log as JSON lines.
type running struct {
	t     *testing.T
	cmd   *exec.Cmd
	url   string
	ended chan struct{} // closed when its log ends

	mu    sync.Mutex // guards what follows
	text  bytes.Buffer
	lines []map[string]any // of the log, those that await has not read
}

// launch starts a role on a config and waits until it serves HTTP.
func launch(t *testing.T, args ...string) *running {
	t.Helper()
	r := spawn(t, args...)
	r.served()
	return r
}

// spawn starts the program.
func spawn(t *testing.T, args ...string) *running {
	t.Helper()
	args = append([]string{"-listen", "127.0.0.1:0", "-log-format", "json", "-log-level", "debug"}, args...)
	return begin(t, command(t, args...))
}

// begin starts a program that logs in JSON.
func begin(t *testing.T, c *exec.Cmd) *running {
	t.Helper()
	r := &running{t: t, cmd: c, ended: make(chan struct{})}
	pipe, err := r.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.cmd.Process.Kill() })
	go r.read(pipe)
	return r
}

// served waits until it serves HTTP.
func (r *running) served() {
	r.t.Helper()
	if r.url == "" {
		r.url = "http://" + fmt.Sprint(r.await("serving http")["address"])
	}
}

// read takes every line, however long and whether or not somebody awaits one: a program
// whose log is not read stands still.
func (r *running) read(pipe io.Reader) {
	defer close(r.ended)
	for in := bufio.NewReader(pipe); ; {
		text, err := in.ReadBytes('\n')
		var line map[string]any
		known := json.Unmarshal(text, &line) == nil
		r.mu.Lock()
		r.text.Write(text)
		if known {
			r.lines = append(r.lines, line)
		}
		r.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (r *running) log() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// await reads on in the log until a message.
func (r *running) await(message string) map[string]any {
	r.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		ended := r.over() // looked at first: then all of its lines are there
		if line := r.next(message); line != nil {
			return line
		}
		if ended {
			r.t.Fatalf("ended without the line %q:\n%s", message, r.log())
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("no line %q within %s:\n%s", message, patience, r.log())
		}
	}
}

// next takes the lines of the log up to one with a message; nil if it is not there yet.
func (r *running) next(message string) map[string]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, line := range r.lines {
		if line["msg"] == message {
			r.lines = r.lines[i+1:]
			return line
		}
	}
	r.lines = nil
	return nil
}

// over tells whether the program has closed its log.
func (r *running) over() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

func (r *running) signal(sig os.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(sig); err != nil {
		r.t.Fatal(err)
	}
}

// end waits for the end of the program and returns its exit status.
func (r *running) end() int {
	r.t.Helper()
	<-r.ended
	_ = r.cmd.Wait()
	return r.cmd.ProcessState.ExitCode()
}

// get returns the status and text of a page.
func (r *running) get(path string) (int, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.url+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	res, err := (&http.Client{Timeout: patience}).Do(req)
	if err != nil {
		r.t.Fatalf("%v; the process says:\n%s", err, r.log())
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// until polls a page until it holds a text.
func (r *running) until(path, text string) {
	r.t.Helper()
	var body string
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, body = r.get(path); strings.Contains(body, text) {
			return
		}
	}
	r.t.Fatalf("%s did not hold %q within %s:\n%s\nthe process says:\n%s", path, text, patience, body, r.log())
}

// S003, S005, S007: the exact texts and exit statuses of what is wrong.
func TestWrongUseEndsWithOneClearText(t *testing.T) {
	const more = "jaque: run \"jaque help\" for the flags of each role\n"
	path := site(t, siteText)
	broken := site(t, "package site\n\nhosts: web01: {adress: \"192.0.2.1\"}\n")
	cases := map[string]struct {
		args []string
		code int
		want string
	}{
		"an unknown flag": {[]string{"-confg", path}, 2, "jaque: there is no flag -confg; did you mean -config?\n" +
			"jaque: role all requires -config: it declares what is monitored\n" +
			"jaque: 2 problems; run \"jaque help\" for the flags of each role\n"},
		"a refused flag": {
			[]string{"-config", path, "-queue", "memory"},
			2,
			"jaque: role all refuses -queue: there is no second process to dispatch to\n" + more,
		},
		"a missing flag": {nil, 2, "jaque: role all requires -config: it declares what is monitored\n" + more},
		"a wrong value": {
			[]string{"-config", path, "-heartbeat-ttl", "soon"},
			2,
			"jaque: -heartbeat-ttl: \"soon\" is not a duration; write 10s or 1m\n" + more,
		},
		"an unknown command": {[]string{"chek-config"}, 2, "jaque: there is no command \"chek-config\", only check-config, " +
			"demo, credentials, cluster, witness, backup, restore, log verify, version, help, ack, comment, notify, downtime, check-now, submit, enable, disable, set, explain, notifications, workers, or flags for a role; " +
			"did you mean check-config?\n" + more},
		"a command for a running jaque that is written wrongly": {[]string{"ack", "web01"}, 2, "jaque ack: -comment is missing; say what others should know\n" +
			"jaque ack: run \"jaque help ack\" for how it is written\n"},
		"a command for a jaque that does not run": {
			[]string{"check-now", "web01", "-url", "http://127.0.0.1:1"},
			1,
			"jaque check-now: no answer from http://127.0.0.1:1: dial tcp 127.0.0.1:1: connect: connection refused; " +
				"is jaque running there? name another address with -url or JAQUE_URL\n",
		},
		"a worker whose queue's server does not run": {
			[]string{"-target", "worker", "-queue", "nats://127.0.0.1:1", "-listen", "127.0.0.1:0", "-log-level", "error"},
			1,
			"jaque: open the queue: connect to log server nats://127.0.0.1:1: nats: no servers available for connection; is it running, and is the address right?\n",
		},
		"a config that is not there": {
			[]string{"-config", "nowhere.cue"},
			2,
			"nowhere.cue: there is no such file; write the path of a CUE file or of a folder with CUE files\n" +
				"1 problem, nothing was changed.\n",
		},
		"a config to check that is not there": {
			[]string{"check-config", "nowhere.cue"},
			2,
			"nowhere.cue: there is no such file; write the path of a CUE file or of a folder with CUE files\n" +
				"1 problem, nothing was changed.\n",
		},
		"a demo with a config": {
			[]string{"demo", "-config", path},
			2,
			"jaque: the demo is role all with a config of its own; choose its folder with -dir\n" + more,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := finish(t, command(t, c.args...))
			if code != c.code || stderr != c.want || stdout != "" {
				t.Fatalf("status %d, want %d\nstdout %q\ngot  %q\nwant %q", code, c.code, stdout, stderr, c.want)
			}
		})
	}
	t.Run("a config with a wrong field", func(t *testing.T) {
		t.Parallel()
		code, _, stderr := finish(t, command(t, "-config", broken))
		if code != 2 || !strings.Contains(stderr, "site.cue:3:16: hosts.web01.adress: ") ||
			!strings.HasSuffix(stderr, "1 problem, nothing was changed.\n") {
			t.Fatalf("status %d: %s", code, stderr)
		}
	})
}

func TestHelpVersionAndCheckGoToStandardOutput(t *testing.T) {
	path := site(t, siteText)
	cases := map[string]struct {
		args []string
		want string
	}{
		"help":                          {[]string{"help"}, "Roles:\n  all "},
		"help of a role":                {[]string{"help", "worker"}, "Role worker: pulls checks"},
		"the flag -help":                {[]string{"-help", "-target", "sink"}, "Flags that role sink takes:"},
		"the flag -help tells them too": {[]string{"-help"}, "  submit        hand in the result of a check"},
		"help of a command":             {[]string{"help", "ack"}, "Usage: jaque ack OBJECT"},
		"help of a part of a command":   {[]string{"help", "downtime", "cancel"}, "Usage: jaque downtime cancel ID"},
		"help tells the commands":       {[]string{"help"}, "  downtime      schedule a downtime"},
		"help of the demo":              {[]string{"demo", "-h"}, "jaque demo [-dir FOLDER]"},
		"version":                       {[]string{"version"}, "jaque "},
		"the flag -version":             {[]string{"--version"}, "jaque "},
		"a right config":                {[]string{"check-config", path}, "1 host, 1 service, 1 rule"},
		"a right config behind -config": {[]string{"check-config", "-config", path}, "1 host, 1 service, 1 rule"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := finish(t, command(t, c.args...))
			if code != 0 || !strings.Contains(stdout, c.want) || stderr != "" {
				t.Fatalf("status %d\nstderr %q\nstdout %q lacks %q", code, stderr, stdout, c.want)
			}
		})
	}
}

func TestWhatTheMachineRefusesIsOneClearError(t *testing.T) {
	path, file := site(t, siteText), site(t, "")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	t.Run("a port in use", func(t *testing.T) {
		code, _, stderr := finish(t, command(t, "-config", path, "-listen", taken.Addr().String(), "-data", t.TempDir()))
		want := "jaque: listen on " + taken.Addr().String() +
			": another process uses this address; stop it or choose another with -listen: address already in use\n"
		if code != 1 || stderr != want {
			t.Fatalf("status %d, got %q, want %q", code, stderr, want)
		}
	})
	t.Run("a data folder that cannot be", func(t *testing.T) {
		data := filepath.Join(file, "data")
		code, _, stderr := finish(t, command(t, "-config", path, "-listen", "127.0.0.1:0", "-data", data))
		if code != 1 || !strings.Contains(stderr, data) || !strings.Contains(stderr, "-data") {
			t.Fatalf("status %d: %s", code, stderr)
		}
	})
	t.Run("a file of events that cannot be", func(t *testing.T) {
		code, _, stderr := finish(t, command(t, "-config", path, "-listen", "127.0.0.1:0", "-data", t.TempDir(),
			"-events-out", filepath.Join(file, "x")))
		if code != 1 || !strings.Contains(stderr, "jaque: service events-out: open the file of -events-out: ") {
			t.Fatalf("status %d: %s", code, stderr)
		}
	})
	t.Run("a second process on the same data folder", func(t *testing.T) {
		data := t.TempDir()
		first := launch(t, "-config", path, "-data", data)
		code, _, stderr := finish(t, command(t, "-config", path, "-listen", "127.0.0.1:0", "-data", data))
		if code != 1 || !strings.Contains(stderr, data) || !strings.Contains(stderr, "-data") {
			t.Fatalf("status %d: %s", code, stderr)
		}
		first.until("/readyz", "ok") // the first one was not disturbed
		first.signal(syscall.SIGTERM)
		if code := first.end(); code != 0 {
			t.Fatalf("the first process ended with %d:\n%s", code, first.log())
		}
	})
}

// S008, S009
func TestOneProcessChecksFoldsAppendsAndStopsCleanly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	events, state := filepath.Join(dir, "events.jsonl"), filepath.Join(dir, "state.json")
	args := []string{"-config", site(t, siteText), "-data", filepath.Join(dir, "data"), "-events-out", events, "-snapshot-out", state}
	var seqs [2]uint64
	for i := range seqs {
		r := launch(t, args...)
		r.until("/readyz", "ok")
		r.atLeast(`jaque_checks_total{kind="dummy"}`, 3)
		r.signal(syscall.SIGTERM)
		if code := r.end(); code != 0 {
			t.Fatalf("SIGTERM ended it with %d:\n%s", code, r.log())
		}
		data, err := os.ReadFile(state)
		if err != nil {
			t.Fatal(err)
		}
		var folded struct {
			Log      uint64           `json:"log_seq"`
			Services []map[string]any `json:"services"`
		}
		if err := json.Unmarshal(data, &folded); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		if len(folded.Services) != 1 || folded.Services[0]["state"] != "OK" {
			t.Fatalf("state: %s", data)
		}
		seqs[i] = folded.Log
	}
	if seqs[1] <= seqs[0] {
		t.Errorf("the second start did not go on: position %d after %d", seqs[1], seqs[0])
	}
	data, err := os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(data, []byte(`"kind":"check.result"`)); n < 6 {
		t.Errorf("only %d results in the file of events:\n%s", n, data)
	}
}

func TestSIGHUPReloadsAndAWrongConfigChangesNothing(t *testing.T) {
	t.Parallel()
	path := site(t, siteText)
	r := launch(t, "-config", path, "-eventlog", "memory")
	r.until("/readyz", "ok")
	rewrite := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r.signal(syscall.SIGHUP)
	}
	rewrite("package site\n\nhosts: web01: {adress: \"x\"}\n")
	r.await("config is wrong, the running one is kept")
	r.until("/metrics", "jaque_config_last_reload_successful 0")
	rewrite(siteText + "hosts: web02: {address: \"127.0.0.1\"}\n")
	if line := r.await("config reloaded"); line["added"] != 2.0 || line["changed"] != 0.0 {
		t.Errorf("got %v", line)
	}
	r.until("/metrics", "jaque_config_last_reload_successful 1")
	r.until("/metrics", "jaque_engine_objects 4")
	r.signal(syscall.SIGINT)
	if code := r.end(); code != 0 {
		t.Fatalf("SIGINT ended it with %d:\n%s", code, r.log())
	}
}

func TestASecondInterruptQuitsAtOnce(t *testing.T) {
	t.Parallel()
	begun := filepath.Join(t.TempDir(), "begun")
	slow := siteText + fmt.Sprintf("services: slow: {on: {}, timeout: \"5m\", check: shell: \"touch %s; sleep 300\"}\n", begun)
	r := launch(t, "-config", site(t, slow), "-eventlog", "memory")
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(begun); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the slow check does not begin:\n%s", r.log())
		}
	}
	r.signal(syscall.SIGINT)
	r.await("engine stops, waiting for running checks")
	r.signal(syscall.SIGINT)
	if code := r.end(); code != 1 || !strings.Contains(r.log(), "quitting at once") {
		t.Fatalf("status %d:\n%s", code, r.log())
	}
}

func TestTheDemoWatchesThisMachine(t *testing.T) {
	t.Parallel()
	c := command(t, "demo", "-listen", "127.0.0.1:0")
	pipe, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	r := &running{t: t, cmd: c}
	s := bufio.NewScanner(pipe)
	for r.url == "" && s.Scan() {
		if _, url, ok := strings.Cut(s.Text(), "Dashboard: "); ok {
			r.url = url
		}
	}
	r.until("/livez", "ok")
	r.until("/api/v1/services/this-machine/port", `"state":"OK"`)
	r.signal(syscall.SIGINT)
	_, _ = io.Copy(io.Discard, pipe)
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := finish(t, command(t, "check-config", filepath.Join(c.Dir, demoFolder))); code != 0 {
		t.Fatalf("its config is wrong: %s%s", out, errs)
	}
}

func TestHelpExplainsTheSubcommands(t *testing.T) {
	for name, want := range map[string]string{
		"check-config": "check-config PATH", "demo": "-dir FOLDER", "version": "Prints which build",
		"backup": "backup -o FILE", "restore": "restore FILE", "log": "log verify", "cluster": "cluster join TOKEN", "witness": "without a config",
	} {
		code, out, errs := finish(t, command(t, "help", name))
		if code != 0 || !strings.Contains(out, want) || errs != "" {
			t.Errorf("help %s: exit %d, stderr %q, stdout lacks %q:\n%s", name, code, errs, want, out)
		}
	}
}
