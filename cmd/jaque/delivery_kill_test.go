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

// tellConfig has services that fail and recover all the time. Alice gets a mail
// for each, the team one for all that is new. The second check makes them rest.
const tellConfig = `package site

defaults: {interval: "1s", retry: "1s", attempts: 1, timeout: "5s"}
hosts: web01: {address: "127.0.0.1", check: dummy: state: "UP"}
services: {for i in [%s] {"s\(i)": {on: {}, check: %s}}}
services: {for i in [%[1]s] {"t\(i)": {on: {}, check: %[2]s}}}
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
}

func (x *tellStorm) site(check string) string {
	x.t.Helper()
	var all []string
	for i := range 30 {
		all = append(all, fmt.Sprint(i))
	}
	path := filepath.Join(x.dir, "site.cue")
	text := fmt.Sprintf(tellConfig, strings.Join(all, ", "), check)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		x.t.Fatal(err)
	}
	return path
}

func (x *tellStorm) start(site string) *running {
	x.t.Helper()
	x.mails.run.Store(int64(len(x.kills)))
	return launch(x.t, append(x.mails.flags(), "-config", site, "-data", filepath.Join(x.dir, "data"))...)
}

// storm starts the appliance and kills it a while later.
func (x *tellStorm) storm(site string, after time.Duration) {
	x.t.Helper()
	r := x.start(site)
	r.until("/readyz", "ok")
	time.Sleep(after) // it runs until then
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
	x := &tellStorm{t: t, dir: t.TempDir(), mails: newMailServer(t)}
	x.mails.slow(func() time.Duration { return time.Duration(100+rand.IntN(200)) * time.Millisecond })
	flips := x.site(`dummy: {states: ["OK", "CRITICAL"], period: "2s"}`)
	for range *notifyKills {
		x.storm(flips, time.Duration(dice.IntN(500))*time.Millisecond)
	}
	x.mails.slow(func() time.Duration { return 0 })
	r := x.start(x.site(`passive: {}`))
	r.until("/readyz", "ok")
	r.until("/metrics", "jaque_notify_open 0")
	r.signal(syscall.SIGTERM)
	if code := r.end(); code != 0 {
		t.Fatalf("SIGTERM ended it with %d:\n%s", code, r.log())
	}
	delivered := x.outcomes()
	twice := x.judge(delivered)
	if len(delivered) < 5**notifyKills {
		t.Errorf("only %d requests; the storm is too calm to prove anything", len(delivered))
	}
	t.Logf("seed %d: %d kills, %d requests delivered by %d mails, of which %d came a second time",
		seed, *notifyKills, len(delivered), len(x.mails.taken()), twice)
}

// outcomes reads the log and returns the message of each request that was
// delivered.
func (x *tellStorm) outcomes() map[string]string {
	x.t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	b, err := bus.Open(x.t.Context(), bus.Options{Data: filepath.Join(x.dir, "data"), Logger: quiet})
	if err != nil {
		x.t.Fatal(err)
	}
	defer func() { _ = b.Close(context.Background()) }()
	j, err := journal.OpenJetStream(x.t.Context(), b, journal.Options{Logger: quiet})
	if err != nil {
		x.t.Fatal(err)
	}
	defer func() { _ = j.Close(context.Background()) }()
	c, problems := config.Load(filepath.Join(x.dir, "site.cue"), config.Options{})
	if len(problems) > 0 {
		x.t.Fatal(problems)
	}
	open, delivered := map[string]bool{}, map[string]string{}
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
		default:
			return
		}
		delete(open, id)
	})
	for id := range open {
		x.t.Errorf("%s has no outcome", id)
	}
	return delivered
}

// window is how long after its arrival a mail may stay without an outcome on the
// log: the server's slowness and the append.
const window = 3 * time.Second

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
