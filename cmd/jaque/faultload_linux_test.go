package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// faultConfig has services with a plugin that counts its runs, and services that are
// told their state. Somebody hears of both.
const faultConfig = `package site

import "list"

defaults: {interval: "INTERVAL", retry: "INTERVAL", attempts: 2, timeout: "20s", flap_detection: false}
hosts: {for i in list.Range(0, HOSTS, 1) {"h\(i)": check: passive: {}}}
services: {
	run: {on: {}, check: plugin: ["DIR/check_run", "$HOSTNAME$"]}
	told: {on: {}, attempts: 1, check: passive: {}}
}
contacts: ann: webhook: url: "http://127.0.0.1:9009/"
policies: [{name: "all", notify: ["ann"], group: by: "none"}]
`

// faultPlugin is the C source of a plugin that writes down each of its runs, with the
// process that has it run, and says the state that stands in a file.
//
//go:embed testdata/faultplugin.c
var faultPlugin []byte

// buildPlugin compiles it into the folder of the test.
func (x *faults) buildPlugin() error {
	build := exec.CommandContext(x.t.Context(), "gcc", "-O2", "-Wall", "-Werror", "-static", fmt.Sprintf("-DDIR=%q", x.dir), "-x", "c", "-", "-o", filepath.Join(x.dir, "check_run"))
	build.Stdin = bytes.NewReader(faultPlugin)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("gcc: %w\n%s", err, out)
	}
	return nil
}

// faultRun is one run of the plugin.
type faultRun struct {
	object string
	at     time.Time
	by     int // process
}

func (x *faults) runsFile() string { return filepath.Join(x.dir, "runs") }

// runs reads all runs so far, in the order in which they began.
func (x *faults) runs() []faultRun {
	x.t.Helper()
	data, err := os.ReadFile(x.runsFile())
	if err != nil && !os.IsNotExist(err) {
		x.t.Fatal(err)
	}
	var all []faultRun
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) != 3 || !strings.HasSuffix(line, "\n") {
			continue // it is being written
		}
		micros, err := strconv.ParseInt(strings.Replace(f[1], ".", "", 1), 10, 64)
		if err != nil {
			x.t.Fatalf("the plugin has written %q", line)
		}
		pid, _ := strconv.Atoi(f[2])
		all = append(all, faultRun{f[0] + "!run", time.UnixMicro(micros), pid})
	}
	return all
}

// flip makes the checks of some services find another state from now on.
func (x *faults) flip(dice *rand.Rand) {
	path := filepath.Join(x.dir, "state", fmt.Sprintf("h%d", dice.IntN(x.hosts)))
	err := os.WriteFile(path+".new", fmt.Appendln(nil, []int{0, 2}[dice.IntN(2)]), 0o600)
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		x.t.Error(err)
	}
}

// faultOutcome is what a client knows of its command.
type faultOutcome string

const (
	answeredDone    faultOutcome = "done"
	answeredRefused faultOutcome = "refused"
	answeredUnknown faultOutcome = "unknown"
)

// faultCommand is a command and its answer.
type faultCommand struct {
	name, object, text string
	via                string
	at                 time.Time
	took               time.Duration
	outcome            faultOutcome
	id                 string // by which the event of a command that is done is known
	answer             string
	silent             bool // nothing need be on the log: the state may have been that already
}

