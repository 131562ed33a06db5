package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
)

var notifyKills = flag.Int("notify-kills", 3, "how often TestAKilledDeliveryForgetsNothing kills the appliance")

// tellConfig has services whose results come in by the command file. Alice gets a
// mail for each of some, the team one for all of the others that is new. Flapping
// would silence them.
const tellConfig = `package site

defaults: {attempts: 1, flap_detection: false}
hosts: web01: {address: "127.0.0.1", check: dummy: state: "UP"}
services: {for i in [%[1]s] {"s\(i)": {on: {}, check: passive: {}}}}
services: {for i in [%[1]s] {"t\(i)": {on: {}, check: passive: {}}}}
delivery: rates: email: messages: 0
contacts: alice: email: "alice@test.invalid"
contacts: team: email: "team@test.invalid"
policies: [
	{name: "each", objects: ["*!s*"], notify: ["alice"], group: by: "none"},
	{name: "all", objects: ["*!t*"], notify: ["team"], group: {by: "host", wait: "1s", interval: "1s"}},
]
`

// tellStorm is the appliance under test, its mail server, and when it was killed.
type tellStorm struct {
	t     *testing.T
	dir   string
	mails *mailServer
	kills []time.Time // of run 0, 1, …
	dice  *rand.Rand
	path  string // of the config
	// server has the log; "" = the appliance itself.
	server  string
	writers map[string]int // outcomes by who wrote them
	state   map[string]int // last submitted, by service
}

// tellServices is how many services there are of each kind.
const tellServices = 12

func (x *tellStorm) site() string {
	x.t.Helper()
	var all []string
	for i := range tellServices {
		all = append(all, fmt.Sprint(i))
	}
	path := filepath.Join(x.dir, "site.cue")
	text := fmt.Sprintf(tellConfig, strings.Join(all, ", "))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		x.t.Fatal(err)
	}
	return path
}

func (x *tellStorm) start() *running {
	x.t.Helper()
	x.mails.run.Store(int64(len(x.kills)))
	return launch(x.t, append(x.mails.flags(), "-config", x.path, "-data", filepath.Join(x.dir, "data"),
		"-command-file", filepath.Join(x.dir, "commands"))...)
}

// flip submits results that change some services of each kind, and returns how many.
func (x *tellStorm) flip() (results int) {
	x.t.Helper()
	var lines strings.Builder
	for range 3 {
		for _, kind := range []string{"s", "t"} {
			name := kind + fmt.Sprint(x.dice.IntN(tellServices))
			x.state[name] = 2 - x.state[name]
			results++
			fmt.Fprintf(&lines, "[%d] PROCESS_SERVICE_CHECK_RESULT;web01;%s;%d;a storm\n", time.Now().Unix(), name, x.state[name])
		}
	}
	f, err := os.OpenFile(filepath.Join(x.dir, "commands"), os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		x.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.WriteString(lines.String()); err != nil {
		x.t.Fatal(err)
	}
	return results
}

// storm starts the appliance and kills it a while later.
func (x *tellStorm) storm(after time.Duration) {
	x.t.Helper()
	r := x.start()
	r.until("/readyz", "ok")
	x.flip()
	time.Sleep(after / 2) // it runs until then
	x.flip()
	time.Sleep(after / 2)
	r.signal(syscall.SIGKILL)
	x.kills = append(x.kills, time.Now())
	r.end()
}

// TestAKilledDeliveryForgetsNothing kills the appliance at random moments while
// services fail and recover and a slow mail server takes mail. At the end every
// request on the log has exactly one final outcome, what was delivered was
// received, and a mail that came twice is marked and was received just before a
// kill the first time.
func TestAKilledDeliveryForgetsNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills the whole appliance")
	}
	t.Parallel()
	seed := rand.Uint64()
	dice := rand.New(rand.NewPCG(seed, 1))
	x := &tellStorm{t: t, dir: t.TempDir(), mails: newMailServer(t), dice: dice, state: map[string]int{}}
	x.mails.slow(func() time.Duration { return time.Duration(100+rand.IntN(200)) * time.Millisecond })
	x.path = x.site()
	for range *notifyKills {
		x.storm(time.Duration(dice.IntN(500)) * time.Millisecond)
	}
	x.mails.slow(func() time.Duration { return 0 })
	r := x.start()
	r.until("/readyz", "ok")
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(50 * time.Millisecond) { // many may be open
		if _, text := r.get("/metrics"); strings.Contains(text, "jaque_notify_open 0\n") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("requests are still open:\n%s", r.log())
		}
	}
	r.signal(syscall.SIGTERM)
	if code := r.end(); code != 0 {
		t.Fatalf("SIGTERM ended it with %d:\n%s", code, r.log())
	}
	delivered := x.outcomes()
	twice := x.judge(delivered)
	if len(delivered) < 2**notifyKills {
		t.Errorf("only %d requests; the storm is too calm to prove anything", len(delivered))
	}
	t.Logf("seed %d: %d kills, %d requests delivered by %d mails, of which %d came a second time",
		seed, *notifyKills, len(delivered), len(x.mails.taken()), twice)
}

