package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"jaque.sh/jaque/appliance/listen/listentest"
)

// refusing is the log of a server that keeps what it refuses its users.
type refusing struct {
	mu  sync.Mutex
	all []string
}

func (r *refusing) Errorf(format string, v ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if text := fmt.Sprintf(format, v...); strings.Contains(strings.ToLower(text), "violation") {
		r.all = append(r.all, text)
	}
}

func (r *refusing) Noticef(string, ...any)         {}
func (r *refusing) Debugf(string, ...any)          {}
func (r *refusing) Tracef(string, ...any)          {}
func (r *refusing) Warnf(format string, v ...any)  { r.Errorf(format, v...) }
func (r *refusing) Fatalf(format string, v ...any) { r.Errorf(format, v...) }
func (r *refusing) told() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(all, r.all...)
}

// admitting starts a nats-server whose users are those that "jaque credentials -nats-conf"
// prints; the files of their secrets are x.path(id+".creds").
func (x *shapeDay) admitting(users map[string][]string) (url string, refused *refusing) {
	x.t.Helper()
	var conf strings.Builder
	fmt.Fprintf(&conf, "listen: %q\njetstream {store_dir: %q, max_file_store: 64G}\nauthorization { users: [\n", listentest.Address(x.t), x.path("nats"))
	for id, role := range users {
		args := append([]string{"credentials", role[0], "-nats-conf", "-id", id, "-out", x.path(id + ".creds")}, role[1:]...)
		code, stdout, stderr := finish(x.t, command(x.t, args...))
		if code != 0 {
			x.t.Fatalf("%v: status %d: %s", args, code, stderr)
		}
		conf.WriteString(stdout)
	}
	if err := os.WriteFile(x.path("nats.conf"), []byte(conf.String()+"] }\n"), 0o600); err != nil {
		x.t.Fatal(err)
	}
	o, err := server.ProcessConfigFile(x.path("nats.conf"))
	if err != nil {
		x.t.Fatal(err)
	}
	o.NoSigs = true
	s, err := server.NewServer(o)
	if err != nil {
		x.t.Fatal(err)
	}
	refused = &refusing{}
	s.SetLogger(refused, false, false)
	s.Start()
	x.t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		x.t.Fatal("the NATS server does not start")
	}
	return s.ClientURL(), refused
}

// audited returns the ids of the events that a sink has written.
func (x *shapeDay) audited() map[string]int {
	data, _ := os.ReadFile(x.path("audit.jsonl")) // it may not be there yet
	got := map[string]int{}
	for line := range strings.Lines(string(data)) {
		var e struct{ ID string }
		if json.Unmarshal([]byte(line), &e) == nil && e.ID != "" {
			got[e.ID]++
		}
	}
	return got
}

// Every role works on a server that lets it do only what its credentials allow, and asks
// for nothing else; an engine's sinks go on where the engine before it was.
func TestNoRoleIsRefusedWhatItDoes(t *testing.T) {
	t.Parallel()
	x := newShapeDay(t)
	x.write("site.cue", shapesConfig+"sinks: audit: {input: \"events\", file: path: \"DIR/audit.jsonl\"}\n")
	url, refused := x.admitting(map[string][]string{
		"e1": {"engine"}, "w1": {"worker"}, "w2": {"worker"}, "w3": {"worker", "-zone", "dmz"}, "u1": {"ui"}, "s1": {"sink"}, "n1": {"notifier"},
		"b1": {"backup"},
	})
	creds := func(id string) []string { return []string{"-nats-creds", x.path(id + ".creds")} }
	engine := func() *running {
		return x.launch(x.deciderArgs(append(creds("e1"), "-target", "engine", "-eventlog", url, "-queue", url, "-coordination", url,
			"-heartbeat-ttl", "3s", "-notify-delivery", "notifier")...)...)
	}
	x.decider = engine()
	x.decider.served()
	x.others(url, creds)
	x.front.served()
	x.shows("/api/v1/services/a/web", `"state":"OK"`)
	x.shows("/api/v1/services/b/db", `"state":"OK"`)

	x.step()
	x.set("web", 2)
	x.found("a!web", "CRITICAL")
	x.until("a mail went out", func() bool { return len(x.mails.taken()) > 0 })
	x.order(`{"command": "acknowledge", "object": "a!web", "author": "ann", "comment": "seen"}`)
	x.logged("a!web", `"kind":"ack.`)
	x.decider.until("/metrics", `jaque_sink_position{sink="audit",stream="log"}`)
	x.until("the sink has events", func() bool { return len(x.audited()) > 0 })

	x.decider.signal(syscall.SIGKILL)
	x.decider.end()
	before := x.audited()
	x.decider = engine()
	x.decider.served()
	if line := x.decider.await("sink started"); line["sink"] != "audit" {
		t.Errorf("started %v", line["sink"])
	}
	x.step()
	x.set("web", 0)
	x.found("a!web", "OK")
	x.until("the sink goes on", func() bool { return len(x.audited()) > len(before)+1 })
	if text := x.decider.log(); strings.Contains(text, "sink begins with what happens from now on") {
		t.Errorf("the position was not kept:\n%s", text)
	}
	x.step()
	x.set("db", 1)
	x.found("b!db", "WARNING")

	began := time.Now()
	verified(t, append(creds("e1"), "-eventlog", url)...)
	if took := time.Since(began); took > 8*time.Second { // a snapshot that is refused was waited for
		t.Errorf("log verify with an engine's credentials took %s", took)
	}
	do(t, append([]string{"backup", "-o", filepath.Join(x.dir, "one.backup"), "-eventlog", url}, creds("b1")...)...)
	for _, r := range x.processes {
		if r.over() {
			continue
		}
		r.served()
		if status, text := r.get("/readyz"); status != http.StatusOK {
			t.Errorf("%v: %d %s", r.cmd.Args[1:], status, text)
		}
		r.signal(syscall.SIGTERM)
		if code := r.end(); code != 0 {
			t.Errorf("%v ended with %d:\n%s", r.cmd.Args[1:], code, r.log())
		}
	}
	for _, text := range refused.told() {
		if !strings.Contains(text, "$JS.API.STREAM.SNAPSHOT.JAQUE_LOG") { // log verify asks, and does without
			t.Errorf("the server refuses: %s", text)
		}
	}
}
