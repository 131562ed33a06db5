package queue

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"jaque.sh/jaque/appliance/core/object"
)

// hub is a server that every process of a test has its own connection to.
type hub struct {
	t     *testing.T
	users []*server.User

	mu  sync.Mutex
	now *server.Server // nil while it is away
}

func newHub(t *testing.T, users ...*server.User) *hub {
	h := &hub{t: t, users: users}
	h.start()
	t.Cleanup(h.stop)
	return h
}

func (h *hub) start() {
	h.t.Helper()
	s, err := server.NewServer(&server.Options{
		ServerName: "hub", DontListen: true, NoSigs: true, NoLog: true, JetStream: true, StoreDir: h.t.TempDir(), Users: h.users,
		DisableJetStreamBanner: true,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	s.Start()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = s
}

func (h *hub) stop() {
	h.mu.Lock()
	s := h.now
	h.now = nil
	h.mu.Unlock()
	if s != nil {
		s.Shutdown()
		s.WaitForShutdown()
	}
}

// line is the way of one process to the hub.
type line struct {
	hub  *hub
	mu   sync.Mutex
	cut  bool
	conn net.Conn
}

// InProcessConn makes the connection, again after each loss.
func (l *line) InProcessConn() (net.Conn, error) {
	l.hub.mu.Lock()
	s := l.hub.now
	l.hub.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if s == nil || l.cut {
		return nil, errors.New("no way to the server")
	}
	var err error
	l.conn, err = s.InProcessConn()
	return l.conn, err
}

// set cuts the line or mends it.
func (l *line) set(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut = cut; cut {
		_ = l.conn.Close()
	}
}

// process connects a process.
func (h *hub) process(opts ...nats.Option) (*JetStream, *line) {
	h.t.Helper()
	l := &line{hub: h}
	nc, err := nats.Connect("", append(opts, nats.InProcessServer(l), nats.MaxReconnects(-1), nats.ReconnectWait(200*time.Millisecond), nats.ReconnectBufSize(-1))...)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(nc.Close)
	q, err := NewJetStream(nc, JetStreamOptions{})
	if err != nil {
		h.t.Fatal(err)
	}
	return q, l
}

func TestAServerThatRestartsLosesNoCheck(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHub(t)
		eq, _ := h.process()
		wq, _ := h.process()
		d, b := dispatcher(t, eq, "e"), newDiary()
		go work(source(t, wq, inZone("w1", "dmz", 1)), "w1", 4*time.Second, b)
		out := ask(t.Context(), d, item("dmz", 1), item("dmz", 2), item("dmz", 3))
		time.Sleep(time.Second) // one runs, two wait
		h.stop()
		time.Sleep(2 * time.Second)
		h.start()
		for range 3 {
			o := <-out
			if o.err != nil || b.times(o.item.ID) > 2 {
				t.Errorf("executed %d times, %v", b.times(o.item.ID), o.err)
			}
		}
		if d.Err() != nil {
			t.Errorf("the engine's side failed: %v", d.Err())
		}
	})
}

func TestAWorkerThatIsCutOff(t *testing.T) {
	cases := []struct {
		name string
		away time.Duration
		by   string
		runs int
	}{
		{"for less than the lease keeps its check", 2 * time.Second, "w1", 1},
		{"for longer loses its check to another one, and its late result is not accepted", 25 * time.Second, "w2", 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h := newHub(t)
				eq, _ := h.process()
				q1, l1 := h.process()
				q2, _ := h.process()
				d, b := dispatcher(t, eq, "e"), newDiary()
				go work(source(t, q1, inZone("w1", "dmz", 4)), "w1", 3*time.Second, b)
				out := ask(t.Context(), d, item("dmz", 1))
				time.Sleep(time.Second)
				go work(source(t, q2, inZone("w2", "dmz", 4)), "w2", 3*time.Second, b)
				l1.set(true)
				time.AfterFunc(c.away, func() { l1.set(false) })
				o := <-out
				if o.err != nil || o.result.Worker != c.by {
					t.Fatalf("%+v, %v", o.result, o.err)
				}
				time.Sleep(time.Minute)
				if n := b.times(o.item.ID); n != c.runs {
					t.Errorf("executed %d times, want %d", n, c.runs)
				}
				if n := testutil.ToFloat64(eq.metrics.results.WithLabelValues(resultAccepted)); n != 1 {
					t.Errorf("%v results were accepted", n)
				}
				if n := testutil.ToFloat64(eq.metrics.results.WithLabelValues(resultUnexpected)); n != float64(c.runs-1) {
					t.Errorf("%v results were unexpected", n)
				}
			})
		})
	}
}

