package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/listen/listentest"
)

// queueServer is a NATS server on loopback, reached as any other process reaches it.
type queueServer struct {
	t    *testing.T
	opts server.Options
	*server.Server
}

func startNATS(t *testing.T) *queueServer {
	t.Helper()
	n := &queueServer{t: t, opts: server.Options{
		Host: "127.0.0.1", Port: listentest.Port(t), NoSigs: true, JetStream: true, StoreDir: t.TempDir(), JetStreamMaxStore: 64 << 30,
	}}
	n.start()
	t.Cleanup(n.stop)
	return n
}

func (n *queueServer) start() {
	n.t.Helper()
	o := n.opts
	var err error
	if n.Server, err = server.NewServer(&o); err != nil {
		n.t.Fatal(err)
	}
	n.Start()
	if !n.ReadyForConnections(patience) {
		n.t.Fatal("the NATS server does not start")
	}
}

func (n *queueServer) stop() {
	n.Shutdown()
	n.WaitForShutdown()
}

// restart ends the server and starts it on the same address and store.
func (n *queueServer) restart() {
	n.t.Helper()
	n.stop()
	n.start()
}

func (n *queueServer) connect() *nats.Conn {
	n.t.Helper()
	nc, err := nats.Connect(n.ClientURL())
	if err != nil {
		n.t.Fatal(err)
	}
	n.t.Cleanup(nc.Close)
	return nc
}

// split is one engine and workers on a server, with a plugin that writes down each
// of its runs: service, process id of its parent, number of its own.
type split struct {
	t      *testing.T
	nats   *queueServer
	dir    string
	site   string
	engine *running
}

// newSplit writes the plugin; config holds %s where its path stands.
func newSplit(t *testing.T, config string) *split {
	t.Helper()
	x := &split{t: t, nats: startNATS(t), dir: t.TempDir()}
	script := "#!/bin/sh\necho $1 $PPID run-$$ >> " + x.runsFile() + "\n" + slowPart + "echo run-$$\n"
	if err := os.WriteFile(x.plugin(), []byte(strings.ReplaceAll(script, "DIR", x.dir)), 0o755); err != nil {
		t.Fatal(err)
	}
	x.site = site(t, strings.ReplaceAll(config, "%s", x.plugin()))
	return x
}

// slowPart makes the first run of the service "slow" wait until a file appears.
const slowPart = `if [ "$1" = slow ] && mkdir DIR/first 2>/dev/null; then
	while ! [ -e DIR/go ]; do sleep 0.05; done
fi
`

func (x *split) plugin() string   { return filepath.Join(x.dir, "check_run") }
func (x *split) runsFile() string { return filepath.Join(x.dir, "runs") }
func (x *split) events() string   { return filepath.Join(x.dir, "events.jsonl") }

func (x *split) startEngine(more ...string) {
	x.t.Helper()
	url := x.nats.ClientURL()
	x.engine = launch(x.t, append([]string{
		"-target", "engine", "-config", x.site, "-eventlog", url, "-queue", url, "-engine-id", "e1", "-events-out", x.events(),
	}, more...)...)
}

func (x *split) worker(zones string) *running {
	x.t.Helper()
	return launch(x.t, "-target", "worker", "-queue", x.nats.ClientURL(), "-zones", zones)
}

// ran is one execution of the plugin.
type ran struct {
	service string
	parent  int
	output  string
}

func (x *split) runs() []ran {
	x.t.Helper()
	data, err := os.ReadFile(x.runsFile())
	if err != nil && !os.IsNotExist(err) {
		x.t.Fatal(err)
	}
	var all []ran
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) != 3 || !strings.HasSuffix(line, "\n") {
			continue // it is being written
		}
		pid, _ := strconv.Atoi(f[1])
		all = append(all, ran{f[0], pid, f[2]})
	}
	return all
}

