package roles

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	nats "github.com/nats-io/nats-server/v2/server"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/membership"
)

// freshServer is a server with streams and nothing on it.
func freshServer(t *testing.T) *nats.Server {
	t.Helper()
	return serverIn(t, t.TempDir(), nats.RANDOM_PORT)
}

// serverIn is the server of a folder, which may hold streams.
func serverIn(t *testing.T, folder string, port int) *nats.Server {
	t.Helper()
	n, err := nats.NewServer(&nats.Options{Host: "127.0.0.1", Port: port, NoSigs: true, JetStream: true, StoreDir: folder, JetStreamMaxStore: 64 << 30})
	if err != nil {
		t.Fatal(err)
	}
	n.Start()
	t.Cleanup(func() { n.Shutdown(); n.WaitForShutdown() })
	if !n.ReadyForConnections(20 * time.Second) {
		t.Fatal("the NATS server does not start")
	}
	return n
}

func TestWritersThatAreNoMembersAreFoundByWhatArrives(t *testing.T) {
	const ttl = 10 * time.Second
	wrote := func(id string, seq uint64, at time.Time) *event.Event {
		return &event.Event{Object: "h!s", Kind: event.CheckResult, Seq: seq, Writer: id, Instance: id + "-run", Time: object.At(at)}
	}
	for _, c := range []struct {
		name string
		do   func(s *strangers, view *membership.View)
		want []string
	}{
		{"one that writes on", func(s *strangers, _ *membership.View) {
			for n := range uint64(25) {
				s.hear(wrote("b", 2+n, time.Now()))
				time.Sleep(time.Second)
			}
		}, []string{"b"}},
		{"one whose clock is a minute behind", func(s *strangers, _ *membership.View) {
			for n := range uint64(25) {
				s.hear(wrote("b", 2+n, time.Now().Add(-time.Minute)))
				time.Sleep(time.Second)
			}
		}, []string{"b"}},
		{"one that was killed", func(s *strangers, _ *membership.View) {
			s.hear(wrote("b", 2, time.Now()))
			time.Sleep(time.Minute)
		}, nil},
		{"one that left", func(s *strangers, _ *membership.View) {
			for n := range uint64(25) {
				s.hear(wrote("b", 2+n, time.Now()))
				time.Sleep(time.Second)
			}
			gone := left(40, "b", "stopped")
			gone.Instance = "b-run"
			s.hear(&gone)
		}, nil},
		{"one that the view comes to hold", func(s *strangers, view *membership.View) {
			for n := range uint64(40) {
				if n == 5 {
					view.Members = append(view.Members, membership.Member{ID: "b", Instance: "b-run"})
				}
				s.hear(wrote("b", 2+n, time.Now()))
				time.Sleep(time.Second)
			}
		}, nil},
		{"one that this one has found to be a member when it became one itself", func(s *strangers, view *membership.View) {
			members := append(view.Members, membership.Member{ID: "b", Instance: "b-run"})
			view.Members = nil
			for n := range uint64(25) {
				s.hear(wrote("b", 2+n, time.Now()))
				time.Sleep(time.Second)
			}
			view.Members = members
		}, nil},
		{"one of which this one, no member itself, cannot know what it is", func(s *strangers, view *membership.View) {
			view.Members = nil
			for n := range uint64(25) {
				s.hear(wrote("b", 2+n, time.Now()))
				time.Sleep(time.Second)
			}
		}, nil},
		{"one that writes on although it has been put out", func(s *strangers, view *membership.View) {
			mine := view.Members
			view.Members = append(mine[:1:1], membership.Member{ID: "b", Instance: "b-run"})
			s.hear(wrote("b", 2, time.Now()))
			view.Members = mine
			for n := range uint64(25) {
				s.hear(wrote("b", 3+n, time.Now()))
				time.Sleep(time.Second)
			}
		}, []string{"b"}},
		{"one that is no engine", func(s *strangers, _ *membership.View) {
			for n := range uint64(40) {
				s.hear(wrote("notifier", 2+n, time.Now()))
				time.Sleep(time.Second)
			}
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				view := membership.View{Epoch: 1, Members: []membership.Member{{ID: "a", Instance: "a-run"}}}
				s := &strangers{instance: "a-run", ttl: ttl, view: func() membership.View { return view }}
				b := joined(1, "b", "")
				b.Instance = "b-run"
				s.hear(&b)
				s.listen()
				c.do(s, &view)
				ids, before := s.found(5, time.Now())
				if !slices.Equal(ids, c.want) || before != (c.want != nil) {
					t.Errorf("found %q, one before %t, want %q", ids, before, c.want)
				}
				if _, before := s.found(1, time.Now()); before {
					t.Error("the one that joined first is to end")
				}
			})
		})
	}
}

// S099: engines meet on the server of the log or on one of its own, which may be fresh;
// two that do not meet are not let run every check twice.
func TestEnginesOfOneLogThatMeetElsewhereAreTold(t *testing.T) {
	log, other := freshServer(t), freshServer(t)
	path := folder(t, shop)
	args := func(id string, more ...string) Settings {
		return exitSettings(t, strings.Join(append([]string{fmt.Sprintf("-config %s -listen 127.0.0.1:0 -eventlog %s -heartbeat-ttl 2s -engine-id %s", path, log.ClientURL(), id)}, more...), " "))
	}
	apart := startWith(t, args("a", "-coordination "+other.ClientURL()))
	apart.until("/readyz", "ok")
	apart.until("/api/v1/services/web01/greeting", `"state":"WARNING"`)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	err := Run(ctx, args("b"), Process{Logger: quiet(), Stdout: io.Discard, Version: "test", Started: func(string) {}})
	if err == nil || !strings.Contains(err.Error(), "engine a writes to this log") || !strings.Contains(err.Error(), "the same -coordination") {
		t.Errorf("the second one ends with %v", err)
	}
	if _, text := apart.call(http.MethodGet, "/readyz", ""); !strings.Contains(text, "ok") {
		t.Errorf("the first one says %s", text)
	}
	// Where the first one meets, the second is welcome.
	second := startWith(t, args("b", "-coordination "+other.ClientURL()))
	second.until("/readyz", "ok")
	time.Sleep(5 * time.Second)
	second.until("/readyz", "ok")
	for _, x := range []*started{second, apart} {
		if err := x.stop(); err != nil {
			t.Errorf("a stop ends with %v", err)
		}
	}
}