// The results of an engine that is away for a moment wait with their workers.
func TestAnEngineThatIsCutOffGetsItsResults(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHub(t)
		eq, line := h.process()
		wq, _ := h.process()
		d, b := dispatcher(t, eq, "e"), newDiary()
		go work(source(t, wq, inZone("w1", "dmz", 4)), "w1", 2*time.Second, b)
		out := ask(t.Context(), d, item("dmz", 1))
		time.Sleep(time.Second)
		line.set(true)
		time.Sleep(12 * time.Second)
		line.set(false)
		if o := <-out; o.err != nil || b.times(o.item.ID) != 1 {
			t.Errorf("executed %d times, %v", b.times(o.item.ID), o.err)
		}
	})
}

func TestAnEngineWithoutAServerSaysSo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHub(t)
		eq, line := h.process()
		d := dispatcher(t, eq, "e")
		line.set(true)
		time.Sleep(time.Second)
		began := time.Now()
		_, err := d.Do(t.Context(), item("dmz", 1))
		if err == nil || !strings.Contains(err.Error(), "could not be sent") || time.Since(began) > 31*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

func TestAConnectionThatEndsFailsBothSides(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHub(t)
		q, _ := h.process()
		d, s := dispatcher(t, q, "e"), source(t, q, inZone("w1", "dmz", 1))
		q.nc.Close()
		<-d.Failed()
		<-s.Failed()
		if d.Err() == nil || s.Err() == nil {
			t.Error("a failure without a reason")
		}
	})
}

func TestWhatCannotBeExecutedIsAnsweredOrLeft(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHub(t)
		q, _ := h.process()
		d := dispatcher(t, q, "e").(*jetDispatcher)
		s := source(t, q, inZone("old", "dmz", 4))
		// An item that needs a newer worker is refused at once.
		it := item("dmz", 1)
		it.Engine = "e"
		w := d.orders.add(it)
		data := `{"v":7,"need":7,"id":"` + it.ID + `","engine":"e","object":"web01!http","zone":"dmz","life_ms":30000}`
		for _, text := range []string{data, "nonsense", strings.Replace(data, `"zone":"dmz"`, `"zone":"lab"`, 1)} {
			if _, err := q.js.Publish(t.Context(), q.names.check("dmz"), []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		r := <-w.result
		if r.State != object.Unknown || !strings.Contains(r.Output, "worker old is too old") || !strings.Contains(r.Output, "upgrade the worker") {
			t.Errorf("%+v", r)
		}
		time.Sleep(time.Second)
		if n := testutil.ToFloat64(q.metrics.items.WithLabelValues(itemBad)); n != 2 {
			t.Errorf("%v items could not be read at once, want 2", n)
		}
		time.Sleep(30 * time.Second)
		if n := len(s.Items()); n != 0 {
			t.Errorf("%d items reached the worker", n)
		}
		if n := testutil.ToFloat64(q.metrics.items.WithLabelValues(itemBad)); n != 2 {
			t.Errorf("%v items could not be read, want 2", n)
		}
		// A command that is too long is said at once.
		it = item("dmz", 2)
		it.Check.Plugin = append(it.Check.Plugin, strings.Repeat("x", 2<<20))
		var big *TooBig
		if _, err := d.Do(t.Context(), it); !errors.As(err, &big) || big.Bytes < 2<<20 || big.Limit != 1<<20 {
			t.Errorf("%v", err)
		}
		// What is no result, and the result of another zone's worker, are counted.
		for subject, text := range map[string]string{q.names.result("e", "dmz"): "nonsense", q.names.result("e", "lab"): `{"v":1,"id":"` + it.ID + `"}`} {
			if _, err := q.nc.RequestWithContext(t.Context(), subject, []byte(text)); err != nil {
				t.Error(err)
			}
		}
	})
}

