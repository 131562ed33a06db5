package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
)

// dayConfig has no check that runs by itself, so that only the operator writes
// to the log.
const dayConfig = `package site

defaults: {attempts: 1, interval: "5m", flap_detection: false}
hosts: {
	web01: {address: "192.0.2.1", labels: role: "web", check: passive: {}}
	db01: {address: "192.0.2.2", labels: role: "db", check: passive: {}}
	many01: {address: "192.0.2.3", labels: role: "many", check: passive: {}}
}
services: {
	door: {on: role: "web", vars: COLOR: "blue", check: passive: {}}
	disk: {on: role: "web", check: passive: {}}
	tables: {on: role: "db", check: passive: {}}
}
services: {for i in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] {"s\(i)": {on: role: "many", check: passive: {}}}}
`

// deed is one thing that an operator does, in the words of each surface. In the
// lines of the command file {now} and {later} are now and in an hour.
type deed struct {
	name    string
	http    []string // bodies of POST /api/v1/commands
	cli     []string // command lines, words separated by "¦"
	list    string   // what the command line reads from standard input
	fifo    []string // lines without their time
	refused bool
	// What the engine does for it by itself is done once the page shows the text.
	page, shows string
}

// day is the script. Each deed may rely on those before it.
func day() []deed {
	return []deed{
		{
			name: "results come in",
			http: []string{
				`{"command":"submit-result","object":"web01!door","state":"CRITICAL","output":"open"}`,
				`{"command":"submit-result","object":"web01!disk","state":"WARNING","output":"full","long_output":"/ 91%\n/var 95%","perfdata":"used=95%"}`,
				`{"command":"submit-result","object":"db01","state":"DOWN","output":"no answer"}`,
			},
			cli: []string{
				"submit¦web01!door¦CRITICAL¦open",
				"submit¦web01!disk¦1¦full | used=95%\n/ 91%\n/var 95%",
				"submit¦db01¦DOWN¦no answer",
			},
			fifo: []string{
				`PROCESS_SERVICE_CHECK_RESULT;web01;door;2;open`,
				`PROCESS_SERVICE_CHECK_RESULT;web01;disk;1;full | used=95%\n/ 91%\n/var 95%`,
				`PROCESS_HOST_CHECK_RESULT;db01;1;no answer`,
			},
		},
		{
			name: "a problem is acknowledged",
			http: []string{`{"command":"acknowledge","object":"web01!door","comment":"on my way; back at five"}`},
			cli:  []string{"ack¦web01!door¦-comment¦on my way; back at five"},
			fifo: []string{`ACKNOWLEDGE_SVC_PROBLEM;web01;door;2;1;0;ada;on my way; back at five`},
		},
		{
			name: "what is no problem is not", refused: true,
			http: []string{`{"command":"acknowledge","object":"web01","comment":"why"}`},
			cli:  []string{"ack¦web01¦-comment¦why"},
			fifo: []string{`ACKNOWLEDGE_HOST_PROBLEM;web01;2;1;0;ada;why`},
		},
		{
			name: "a downtime for a host and what runs on it",
			http: []string{`{"command":"schedule-downtime","objects":["web01","web01!disk","web01!door"],"duration":3600,"comment":"new kernel"}`},
			cli:  []string{"downtime¦web01¦web01!disk¦web01!door¦-for¦1h¦-comment¦new kernel"},
			fifo: []string{
				`SCHEDULE_HOST_DOWNTIME;web01;{now};{later};1;0;3600;ada;new kernel`,
				`SCHEDULE_HOST_SVC_DOWNTIME;web01;{now};{later};1;0;3600;ada;new kernel`,
			},
		},
		{
			name: "a downtime for a host with all its services, also later ones",
			page: "/api/v1/downtimes?object=db01!tables", shows: `"comment":"move"`,
			http: []string{`{"command":"schedule-downtime","object":"db01","scope":"with-services","duration":3600,"comment":"move"}`},
			cli:  []string{"downtime¦db01¦-scope¦with-services¦-for¦1h¦-comment¦move"},
			fifo: []string{
				`SCHEDULE_HOST_DOWNTIME;db01;{now};{later};1;0;3600;ada;move`,
				`SCHEDULE_HOST_SVC_DOWNTIME;db01;{now};{later};1;0;3600;ada;move`,
			},
		},
		{
			name: "both are cancelled",
			page: "/api/v1/downtimes", shows: `"items":[]`,
			http: []string{
				`{"command":"cancel-downtime","objects":["web01","web01!disk","web01!door"],"comment":"new kernel"}`,
				`{"command":"cancel-downtime","object":"db01","scope":"with-services"}`,
			},
			cli: []string{
				"downtime cancel¦-object¦web01¦-object¦web01!disk¦-object¦web01!door¦-comment¦new kernel",
				"downtime cancel¦-object¦db01¦-scope¦with-services",
			},
			fifo: []string{`DEL_DOWNTIME_BY_HOST_NAME;web01;;;new kernel`, `DEL_DOWNTIME_BY_HOST_NAME;db01`},
		},
		{
			name: "comments",
			http: []string{
				`{"command":"add-comment","object":"db01","comment":"new disk ordered"}`,
				`{"command":"add-comment","object":"web01!door","comment":"locked; at night"}`,
			},
			cli:  []string{"comment¦db01¦-comment¦new disk ordered", "comment¦web01!door¦-comment¦locked; at night"},
			fifo: []string{`ADD_HOST_COMMENT;db01;1;ada;new disk ordered`, `ADD_SVC_COMMENT;web01;door;1;ada;locked; at night`},
		},
		{
			name: "a comment goes",
			http: []string{`{"command":"delete-comment","object":"db01"}`},
			cli:  []string{"comment delete¦-object¦db01"},
			fifo: []string{`DEL_ALL_HOST_COMMENTS;db01`},
		},
		flood(),
		{
			name: "notifications of a host and its services go off",
			http: []string{`{"command":"disable","what":["notifications"],"object":"web01","scope":"with-services"}`},
			cli:  []string{"disable¦notifications¦web01¦-scope¦with-services"},
			fifo: []string{`DISABLE_HOST_NOTIFICATIONS;web01`, `DISABLE_HOST_SVC_NOTIFICATIONS;web01`},
		},
		{
			name: "and on again for one",
			http: []string{`{"command":"enable","what":["notifications"],"object":"web01!disk"}`},
			cli:  []string{"enable¦notifications¦web01!disk"},
			fifo: []string{`ENABLE_SVC_NOTIFICATIONS;web01;disk`},
		},
		{
			name: "passive checks of one go off",
			http: []string{`{"command":"disable","what":["passive_checks"],"object":"web01!disk"}`},
			cli:  []string{"disable¦passive_checks¦web01!disk"},
			fifo: []string{`DISABLE_PASSIVE_SVC_CHECKS;web01;disk`},
		},
		{
			name: "so that a result for it is refused", refused: true,
			http: []string{`{"command":"submit-result","object":"web01!disk","state":"OK","output":"empty"}`},
			cli:  []string{"submit¦web01!disk¦OK¦empty"},
			fifo: []string{`PROCESS_SERVICE_CHECK_RESULT;web01;disk;0;empty`},
		},
		{
			name: "event handlers go off everywhere",
			http: []string{`{"command":"disable","what":["event_handlers"],"program":true}`},
			cli:  []string{"disable¦event_handlers¦-program"},
			fifo: []string{`DISABLE_EVENT_HANDLERS`},
		},
		{
			name: "and on again",
			http: []string{`{"command":"enable","what":["event_handlers"],"program":true}`},
			cli:  []string{"enable¦event_handlers¦-program"},
			fifo: []string{`ENABLE_EVENT_HANDLERS`},
		},
		{
			name: "attempts are set",
			http: []string{`{"command":"set","setting":"attempts","value":"4","object":"web01!door"}`},
			cli:  []string{"set¦attempts=4¦web01!door"},
			fifo: []string{`CHANGE_MAX_SVC_CHECK_ATTEMPTS;web01;door;4`},
		},
		{
			name: "the acknowledgement is taken back",
			http: []string{`{"command":"remove-acknowledgement","object":"web01!door"}`},
			cli:  []string{"ack¦-remove¦web01!door"},
			fifo: []string{`REMOVE_SVC_ACKNOWLEDGEMENT;web01;door`},
		},
	}
}

