package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/cluster"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/membership"
)

var (
	faultMinutes  = flag.Float64("fault-minutes", 0.2, "how long faults at random come in the test of faults")
	faultSeed     = flag.Uint64("fault-seed", 0, "seed of its faults and commands; 0 = a new one")
	faultRate     = flag.Float64("fault-rate", 10, "checks a second in the test of faults")
	faultCommands = flag.Float64("fault-commands", 5, "commands a second in the test of faults")
	faultTTL      = flag.Duration("fault-ttl", 5*time.Second, "TTL of heartbeats in the test of faults")
	faultKills    = flag.Int("fault-kills", 1, "how often a member is killed and the takeover is measured before that")
	faultRestarts = flag.Int("fault-restarts", 0, "how often all members are restarted one after the other before that")
	faultJumps    = flag.Int("fault-jumps", 1, "how often the clock of a member jumps and is set right again in a calm cluster behind that")
	faultFills    = flag.Int("fault-fills", 1, "how often the disk of a member is filled in a calm cluster before that")
	faultOnly     = flag.String("fault-only", "", "kinds of faults that come at random, separated by commas; empty = all")
	faultInterval = flag.Duration("fault-interval", 2*time.Second, "interval of the checks in the test of faults")
	faultKeep     = flag.String("fault-keep", "", "folder in which the test of faults leaves data and logs")
)

// faults is a cluster of three appliances to which things happen, and what is known of
// them afterwards.
type faults struct {
	t        *testing.T
	dir      string
	site     string
	net      *faultNet
	members  []*faultMember
	ttl      time.Duration
	interval time.Duration
	hosts    int // each has a service that is checked
	leaps    int // how often a clock jumped and was set right again

	commands []*faultCommand
	faults   []injected
	mu       sync.Mutex
	messages []faultMessage

	// What was found afterwards.
	log       []stored
	views     []membership.View
	state     *projection.Projection
	accepted  map[string]uint64 // ids of accepted events → position
	delivered map[string]string // requests → message
}

// newFaults founds a cluster of three and waits until it works.
func newFaults(t *testing.T) (*faults, *rand.Rand) {
	t.Helper()
	seed := *faultSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	x := &faults{t: t, dir: *faultKeep, ttl: *faultTTL, interval: *faultInterval}
	if x.dir == "" {
		x.dir = t.TempDir()
	} else if x.dir = filepath.Join(x.dir, t.Name()); os.RemoveAll(x.dir) != nil || os.MkdirAll(x.dir, 0o755) != nil {
		t.Fatalf("-fault-keep %s cannot be used", *faultKeep)
	}
	x.hosts = max(3, int(*faultRate*x.interval.Seconds()))
	x.write()
	x.net = newFaultNet(t, 3)
	for i := range 3 {
		x.members = append(x.members, newFaultMember(t, x.net, i+1, x.dir, "-config", x.site, "-heartbeat-ttl", x.ttl.String()))
	}
	x.disks()
	x.hear()
	began := time.Now()
	x.founded()
	x.whole()
	t.Logf("three empty folders were a cluster after 4 commands, 3 starts and %s", time.Since(began).Round(100*time.Millisecond))
	return x, rand.New(rand.NewPCG(seed, 6))
}

func (x *faults) write() {
	x.t.Helper()
	x.site = filepath.Join(x.dir, "site.cue")
	fill := strings.NewReplacer("DIR", x.dir, "HOSTS", fmt.Sprint(x.hosts), "INTERVAL", x.interval.String())
	err := os.MkdirAll(filepath.Join(x.dir, "state"), 0o755)
	if err == nil {
		err = os.WriteFile(x.site, []byte(fill.Replace(faultConfig)), 0o600)
	}
	if err == nil {
		err = x.buildPlugin()
	}
	if err != nil {
		x.t.Fatal(err)
	}
}

// founded makes three empty folders a cluster.
func (x *faults) founded() {
	x.t.Helper()
	first := x.members[0]
	token, err := first.say("cluster", "init", "-cluster-name", "site", "-cluster-listen", x.net.address(1)+":4248", "-engine-id", first.id(), "-data", first.data)
	if err != nil {
		x.t.Fatal(err)
	}
	first.start()
	for _, m := range x.members[1:] {
		x.until(m.id()+" joins", func() bool {
			_, err = m.say("cluster", "join", token, "-cluster-listen", x.net.address(m.n)+":4248", "-engine-id", m.id(), "-data", m.data)
			return err == nil
		})
		m.start()
		x.until(m.id()+" is ready", func() bool { return m.holds("/readyz", "ok") })
		if m.n < len(x.members) {
			if token, err = first.say("cluster", "token", "-data", first.data); err != nil {
				x.t.Fatal(err)
			}
		}
	}
}