// results counts the measurements by their output; a decision tells its own again.
func (x *split) results() map[string]int {
	x.t.Helper()
	data, err := os.ReadFile(x.events())
	if err != nil && !os.IsNotExist(err) {
		x.t.Fatal(err)
	}
	count := map[string]int{}
	for line := range strings.Lines(string(data)) {
		var e struct{ Stream, Kind, Output string }
		if json.Unmarshal([]byte(line), &e) == nil && e.Stream == "results" && e.Kind == "check.result" {
			count[e.Output]++
		}
	}
	return count
}

// await waits for something.
func (x *split) await(what string, done func() bool) {
	x.t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			x.t.Fatalf("%s: not within %s; runs %v\nengine:\n%s", what, patience, x.runs(), x.engine.log())
		}
	}
}

// eachOnce demands that every run has exactly one result on the log.
func (x *split) eachOnce() {
	x.t.Helper()
	runs := x.runs()
	x.await("every run has a result", func() bool {
		told := x.results()
		return !slices.ContainsFunc(runs, func(r ran) bool { return told[r.output] == 0 })
	})
	x.noneTwice()
}

// noneTwice sees that no run stands on the log twice.
func (x *split) noneTwice() {
	x.t.Helper()
	for output, n := range x.results() {
		if strings.HasPrefix(output, "run-") && n != 1 {
			x.t.Errorf("%s stands on the log %d times", output, n)
		}
	}
}

const twoZones = `package site

defaults: {interval: "1s", retry: "1s", timeout: "10s"}
hosts: {a: {check: dummy: state: "UP"}, b: {zone: "dmz", check: dummy: state: "UP"}}
services: {
	for i in [1, 2, 3, 4] {"in\(i)": {hosts: ["a"], check: plugin: ["%s", "in\(i)"]}}
	for i in [1, 2] {"out\(i)": {hosts: ["b"], check: plugin: ["%s", "out\(i)"]}}
	none: {hosts: ["b"], check: plugin: ["check_nowhere"]}
	long: {hosts: ["a"], check: plugin: ["%s", "` + "LONG" + `"]}
	all: {hosts: ["a"], check: aggregate: members: ["a", "b"]}
}
`

// S014, S018, S025, S079, S087, S091: every check is executed once, by a worker of its
// zone.
func TestThreeWorkersRunTheChecksOfTwoZones(t *testing.T) {
	t.Parallel()
	x := newSplit(t, strings.Replace(twoZones, "LONG", strings.Repeat("x", 1<<20), 1))
	x.startEngine()
	one, two, far := x.worker("default"), x.worker("default"), x.worker("dmz")
	pid := func(w *running) int { return w.cmd.Process.Pid }
	by := func(w *running) (n int) {
		for _, r := range x.runs() {
			if r.parent == pid(w) {
				n++
			}
		}
		return n
	}
	x.await("each worker has work", func() bool { return by(one) > 1 && by(two) > 1 && by(far) > 1 })
	for _, r := range x.runs() {
		if inDMZ := strings.HasPrefix(r.service, "out"); inDMZ != (r.parent == pid(far)) || r.parent == pid(x.engine) {
			t.Errorf("%s ran in process %d; the workers are %d, %d and, of dmz, %d, the engine is %d",
				r.service, r.parent, pid(one), pid(two), pid(far), pid(x.engine))
		}
	}
	x.eachOnce()
	id := fmt.Sprint(far.startedAs())
	one.signal(syscall.SIGHUP)
	one.await("SIGHUP is ignored in this role: a worker has no config")
	x.engine.until("/api/v1/services/b/none", "UNKNOWN - on worker "+id+": plugin check_nowhere not found on this machine")
	x.engine.until("/api/v1/services/a/long", "bytes long with its arguments and environment, the log server takes 1048576")
	x.engine.until("/api/v1/services/a/all", `"state":"OK"`)
	x.engine.until("/metrics", `jaque_queue_dispatched_total{outcome="too_big"}`)
	far.until("/metrics", `jaque_queue_items_total{outcome="answered"}`)
	far.until("/readyz", "ok")
	x.auditWorker(far)
	x.strangers()
	for _, w := range []*running{one, far, x.engine, two} {
		w.signal(syscall.SIGTERM)
		if code := w.end(); code != 0 {
			t.Errorf("ended with %d:\n%s", code, w.log())
		}
	}
	x.eachOnce()
	t.Logf("%d runs, each told of once", len(x.runs()))
}

