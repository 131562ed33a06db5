package main

import (
	"flag"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/delivery"
)

var engineKills = flag.Int("engine-kills", 2, "how often TestSeveralEnginesTellEverybodyOnce kills an engine")

// twoEngines is a storm whose notifications two engines on one log decide and deliver.
type twoEngines struct {
	*fleetStorm
	engines [2]*running
	moments []time.Time // when one came or went
}

func newTwoEngines(t *testing.T) *twoEngines {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	x := &twoEngines{fleetStorm: &fleetStorm{ids: pair(t, "alice", "team"), tellStorm: &tellStorm{
		t: t, dir: t.TempDir(), mails: newMailServer(t), dice: rand.New(rand.NewPCG(seed, 1)), state: map[string]int{}, server: startNATS(t).ClientURL(),
	}}}
	x.path = x.site()
	return x
}

// join starts one of the engines; the first has the command file.
func (x *twoEngines) join(i int) {
	x.t.Helper()
	args := append(x.mails.flags(), "-config", x.path, "-eventlog", x.server, "-engine-id", x.ids[i], "-heartbeat-ttl", "5s")
	if i == 0 {
		args = append(args, "-command-file", filepath.Join(x.dir, "commands"))
	}
	x.engines[i] = launch(x.t, args...)
	if x.engine = x.engines[0]; i == 0 {
		x.notifiers = x.engines // whose logs are shown
	}
	x.moments = append(x.moments, time.Now())
}

func (x *twoEngines) leave(i int) {
	x.t.Helper()
	x.moments = append(x.moments, time.Now())
	x.engines[i].signal(syscall.SIGTERM)
	if code := x.engines[i].end(); code != 0 {
		x.t.Errorf("SIGTERM ended engine %s with %d:\n%s", x.ids[i], code, x.engines[i].log())
	}
	x.moments = append(x.moments, time.Now())
}

func (x *twoEngines) die(i int) {
	x.t.Helper()
	x.engines[i].signal(syscall.SIGKILL)
	x.kills = append(x.kills, time.Now())
	x.moments = append(x.moments, time.Now())
	x.mails.run.Store(int64(len(x.kills)))
	x.engines[i].end()
}

// storm submits for a while, each time with somebody's mail under way.
func (x *twoEngines) storm(d time.Duration) {
	x.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(time.Duration(50+x.dice.IntN(200)) * time.Millisecond) {
		x.flip()
	}
}

// once checks that nothing came twice except around a kill, and that mails are marked
// only around a change of the membership.
func (x *twoEngines) once(when string) (delivered, twice int) {
	x.t.Helper()
	outcomes := x.outcomes()
	twice = x.judge(outcomes)
	if twice > 0 && len(x.kills) == 0 {
		x.t.Errorf("%s: %d mails came twice and nobody was killed", when, twice)
	}
	for _, m := range x.mails.taken() {
		near := !m.repeat
		for _, at := range x.moments {
			near = near || m.at.After(at) && m.at.Before(at.Add(delivery.SendMost+10*time.Second))
		}
		if !near {
			x.t.Errorf("%s: a mail of %s is marked and nobody had come or gone", when, m.at.Format(time.TimeOnly))
		}
	}
	return len(outcomes), twice
}

// TestSeveralEnginesTellEverybodyOnce has two processes of role all on one log. One
// joins, leaves and is killed while services fail and recover and mail is under way:
// every request has one outcome, nothing is sent twice by a join or a leave, and what a
// kill makes doubtful is marked. N2, N3 with engines; S119
func TestSeveralEnginesTellEverybodyOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("starts and kills two engines")
	}
	t.Parallel()
	x := newTwoEngines(t)
	x.mails.slow(func() time.Duration { return time.Duration(100+rand.IntN(400)) * time.Millisecond })
	x.join(0)
	x.engines[0].until("/readyz", "ok")
	x.storm(time.Second)
	x.join(1)
	x.storm(3 * time.Second)
	x.engines[1].until("/readyz", "ok")
	x.engines[0].until("/metrics", "jaque_notify_notifiers 2\n")
	x.storm(2 * time.Second)
	x.leave(1)
	x.storm(time.Second)
	x.settle()
	x.once("after a join and a leave")
	x.join(1)
	x.engines[1].until("/readyz", "ok")
	for n := range *engineKills {
		x.storm(500 * time.Millisecond)
		x.die(n % 2)
		x.join(n % 2)
		x.engines[n%2].until("/readyz", "ok")
	}
	x.mails.slow(func() time.Duration { return 0 })
	x.flip()
	x.settle()
	for i := range x.engines {
		x.engines[i].until("/api/v1/status", `"members":["`+min(x.ids[0], x.ids[1])+`","`+max(x.ids[0], x.ids[1])+`"]`)
	}
	delivered, twice := x.once("after kills")
	if len(x.writers) != 2 {
		t.Errorf("the outcomes are by %v, want both of %v", x.writers, x.ids)
	}
	t.Logf("%d kills, %d requests delivered by %d mails, of which %d came a second time; outcomes by engine: %v",
		len(x.kills), delivered, len(x.mails.taken()), twice, x.writers)
}

// An engine that is stopped for longer than its heartbeat lives, and goes on then, sends
// nothing again without a mark: another one has told everybody meanwhile.
func TestAnEngineThatWakesTooLateTellsNobody(t *testing.T) {
	if testing.Short() {
		t.Skip("starts two engines and freezes one")
	}
	t.Parallel()
	x := newTwoEngines(t)
	x.join(0)
	x.engines[0].until("/readyz", "ok")
	x.join(1)
	x.engines[1].until("/readyz", "ok")
	x.engines[0].until("/metrics", "jaque_notify_notifiers 2\n")
	x.flip()
	x.settle()
	x.mails.slow(func() time.Duration { return 300 * time.Millisecond })
	x.storm(500 * time.Millisecond)
	x.engines[1].signal(syscall.SIGSTOP)
	x.moments, x.kills = append(x.moments, time.Now()), append(x.kills, time.Now())
	x.flip()
	x.mails.slow(func() time.Duration { return 0 })
	x.engines[0].until("/api/v1/status", `"members":["`+x.ids[0]+`"]`)
	x.settle() // by the other one
	x.engines[1].signal(syscall.SIGCONT)
	if code := x.engines[1].end(); code == 0 {
		t.Errorf("it ended in order although the others had declared it dead:\n%s", x.engines[1].log())
	}
	x.settle()
	sent := map[string][]bool{} // whether each mail of a message is marked
	for _, m := range x.mails.taken() {
		sent[m.id] = append(sent[m.id], m.repeat)
	}
	for id, marked := range sent {
		for _, m := range marked[1:] {
			if !m {
				t.Errorf("message %s came again without a mark: %v", id, marked)
			}
		}
	}
}
