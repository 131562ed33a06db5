package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/membership"
)

const passiveConfig = `package site

import "list"

hosts: {for i in list.Range(0, HOSTS, 1) {"h\(i)": {check: passive: {}}}}
services: s: {on: {}, attempts: 1, check: passive: {}}
`

// twins are two engines on one server that share the objects of a config.
type twins struct {
	t       *testing.T
	nats    *queueServer
	stream  jetstream.Stream // the log
	dir     string
	site    string
	engines map[string]*running
	lines   map[string]int // written to the pipe of each engine
}

func newTwins(t *testing.T, hosts int) *twins {
	t.Helper()
	x := &twins{t: t, nats: startNATS(t), dir: t.TempDir(), engines: map[string]*running{}, lines: map[string]int{}}
	x.site = site(t, strings.ReplaceAll(passiveConfig, "HOSTS", fmt.Sprint(hosts)))
	for _, id := range []string{"e1", "e2"} {
		x.start(id)
	}
	for _, r := range x.engines {
		r.until("/metrics", "\njaque_engine_members 2\n")
		r.until("/readyz", "ok")
	}
	js, err := jetstream.New(x.nats.connect())
	if err == nil {
		x.stream, err = js.Stream(t.Context(), "JAQUE_LOG")
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// start starts an engine and waits until it is live.
func (x *twins) start(id string) {
	x.t.Helper()
	url := x.nats.ClientURL()
	x.engines[id] = launch(x.t, "-target", "engine", "-config", x.site, "-eventlog", url, "-queue", url, "-coordination", url,
		"-engine-id", id, "-heartbeat-ttl", "10s", "-command-file", x.pipe(id), "-log-level", "info")
	x.engines[id].await("engine is live")
}

func (x *twins) pipe(id string) string { return filepath.Join(x.dir, id) }

// owner returns the engine that owns an object while both live.
func owner(id string) string {
	v := membership.View{Members: []membership.Member{{ID: "e1"}, {ID: "e2"}}}
	return v.Owner(id)
}

// stand is an engine that is asked and an object that it is asked about.
type stand struct {
	via, owner string
	host       string
	comment    struct{ id, number string }
	downtime   struct{ id, number string }
}

func (s *stand) service() string { return s.host + "!s" }

func (s *stand) String() string {
	return fmt.Sprintf("%s asked about an object of %s", s.via, s.owner)
}

// stands are the four ways in which an engine and an object meet, each with an object
// of its own.
func stands(t *testing.T, hosts int) []*stand {
	all := []*stand{{via: "e1", owner: "e1"}, {via: "e1", owner: "e2"}, {via: "e2", owner: "e2"}, {via: "e2", owner: "e1"}}
	next := 0
	for _, s := range all {
		for ; s.host == "" && next < hosts; next++ {
			if owner(fmt.Sprintf("h%d!s", next)) == s.owner && owner(fmt.Sprintf("h%d", next)) == s.owner {
				s.host = fmt.Sprintf("h%d", next)
			}
		}
		if s.host == "" {
			t.Fatal("too few hosts for four stands")
		}
	}
	return all
}

// likeOthers replaces what differs in every answer.
func (s *stand) likeOthers(text string) string {
	text = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`).ReplaceAllString(text, "TIME")
	text = regexp.MustCompile(`"(id|trigger|rule)":"[^"]+"`).ReplaceAllString(text, `"$1":ID`)
	text = regexp.MustCompile(`"(number|log|results|latency|last_check_age)":[0-9.]+`).ReplaceAllString(text, `"$1":N`)
	text = regexp.MustCompile(`"owner":"e\d"`).ReplaceAllString(text, `"owner":E`)
	for _, id := range []string{s.comment.id, s.downtime.id} {
		if id != "" {
			text = strings.ReplaceAll(text, id, "ID")
		}
	}
	return regexp.MustCompile(`\b`+s.host+`\b`).ReplaceAllString(text, "HOST")
}

// lookUp finds the newest comment or downtime of a stand's service.
func (x *twins) lookUp(s *stand, what string) (id, number string) {
	x.t.Helper()
	_, text := x.engines[s.via].get("/api/v1/" + what + "?object=" + s.service())
	all := regexp.MustCompile(`"id":"([^"]+)","number":(\d+)`).FindAllStringSubmatch(text, -1)
	if all == nil {
		x.t.Fatalf("%s: no %s: %s", s, what, text)
	}
	newest := all[len(all)-1]
	return newest[1], newest[2]
}

type order struct {
	name, body string
	silent     bool // it changes nothing, so that no event tells of it
}

// orders are commands of the API, one after the other; S is the service, H its host,
// COMMENT and DOWNTIME are ids.
func orders() []order {
	return []order{
		{"a result that is a problem", `{"command":"submit-result","object":"S","state":"CRITICAL","output":"broken","perfdata":"a=1"}`, false},
		{"the same result of long ago", `{"command":"submit-result","object":"S","state":"OK","output":"old","time":"2020-01-01T00:00:00Z"}`, false},
		{"a state that is none", `{"command":"submit-result","object":"S","state":"BAD"}`, false},
		{"an acknowledgement", `{"command":"acknowledge","object":"S","author":"ann","comment":"on it"}`, false},
		{"it is taken away", `{"command":"remove-acknowledgement","object":"S","author":"ann"}`, false},
		{"there is none any more", `{"command":"remove-acknowledgement","object":"S","author":"ann"}`, true},
		{"no problem to acknowledge", `{"command":"acknowledge","object":"H","author":"ann","comment":"on it"}`, false},
		{"a comment", `{"command":"add-comment","object":"S","author":"ann","comment":"new disk"}`, false},
		{"a comment is removed by its id", `{"command":"delete-comment","id":"COMMENT"}`, false},
		{"a comment that is not there", `{"command":"delete-comment","id":"COMMENT"}`, false},
		{"a downtime", `{"command":"schedule-downtime","object":"S","duration":3600,"author":"ann","comment":"move"}`, false},
		{"a downtime is cancelled by its id", `{"command":"cancel-downtime","id":"DOWNTIME","author":"ann"}`, false},
		{"a downtime that is not there", `{"command":"cancel-downtime","id":"DOWNTIME","author":"ann"}`, false},
		{"a downtime that ends before it starts", `{"command":"schedule-downtime","object":"S","start":"2031-01-01T00:00:00Z","end":"2030-01-01T00:00:00Z","comment":"x"}`, false},
		{"a switch", `{"command":"disable","object":"S","what":["notifications"]}`, false},
		{"a switch of an object without a check", `{"command":"enable","object":"S","what":["active_checks"]}`, false},
		{"a setting", `{"command":"set","object":"S","setting":"attempts","value":"3"}`, false},
		{"a setting that is none", `{"command":"set","object":"S","setting":"attempts","value":"-1"}`, false},
		{"a check of an object without one", `{"command":"check-now","object":"S"}`, false},
		{"a notification", `{"command":"notify","object":"S","author":"ann","comment":"please call","broadcast":true}`, false},
		{"several objects, of which one is not there", `{"command":"add-comment","objects":["S","H","nobody"],"author":"ann","comment":"both"}`, false},
		{"an object that is not there", `{"command":"add-comment","object":"nobody","comment":"x"}`, false},
		{"no comment", `{"command":"add-comment","object":"S"}`, false},
		{"a passive result that changes nothing", `{"command":"submit-result","object":"S","state":"CRITICAL","output":"still broken"}`, true},
		{"a recovery", `{"command":"submit-result","object":"S","state":"OK","output":"fine"}`, false},
	}
}

// S135, S144: whichever engine takes a command of the API, the answer is the same, and
// what it did is on the log and is shown by then.
func TestEveryCommandIsAnsweredTheSameByTheOwnerAndByAnotherEngine(t *testing.T) {
	t.Parallel()
	const hosts = 40
	x := newTwins(t, hosts)
	all := stands(t, hosts)
	for _, order := range orders() {
		var want [2]string
		for i, s := range all {
			body := strings.NewReplacer(`"S"`, `"`+s.service()+`"`, `"H"`, `"`+s.host+`"`, "COMMENT", s.comment.id, "DOWNTIME", s.downtime.id).Replace(order.body)
			status, text := x.engines[s.via].post("/api/v1/commands", body)
			_, state := x.engines[s.via].get("/api/v1/services/" + s.host + "/s")
			got := [2]string{fmt.Sprint(status, " ", s.likeOthers(text)), s.likeOthers(state)}
			if i == 0 {
				want = got
				t.Logf("%s: %s", order.name, want[0])
			}
			for n, what := range []string{"answers", "shows then"} {
				if got[n] != want[n] {
					t.Errorf("%s: %s %s\n%s\nand %s\n%s", order.name, s, what, got[n], all[0], want[n])
				}
			}
			if status == http.StatusAccepted && !order.silent {
				x.onLog(s, text)
			}
			switch order.name {
			case "a comment":
				s.comment.id, s.comment.number = x.lookUp(s, "comments")
			case "a downtime":
				s.downtime.id, s.downtime.number = x.lookUp(s, "downtimes")
			}
		}
	}
	x.external(all)
	for id, r := range x.engines {
		if n := gauge(t, r, `jaque_engine_commands_forwarded_total{outcome="sent"}`); n < 20 {
			t.Errorf("%s has forwarded %v commands, want one for each of the other's object", id, n)
		}
		for _, name := range []string{`jaque_engine_commands_forwarded_total{outcome="error"}`, "jaque_engine_not_owned_total"} {
			if n := gauge(t, r, name); n != 0 {
				t.Errorf("%s: %s is %v", id, name, n)
			}
		}
	}
	t.Logf("%d commands in %d ways", len(orders()), len(all))
}

// onLog demands that the last event about each object is that of a command which was
// answered as done.
func (x *twins) onLog(s *stand, answer string) {
	x.t.Helper()
	var a struct {
		ID      string
		Results []struct{ Object, Outcome string }
	}
	if err := json.Unmarshal([]byte(answer), &a); err != nil {
		x.t.Fatal(err)
	}
	for i, r := range a.Results {
		want := a.ID
		if len(a.Results) > 1 {
			want += fmt.Sprint(".", i)
		}
		if r.Outcome != "done" {
			continue
		}
		m, err := x.stream.GetLastMsgForSubject(x.t.Context(), "jaque.log."+object.ID(r.Object).Token())
		if err != nil || !strings.Contains(string(m.Data), `"id":"`+want+`"`) {
			x.t.Errorf("%s: command %s about %s is done, and the last event is another: %v", s, want, r.Object, err)
		}
	}
}

// external sends commands to the pipes of both engines, for objects of each.
func (x *twins) external(all []*stand) {
	x.t.Helper()
	for _, step := range []struct{ name, line, path, want string }{
		{"a result", "PROCESS_SERVICE_CHECK_RESULT;H;s;2;from the pipe|a=1", "/api/v1/services/H/s", `"output":"from the pipe"`},
		{"an acknowledgement", "ACKNOWLEDGE_SVC_PROBLEM;H;s;2;1;1;bob;on the pipe", "/api/v1/services/H/s", "on the pipe"},
		{"a comment", "ADD_SVC_COMMENT;H;s;1;bob;piped", "/api/v1/comments?object=H!s", `"piped"`},
		{"a comment is removed by its number", "DEL_SVC_COMMENT;NUMBER", "/api/v1/comments?object=H!s", "not piped"},
		{"a downtime", "SCHEDULE_SVC_DOWNTIME;H;s;START;END;1;0;3600;bob;piped too", "/api/v1/downtimes?object=H!s", `"piped too"`},
		{"a downtime is cancelled by its number", "DEL_SVC_DOWNTIME;NUMBER", "/api/v1/downtimes?object=H!s", "not piped too"},
		{"a switch", "DISABLE_SVC_FLAP_DETECTION;H;s", "/api/v1/services/H/s", "flap_detection"},
		{"a result of the host", "PROCESS_HOST_CHECK_RESULT;H;1;down by pipe", "/api/v1/hosts/H", "down by pipe"},
	} {
		for _, s := range all {
			number := ""
			if strings.Contains(step.line, "NUMBER") {
				what, _, _ := strings.Cut(strings.TrimPrefix(step.path, "/api/v1/"), "?")
				_, number = x.lookUp(s, what)
			}
			now := time.Now()
			line := strings.NewReplacer(";H;", ";"+s.host+";", "NUMBER", number, "START", fmt.Sprint(now.Unix()), "END", fmt.Sprint(now.Add(time.Hour).Unix())).Replace(step.line)
			x.write(s.via, fmt.Sprintf("[%d] %s\n", now.Unix(), line))
			path := strings.ReplaceAll(strings.ReplaceAll(step.path, "/H", "/"+s.host), "=H", "="+s.host)
			for _, r := range x.engines { // both come to show it
				if gone, ok := strings.CutPrefix(step.want, "not "); ok {
					r.untilNot(path, gone)
					continue
				}
				r.until(path, step.want)
			}
		}
	}
	refused := map[string]string{}
	for id, r := range x.engines {
		x.write(id, fmt.Sprintf("[%d] ADD_SVC_COMMENT;nowhere;s;1;bob;x\n[1] PROCESS_SERVICE_CHECK_RESULT;%s;s;0;old\n", time.Now().Unix(), all[1].host))
		r.atLeast(`jaque_command_file_refused_total{reason="target"}`, 1)
		r.readLines(x.lines[id])
		_, page := r.get("/metrics")
		refused[id] = strings.Join(regexp.MustCompile(`(?m)^jaque_command_file_refused_total.* [1-9].*$`).FindAllString(page, -1), "\n")
	}
	if refused["e1"] != refused["e2"] {
		x.t.Errorf("the engines refused for other reasons:\n%s\nand\n%s", refused["e1"], refused["e2"])
	}
}

// untilNot polls a page until it holds a text no more.
func (r *running) untilNot(path, text string) {
	r.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, body := r.get(path); !strings.Contains(body, text) {
			return
		}
	}
	r.t.Fatalf("%s holds %q for ever; the log:\n%s", path, text, r.log())
}