// flood is 300 results for ten services, whose states change all the time.
func flood() deed {
	d := deed{name: "a flood of results"}
	for i := range 300 {
		state, text := i/20%3, fmt.Sprintf("result %d", i)
		d.http = append(d.http, fmt.Sprintf(`{"command":"submit-result","object":"many01!s%d","state":%d,"output":%q}`, i%10, state, text))
		d.list += fmt.Sprintf("many01!s%d\t%d\t%s\n", i%10, state, text)
		d.fifo = append(d.fifo, fmt.Sprintf("PROCESS_SERVICE_CHECK_RESULT;many01;s%d;%d;%s", i%10, state, text))
	}
	d.cli = []string{"submit¦-"}
	return d
}

// today is one run of the script.
type today struct {
	t         *testing.T
	site, dir string
	r         *running
	surface   func(*today, deed) (refused bool)
}

func newDay(t *testing.T, surface func(*today, deed) bool) *today {
	x := &today{t: t, site: site(t, dayConfig), dir: t.TempDir(), surface: surface}
	x.start()
	return x
}

func (x *today) pipe() string { return filepath.Join(x.dir, "commands") }

func (x *today) start() {
	x.t.Helper()
	x.r = launch(x.t, "-config", x.site, "-data", filepath.Join(x.dir, "data"), "-command-file", x.pipe(), "-log-level", "info")
	waitReady(x.t, strings.TrimPrefix(x.r.url, "http://"))
}