// until waits for something, two minutes at most.
func (x *faults) until(what string, done func() bool) {
	x.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			for _, m := range x.members {
				x.t.Logf("%s ended by itself: %v; its log ends with\n%s", m.id(), m.crashes, m.tail())
				m.signal(syscall.SIGQUIT) // what it was at is in the log then
			}
			time.Sleep(time.Second)
			x.t.Fatalf("%s: not within two minutes", what)
		}
	}
}

// whole waits until every member is ready and knows three, and every stream has three full
// copies: with an empty one the group of a stream elects nobody when its leader dies.
func (x *faults) whole() {
	x.t.Helper()
	for _, m := range x.members {
		x.until(m.id()+" is one of three that are ready", func() bool {
			return m.holds("/readyz", "ok") && m.holds("/metrics", "\njaque_engine_members 3\n")
		})
	}
	x.until("every stream has three copies", func() bool {
		text, err := x.members[0].say("cluster", "status", "-o", "json", "-data", x.members[0].data)
		var r cluster.Report
		return err == nil && json.Unmarshal([]byte(text), &r) == nil && whole(&r, len(x.members))
	})
}

// settle waits until what is under way has come to its end, stops the members together
// and checks what they leave.
func (x *faults) settle() {
	x.t.Helper()
	x.whole()
	time.Sleep(x.ttl + 2*x.interval) // the last decisions
	for _, m := range x.members {    // the last messages, and those that are in doubt
		x.until(m.id()+" has told everybody", func() bool { return m.holds("/metrics", "\njaque_notify_open 0\n") })
	}
	var stopping sync.WaitGroup
	for _, m := range x.members {
		stopping.Go(func() {
			if err := m.end(syscall.SIGTERM, time.Minute); err != nil {
				x.found("%v", err)
			}
		})
	}
	stopping.Wait()
	for _, m := range x.members {
		x.endings(m)
	}
	x.verifyEach()
	x.sameLogs()
	x.foldLog()
	x.commandsKept()
	x.runsKept()
	x.messagesKept()
}

// endings reports how a member has ended by itself. What it says again and again is told
// once.
func (x *faults) endings(m *faultMember) {
	for i := 0; i < len(m.crashes); {
		how, again := m.crashes[i], 0
		_, text, _ := strings.Cut(how, " ")
		for i++; i < len(m.crashes) && strings.HasSuffix(m.crashes[i], text); i++ {
			again++
		}
		x.t.Logf("%s ended by itself: %s (and %d times more)", m.id(), how, again)
		if strings.Contains(how, "panic:") || strings.Contains(how, "fatal error:") {
			x.found("%s broke", m.id())
		}
	}
}

// load sends commands until the returned function is called.
func (x *faults) load(dice *rand.Rand) (stop func()) {
	ctx, cancel := context.WithCancel(x.t.Context())
	ended := make(chan struct{})
	dice = rand.New(rand.NewPCG(dice.Uint64(), 2))
	go func() {
		defer close(ended)
		x.commander(ctx, dice, *faultCommands)
	}()
	return func() { cancel(); <-ended }
}

// TestThreeAppliancesSurviveFaults has three appliances on a network of their own, checks
// and commands at a rate, kills, restarts and faults at random. Afterwards their logs
// must be the same and keep every invariant, and every client must have been told the
// truth. docs/develop/faults.md tells how to run it for longer.
func TestThreeAppliancesSurviveFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a cluster of three")
	}
	x, dice := newFaults(t)
	stop := x.load(dice)
	x.killed(dice)
	x.restarted()
	x.filled(dice)
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(*faultMinutes*float64(time.Minute)))
	defer cancel()
	x.inject(ctx, dice)
	x.whole()
	x.jumped(dice)
	stop()
	x.settle()
	count := map[string]int{}
	for _, f := range x.faults {
		count[f.name]++
		t.Logf("%s to %s  %s: %s", f.from.Format("15:04:05.000"), f.to.Format("15:04:05.000"), f.name, f.what)
	}
	t.Logf("%d faults: %v", len(x.faults), count)
}

// killed measures how long the objects of a killed member stay unchecked.
func (x *faults) killed(dice *rand.Rand) {
	x.t.Helper()
	var took []time.Duration
	for range *faultKills {
		took = append(took, x.takeover(x.any(dice)))
		x.whole()
	}
	if slices.Sort(took); len(took) > 0 {
		x.t.Logf("%d kills, TTL %s, interval %s: from the kill to the last orphan's next check p50 %s, p99 %s", len(took), x.ttl, x.interval,
			took[len(took)/2].Round(time.Millisecond), took[len(took)*99/100].Round(time.Millisecond))
	}
}