// gone waits until the server has none of an engine's connections any more: only then it
// knows that nobody listens there.
func (x *twins) gone(id string) {
	x.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		z, err := x.nats.Subsz(&server.SubszOptions{Subscriptions: true, Test: "jaque.cmd." + id})
		if err != nil {
			x.t.Fatal(err)
		}
		if len(z.Subs) == 0 {
			return
		}
		if time.Now().After(deadline) {
			x.t.Fatalf("the server still has subscriptions of %s: %+v", id, z.Subs)
		}
	}
}

func (x *twins) write(engine, text string) {
	x.t.Helper()
	f, err := os.OpenFile(x.pipe(engine), os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err != nil {
		x.t.Fatal(err)
	}
	_ = f.Close()
	x.lines[engine] += strings.Count(text, "\n")
}

// A command over many objects goes to their owners together. One whose owner has died
// is told at once, and what it names belongs to the other one soon.
func TestACommandOverManyObjectsIsForwardedTogetherAndADeadOwnerIsTold(t *testing.T) {
	t.Parallel()
	const hosts = 1000
	x := newTwins(t, hosts)
	e1, e2 := x.engines["e1"], x.engines["e2"]
	body := fmt.Sprintf(`{"command":"add-comment","filter":"*","author":"ann","comment":"everywhere","confirm":%d}`, 2*hosts)
	began := time.Now()
	status, text := e1.post("/api/v1/commands", body)
	took := time.Since(began)
	if status != http.StatusAccepted || !strings.Contains(text, `"failed":0`) {
		t.Fatalf("%d %.500s", status, text)
	}
	sent, messages := gauge(t, e1, `jaque_engine_commands_forwarded_total{outcome="sent"}`), gauge(t, e1, "jaque_forward_messages_total")
	if sent < hosts/2 || messages > sent/4 {
		t.Errorf("%v commands were forwarded in %v messages, want that they go together", sent, messages)
	}
	t.Logf("a command over %d objects took %s; %v were forwarded in %v messages", 2*hosts, took.Round(time.Millisecond), sent, messages)
	object := ""
	for i := 0; object == ""; i++ {
		if id := fmt.Sprintf("h%d!s", i); owner(id) == "e2" {
			object = id
		}
	}
	e2.signal(syscall.SIGKILL)
	e2.end()
	x.gone("e2")
	began = time.Now()
	body = fmt.Sprintf(`{"command":"add-comment","object":%q,"author":"ann","comment":"after"}`, object)
	status, text = e1.post("/api/v1/commands", body)
	// An engine that is sent a command and does not answer is waited for 15 s.
	if d := time.Since(began); d > 10*time.Second || status != http.StatusServiceUnavailable && status != http.StatusAccepted {
		t.Errorf("while the owner is dead: %d %s after %s, want 503 at once", status, text, d)
	}
	t.Logf("while the owner is dead: %d %s", status, text)
	e1.until("/metrics", "\njaque_engine_members 1\n")
	if status, text = e1.post("/api/v1/commands", body); status != http.StatusAccepted || !strings.Contains(text, `"done"`) {
		t.Errorf("when the object is the other's: %d %s", status, text)
	}
}
