package roles

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/listen"
	"jaque.sh/jaque/appliance/rule/membership"
)

// hangingWire stands between processes and a server. While it hangs, connections stay open and
// nothing goes through, as of a server that was stopped.
type hangingWire struct {
	net.Listener
	mu      sync.Mutex
	free    *sync.Cond
	hanging bool
	conns   []net.Conn
}

func newWire(t *testing.T, to string) *hangingWire {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &hangingWire{Listener: l}
	w.free = sync.NewCond(&w.mu)
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", strings.TrimPrefix(to, "nats://"))
			if err != nil {
				_ = in.Close()
				continue
			}
			w.mu.Lock()
			w.conns = append(w.conns, in, out)
			w.mu.Unlock()
			go w.carry(in, out)
			go w.carry(out, in)
		}
	}()
	t.Cleanup(w.cut)
	return w
}

func (w *hangingWire) carry(to, from net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		w.mu.Lock()
		for w.hanging {
			w.free.Wait()
		}
		w.mu.Unlock()
		if _, err2 := to.Write(buf[:n]); err != nil || err2 != nil {
			_, _ = to.Close(), from.Close()
			return
		}
	}
}

func (w *hangingWire) hang(yes bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hanging = yes
	w.free.Broadcast()
}

// cut ends all connections and lets nobody connect again.
func (w *hangingWire) cut() {
	_ = w.Close()
	w.hang(false)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		_ = c.Close()
	}
}

func (w *hangingWire) url() string { return "nats://" + w.Addr().String() }

// beside is a process of a role that is looked at from the start on.
type beside struct {
	role, address string
	stop          context.CancelFunc
	ended         chan error
}

func besides(t *testing.T, role, args string) *beside {
	t.Helper()
	l, err := listen.Open(t.Context(), "127.0.0.1:0", "-listen", quiet())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	p := &beside{role, l.Addr(), stop, make(chan error, 1)}
	s := exitSettings(t, "-target "+role+" "+args)
	go func() {
		p.ended <- Run(ctx, s, Process{Logger: quiet(), Listener: l, Stdout: io.Discard, Version: "test"})
	}()
	return p
}

func (p *beside) until(t *testing.T, want string) {
	t.Helper()
	got := ""
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if got = answerOf(t, p.address, "/readyz"); strings.Contains(got, want) {
			return
		}
	}
	t.Errorf("readiness of the %s: %q, want %q", p.role, got, want)
}

func (p *beside) end(t *testing.T, most time.Duration) {
	t.Helper()
	began := time.Now()
	p.stop()
	select {
	case err := <-p.ended:
		if took := time.Since(began); err != nil || took > most {
			t.Errorf("the %s ended after %s with %v, want nil within %s", p.role, took, err, most)
		}
	case <-time.After(30 * time.Second):
		t.Errorf("the %s does not obey", p.role)
	}
}

// Who depends on a server that hangs says so within seconds, and that it is over.
func TestEveryRoleNoticesThatItsServerHangs(t *testing.T) {
	n := freshServer(t)
	b, err := bus.Open(t.Context(), bus.Options{URL: n.ClientURL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	w := newWire(t, n.ClientURL())
	path := folder(t, shop+"sinks: numbers: {input: \"metrics\", file: {path: \"numbers.jsonl\"}}\n")
	all := []*beside{
		besides(t, "worker", "-queue "+w.url()+" -zones dmz"),
		besides(t, "ui", "-config "+path+" -eventlog "+w.url()),
		besides(t, "sink", "-config "+path+" -eventlog "+w.url()+" -heartbeat-ttl 60s"),
		besides(t, "all", "-config "+path+" -eventlog "+w.url()+" -engine-id a -heartbeat-ttl 60s"),
	}
	well := map[string]string{"worker": "no engine has made the queue of zone dmz yet", "ui": "200 ok", "sink": "200 ok", "all": "200 ok"}
	for _, p := range all {
		p.until(t, well[p.role])
	}
	w.hang(true)
	for _, p := range all {
		p.until(t, "503 not ready: ")
		p.until(t, " "+w.url()+" has not answered for")
	}
	w.hang(false)
	for _, p := range all {
		p.until(t, well[p.role])
		p.end(t, 15*time.Second)
	}
}

// Who waits for the log says what really keeps it.
func TestWhoWaitsForTheLogSaysThatTheServerHangsOrIsDown(t *testing.T) {
	n := freshServer(t)
	w := newWire(t, n.ClientURL())
	p := besides(t, "ui", "-config "+folder(t, shop)+" -eventlog "+w.url())
	p.until(t, "503 not ready: waiting for an engine to make the log")
	w.hang(true)
	p.until(t, "the log server "+w.url()+" does not answer")
	w.cut()
	p.until(t, "the log server "+w.url()+" cannot be reached")
	p.end(t, 5*time.Second)
}

// A sink beside a coordination server of its own says that it waits for an engine there.
func TestWhoWaitsForMembersSaysSo(t *testing.T) {
	n, other := freshServer(t), freshServer(t)
	b, err := bus.Open(t.Context(), bus.Options{URL: n.ClientURL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	path := folder(t, shop+"sinks: numbers: {input: \"metrics\", file: {path: \"numbers.jsonl\"}}\n")
	where := fmt.Sprintf("-config %s -eventlog %s -coordination %s", path, n.ClientURL(), other.ClientURL())
	s, o := besides(t, "sink", where), besides(t, "notifier", where)
	for _, p := range []*beside{s, o} {
		p.until(t, "waiting for an engine to make the members' bucket on "+other.ClientURL())
	}
	m, err := bus.Open(t.Context(), bus.Options{URL: other.ClientURL(), Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	for range 2 { // the second time it is there
		if err := m.DeclareMembers(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	s.until(t, "200 ok")
	for _, p := range []*beside{s, o} {
		p.end(t, 10*time.Second)
	}
}

// A stop is obeyed while an engine waits for the heartbeat of an earlier run to expire.
func TestAStopIsObeyedWhileAnEngineRegisters(t *testing.T) {
	n := freshServer(t)
	b, err := bus.Open(t.Context(), bus.Options{URL: n.ClientURL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	earlier, err := coordination.OpenJetStream(b.Conn(), coordination.Options{
		Bucket: b.Names().Members, Path: coordination.Engines, TTL: time.Minute, Registerer: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := earlier.Register(t.Context(), membership.Member{ID: "a", Instance: "killed"}, 0); err != nil {
		t.Fatal(err)
	}
	p := besides(t, "all", "-config "+folder(t, shop)+" -eventlog "+n.ClientURL()+" -engine-id a -heartbeat-ttl 60s")
	p.until(t, "engine")
	time.Sleep(time.Second)
	p.end(t, 5*time.Second)
}
