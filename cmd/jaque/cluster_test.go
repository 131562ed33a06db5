package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/cluster"
	"jaque.sh/jaque/appliance/listen/listentest"
)

// clusterRig is a cluster whose members are processes of this machine.
type clusterRig struct {
	t        *testing.T
	config   string
	data     map[string]string   // folders
	members  map[string]*running // that run
	flags    []string            // of every member, beside those of the rig
	commands int                 // that an operator wrote
}

// memberTTL is how long a heartbeat of the rig's members lives. It is long: a member that
// a busy machine holds up for less is alive, and one that has lost the others can be asked
// what it misses until it ends.
const memberTTL = "20s"

// founded makes the first member and starts it.
func founded(t *testing.T) *clusterRig {
	t.Helper()
	return foundedWith(t)
}

// foundedWith makes the first member of a cluster whose members have flags.
func foundedWith(t *testing.T, flags ...string) *clusterRig {
	t.Helper()
	x := &clusterRig{t: t, flags: flags, config: site(t, siteText), data: map[string]string{}, members: map[string]*running{}}
	x.data["a"] = filepath.Join(t.TempDir(), "a")
	x.do("cluster", "init", "-cluster-name", "site", "-cluster-listen", listentest.Address(t), "-join-listen", listentest.Address(t), "-engine-id", "a", "-data", x.data["a"])
	x.start("a")
	return x
}

// do runs a command that must succeed.
func (x *clusterRig) do(args ...string) string {
	x.t.Helper()
	x.commands++
	code, out, errs := finish(x.t, command(x.t, args...))
	if code != 0 {
		x.t.Fatalf("jaque %s: exit %d: %s%s", strings.Join(args, " "), code, out, errs)
	}
	return strings.TrimSpace(out)
}

// not runs a command that must fail with a text.
func (x *clusterRig) not(want string, args ...string) {
	x.t.Helper()
	code, out, errs := finish(x.t, command(x.t, args...))
	if code == 0 || out != "" || !strings.Contains(errs, want) {
		x.t.Errorf("jaque %s: exit %d, %q, want %q, got %q", strings.Join(args, " "), code, out, want, errs)
	}
}

// token gives one out at the first member.
func (x *clusterRig) token(flags ...string) string {
	x.t.Helper()
	return x.do(append([]string{"cluster", "token", "-join-listen", listentest.Address(x.t), "-data", x.data["a"]}, flags...)...)
}

// join makes an empty folder a member's and starts it.
func (x *clusterRig) join(id string) {
	x.t.Helper()
	x.data[id] = filepath.Join(x.t.TempDir(), id)
	token := x.token()
	x.enter(id, token)
	x.start(id)
}

// enter joins with a token; the command waits until the member that gave it out can let
// it in.
func (x *clusterRig) enter(id, token string) {
	x.t.Helper()
	x.commands++
	args := []string{"cluster", "join", token, "-cluster-listen", listentest.Address(x.t), "-engine-id", id, "-data", x.data[id]}
	if code, _, errs := finish(x.t, command(x.t, args...)); code != 0 {
		x.t.Fatalf("%s does not join: %s", id, errs)
	}
}

func (x *clusterRig) start(id string) {
	x.t.Helper()
	x.commands++
	args := []string{"-config", x.config, "-data", x.data[id], "-heartbeat-ttl", memberTTL}
	r := spawn(x.t, append(args, x.flags...)...)
	x.members[id] = r
	x.until(id+" serves", func() bool { return strings.Contains(r.log(), "serving http") || r.over() })
	r.served()
	x.ready(id)
}

// ready waits longer than the other tests do: a member joins while others are busy.
func (x *clusterRig) ready(id string) {
	x.t.Helper()
	r := x.members[id]
	x.until("/readyz of "+id, func() bool {
		if r.over() {
			x.show()
			x.t.Fatalf("%s has ended before it was ready", id)
		}
		code, _ := r.get("/readyz")
		return code == 200
	})
	if _, text := r.get("/metrics"); !strings.Contains(text, "\njaque_bus_copies_unfilled 0\n") {
		x.t.Errorf("%s is ready before its copies of the streams are full", id)
	}
}

// show tells what each member says.
func (x *clusterRig) show() {
	x.t.Helper()
	for id, r := range x.members {
		x.t.Logf("%s:\n%s", id, r.log())
	}
}

func (x *clusterRig) kill(id string) {
	x.t.Helper()
	x.members[id].signal(syscall.SIGKILL)
	x.members[id].end()
	delete(x.members, id)
}

// until waits for something that members have to agree on.
func (x *clusterRig) until(what string, done func() bool) {
	x.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !done(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			x.show()
			x.t.Fatalf("never: %s", what)
		}
	}
}

// status is what a member says of the cluster; nil while it does not answer.
func (x *clusterRig) status(id string) *cluster.Report {
	x.t.Helper()
	code, out, _ := finish(x.t, command(x.t, "cluster", "status", "-o", "json", "-data", x.data[id]))
	if code != 0 {
		return nil
	}
	r := &cluster.Report{}
	if err := json.Unmarshal([]byte(out), r); err != nil {
		x.t.Fatal(err)
	}
	return r
}