// startedAs returns the id under which a worker takes checks.
func (r *running) startedAs() any {
	r.t.Helper()
	for line := range strings.Lines(r.log()) {
		var l map[string]any
		if json.Unmarshal([]byte(line), &l) == nil && l["msg"] == "worker takes checks" {
			return l["worker"]
		}
	}
	r.t.Fatalf("it takes no checks:\n%s", r.log())
	return nil
}

// openFiles returns what a process has open now, as the kernel calls it.
func openFiles(t *testing.T, pid int) (all []string) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil || len(files) == 0 {
		t.Fatalf("the files of process %d: %v, %v", pid, files, err)
	}
	for _, f := range files {
		if at, err := os.Readlink(f); err == nil { // else it was closed meanwhile
			all = append(all, at)
		}
	}
	return all
}

// auditWorker demands that a worker has no file open but Go's view of the machine's
// limits, and hears nothing from the
// server but its work and the question who is there (S019).
func (x *split) auditWorker(w *running) {
	x.t.Helper()
	for _, at := range openFiles(x.t, w.cmd.Process.Pid) {
		if strings.HasPrefix(at, "/") && !strings.HasPrefix(at, "/dev/") && !strings.HasPrefix(at, "/sys/fs/cgroup/") {
			x.t.Errorf("a worker has %s open", at)
		}
	}
	for _, name := range []string{w.cmd.Dir, strings.TrimPrefix(w.cmd.Env[1], "HOME=")} {
		if left, err := os.ReadDir(name); err != nil || len(left) > 0 {
			x.t.Errorf("a worker left %v in its folders, %v", left, err)
		}
	}
	connections, err := x.nats.Connz(&server.ConnzOptions{Subscriptions: true})
	if err != nil {
		x.t.Fatal(err)
	}
	found := 0
	for _, c := range connections.Conns {
		if c.Name != fmt.Sprintf("jaque worker %v", w.startedAs()) {
			continue
		}
		found++
		for _, subject := range c.Subs {
			if subject != "jaque.work.hello" && !strings.HasPrefix(subject, "_INBOX.") {
				x.t.Errorf("a worker hears %s", subject)
			}
		}
	}
	if found != 1 {
		x.t.Errorf("a worker has %d connections, want 1", found)
	}
}

// strangers sends a result that nobody waits for and an item that only a newer
// worker understands.
func (x *split) strangers() {
	x.t.Helper()
	nc := x.nats.connect()
	m, err := nc.Request("jaque.work.result.e1.default", []byte(`{"v":1,"id":"gone","worker":"w","state":2,"output":"late"}`), patience)
	if err != nil || string(m.Data) != "unexpected" {
		x.t.Errorf("a result that nobody waits for: %v, %v", m, err)
	}
	x.engine.until("/metrics", `jaque_queue_results_total{outcome="unexpected"} 1`)
	answers, err := nc.SubscribeSync("jaque.work.result.e9.dmz")
	if err != nil {
		x.t.Fatal(err)
	}
	item := `{"v":7,"need":7,"id":"i1","engine":"e9","object":"b!new","zone":"dmz","life_ms":30000,"check":{"kind":"quantum"}}`
	if m, err := nc.Request("jaque.work.check.dmz", []byte(item), patience); err != nil || strings.Contains(string(m.Data), "error") {
		x.t.Fatalf("an item of a newer engine: %v, %v", m, err)
	}
	answer, err := answers.NextMsg(patience)
	if err != nil {
		x.t.Fatal(err)
	}
	_ = answer.Respond([]byte("accepted"))
	for _, part := range []string{`"id":"i1"`, "is too old for this check: work items of version 7 are needed", "upgrade the worker"} {
		if !strings.Contains(string(answer.Data), part) {
			x.t.Errorf("the answer to an item of a newer engine lacks %q: %s", part, answer.Data)
		}
	}
}

