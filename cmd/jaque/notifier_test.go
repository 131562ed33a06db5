package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/rule/membership"
)

var notifierKills = flag.Int("notifier-kills", 2, "how often TestAKilledNotifierForgetsNothing kills a notifier")

// notifierTTL is how long a heartbeat of a notifier lives: longer than a busy machine
// holds one up.
const notifierTTL = 5 * time.Second

// pair returns ids of two notifiers of which each delivers to one of two contacts.
func pair(t *testing.T, alice, bob string) (ids [2]string) {
	t.Helper()
	for i := range 100 {
		v := membership.View{Members: []membership.Member{{ID: "n1"}, {ID: fmt.Sprint("n", i+2)}}}
		if v.Owner(alice) != v.Owner(bob) {
			return [2]string{v.Owner(alice), v.Owner(bob)}
		}
	}
	t.Fatal("no two ids share the contacts")
	return ids
}

// fleetStorm is a storm whose notifications processes of their own deliver.
type fleetStorm struct {
	*tellStorm
	engine    *running
	ids       [2]string
	notifiers [2]*running
}

func newFleetStorm(t *testing.T) *fleetStorm {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	x := &fleetStorm{ids: pair(t, "alice", "team"), tellStorm: &tellStorm{
		t: t, dir: t.TempDir(), mails: newMailServer(t), dice: rand.New(rand.NewPCG(seed, 1)), state: map[string]int{}, server: startNATS(t).ClientURL(),
	}}
	x.path = x.site()
	x.engine = launch(t, "-config", x.path, "-eventlog", x.server, "-notify-delivery", "notifier",
		"-command-file", filepath.Join(x.dir, "commands"))
	return x
}

// launch starts one of the notifiers.
func (x *fleetStorm) launch(i int) {
	x.t.Helper()
	x.notifiers[i] = launch(x.t, append(x.mails.flags(), "-target", "notifier", "-config", x.path, "-eventlog", x.server,
		"-notifier-id", x.ids[i], "-heartbeat-ttl", notifierTTL.String())...)
}

// flipped submits as flip does and waits until the engine has decided all of it: only
// then does nothing open mean that all of it was sent.
func (x *fleetStorm) flipped() {
	x.t.Helper()
	accepted, refused := x.engine.counted()
	lines := x.flip()
	x.engine.readLines(accepted + refused + lines)
}

// kill ends one of the notifiers in the middle of a storm and starts it again.
func (x *fleetStorm) kill(i int) {
	x.t.Helper()
	x.flip()
	time.Sleep(time.Duration(x.dice.IntN(300)) * time.Millisecond) // it runs until then
	x.flip()
	time.Sleep(time.Duration(x.dice.IntN(300)) * time.Millisecond)
	x.notifiers[i].signal(syscall.SIGKILL)
	x.kills = append(x.kills, time.Now())
	x.mails.run.Store(int64(len(x.kills)))
	x.notifiers[i].end()
	x.launch(i)
	x.notifiers[i].until("/readyz", "ok")
}

// sent waits until more mails were taken than there were before.
func (x *fleetStorm) sent(before int) {
	x.t.Helper()
	for deadline := time.Now().Add(patience); len(x.mails.taken()) <= before; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			x.t.Fatalf("nothing is sent:\n%s", x.notifiers[0].log())
		}
	}
}

// settle waits until nothing is open.
func (x *fleetStorm) settle() {
	x.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) { // many may be open
		if _, text := x.engine.get("/metrics"); strings.Contains(text, "jaque_notify_open 0\n") {
			return
		}
		if time.Now().After(deadline) {
			x.t.Fatalf("requests are still open:\n%s\n%s", x.notifiers[0].log(), x.notifiers[1].log())
		}
	}
}

