package bus

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/listen/listentest"
)

func TestAMemberKnowsWhoCannotComeBackYet(t *testing.T) {
	t.Parallel()
	p := &peering{}
	if got := p.barred(time.Now()); got != nil {
		t.Errorf("nobody was taken out: %v", got)
	}
	p.take("b")
	p.take("c")
	now := time.Now()
	got := p.barred(now.Add(serverBars / 2))
	if len(got) != 2 || got["b"] > serverBars/2 || got["b"] < serverBars/2-time.Minute {
		t.Errorf("after half of %v: %v", serverBars, got)
	}
	p.readmitted("c")
	if got := p.barred(now); len(got) != 1 {
		t.Errorf("c is back: %v", got)
	}
	if got := p.barred(now.Add(serverBars)); got != nil {
		t.Errorf("after all of it: %v", got)
	}
	if serverBars != 5*time.Minute {
		t.Errorf("the server bars a name for %v; documentation and messages say five minutes", serverBars)
	}
}

func TestWhoIsNotInTheListOfMembersIsOutside(t *testing.T) {
	t.Parallel()
	a, b := Member{Name: "a"}, Member{Name: "b"}
	for _, c := range []struct {
		name string
		v    view
		want bool
	}{
		{"nothing is known", view{}, false},
		{"alone", view{Size: 1, Members: []Member{a}}, false},
		{"one of two", view{Size: 2, Members: []Member{a, b}}, false},
		{"one of three that were not all heard", view{Size: 3, Members: []Member{a, b}}, false},
		{"beside a cluster of one", view{Size: 1, Members: []Member{a, b}}, true},
	} {
		if got := c.v.outside(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// barred starts a member under a name that was taken out just now: it waits, and no other
// member knows it.
func (n *node) barred(t *testing.T, ca *peerAuthority, name string) {
	t.Helper()
	if left := n.Barred()[name]; left <= 0 || left > serverBars {
		t.Errorf("%s is barred for %v", name, left)
	}
	log := &told{}
	ctx, cancel := context.WithTimeout(t.Context(), newcomersWarn+4*time.Second)
	defer cancel()
	x, err := Open(ctx, Options{
		Data: t.TempDir(), ServerName: name, Logger: slog.New(slog.NewTextHandler(log, nil)),
		Cluster: &Cluster{Name: "test", Listen: listentest.Address(t), Peers: []string{n.ClusterAddress()}, TLS: ca.member(t, name)},
	})
	if x != nil {
		_ = x.Close(context.Background())
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a member under the name of one that was taken out is open: %v", err)
	}
	if !strings.Contains(log.String(), "does not let this member in yet") {
		t.Errorf("it does not say why it waits:\n%s", log)
	}
	n.answers(t, func(s *Status) bool { return len(s.Members) == 2 })
}