// do does one deed, checks its outcome and waits until all of it is done.
func (x *today) do(d deed) {
	x.t.Helper()
	x.ask(d)
	x.settle(d)
}

func (x *today) settle(d deed) {
	x.t.Helper()
	if d.page != "" {
		x.r.until(d.page, d.shows)
	}
}

// ask asks for a deed and checks the answer.
func (x *today) ask(d deed) {
	x.t.Helper()
	if refused := x.surface(x, d); refused != d.refused {
		x.t.Fatalf("%s: refused is %t, want %t\n%s", d.name, refused, d.refused, x.r.log())
	}
}

// end stops the process, or kills it, and waits until it is gone.
func (x *today) end(sig os.Signal) {
	x.t.Helper()
	x.r.signal(sig)
	if code := x.r.end(); sig != syscall.SIGKILL && code != 0 {
		x.t.Fatalf("it ended with %d:\n%s", code, x.r.log())
	}
}

func overHTTP(x *today, d deed) (refused bool) {
	for _, body := range d.http {
		body = strings.TrimSuffix(body, "}") + `,"author":"ada"}`
		req, err := http.NewRequestWithContext(x.t.Context(), http.MethodPost, x.r.url+"/api/v1/commands", strings.NewReader(body))
		if err != nil {
			x.t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := (&http.Client{Timeout: patience}).Do(req)
		if err != nil {
			x.t.Fatal(err)
		}
		text, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		var answer struct{ Failed int }
		_ = json.Unmarshal(text, &answer)
		if res.StatusCode != http.StatusAccepted || answer.Failed > 0 {
			x.t.Logf("%s: %s: %s", d.name, res.Status, text)
			refused = true
		}
	}
	return refused
}

func overCommandLine(x *today, d deed) (refused bool) {
	for _, words := range d.cli {
		args := strings.Split(words, "¦")
		args = append(strings.Fields(args[0]), args[1:]...) // "downtime cancel" is two words
		c := command(x.t, append(args, "-author", "ada", "-url", x.r.url)...)
		c.Stdin = strings.NewReader(d.list)
		out, err := c.CombinedOutput()
		var exit *exec.ExitError
		switch {
		case err == nil:
		case errors.As(err, &exit) && exit.ExitCode() == 1:
			x.t.Logf("%s: %s", d.name, out)
			refused = true
		default:
			x.t.Fatalf("%s: %v: %s", d.name, err, out)
		}
	}
	return refused
}

func overPipe(x *today, d deed) (refused bool) {
	accepted, before := x.r.counted()
	now := time.Now().Unix()
	times := strings.NewReplacer("{now}", strconv.FormatInt(now, 10), "{later}", strconv.FormatInt(now+3600, 10))
	var text strings.Builder
	for _, line := range d.fifo {
		fmt.Fprintf(&text, "[%d] %s\n", now, times.Replace(line))
	}
	f, err := os.OpenFile(x.pipe(), os.O_WRONLY, 0)
	if err != nil {
		x.t.Fatal(err)
	}
	_, err = f.WriteString(text.String())
	if err := errors.Join(err, f.Close()); err != nil {
		x.t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) { // poll: the other process reads
		a, r := x.r.counted()
		if a+r == accepted+before+len(d.fifo) {
			return r > before
		}
		if time.Now().After(deadline) {
			x.t.Fatalf("%s: %d accepted and %d refused of %d\n%s", d.name, a-accepted, r-before, len(d.fifo), x.r.log())
		}
	}
}

var counter = regexp.MustCompile(`(?m)^jaque_command_file_(accepted|refused)_total\S* (\d+)$`)

// counted returns how many lines of the pipe were accepted and refused.
func (r *running) counted() (accepted, refused int) {
	_, page := r.get("/metrics")
	for _, m := range counter.FindAllStringSubmatch(page, -1) {
		n, _ := strconv.Atoi(m[2])
		if m[1] == "accepted" {
			accepted += n
		} else {
			refused += n
		}
	}
	return accepted, refused
}

// readLines waits until so many lines of the pipe were accepted or refused.
func (r *running) readLines(want int) {
	r.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		accepted, refused := r.counted()
		if accepted+refused >= want {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("of %d lines %d were accepted and %d refused:\n%s", want, accepted, refused, r.log())
		}
	}
}