// restarted restarts the members one after the other: no service stays unchecked for
// longer than its interval and a TTL, and no message is doubtful.
func (x *faults) restarted() {
	x.t.Helper()
	for range *faultRestarts {
		from := time.Now()
		time.Sleep(2 * x.interval)
		for _, m := range x.members {
			began := time.Now()
			if err := m.end(syscall.SIGTERM, time.Minute); err != nil {
				x.found("%v", err)
			}
			ended := time.Since(began)
			m.start()
			x.whole()
			x.t.Logf("%s was restarted: ended after %s, one of three again after %s", m.id(), ended.Round(time.Millisecond), time.Since(began).Round(time.Millisecond))
			time.Sleep(2 * x.interval)
		}
		gaps := x.gaps(from)
		if longest, most := gaps[len(gaps)-1], x.interval+x.ttl; longest > most {
			x.found("a service was not checked for %s, more than interval and TTL (%s)", longest, most)
		}
		x.t.Logf("restarted one after the other: longest time without a check: median %s, longest %s",
			gaps[len(gaps)/2].Round(time.Millisecond), gaps[len(gaps)-1].Round(time.Millisecond))
		x.doubtful(from)
	}
}

// doubtful demands that nothing was sent a second time since from, although everybody left
// in order. How many messages say that they may have been is told: none, unless a member
// ended by itself or cut one off, since who leaves says on the log what it has begun.
func (x *faults) doubtful(from time.Time) {
	x.t.Helper()
	x.mu.Lock()
	defer x.mu.Unlock()
	const few = 3
	var examples []string
	came := map[string]bool{}
	all, marked := 0, 0
	for _, m := range x.messages {
		again := came[m.id]
		came[m.id] = true
		if !m.at.After(from) {
			continue
		}
		if again {
			x.found("the message %s (%s) came again at %s, and everybody left in order", m.id, m.what, m.at.Format("15:04:05.000"))
		}
		all++
		if !m.repeat {
			continue
		}
		if marked++; marked <= few {
			examples = append(examples, m.what+" at "+m.at.Format("15:04:05.000"))
		}
	}
	x.t.Logf("%d messages meanwhile, %d of them marked as possibly sent before although everybody left in order: %s", all, marked, strings.Join(examples, ", "))
}

// gaps returns the longest time without a check since from of each service, sorted.
func (x *faults) gaps(from time.Time) []time.Duration {
	x.t.Helper()
	last, longest := map[string]time.Time{}, map[string]time.Duration{}
	for _, r := range x.runs() {
		if r.at.Before(from) {
			continue
		}
		if before, ok := last[r.object]; ok {
			longest[r.object] = max(longest[r.object], r.at.Sub(before))
		}
		last[r.object] = r.at
	}
	return slices.Sorted(maps.Values(longest))
}

// takeover kills a member, waits until each of its objects was checked by another one and
// returns how long that took. Then the member is started again.
func (x *faults) takeover(m *faultMember) time.Duration {
	x.t.Helper()
	orphans := x.owned(m)
	n := len(orphans)
	if err := m.end(syscall.SIGKILL, time.Minute); err != nil {
		x.t.Fatal(err)
	}
	killed := time.Now()
	took := x.adopted(m, orphans, killed).Sub(killed)
	x.t.Logf("%s was killed: the last of its %d services was checked after %s", m.id(), n, took.Round(time.Millisecond))
	m.start()
	return took
}

// owned returns the services of a member in a cluster that is whole.
func (x *faults) owned(m *faultMember) map[string]bool {
	view, all := membership.View{}, map[string]bool{}
	for _, m := range x.members {
		view.Members = append(view.Members, membership.Member{ID: m.id()})
	}
	for i := range x.hosts {
		if id := fmt.Sprintf("h%d!run", i); view.Owner(id) == m.id() {
			all[id] = true
		}
	}
	return all
}

// adopted waits until others have checked what was a member's, and returns when the last
// was checked.
func (x *faults) adopted(m *faultMember, orphans map[string]bool, since time.Time) (last time.Time) {
	x.t.Helper()
	last = since
	x.until("others check what was "+m.id()+"'s", func() bool {
		for _, r := range x.runs() {
			if orphans[r.object] && r.at.After(since) && !m.ran(r.by) {
				delete(orphans, r.object)
				last = r.at
			}
		}
		return len(orphans) == 0
	})
	return last
}
