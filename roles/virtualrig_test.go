package roles

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/commandfile"
	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/roles/client"
	"jaque.sh/jaque/roles/engine"
	"jaque.sh/jaque/web"
)

// virtual is jaque without processes, files and sockets, in a bubble of fake time.
type virtual struct {
	t    *testing.T
	set  *object.Set
	log  journal.Journal // outlives what is killed
	runs int             // how often it was started

	link   *severed
	p      *projection.Projection
	e      *engine.Engine
	web    http.Handler
	stop   context.CancelFunc
	ending chan error
}

func newVirtual(t *testing.T, set *object.Set) *virtual {
	v := &virtual{t: t, set: set, log: journal.NewMemory(journal.Options{})}
	v.start()
	return v
}

// start makes everything anew on the log.
func (v *virtual) start() {
	v.t.Helper()
	v.runs++
	v.link, v.p = &severed{Journal: v.log}, projection.New(v.set)
	instance := fmt.Sprint("run", v.runs)
	var err error
	v.e, err = engine.New(engine.Options{
		ID: "e1", Instance: instance, Journal: v.link, Projection: v.p, Runner: fine{},
		Coordinator: &coordination.Memory{}, Logger: quiet(), Registerer: prometheus.NewRegistry(),
		Grace: time.Nanosecond, SnapshotEvery: time.Hour, // a kill takes no time
	})
	if err != nil {
		v.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	v.stop, v.ending = stop, make(chan error, 1)
	v.web, err = web.New(web.Options{
		Projection: v.p, History: v.link, Commands: commander{v.e}, Instance: instance,
		Status: func() web.Status { return web.Status{EngineID: "e1"} }, Stop: ctx.Done(), Logger: quiet(),
	})
	if err != nil {
		v.t.Fatal(err)
	}
	ready := make(chan struct{})
	go func() { v.ending <- v.e.Service().Run(ctx, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-v.ending:
		v.t.Fatalf("the engine ended before it was ready: %v", err)
	}
}

func (v *virtual) end() {
	v.t.Helper()
	v.stop()
	if err := <-v.ending; err != nil {
		v.t.Errorf("the engine ended with %v", err)
	}
}

// kill drops everything but the log, which hears nothing more of it.
func (v *virtual) kill() {
	v.link.dead.Store(true)
	v.stop()
	<-v.ending // it may complain
}

// severed is a journal that a killed process does not reach.
type severed struct {
	journal.Journal
	dead atomic.Bool
}

func (s *severed) Append(e *event.Event, expect uint64, done journal.Done) {
	if s.dead.Load() {
		go done(0, journal.ErrClosed)
		return
	}
	s.Journal.Append(e, expect, done)
}

func (s *severed) Record(ctx context.Context, e *event.Event, done journal.Done) error {
	if s.dead.Load() {
		return journal.ErrClosed
	}
	return s.Journal.Record(ctx, e, done)
}

func (s *severed) SaveSnapshot(ctx context.Context, at journal.Position, data []byte) error {
	if s.dead.Load() {
		return journal.ErrClosed
	}
	return s.Journal.SaveSnapshot(ctx, at, data)
}

// fine is a runner whose checks find nothing.
type fine struct{}

func (fine) Run(_ context.Context, j engine.Job) fold.Result {
	now := object.At(time.Now())
	return fold.Result{Output: "fine", Start: now, Latency: now.Sub(j.Due).Microseconds()}
}

// RoundTrip answers a request of a program on this machine.
func (v *virtual) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.Clone(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80})))
	in.RemoteAddr, in.Host, in.RequestURI = "127.0.0.1:1000", "localhost", r.URL.RequestURI()
	w := httptest.NewRecorder()
	v.web.ServeHTTP(w, in)
	return w.Result(), nil
}

// virtualSurface does a step and returns how much of it was refused.
type virtualSurface func(*virtual, virtualStep) (refused int)

var virtualTime = regexp.MustCompile(`\{([0-9][0-9hms]*)\}`)

// timed writes the times of a text.
func timed(text string, write func(time.Time) string) string {
	return virtualTime.ReplaceAllStringFunc(text, func(s string) string {
		d, err := time.ParseDuration(strings.Trim(s, "{}"))
		if err != nil {
			return s
		}
		return write(virtualStart().Add(d))
	})
}

func inText(t time.Time) string { return t.Format(time.RFC3339) }

func inSeconds(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

func virtualHTTP(v *virtual, s virtualStep) (refused int) {
	for _, body := range s.http {
		body = strings.TrimSuffix(timed(body, inText), "}") + `,"author":"ada"}`
		r, err := http.NewRequestWithContext(v.t.Context(), http.MethodPost, "http://localhost/api/v1/commands", strings.NewReader(body))
		if err != nil {
			v.t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		res, _ := v.RoundTrip(r)
		var answer struct {
			Failed int
			Detail string
		}
		if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
			v.t.Fatalf("%s: %s: %v", s.name, body, err)
		}
		switch {
		case res.StatusCode == http.StatusAccepted:
			refused += answer.Failed
		case res.StatusCode == http.StatusBadRequest && s.refused > 0:
			refused++
		default:
			v.t.Fatalf("%s: %s: %s, %s", s.name, body, res.Status, answer.Detail)
		}
	}
	return refused
}

func virtualCommandLine(v *virtual, s virtualStep) (refused int) {
	for _, words := range s.cli {
		args := strings.Split(timed(words, inText), "¦")
		args = append(strings.Fields(args[0]), args[1:]...) // "downtime cancel" is two words
		var out, errs bytes.Buffer
		code := client.Run(v.t.Context(), append(args, "-author", "ada"), client.Process{
			Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, URL: "http://localhost", Transport: v,
			Lookup: func(string) (string, bool) { return "", false },
			Now:    func() time.Time { return time.Now().UTC() },
		})
		switch {
		case code == client.Done:
		case code == client.Failed && s.refused > 0:
			refused++
		default:
			v.t.Fatalf("%s: %q: exit %d\n%s%s", s.name, args, code, &out, &errs)
		}
	}
	return refused
}

func virtualCommandFile(v *virtual, s virtualStep) (refused int) {
	reg, log := prometheus.NewRegistry(), &bytes.Buffer{}
	c := &commands{tally: commandfile.NewTally(quiet(), reg, commandReasons()...), log: quiet(), do: v.e.Do}
	c.world = func() *operate.World {
		return &operate.World{
			Set: v.p.Set(), State: v.p.State, Program: v.p.Program(), Now: object.At(time.Now()),
			Extras: v.p.Extras(), Address: (&addresses{}).in(v.p.Set()),
		}
	}
	for _, line := range s.fifo {
		if !strings.HasPrefix(line, "[") {
			line = fmt.Sprintf("[%d] %s", time.Now().Unix(), line)
		}
		fmt.Fprintln(log, timed(line, inSeconds))
	}
	if log.Len() == 0 {
		return 0
	}
	c.handle(v.t.Context(), lines(log.String()))
	families, err := reg.Gather()
	if err != nil {
		v.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "jaque_command_file_refused_total" {
				refused += int(m.GetCounter().GetValue())
			}
		}
	}
	return refused
}
