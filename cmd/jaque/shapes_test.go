package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/listen/listentest"
)

// shapesConfig has a service in each of two zones whose state stands in a file, a
// contact who hears of both, and a sink.
const shapesConfig = `package site

defaults: {interval: "1s", retry: "1s", attempts: 2, timeout: "20s", flap_detection: false}
hosts: {
	a: check: dummy: state: "UP"
	b: {zone: "dmz", check: dummy: state: "UP"}
}
services: {
	web: {hosts: ["a"], check: plugin: ["DIR/check_file", "web"]}
	db: {hosts: ["b"], check: plugin: ["DIR/check_file", "db"]}
}
contacts: ann: email: "ann@test.invalid"
policies: [{name: "all", notify: ["ann"], group: by: "none"}]
delivery: rates: email: messages: 0
sinks: values: {input: "metrics", file: path: "DIR/values.jsonl"}
`

// shapesPlugin says what stands in its file.
const shapesPlugin = "#!/bin/sh\nread code text < DIR/$1\necho \"$text | load=$code\"\nexit $code\n"

// shapeDay is a day in one shape of the installation.
type shapeDay struct {
	t     *testing.T
	dir   string
	mails *mailServer
	// front takes commands and shows, decider runs the schedule and writes the log,
	// notifier sends; with role all they are one.
	front, decider, notifier *running
	processes                []*running // all, the decider first
	frontArgs                []string   // of a front that is a process of its own
	log                      bus.Options
	mark                     int       // how much of the events was there when the step began
	began, over              time.Time // of what is compared: before and after, processes come and go
	mails0                   int       // taken before
}

// shape starts the processes of an installation.
type shape struct {
	name  string
	start func(*shapeDay)
}

func shapes() []shape {
	return []shape{{"role all", startStandalone}, {"seven processes and a server", startOutside}, {"a server in the engine", startInside}}
}

func newShapeDay(t *testing.T) *shapeDay {
	x := &shapeDay{t: t, dir: t.TempDir(), mails: newMailServer(t)}
	x.write("check_file", shapesPlugin)
	x.set("web", 0)
	x.set("db", 0)
	x.write("site.cue", shapesConfig)
	return x
}

func (x *shapeDay) path(name string) string { return filepath.Join(x.dir, name) }

// write replaces a file at once: a check that reads it sees the old or the new one.
func (x *shapeDay) write(name, text string) {
	x.t.Helper()
	next := x.path(name + ".new")
	err := os.WriteFile(next, []byte(strings.ReplaceAll(text, "DIR", x.dir)), 0o755)
	if err == nil {
		err = os.Rename(next, x.path(name))
	}
	if err != nil {
		x.t.Fatal(err)
	}
}

// set says what the checks of a service find.
func (x *shapeDay) set(service string, code int) {
	x.write(service, fmt.Sprintf("%d %s is %d\n", code, service, code))
}

// launch starts a process without waiting for it.
func (x *shapeDay) launch(args ...string) *running {
	x.t.Helper()
	r := spawn(x.t, append(args, "-log-level", "info")...)
	x.processes = append(x.processes, r)
	return r
}

// deciderArgs are those that every decider has.
func (x *shapeDay) deciderArgs(more ...string) []string {
	return append([]string{"-config", x.path("site.cue"), "-events-out", x.path("events"), "-engine-id", "e1"}, more...)
}

func startStandalone(x *shapeDay) {
	x.log = bus.Options{Data: x.path("data")}
	x.decider = x.launch(append(x.deciderArgs("-data", x.path("data")), x.mails.flags()...)...)
	x.front, x.notifier = x.decider, x.decider
}

// startOutside starts one process of every role and two more workers on a nats-server
// of its own.
func startOutside(x *shapeDay) {
	url := "nats://" + x.natsServer()
	x.log = bus.Options{URL: url, Attach: true}
	x.decider = x.launch(x.deciderArgs("-target", "engine", "-eventlog", url, "-queue", url, "-coordination", url, "-notify-delivery", "notifier")...)
	x.decider.served() // it declares the streams
	x.others(url, func(string) []string { return nil })
}

// natsServer builds the server that operators install, starts it and returns its
// address.
func (x *shapeDay) natsServer() string {
	x.t.Helper()
	program := x.path("nats-server")
	if out, err := exec.CommandContext(x.t.Context(), "go", "build", "-o", program, "github.com/nats-io/nats-server/v2").CombinedOutput(); err != nil {
		x.t.Fatalf("build nats-server: %v\n%s", err, out)
	}
	o := newOutside(x.t, program, "")
	x.write("nats.conf", "listen: \""+o.address+"\"\njetstream {store_dir: \"DIR/nats\", max_file_store: 64G}\n")
	o.args = []string{"-c", x.path("nats.conf")}
	o.start()
	return o.address
}

