package coordination

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/bus"
)

// listener hears everything that is published on a server.
type listener struct {
	mu  sync.Mutex
	all []heard
	at  map[string][]time.Time // by subject
}

type heard struct{ subject, data string }

func listen(t *testing.T, b *bus.Bus) *listener {
	t.Helper()
	l := &listener{at: map[string][]time.Time{}}
	sub, err := b.Conn().Subscribe(">", func(m *nats.Msg) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = append(l.all, heard{m.Subject, string(m.Data)})
		l.at[m.Subject] = append(l.at[m.Subject], time.Now())
	})
	ctx, cancel := context.WithTimeout(t.Context(), testTTL)
	defer cancel()
	// Not Flush: that takes its timer from a pool of all bubbles.
	if err == nil {
		err = b.Conn().FlushWithContext(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Unsubscribe() })
	return l
}

// keys returns the keys that were written so far, sorted.
func (l *listener) keys(root string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for subject := range l.at {
		if key, ok := strings.CutPrefix(subject, root); ok {
			all = append(all, key)
		}
	}
	slices.Sort(all)
	return all
}

// S040, S058, S100, S105, S106, S107, S108: a member announces itself under the key of its kind and
// takes that away when it leaves; the three kinds are beside each other.
func TestWhereMembersAnnounceThemselves(t *testing.T) {
	fleet(t, func(t *testing.T, b *bus.Bus, keys keys) {
		l := listen(t, b)
		root := "$KV." + b.Names().Members + "."
		all := map[string]*member{}
		for _, path := range []string{"membership", "sink/membership", "notifier/membership"} {
			all[path] = start(t, keys, path, "one", "1")
		}
		time.Sleep(testTTL)
		want := []string{
			"membership/member.one", "membership/view", "notifier/membership/member.one", "notifier/membership/view",
			"sink/membership/member.one", "sink/membership/view",
		}
		if got := l.keys(root); !slices.Equal(got, want) {
			t.Errorf("written were %q, want %q", got, want)
		}
		for path, m := range all {
			if v := m.View(); len(v.Members) != 1 {
				t.Errorf("%s has %+v", path, v)
			}
			if err := m.Leave(t.Context(), m.ID); err != nil {
				t.Fatal(err)
			}
			e, err := keys.Get(t.Context(), path+"/member.one")
			if err == nil && len(e.Value) > 0 {
				t.Errorf("%s: the key says %q after a stop in order", path, e.Value)
			}
			m.kill()
		}
	})
}

// S103: a member renews its heartbeat at a third of the time that one lives.
func TestAHeartbeatIsRenewedAtAThirdOfItsTime(t *testing.T) {
	fleet(t, func(t *testing.T, b *bus.Bus, keys keys) {
		l := listen(t, b)
		m := start(t, keys, Engines, "one", "1")
		time.Sleep(10 * testTTL)
		m.wantAlive(t)
		m.kill()
		l.mu.Lock()
		defer l.mu.Unlock()
		at := l.at["$KV."+b.Names().Members+".membership/member.one"]
		if n := len(at); n < 29 || n > 32 {
			t.Errorf("%d heartbeats in ten times the TTL", n)
		}
		for i := 2; i < len(at); i++ { // behind the registration
			if pause := at[i].Sub(at[i-1]); pause < testTTL/3-50*time.Millisecond || pause > testTTL/3+50*time.Millisecond {
				t.Errorf("heartbeat %d came %s after the one before, want %s", i, pause, testTTL/3)
			}
		}
	})
}

// S110: while members come, leave and die, nothing is told of who owns what: each works
// that out from the record of the members, and all find the same.
func TestNoPlanIsEverSent(t *testing.T) {
	fleet(t, func(t *testing.T, b *bus.Bus, keys keys) {
		l := listen(t, b)
		a, c, d := start(t, keys, Engines, "a", "1"), start(t, keys, Engines, "c", "1"), start(t, keys, Engines, "d", "1")
		time.Sleep(testTTL)
		objects := []string{"web01", "web01!http", "db01", "db01!disk /var", "mail", "mail!queue"}
		for _, o := range objects {
			if of := a.View().Owner(o); c.View().Owner(o) != of || d.View().Owner(o) != of {
				t.Errorf("%s belongs to %s, %s and %s", o, of, c.View().Owner(o), d.View().Owner(o))
			}
		}
		if err := c.Leave(t.Context(), c.ID); err != nil {
			t.Fatal(err)
		}
		c.kill()
		d.kill()
		time.Sleep(testTTL + slack)
		wantView(t, []*member{a}, "a")
		l.mu.Lock()
		defer l.mu.Unlock()
		told := 0
		for _, h := range l.all {
			key, isKey := strings.CutPrefix(h.subject, "$KV."+b.Names().Members+".")
			switch {
			case isKey:
				if key != "membership/view" && !strings.HasPrefix(key, "membership/member.") {
					t.Errorf("%s was written", key)
				}
				told++
			case !strings.HasPrefix(h.subject, "$JS.") && !strings.HasPrefix(h.subject, "_INBOX."):
				t.Errorf("%s was sent: %s", h.subject, h.data)
			}
			for _, o := range objects {
				if strings.Contains(h.data, o) {
					t.Errorf("%s tells of %s: %s", h.subject, o, h.data)
				}
			}
		}
		if told < 10 {
			t.Errorf("only %d messages were heard", told)
		}
	})
}