// commander sends commands at a rate to members at random until ctx ends, and returns
// when all are answered.
func (x *faults) commander(ctx context.Context, dice *rand.Rand, rate float64) {
	var sending sync.WaitGroup
	defer sending.Wait()
	tick := time.NewTicker(time.Duration(float64(time.Second) / rate))
	defer tick.Stop()
	busy := map[string]bool{} // objects with a command under way: their order is known
	state := map[string]string{}
	var mu sync.Mutex
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if n%10 == 0 {
			x.flip(dice)
		}
		c := &faultCommand{name: "add-comment", object: fmt.Sprintf("h%d!run", dice.IntN(x.hosts)), text: fmt.Sprintf("text-%06d-", n)}
		m := x.members[dice.IntN(len(x.members))]
		more := ""
		switch kind := dice.IntN(20); {
		case kind < 3:
			c.name, more = "schedule-downtime", `,"duration":864000`
		case kind < 6:
			c.name, c.object = "acknowledge", fmt.Sprintf("h%d!told", dice.IntN(x.hosts))
		case kind < 11:
			c.name, c.object = "submit-result", fmt.Sprintf("h%d!told", dice.IntN(x.hosts))
		}
		mu.Lock()
		if busy[c.object] {
			mu.Unlock()
			continue
		}
		busy[c.object] = true
		next := "CRITICAL"
		if state[c.object] == next {
			next = "OK"
		}
		c.silent = state[c.object] == "?"
		mu.Unlock()
		sending.Go(func() {
			body := fmt.Sprintf(`{"command":%q,"object":%q,"author":"ann","comment":%q%s}`, c.name, c.object, c.text, more)
			if c.name == "submit-result" {
				body = fmt.Sprintf(`{"command":"submit-result","object":%q,"state":%q,"output":%q}`, c.object, next, c.text)
			}
			x.send(c, m, body)
			mu.Lock()
			defer mu.Unlock()
			delete(busy, c.object)
			switch {
			case c.name != "submit-result" || c.outcome == answeredRefused:
			case c.outcome == answeredDone:
				state[c.object] = next
			default:
				state[c.object] = "?"
			}
			x.commands = append(x.commands, c)
		})
	}
}

// send sends a command and reads what its answer says.
func (x *faults) send(c *faultCommand, m *faultMember, body string) {
	ctx, cancel := context.WithTimeout(x.t.Context(), 15*time.Second)
	defer cancel()
	c.via, c.at = m.id(), time.Now()
	status, text, err := m.ask(ctx, http.MethodPost, "/api/v1/commands", body)
	c.took, c.answer, c.outcome = time.Since(c.at), fmt.Sprint(status, " ", text), answeredUnknown
	var a struct {
		ID      string
		Detail  string
		Results []struct{ Outcome, Detail string }
	}
	switch {
	case errors.Is(err, errNotSent):
		c.outcome, c.answer = answeredRefused, err.Error()
		return
	case err != nil:
		c.answer = err.Error()
		return
	}
	if status == http.StatusServiceUnavailable && strings.HasPrefix(text, "not ready: ") {
		c.outcome = answeredRefused // it has no quorum yet
		return
	}
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		x.t.Errorf("%s is answered with %q", body, c.answer)
		return
	}
	switch {
	case status == http.StatusAccepted && len(a.Results) == 1:
		c.id = a.ID
		switch a.Results[0].Outcome {
		case "done":
			c.outcome = answeredDone
		case "refused", "failed":
			c.outcome = answeredRefused
		}
	case status == http.StatusServiceUnavailable && !strings.Contains(a.Detail, "not confirmed"):
		c.outcome = answeredRefused
	case status >= 400 && status < 500:
		c.outcome = answeredRefused
	case status != http.StatusServiceUnavailable:
		x.t.Errorf("%s, sent to %s at %s, is answered after %s with %q", body, c.via, c.at.Format("15:04:05.000"), c.took, c.answer)
	}
}

// faultMessage is one message that somebody was sent.
type faultMessage struct {
	at     time.Time
	id     string
	repeat bool
	what   string
}

// hear takes messages on the machine of each member: no fault of the network is between.
func (x *faults) hear() {
	for i := range x.members {
		l, err := x.net.listen(i+1, "127.0.0.1:9009")
		if err != nil {
			x.t.Fatal(err)
		}
		s := &http.Server{Handler: http.HandlerFunc(x.message), ReadHeaderTimeout: time.Minute}
		go func() { _ = s.Serve(l) }()
		x.t.Cleanup(func() { _ = s.Close() })
	}
}

func (x *faults) message(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	var m struct {
		ID      string
		Repeat  bool
		Subject string
	}
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		http.Error(w, "cut off", http.StatusBadRequest) // the sender was killed
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.messages = append(x.messages, faultMessage{time.Now(), m.ID, m.Repeat, m.Subject})
}