// outcomes reads the log and returns the message of each request that was
// delivered. Where processes still write the log it waits until none is open: what was
// submitted last may have come after they were asked.
func (x *tellStorm) outcomes() map[string]string {
	x.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		open, delivered := x.readOutcomes()
		if len(open) == 0 {
			return delivered
		}
		if x.server == "" || time.Now().After(deadline) {
			for id := range open {
				x.t.Errorf("%s has no outcome", id)
			}
			return delivered
		}
	}
}

// readOutcomes reads the log up to its present end. It returns which requests are open
// there, and the message of each that was delivered.
func (x *tellStorm) readOutcomes() (open map[string]bool, delivered map[string]string) {
	x.t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	where := bus.Options{Data: filepath.Join(x.dir, "data"), Logger: quiet}
	if x.server != "" {
		where = bus.Options{URL: x.server, Attach: true, Logger: quiet}
	}
	b, err := bus.Open(x.t.Context(), where)
	if err != nil {
		x.t.Fatal(err)
	}
	defer func() { _ = b.Close(context.Background()) }()
	j, err := journal.OpenJetStream(x.t.Context(), b, journal.Options{Logger: quiet})
	if err != nil {
		x.t.Fatal(err)
	}
	defer func() { _ = j.Close(context.Background()) }()
	x.writers = map[string]int{}
	c, problems := config.Load(filepath.Join(x.dir, "site.cue"), config.Options{})
	if len(problems) > 0 {
		x.t.Fatal(problems)
	}
	open, delivered = map[string]bool{}, map[string]string{}
	follow(x.t, j, projection.New(c.Set), journal.Position{}, func(e *event.Event) {
		for _, r := range e.Requests() {
			open[r.ID] = true
		}
		id := e.Facts[event.FactRequest]
		switch e.Kind {
		case event.NotificationAbandoned:
			x.t.Errorf("%s was given up: %s", id, e.Text)
		case event.NotificationDelivered:
			if !open[id] {
				x.t.Errorf("%s has an outcome and was not open: delivered before in %q", id, delivered[id])
			}
			delivered[id] = e.Facts[event.FactMessage]
			x.writers[e.Writer]++
		default:
			return
		}
		delete(open, id)
	})
	return open, delivered
}

// window is how long after its arrival a mail may stay without an outcome on the
// log: the server's slowness, and the append on a busy machine.
const window = 10 * time.Second

// judge compares what was received with what the log says, and returns how many
// mails came again.
func (x *tellStorm) judge(delivered map[string]string) (twice int) {
	x.t.Helper()
	received := map[string][]mail{}
	for _, m := range x.mails.taken() {
		id, _, _ := strings.Cut(m.id, "@")
		received[id] = append(received[id], m)
	}
	for request, message := range delivered {
		if len(received[message]) == 0 {
			x.t.Errorf("%s was delivered in message %s, which nobody has received", request, message)
		}
	}
	for id, all := range received {
		for i, m := range all[1:] {
			twice++
			first := all[i]
			killed := slices.ContainsFunc(x.kills, func(k time.Time) bool {
				return k.After(first.at.Add(-window/10)) && k.Before(first.at.Add(window))
			})
			if !m.repeat || !killed || m.run == first.run {
				x.t.Errorf("message %s came in run %d and again in run %d: marked %t, killed after the first %t",
					id, first.run, m.run, m.repeat, killed)
			}
		}
	}
	return twice
}
