package coordination

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/rule/membership"
)

// pairs opens two members' sides of one store, and lets both live.
var pairs = map[string]func(t *testing.T) (a, b Store){
	"memory": func(*testing.T) (a, b Store) {
		s := &Memory{}
		return s, s
	},
	"jetstream": func(t *testing.T) (a, b Store) {
		k := bucketOf(openBus(t))
		return open(k, Options{Path: Engines, TTL: testTTL}), open(k, Options{Path: Engines, TTL: testTTL})
	},
}

// A member steps out and comes back while its process goes on, in both implementations.
func TestStepOut(t *testing.T) {
	cases := []struct {
		name string
		run  func(t *testing.T, a, b Store)
	}{
		{"a member that steps out is gone at once and stays out while its process lives", stepsOut},
		{"a member that comes back is in the view under a newer epoch", comesBack},
		{"the only member does not step out", lastStays},
		{"who is no member does not step out", strangerStays},
		{"a member that has stepped out can leave for good", leavesOutside},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for name, open := range pairs {
				t.Run(name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						a, b := open(t)
						ctx, cancel := context.WithCancel(t.Context())
						ended := make(chan error, 2)
						for _, s := range []Store{a, b} {
							go func() { ended <- s.Run(ctx, func() {}) }()
						}
						c.run(t, a, b)
						cancel()
						for range 2 {
							if err := <-ended; err != nil {
								t.Errorf("a member ended with %v", err)
							}
						}
					})
				})
			}
		})
	}
	t.Logf("%d cases with %d implementations", len(cases), len(pairs))
}

var (
	memberA = membership.Member{ID: "a", Instance: "1"}
	memberB = membership.Member{ID: "b", Instance: "2"}
)

func enroll(t *testing.T, s Store, m membership.Member) membership.View {
	t.Helper()
	v, err := s.Register(t.Context(), m, 0)
	if err != nil || !v.Has(m) {
		t.Fatalf("register %s: %+v, %v", m.ID, v, err)
	}
	return v
}

func stepsOut(t *testing.T, a, b Store) {
	enroll(t, a, memberA)
	before := enroll(t, b, memberB)
	v, err := a.StepOut(t.Context(), "a")
	if err != nil || v.Epoch <= before.Epoch || v.Has(memberA) || !v.Has(memberB) {
		t.Fatalf("stepping out of %+v gives %+v, %v", before, v, err)
	}
	time.Sleep(10 * testTTL)
	for name, s := range map[string]Store{"the one outside": a, "the other": b} {
		if got := s.View(); got.Epoch != v.Epoch {
			t.Errorf("%s knows %+v, want %+v", name, got, v)
		}
	}
	if a != b && (a.Alive() || !b.Alive()) {
		t.Errorf("the one outside may act: %t, the other: %t", a.Alive(), b.Alive())
	}
}

func comesBack(t *testing.T, a, b Store) {
	enroll(t, a, memberA)
	enroll(t, b, memberB)
	for range 3 {
		out, err := a.StepOut(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(testTTL / 2)
		if v := enroll(t, a, memberA); v.Epoch <= out.Epoch || !v.Has(memberB) {
			t.Fatalf("back under %+v after %+v", v, out)
		}
		time.Sleep(3 * testTTL)
		if v := b.View(); !v.Has(memberA) || !a.Alive() {
			t.Fatalf("it is not a member as before: %+v", v)
		}
	}
}

func lastStays(t *testing.T, a, _ Store) {
	v := enroll(t, a, memberA)
	if _, err := a.StepOut(t.Context(), "a"); !errors.Is(err, ErrLast) || a.View().Epoch != v.Epoch {
		t.Errorf("the only member stepped out: %+v, %v", a.View(), err)
	}
	time.Sleep(3 * testTTL)
	if !a.Alive() || !a.View().Has(memberA) {
		t.Errorf("it is a member no more: %+v", a.View())
	}
}

func strangerStays(t *testing.T, a, b Store) {
	if _, err := a.StepOut(t.Context(), "a"); !errors.Is(err, ErrNotMember) {
		t.Errorf("before it has registered: %v", err)
	}
	enroll(t, a, memberA)
	v := enroll(t, b, memberB)
	if _, err := a.StepOut(t.Context(), "z"); !errors.Is(err, ErrNotMember) || b.View().Epoch != v.Epoch {
		t.Errorf("a stranger stepped out: %+v, %v", b.View(), err)
	}
	if _, err := a.StepOut(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.StepOut(t.Context(), "a"); !errors.Is(err, ErrNotMember) {
		t.Errorf("it stepped out twice: %v", err)
	}
}

func leavesOutside(t *testing.T, a, b Store) {
	enroll(t, a, memberA)
	enroll(t, b, memberB)
	v, err := a.StepOut(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Leave(t.Context(), "a"); err != nil || b.View().Epoch > v.Epoch {
		t.Errorf("leaving from outside: %+v, %v", b.View(), err)
	}
}

// A member whose step out was not answered does not know whether it is out; it registers,
// which settles that.
func TestAStepOutOfUnknownOutcomeIsSettledByRegistering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := bucketOf(openBus(t))
		a, b := start(t, k, Engines, "a", "1"), start(t, k, Engines, "b", "2")
		a.fault.set(true, false)
		ctx, cancel := context.WithTimeout(t.Context(), testTTL/4)
		_, err := a.StepOut(ctx, "a")
		cancel()
		a.fault.set(false, false)
		if err == nil {
			t.Fatal("nothing answered, and it is said to be out")
		}
		v, err := a.Register(t.Context(), a.Member, 0)
		if err != nil || !v.Has(a.Member) || !v.Has(b.Member) {
			t.Fatalf("back: %+v, %v", v, err)
		}
		time.Sleep(3 * testTTL)
		if !a.Alive() || !b.View().Has(a.Member) {
			t.Errorf("it is a member no more: %+v", b.View())
		}
		select {
		case err := <-a.ended:
			t.Errorf("it ended: %v", err)
		default:
		}
	})
}