// S101, S111: two engines on one log share its objects, also where nobody has named a
// place for the membership, without any other process. Each check is run by one of them.
func TestTwoEnginesOnOneLogShareItsObjects(t *testing.T) {
	t.Parallel()
	x := newSplit(t, steady)
	url := x.nats.ClientURL()
	engine := []string{"-target", "engine", "-config", x.site, "-eventlog", url, "-queue", url, "-heartbeat-ttl", "5s", "-engine-id"}
	x.worker("default")
	first := launch(t, append(engine, "e1")...)
	first.await("engine is live")
	second := launch(t, append(engine, "e9")...)
	second.await("engine is live")
	for _, r := range []*running{first, second} {
		r.until("/metrics", "\njaque_engine_members 2\n")
		r.until("/readyz", "ok")
	}
	first.await("objects were given away")
	x.engine = first // whose log is shown
	x.await("the two own each object once", func() bool {
		const owned = "jaque_engine_owned_objects"
		return gauge(t, first, owned)+gauge(t, second, owned) == gauge(t, first, "jaque_engine_objects")
	})
	x.eachOnceASecond()
	for _, r := range []*running{first, second} {
		if gauge(t, r, `jaque_checks_total{kind="plugin"}`) == 0 {
			t.Error("one of them had no check run")
		}
	}
	// T20: a second process with the id of one that lives is refused.
	twin := spawn(t, append(engine, "e9")...)
	if code := twin.end(); code != 1 {
		t.Errorf("the twin ended with %d", code)
	}
	if text := twin.log(); !strings.Contains(text, "the id is taken by another live process") || strings.Contains(text, "engine is live") {
		t.Errorf("the twin says\n%s", text)
	}
	second.signal(syscall.SIGTERM)
	if code := second.end(); code != 0 {
		t.Errorf("the second ended with %d:\n%s", code, second.log())
	}
	first.until("/metrics", "\njaque_engine_members 1\n")
	first.until("/metrics", fmt.Sprintf("\njaque_engine_owned_objects %v\n", gauge(t, first, "jaque_engine_objects")))
}

// eachOnceASecond wants every service to run once a second, whoever has it run.
func (x *split) eachOnceASecond() {
	x.t.Helper()
	began, times := time.Now(), map[string]int{}
	before := len(x.runs())
	x.await("every service ran five times", func() bool {
		clear(times)
		for _, r := range x.runs()[before:] {
			times[r.service]++
		}
		return len(times) == 20 && slices.Min(slices.Collect(maps.Values(times))) >= 5
	})
	most := int(time.Since(began).Seconds()) + 2
	for service, n := range times {
		if n > most {
			x.t.Errorf("%s ran %d times within %s", service, n, time.Since(began))
		}
	}
}

// atLeast waits until a metric is so high.
func (r *running) atLeast(name string, want float64) {
	r.t.Helper()
	v := 0.0
	for deadline := time.Now().Add(patience); v < want; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("%s is %v, want at least %v:\n%s", name, v, want, r.log())
		}
		v = gauge(r.t, r, name)
	}
}

// gauge reads a metric by its name and labels.
func gauge(t *testing.T, r *running, name string) float64 {
	t.Helper()
	_, page := r.get("/metrics")
	_, rest, ok := strings.Cut(page, "\n"+name+" ")
	if !ok {
		t.Fatalf("/metrics has no %s", name)
	}
	line, _, _ := strings.Cut(rest, "\n")
	v, err := strconv.ParseFloat(line, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