// readLog folds the whole log of a process that has ended and calls each with
// every event.
func (x *today) readLog(each func(*event.Event)) *projection.Projection {
	x.t.Helper()
	return readLog(x.t, bus.Options{Data: filepath.Join(x.dir, "data")}, x.site, each)
}

func readLog(t *testing.T, o bus.Options, site string, each func(*event.Event)) *projection.Projection {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o.Logger = slog.New(slog.DiscardHandler)
	b, err := bus.Open(ctx, o)
	if err != nil {
		t.Fatalf("open the log: %v", err)
	}
	defer func() { _ = b.Close(context.Background()) }()
	j, err := journal.OpenJetStream(ctx, b, journal.Options{Logger: o.Logger})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close(context.Background()) }()
	c, problems := config.Load(site, config.Options{AllZonesLocal: true})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	p := projection.New(c.Set)
	follow(t, j, p, journal.Position{}, each)
	return p
}

// story tells what the log says of each object and of the program, without what
// differs between two runs: ids, numbers and times. Who asked is told where every
// surface says so.
func (x *today) story() map[object.ID][]string {
	story := map[object.ID][]string{}
	x.readLog(func(e *event.Event) {
		switch {
		case e.Stream != event.Log:
		case e.Status != nil:
			story[e.Object] = append(story[e.Object], tellObject(e))
		case e.Program != nil && e.Program.Switches != nil:
			s := e.Program.Switches
			story[""] = append(story[""], fmt.Sprintf("%s off %b on %b", e.Kind, s.Off, s.On))
		}
		// A downtime for a host and later services is a rule over HTTP and none in
		// the command file, which does not know such; its objects' own are the same.
	})
	return story
}

func tellObject(e *event.Event) string {
	s := e.Status
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v %s %q: %s %s attempt %d of %d ack %d depth %d off %b on %b", e.Kind, e.Also, sorted(e.Facts), e.Text,
		s.State.Name(e.Object.Kind()), s.Type, s.Attempt, s.MaxAttempts, s.Ack, s.DowntimeDepth, s.Off, s.On)
	if m := e.Measure; m != nil {
		fmt.Fprintf(&b, " %q %q %q", m.Output, m.Long, m.Perfdata)
	}
	if s.Extra == nil {
		return b.String()
	}
	fmt.Fprintf(&b, " ack by %q %q", s.Extra.AckAuthor, s.Extra.AckText)
	for _, c := range s.Extra.Comments {
		fmt.Fprintf(&b, " comment %s %q %q %t", c.Kind, c.Author, c.Text, c.Persistent)
	}
	for _, d := range s.Extra.Downtimes {
		fmt.Fprintf(&b, " downtime %q %q runs %t for %d s", d.Author, d.Text, d.Started != 0, (d.End-d.Start)/1000)
	}
	for _, v := range s.Extra.Settings {
		fmt.Fprintf(&b, " %s=%s", v.Name, v.Value)
	}
	return b.String()
}

// sorted are the facts that are no ids.
func sorted(facts map[string]string) string {
	var all []string
	for k, v := range facts {
		if k == "switch" || k == "setting" || k == "to" {
			all = append(all, k+"="+v)
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestADayOfAnOperatorIsTheSameOnEverySurface(t *testing.T) {
	surfaces := []struct {
		name string
		do   func(*today, deed) bool
	}{{"HTTP", overHTTP}, {"command line", overCommandLine}, {"command file", overPipe}}
	t.Parallel()
	stories := make([]map[object.ID][]string, len(surfaces))
	t.Run("a day", func(t *testing.T) {
		for i, s := range surfaces {
			t.Run("over "+s.name, func(t *testing.T) {
				t.Parallel()
				x := newDay(t, s.do)
				for _, d := range day() {
					x.do(d)
				}
				x.end(syscall.SIGTERM)
				stories[i] = x.story()
			})
		}
	})
	events := 0
	for i, s := range stories {
		for id := range merged(stories[0], s) {
			compareStories(t, surfaces[0].name, surfaces[i].name, id, stories[0][id], s[id])
		}
		for _, told := range s {
			events += len(told)
		}
	}
	if events < 3*60 {
		t.Errorf("only %d events; the day is too calm to prove anything", events)
	}
	t.Logf("%d deeds on %d surfaces made %d events, the same on each", len(day()), len(surfaces), events)
}

func merged(a, b map[object.ID][]string) map[object.ID]bool {
	all := map[object.ID]bool{}
	for id := range a {
		all[id] = true
	}
	for id := range b {
		all[id] = true
	}
	return all
}

func compareStories(t *testing.T, first, other string, id object.ID, a, b []string) {
	t.Helper()
	for i := range max(len(a), len(b)) {
		x, y := "nothing", "nothing"
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			t.Errorf("%q, event %d\n%s: %s\n%s: %s", id, i, first, x, other, y)
			return
		}
	}
}