// report waits until a member says how the cluster is.
func (x *clusterRig) report(id string) (r *cluster.Report) {
	x.t.Helper()
	x.until(id+" says how the cluster is", func() bool { r = x.status(id); return r != nil })
	return r
}

// foresees waits until a member says what follows when one more dies.
func (x *clusterRig) foresees(id, text string) {
	x.t.Helper()
	x.until(id+" says: "+text, func() bool {
		r := x.status(id)
		return r != nil && strings.Contains(strings.Join(r.Outlook, " "), text)
	})
}

// shared tells whether these engines and no others share all objects, of a site of two.
func shared(r *cluster.Report, ids ...string) bool {
	if r == nil || r.Engines == nil {
		return false
	}
	live, objects := []string{}, 0
	for _, e := range r.Engines.Members {
		if e.Live {
			live = append(live, e.ID)
			objects += e.Objects
		}
	}
	return strings.Join(live, " ") == strings.Join(ids, " ") && objects == 2
}

// whole tells whether every stream has its copies.
func whole(r *cluster.Report, copies int) bool {
	if r == nil || r.Copies != copies || len(r.Streams) == 0 {
		return false
	}
	for _, s := range r.Streams {
		if !s.Whole {
			return false
		}
	}
	return true
}

// Three empty folders become a cluster; the member that leads is killed, the others take
// over, and it comes back. S098, S112, S132
func TestThreeEmptyFoldersBecomeACluster(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three members and kills one")
	}
	t.Parallel()
	began := time.Now()
	x := founded(t)
	x.members["a"].until("/api/v1/services/web01/quiet", `"state":"OK"`)
	t.Logf("the first check after %d commands and %v", x.commands, time.Since(began).Round(10*time.Millisecond))
	x.join("b")
	x.join("c")
	x.until("three engines and three copies", func() bool { r := x.status("a"); return shared(r, "a", "b", "c") && whole(r, 3) })
	t.Logf("three members, all copies after %d commands and %v", x.commands, time.Since(began).Round(10*time.Millisecond))
	for _, id := range []string{"a", "b", "c"} {
		x.until(id+" knows the others", func() bool { m, err := cluster.Read(x.data[id]); return err == nil && len(m.Peers) == 2 })
	}
	x.not("is the member that was asked", "cluster", "remove", "a", "-data", x.data["a"])
	x.not("add -yes", "cluster", "remove", "b", "-data", x.data["a"])
	x.not("no member \"z\"", "cluster", "remove", "z", "-data", x.data["a"])
	x.drilled("a", "b", "c", "a")
	x.takeover("a", "b", "c")
	x.start("a")
	x.until("a is back", func() bool { r := x.status("b"); return shared(r, "a", "b", "c") && whole(r, 3) })
	x.do("cluster", "remove", "c", "-yes", "-data", x.data["b"])
	if code := x.members["c"].end(); code != 1 || !strings.Contains(x.members["c"].log(), "removed from the cluster") {
		t.Errorf("c ended with %d:\n%s", code, x.members["c"].log())
	}
	delete(x.members, "c")
	if text := x.do("cluster", "remove", "c", "-yes", "-data", x.data["b"]); !strings.Contains(text, "c was removed from cluster site already") {
		t.Errorf("the removal a second time: %s", text)
	}
	x.until("two are left", func() bool { return whole(x.status("b"), 2) })
	x.until("c is forgotten", func() bool { m, err := cluster.Read(x.data["a"]); return err == nil && len(m.Peers) == 1 })
}

// takeover kills a member and waits until the others do its work.
func (x *clusterRig) takeover(victim string, others ...string) {
	x.t.Helper()
	x.kill(victim)
	killed := time.Now()
	x.until("the others take over", func() bool { return shared(x.status(others[0]), others...) })
	x.t.Logf("%s was killed, its objects belonged to %s after %v", victim, strings.Join(others, " and "), time.Since(killed).Round(10*time.Millisecond))
	for _, id := range others {
		if _, running := x.members[id]; running {
			x.ready(id)
		}
	}
}