// user is somebody with these rights on the server.
func user(name string, r Rights) *server.User {
	return &server.User{Username: name, Password: "x", Permissions: &server.Permissions{
		Publish: &server.SubjectPermission{Allow: r.Publish}, Subscribe: &server.SubjectPermission{Allow: r.Subscribe},
	}}
}

// as connects with a user's name and inbox.
func as(name string, r Rights) nats.Option {
	return func(o *nats.Options) error {
		return errors.Join(nats.UserInfo(name, "x")(o), nats.CustomInboxPrefix(r.Inbox)(o))
	}
}

// A worker lives with the rights of its zone; with them it can neither read
// another zone's work nor answer it.
func TestAServerKeepsZonesApart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		er, dmz, lab := EngineRights("", "e"), WorkerRights("", "w1", []string{"dmz", "büro 1"}), WorkerRights("", "w2", []string{"lab"})
		h := newHub(t, user("engine", er), user("dmz", dmz), user("lab", lab))
		needed := nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { t.Errorf("a right is missing: %v", err) })
		eq, _ := h.process(as("engine", er), needed)
		wq, _ := h.process(as("dmz", dmz), needed)
		d, b := dispatcher(t, eq, "e"), newDiary()
		go work(source(t, wq, inZone("w1", "dmz", 4)), "w1", 5*time.Second, b)
		if _, err := d.Do(t.Context(), item("dmz", 1)); err != nil || len(b.runs) != 1 {
			t.Errorf("with the rights of its zone: %v", err)
		}
		go work(source(t, wq, inZone("w3", "büro 1", 4)), "w3", 0, b)
		if _, err := d.Do(t.Context(), item("büro 1", 2)); err != nil {
			t.Errorf("in its second zone: %v", err)
		}
		if d.Fleet().Live("dmz") != 1 {
			t.Error("its announcements do not arrive")
		}

		// The subject of every request that "lab" is to be refused.
		var refused []string
		lq, _ := h.process(as("lab", lab), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrPermissionViolation) {
				refused = append(refused, err.Error())
			}
		}))
		probes := []string{
			lq.names.result("e", "dmz"), dmz.Inbox + ".x", er.Inbox + ".x", lq.names.worker("dmz"), lq.names.check("dmz"), lq.names.check("lab"),
			"$JS.API.CONSUMER.MSG.NEXT.JAQUE_WORK.zone-dmz", "$JS.ACK.JAQUE_WORK.zone-dmz.1.1.1.1.0", "$JS.API.STREAM.MSG.GET.JAQUE_WORK",
			"$JS.API.STREAM.DELETE.JAQUE_WORK", "$JS.API.CONSUMER.CREATE.JAQUE_WORK.zone-lab.jaque.work.check.dmz", "$JS.API.CONSUMER.CREATE.JAQUE_WORK.zone-lab.jaque.work.check.lab",
			"jaque.log.web01", "$KV.JAQUE_MEMBERS.x",
		}
		for _, subject := range probes {
			if err := lq.nc.Publish(subject, []byte("{}")); err != nil {
				t.Error(err)
			}
		}
		for _, subject := range []string{"jaque.work.check.>", "jaque.work.result.>", "jaque.log.>", "_INBOX.>", dmz.Inbox + ".>", er.Inbox + ".>", "$JS.>", ">"} {
			probes = append(probes, subject)
			if _, err := lq.nc.Subscribe(subject, func(*nats.Msg) { t.Errorf("%s can be read", subject) }); err != nil {
				t.Error(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_ = lq.nc.FlushWithContext(ctx)
		synctest.Wait()
		if len(refused) != len(probes) {
			t.Errorf("%d of %d were refused: %v", len(refused), len(probes), refused)
		}
	})
}
