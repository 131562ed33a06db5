package coordination

import (
	"bytes"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/rule/membership"
)

// answer is something that a client has the server store under a key: a request and its
// text, or a message that was delivered from the log with the headers of an event.
type answer struct {
	name, ask, body string
	headers         nats.Header
}

var answers = []answer{
	{name: "an empty answer", ask: "$JS.API.DIRECT.GET.KV_JAQUE_STATE", body: `{"seq":1000000}`},
	{name: "an answer with a text", ask: "$JS.API.STREAM.INFO.JAQUE_LOG"},
	{name: "an event", body: `{"v":1,"id":"x"}`, headers: nats.Header{"Nats-Msg-Id": {"x"}}},
}

// overwrite has the server store an answer under a key. An event is compared with what
// stands there, as it was when it was appended.
func overwrite(t testing.TB, b *bus.Bus, key string, a answer) {
	t.Helper()
	subject := "$KV." + b.Names().Members + "." + key
	if a.headers == nil {
		if err := b.Conn().PublishRequest(a.ask, subject, []byte(a.body)); err != nil {
			t.Fatal(err)
		}
	} else {
		e, err := bucketOf(b).Get(t.Context(), key)
		if err != nil {
			return // the fleet of a property may be over
		}
		m := &nats.Msg{Subject: subject, Data: []byte(a.body), Header: nats.Header{"Nats-Expected-Last-Subject-Sequence": {strconv.FormatUint(e.Revision, 10)}}}
		m.Header["Nats-Msg-Id"] = []string{"x-" + strconv.FormatUint(e.Revision, 10)}
		if err := b.Conn().PublishMsg(m); err != nil {
			t.Fatal(err)
		}
	}
}