// startInside starts the same around the server of the engine, which lets in whom it
// knows.
func startInside(x *shapeDay) {
	address := listentest.Address(x.t)
	x.log = bus.Options{Data: x.path("data")}
	// Users are made before the server starts: it knows them at once.
	x.admit(map[string][]string{
		"w1": {"worker"}, "w2": {"worker"}, "w3": {"worker", "-zone", "dmz"}, "u1": {"ui"}, "s1": {"sink"}, "n1": {"notifier"},
	})
	x.decider = x.launch(x.deciderArgs("-target", "engine", "-data", x.path("data"), "-nats-listen", address,
		"-queue", "embedded", "-coordination", "embedded", "-notify-delivery", "notifier")...)
	x.decider.served()
	x.others("nats://"+address, func(id string) []string { return []string{"-nats-creds", x.path(id + ".creds")} })
}

// admit makes users of the server of the engine, in files ID.creds; each is a role and more
// arguments.
func (x *shapeDay) admit(users map[string][]string) {
	x.t.Helper()
	for id, role := range users {
		args := append([]string{"credentials", role[0], "-id", id, "-data", x.path("data"), "-out", x.path(id + ".creds")}, role[1:]...)
		if code, _, stderr := finish(x.t, command(x.t, args...)); code != 0 {
			x.t.Fatalf("%v: status %d: %s", args, code, stderr)
		}
	}
}

// others starts every role but the engine; admit returns what lets a process in.
func (x *shapeDay) others(url string, admit func(id string) []string) {
	x.t.Helper()
	follow := []string{"-config", x.path("site.cue"), "-eventlog", url, "-coordination", url}
	for _, zone := range []string{"default", "default", "dmz"} {
		id := fmt.Sprint("w", len(x.processes))
		x.launch(append(admit(id), "-target", "worker", "-queue", url, "-zones", zone)...)
	}
	x.frontArgs = slices.Concat(admit("u1"), []string{"-target", "ui"}, follow)
	x.front = x.launch(x.frontArgs...)
	x.launch(slices.Concat(admit("s1"), []string{"-target", "sink", "-sink-id", "s1", "-sinks", "values"}, follow)...)
	x.notifier = x.launch(slices.Concat(admit("n1"), []string{"-target", "notifier", "-notifier-id", "n1"}, follow, x.mails.flags())...)
}

// until waits for something, as long as a busy machine may take.
func (x *shapeDay) until(what string, holds func() bool) {
	x.t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) { // other processes work
		if time.Now().After(end) {
			var logs strings.Builder
			for _, r := range x.processes {
				fmt.Fprintf(&logs, "%v\n%s\n", r.cmd.Args[1:], r.log())
			}
			x.t.Fatalf("waited in vain until %s; %d mails\n%s", what, len(x.mails.taken()), logs.String())
		}
	}
}

// logged waits for a decision about an object that holds all the texts, since the step
// began.
func (x *shapeDay) logged(object string, texts ...string) {
	x.t.Helper()
	x.until(fmt.Sprintf("the log tells of %s %q", object, texts), func() bool {
		data, _ := os.ReadFile(x.path("events")) // it may not be there yet
		for line := range strings.Lines(string(data[min(x.mark, len(data)):])) {
			holds := strings.Contains(line, `"stream":"log"`) && strings.Contains(line, `"object":"`+object+`"`)
			for _, text := range texts {
				holds = holds && strings.Contains(line, text)
			}
			if holds {
				return true
			}
		}
		return false
	})
}

// found waits until a check decided a state of a service, since the step began.
func (x *shapeDay) found(service, state string) {
	x.t.Helper()
	x.logged(service, `"kind":"check.result"`, `"now":{"state":"`+state+`","state_type":"hard"`)
}

// step begins a part of the day.
func (x *shapeDay) step() {
	data, _ := os.ReadFile(x.path("events"))
	x.mark = len(data)
}

// mailed waits until so many mails have come since the morning, and for their outcome
// on the log.
func (x *shapeDay) mailed(n int) {
	x.t.Helper()
	x.until(fmt.Sprint(n, " mails were sent and are told on the log"), func() bool {
		data, _ := os.ReadFile(x.path("events"))
		sent := len(x.mails.taken())
		return sent == x.mails0+n && strings.Count(string(data), `"kind":"notification.delivered"`) == sent
	})
}

// shows waits until a page holds all the texts.
func (x *shapeDay) shows(path string, texts ...string) {
	x.t.Helper()
	x.until(fmt.Sprintf("%s shows %q", path, texts), func() bool {
		_, body := x.front.get(path)
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(body, text) })
	})
}

// order sends a command that must be taken.
func (x *shapeDay) order(body string) {
	x.t.Helper()
	x.until("a command is taken: "+body, func() bool {
		status, text := x.front.post("/api/v1/commands", body)
		if status != 202 && status != 503 {
			x.t.Fatalf("%s: %d %s", body, status, text)
		}
		return status == 202
	})
}