// Two members stop when one is away, and say so; with a witness the survivor takes over.
func TestTwoMembersNeedAWitnessToLoseOne(t *testing.T) {
	if testing.Short() {
		t.Skip("starts two members and a witness and kills one")
	}
	t.Parallel()
	x := founded(t)
	x.join("b")
	x.until("two engines", func() bool { r := x.status("a"); return shared(r, "a", "b") && whole(r, 2) })
	x.foresees("a", "nothing is written until it is back")
	if log := x.members["b"].log(); !strings.Contains(log, "a cluster of two has no majority without either") {
		t.Errorf("the start of b does not say what a cluster of two lacks:\n%s", log)
	}
	x.data["w"] = filepath.Join(t.TempDir(), "w")
	x.enter("w", x.token("-witness"))
	x.not("jaque witness -data", "-config", x.config, "-data", x.data["w"])
	x.not("runs an engine", "witness", "-data", x.data["a"])
	w := begin(t, command(t, "witness", "-data", x.data["w"], "-listen", "127.0.0.1:0", "-log-format", "json"))
	w.served()
	x.members["w"] = w
	x.until("three copies", func() bool { return whole(x.status("b"), 3) })
	x.foresees("w", "one more member may die")
	w.until("/metrics", "jaque_bus_quorum 1\n")
	x.takeover("a", "b")
	before := x.report("b")
	x.until("the survivor writes", func() bool { r := x.status("b"); return r != nil && r.Quorum && last(r) > last(before) })
	w.signal(syscall.SIGTERM)
	if code := w.end(); code != 0 {
		t.Errorf("SIGTERM ended the witness with %d:\n%s", code, w.log())
	}
	delete(x.members, "w")
	x.until("b says what is missing", func() bool {
		r := x.status("b")
		return r != nil && !r.Quorum && strings.Contains(strings.Join(r.Trouble, " "), "no quorum: 1 of 3")
	})
}

// last is the position of the measurements.
func last(r *cluster.Report) uint64 {
	for _, s := range r.Streams {
		if s.Name == "JAQUE_RESULTS" {
			return s.Last
		}
	}
	return 0
}

// Who must not join does not, and learns why; a token lets one in.
func TestWhoCannotJoinAClusterLearnsWhy(t *testing.T) {
	t.Parallel()
	x := founded(t)
	fresh := func() []string {
		return []string{"-cluster-listen", listentest.Address(t), "-data", filepath.Join(t.TempDir(), "new")}
	}
	join := func(token, id string) []string {
		return append([]string{"cluster", "join", token, "-engine-id", id}, fresh()...)
	}
	x.not("nobody would take its objects over", "cluster", "drill", "failover", "-data", x.data["a"])
	token := x.token()
	changed := func(fn func(*cluster.Token)) string {
		p, err := cluster.ParseToken(token)
		if err != nil {
			t.Fatal(err)
		}
		fn(p)
		return p.String()
	}
	x.data["b"] = filepath.Join(t.TempDir(), "b")
	open, _ := cluster.ParseToken(token)
	x.token("-join-listen", open.Address) // the door stays open when the first is used
	x.until("the door is open", func() bool {
		c, err := net.Dial("tcp", open.Address)
		return err == nil && c.Close() == nil
	})
	for _, c := range []struct{ name, token, id, want string }{
		{"a part of a token", token[:40], "b", "is no join token"},
		{"the token of a cluster with another authority", changed(func(p *cluster.Token) { p.Fingerprint = strings.Repeat("0", 64) }), "b", "none of the cluster that gave out the token"},
		{"the token of a cluster of another name", changed(func(p *cluster.Token) { p.Cluster = "other" }), "b", "this is cluster site, not other"},
		{"a token with a guessed secret", changed(func(p *cluster.Token) { p.Secret = "guessed" }), "b", "used already, or was never given out"},
		{"a witness with the token of an appliance", changed(func(p *cluster.Token) { p.Witness = true }), "b", "with or without -witness"},
		{"an id that a member has", token, "a", "there is a member a already"},
	} {
		t.Run(c.name, func(t *testing.T) { x.not(c.want, join(c.token, c.id)...) })
	}
	x.enter("b", token)
	x.not("used already", join(token, "c")...)
	x.expired(join)
	x.not("leave the flag out", "-config", x.config, "-data", x.data["b"], "-cluster-name", "other", "-listen", "127.0.0.1:0")
	x.not("leave the flag out", "-config", x.config, "-data", x.data["b"], "-engine-id", "other", "-listen", "127.0.0.1:0")
	x.not("is a member of a cluster already", "cluster", "join", token, "-cluster-listen", listentest.Address(t), "-data", x.data["b"])
}

// expired has a token expire while its door is open.
func (x *clusterRig) expired(join func(token, id string) []string) {
	x.t.Helper()
	token := x.token()
	p, err := cluster.ParseToken(token)
	if err != nil {
		x.t.Fatal(err)
	}
	x.token("-join-listen", p.Address) // keeps the door open
	path := filepath.Join(x.data["a"], "cluster", "tokens", p.ID+".json")
	text, err := os.ReadFile(path)
	if err != nil {
		x.t.Fatal(err)
	}
	year := fmt.Sprint(p.Expires.Year())
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), `"`+year, `"2001`)), 0o600); err != nil {
		x.t.Fatal(err)
	}
	x.until("the door is open", func() bool {
		c, err := net.Dial("tcp", p.Address)
		return err == nil && c.Close() == nil
	})
	// What has expired is removed at the next look, and then unknown.
	code, _, errs := finish(x.t, command(x.t, join(token, "c")...))
	if code != 1 || !strings.Contains(errs, "expired") && !strings.Contains(errs, "was never given out") {
		x.t.Errorf("an expired token: exit %d, %s", code, errs)
	}
	if r := x.report("a"); len(r.Tokens) != 3 { // that of init, and those that keep doors open
		x.t.Errorf("the tokens that are out: %+v", r)
	}
}