// TestAKilledNotifierForgetsNothing has two notifiers deliver what an engine asks for,
// over a NATS server, and kills one of them again and again while services fail and
// recover and a slow mail server takes mail. Every request has exactly one final
// outcome, what was delivered was received, and a mail that came twice is marked and
// was received just before a kill the first time. S057, S059, S068, S080
func TestAKilledNotifierForgetsNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills a fleet")
	}
	t.Parallel()
	x := newFleetStorm(t)
	x.engine.until("/readyz", "ok")
	x.launch(0)
	x.launch(1)
	for _, n := range x.notifiers {
		n.until("/readyz", "ok")
	}
	x.engine.until("/metrics", "jaque_notify_notifiers 2\n")
	x.flipped()
	x.sent(0)
	x.settle() // nobody was killed: each once
	if twice := x.judge(x.outcomes()); twice != 0 {
		t.Errorf("%d mails came twice and nobody was killed", twice)
	}
	x.mails.slow(func() time.Duration { return time.Duration(100+rand.IntN(200)) * time.Millisecond })
	for range *notifierKills {
		x.kill(x.dice.IntN(2))
	}
	x.mails.slow(func() time.Duration { return 0 })
	x.settle()
	for i, n := range x.notifiers {
		if _, text := n.get("/metrics"); !strings.Contains(text, "jaque_notify_requests_total") {
			t.Errorf("notifier %s serves no metrics:\n%s", x.ids[i], text)
		}
		n.signal(syscall.SIGTERM)
		if code := n.end(); code != 0 {
			t.Errorf("SIGTERM ended notifier %s with %d:\n%s", x.ids[i], code, n.log())
		}
	}
	delivered := x.outcomes()
	twice := x.judge(delivered)
	if len(x.writers) != 2 {
		t.Errorf("the outcomes are by %v, want both of %v", x.writers, x.ids)
	}
	t.Logf("%d kills, %d requests delivered by %d mails, of which %d came a second time; outcomes by notifier: %v",
		*notifierKills, len(delivered), len(x.mails.taken()), twice, x.writers)
}

// A notifier beside an engine that delivers by itself sends nothing and says so, until
// the engine leaves it to notifiers. S068
func TestANotifierLeavesAnEngineThatDeliversAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three processes")
	}
	t.Parallel()
	x := &fleetStorm{ids: pair(t, "alice", "team"), tellStorm: &tellStorm{
		t: t, dir: t.TempDir(), mails: newMailServer(t), dice: rand.New(rand.NewPCG(1, 2)), state: map[string]int{}, server: startNATS(t).ClientURL(),
	}}
	x.path = x.site()
	start := func(delivery string) *running {
		return launch(t, append(x.mails.flags(), "-config", x.path, "-eventlog", x.server, "-notify-delivery", delivery,
			"-command-file", filepath.Join(x.dir, "commands"))...)
	}
	x.engine = start("local")
	x.engine.until("/readyz", "ok")
	x.launch(0)
	x.notifiers[0].until("/readyz", "delivers notifications by itself: nothing is sent from here")
	x.flipped()
	x.sent(0)
	x.engine.until("/metrics", "jaque_notify_open 0\n")
	x.engine.signal(syscall.SIGTERM)
	if code := x.engine.end(); code != 0 {
		t.Fatalf("ended with %d:\n%s", code, x.engine.log())
	}
	x.engine = start("notifier")
	x.notifiers[0].until("/readyz", "ok")
	before := len(x.mails.taken())
	x.flipped()
	x.sent(before)
	x.engine.until("/metrics", "jaque_notify_open 0\n")
	if twice := x.judge(x.outcomes()); twice != 0 {
		t.Errorf("%d mails came twice", twice)
	}
}

// What waited while no notifier ran was sent by nobody, and no mail says that it may be
// a repetition: neither of the first notifier nor of one that comes after it has left.
func TestNoMailIsMarkedThatNobodyCanHaveSent(t *testing.T) {
	if testing.Short() {
		t.Skip("starts two processes")
	}
	t.Parallel()
	x := newFleetStorm(t)
	x.engine.until("/readyz", "ok")
	for range 2 {
		before := len(x.mails.taken())
		x.flipped()
		x.engine.until("/metrics", "jaque_notify_notifiers 0\n")
		x.launch(0)
		x.sent(before)
		x.engine.until("/metrics", "jaque_notify_open 0\n")
		x.notifiers[0].signal(syscall.SIGTERM)
		if code := x.notifiers[0].end(); code != 0 {
			t.Errorf("SIGTERM ended the notifier with %d:\n%s", code, x.notifiers[0].log())
		}
		time.Sleep(notifierTTL + time.Second) // longer than clocks may differ, which is as long as a heartbeat lives
	}
	for _, m := range x.mails.taken() {
		if m.repeat {
			t.Errorf("a mail is marked: %+v", m)
		}
	}
}