// morning waits until everything runs and is well. How long that takes is no part of
// the day: before a zone has its worker its checks are a problem.
func (x *shapeDay) morning() {
	x.t.Helper()
	for _, r := range x.processes {
		r.served()
	}
	for _, r := range x.processes {
		x.until("it is ready", func() bool { status, _ := r.get("/readyz"); return status == 200 })
	}
	for path, state := range map[string]string{"hosts/a": "UP", "hosts/b": "UP", "services/a/web": "OK", "services/b/db": "OK"} {
		x.shows("/api/v1/"+path, `"state":"`+state+`"`, `"state_type":"hard"`)
	}
	x.until("the sink has values of both zones", func() bool {
		data, _ := os.ReadFile(x.path("values.jsonl"))
		return strings.Contains(string(data), `"web"`) && strings.Contains(string(data), `"db"`)
	})
	x.began, x.mails0 = time.Now(), len(x.mails.taken())
}

// live goes through the day.
func (x *shapeDay) live() {
	x.morning()
	defer func() { x.over = time.Now() }()

	x.step() // a problem, somebody who cares, and its end
	x.set("web", 2)
	x.found("a!web", "CRITICAL")
	x.mailed(1)
	x.shows("/api/v1/services/a/web", `"CRITICAL"`)
	x.order(`{"command":"acknowledge","object":"a!web","author":"ann","comment":"on my way"}`)
	x.mailed(2)
	x.set("web", 0)
	x.found("a!web", "OK")
	x.mailed(3)

	x.step() // a problem in a downtime is nobody's; its begin and its end are told
	x.order(`{"command":"schedule-downtime","object":"b!db","duration":3600,"author":"ann","comment":"move"}`)
	x.logged("b!db", "downtime.started")
	x.mailed(4)
	x.shows("/api/v1/downtimes", `"move"`)
	x.set("db", 1)
	x.found("b!db", "WARNING")
	x.set("db", 0)
	x.found("b!db", "OK")
	x.order(`{"command":"cancel-downtime","object":"b!db","author":"ann"}`)
	x.logged("b!db", "downtime.cancelled")
	x.mailed(5)

	x.step() // a reload brings a service in the other zone
	x.write("site.cue", shapesConfig+"services: late: {hosts: [\"b\"], check: plugin: [\"DIR/check_file\", \"db\"]}\n")
	for _, r := range x.processes {
		r.signal(syscall.SIGHUP)
	}
	x.found("b!late", "OK")
	for _, r := range slices.Compact([]*running{x.decider, x.notifier}) {
		if line := r.await("config reloaded"); line["added"] != 1.0 || line["removed"] != 0.0 || line["changed"] != 0.0 {
			x.t.Errorf("a service was added, the reload says %v", line)
		}
	}
	if x.front != x.decider {
		x.front.await("SIGHUP is ignored in this role: start it again to read the config anew")
		x.front.signal(syscall.SIGTERM)
		x.front.end()
		x.processes = slices.DeleteFunc(x.processes, func(r *running) bool { return r == x.front })
		x.front = x.launch(x.frontArgs...)
		x.front.served()
	}
	x.shows("/api/v1/services/b/late", `"OK"`)

	x.step() // and it may fail like those that were there before
	x.set("db", 2)
	x.found("b!late", "CRITICAL")
	x.found("b!db", "CRITICAL")
	x.mailed(7)
}

// end stops every process, the decider last, and demands that each stops in order.
func (x *shapeDay) end() {
	x.t.Helper()
	for _, r := range slices.Backward(x.processes) {
		r.signal(syscall.SIGTERM)
		if code := r.end(); code != 0 {
			x.t.Errorf("%v ended with %d:\n%s", r.cmd.Args[1:], code, r.log())
		}
	}
}

// S008, S013, S014, S018, S026, S036, S039, S057, S068, S069, S077, S078, S080: the day
// leaves the same log whoever does the work.
func TestADayIsTheSameInEveryShape(t *testing.T) {
	t.Parallel()
	stories := make([]map[object.ID][]string, len(shapes()))
	t.Run("a day", func(t *testing.T) {
		for i, s := range shapes() {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				x := newShapeDay(t)
				s.start(x)
				x.live()
				x.end()
				stories[i] = x.story()
			})
		}
	})
	events := 0
	for i, s := range stories {
		for id := range merged(stories[0], s) {
			compareStories(t, shapes()[0].name, shapes()[i].name, id, stories[0][id], s[id])
		}
		for _, told := range s {
			events += len(told)
		}
	}
	if events < 3*15 {
		t.Errorf("only %d events; the day is too calm to prove anything", events)
	}
	t.Logf("%d events in %d shapes, the same in each", events, len(stories))
}