// wantForeign wants the key to hold what no member wrote, at once.
func wantForeign(t *testing.T, keys keys, key string) {
	t.Helper()
	for range 100 {
		if e, err := keys.Get(t.Context(), key); err == nil && e.Foreign {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("nothing was stored over %s", key)
}

// Whatever is stored over a heartbeat, its member and its peers go on as before.
func TestAHeartbeatThatIsWrittenOverEndsNobody(t *testing.T) {
	for _, a := range answers {
		t.Run(a.name, func(t *testing.T) {
			fleet(t, func(t *testing.T, bus *bus.Bus, keys keys) {
				a, b := a, start(t, keys, Engines, "b", "1")
				m := start(t, keys, Engines, "a", "1")
				time.Sleep(2*pollMost + pollMost/3)
				before := wantView(t, []*member{m, b}, "a", "b")
				time.Sleep(testTTL / 7)
				for range 5 {
					overwrite(t, bus, m.memberKey("a"), a)
					wantForeign(t, keys, m.memberKey("a"))
					time.Sleep(testTTL + testTTL/7) // between heartbeats
				}
				m.wantAlive(t)
				b.wantAlive(t)
				if after := wantView(t, []*member{m, b}, "a", "b"); after.Epoch != before.Epoch || !m.Alive() {
					t.Errorf("the view moved from %+v to %+v", before, after)
				}
				if n := testutil.ToFloat64(m.metrics.foreign) + testutil.ToFloat64(b.metrics.foreign); n < 5 {
					t.Errorf("%v of 5 foreign entries were counted", n)
				}
			})
		})
	}
}

// What is stored over a heartbeat never expires: the member behind it does.
func TestADeadMemberWhoseHeartbeatIsWrittenOverIsFoundDead(t *testing.T) {
	fleet(t, func(t *testing.T, bus *bus.Bus, keys keys) {
		a, b := start(t, keys, Engines, "a", "1"), start(t, keys, Engines, "b", "1")
		time.Sleep(2*pollMost + pollMost/3)
		a.kill()
		overwrite(t, bus, a.memberKey("a"), answers[0])
		wantForeign(t, keys, a.memberKey("a"))
		time.Sleep(testTTL / 2)
		wantView(t, []*member{b}, "a", "b")
		time.Sleep(testTTL/2 + slack)
		wantView(t, []*member{b}, "b")
		if n, err := Live(t.Context(), bus.Conn(), bus.Names().Members, Engines); n != 1 || err != nil {
			t.Errorf("%d live: %v", n, err)
		}
		// Its next run gets the id.
		next := start(t, keys, Engines, "a", "2")
		time.Sleep(2*pollMost + pollMost/3)
		wantView(t, []*member{next, b}, "a", "b")
	})
}

// An id stays its live process's while its key is written over.
func TestATwinDoesNotGetInOverAForeignHeartbeat(t *testing.T) {
	fleet(t, func(t *testing.T, bus *bus.Bus, keys keys) {
		a := start(t, keys, Engines, "a", "1")
		overwrite(t, bus, a.memberKey("a"), answers[0])
		twin := newMember(keys, Engines, "a", "2")
		if _, err := twin.Register(t.Context(), twin.Member, 0); !errors.Is(err, ErrTaken) {
			t.Errorf("a twin registered: %v", err)
		}
		a.wantAlive(t)
	})
}

func TestAViewThatIsWrittenOverIsRestored(t *testing.T) {
	for _, a := range answers {
		t.Run(a.name, func(t *testing.T) {
			fleet(t, func(t *testing.T, bus *bus.Bus, keys keys) {
				m, b := start(t, keys, Engines, "a", "1"), start(t, keys, Engines, "b", "1")
				time.Sleep(2*pollMost + pollMost/3)
				before := wantView(t, []*member{m, b}, "a", "b")
				overwrite(t, bus, m.viewKey(), a)
				wantForeign(t, keys, m.viewKey())
				c := start(t, keys, Engines, "c", "1") // starts while nothing can be read
				time.Sleep(2*pollMost + pollMost/3)
				if after := wantView(t, []*member{m, b, c}, "a", "b", "c"); after.Epoch <= before.Epoch {
					t.Errorf("the view went from %+v to %+v", before, after)
				}
				for _, m := range []*member{m, b, c} {
					m.wantAlive(t)
				}
			})
		})
	}
}

// Who registers over a view that nobody alive knows begins a new record.
func TestAViewThatNobodyKnowsIsALostRecord(t *testing.T) {
	fleet(t, func(t *testing.T, bus *bus.Bus, keys keys) {
		a := start(t, keys, Notifiers, "a", "1")
		before := a.View()
		if err := a.Leave(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		a.kill()
		time.Sleep(time.Second)
		overwrite(t, bus, a.viewKey(), answers[0])
		wantForeign(t, keys, a.viewKey())
		if n, err := Live(t.Context(), bus.Conn(), bus.Names().Members, Notifiers); n != 0 || err != nil {
			t.Errorf("%d live: %v", n, err)
		}
		began := time.Now()
		past, err := Before(t.Context(), bus.Conn(), bus.Names().Members, Notifiers)
		if err != nil || !past.Hidden {
			t.Errorf("before: %+v, %v", past, err)
		}
		m := newMember(keys, Notifiers, "b", "1")
		v, err := m.Register(t.Context(), m.Member, 7)
		if err != nil || v.Epoch <= before.Epoch || len(v.Members) != 1 {
			t.Errorf("registered with %+v after %+v: %v", v, before, err)
		}
		if since, ok := past.Empty(v, began); ok {
			t.Errorf("it is claimed to be known that nobody was there since %s", since)
		}
	})
}

// Whoever restores a view may not know the newest members; they join again.
func TestAMemberThatIsMissingInARestoredViewJoinsAgain(t *testing.T) {
	fleet(t, func(t *testing.T, bus *bus.Bus, keys keys) {
		a := start(t, keys, Engines, "a", "1")
		time.Sleep(2*pollMost + pollMost/3)
		old := a.View()
		b := start(t, keys, Engines, "b", "1")
		time.Sleep(pollMost / 3) // its first look is over, and no other is due
		overwrite(t, bus, a.viewKey(), answers[0])
		wantForeign(t, keys, a.viewKey())
		// One that knows the view of before only writes it anew.
		late := open(keys, Options{Path: Engines, TTL: testTTL})
		late.watchers.adopt(old)
		if _, err := late.try(t.Context(), func(v membership.View, _ bool) membership.View { return v }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * pollMost)
		wantView(t, []*member{a, b}, "a", "b")
		b.wantAlive(t)
	})
}

// One key that is written over again and again is told of once until that is over.
func TestAForeignEntryIsToldOfOnce(t *testing.T) {
	fleet(t, func(t *testing.T, bus *bus.Bus, keys keys) {
		logged := &bytes.Buffer{}
		s := open(keys, Options{Path: Engines, TTL: testTTL, Logger: slog.New(slog.NewTextHandler(logged, nil))})
		for range 5 {
			overwrite(t, bus, s.viewKey(), answers[0])
			wantForeign(t, keys, s.viewKey())
			if _, _, err := s.read(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n := strings.Count(logged.String(), "somebody had the log server store"); n != 1 {
			t.Errorf("it was told of %d times:\n%s", n, logged)
		}
	})
}
