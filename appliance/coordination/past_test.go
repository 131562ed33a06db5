package coordination

import (
	"testing"
	"time"

	"jaque.sh/jaque/appliance/rule/membership"
)

func TestWhatThereWasBeforeAMember(t *testing.T) {
	b := openBus(t)
	before := func() Past {
		t.Helper()
		p, err := Before(t.Context(), b.Conn(), b.Names().Members, Notifiers)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	join := func(id string) (*JetStream, membership.View) {
		t.Helper()
		s := open(bucketOf(b), Options{Path: Notifiers, TTL: testTTL})
		v, err := s.Register(t.Context(), membership.Member{ID: id, Instance: id + "-run"}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return s, v
	}
	for _, c := range []struct {
		name  string
		stay  bool // the one that joins does not leave again
		ok    bool
		never bool
	}{
		{"the first one ever", false, true, true},
		{"the last one has left", true, true, false},
		{"one is a member still", false, false, false},
	} {
		began, past := time.Now(), before()
		s, v := join(c.name)
		since, ok := past.Empty(v, began)
		if ok != c.ok || since.IsZero() != (c.never || !c.ok) || ok && !c.never && time.Since(since) > time.Minute {
			t.Errorf("%s: empty since %s, %t; %+v then %+v", c.name, since, ok, past, v)
		}
		if !c.stay {
			if err := s.Leave(t.Context(), c.name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestAnEmptyBucketIsKnownOfNoLongerThanItsRecord(t *testing.T) {
	began := time.Now()
	epoch := uint64(began.UnixMilli())
	alone := membership.View{Epoch: epoch + 5, Members: []membership.Member{{ID: "a"}}}
	for _, c := range []struct {
		name string
		past Past
		v    membership.View
		ok   bool
	}{
		{"a record made by this member", Past{}, alone, true},
		{"a record that another one has made meanwhile", Past{}, membership.View{Epoch: epoch - 5000, Members: alone.Members}, false},
		{"another one was here meanwhile", Past{View: membership.View{Epoch: epoch}, Time: began}, alone, false},
		{"nobody was here meanwhile", Past{View: membership.View{Epoch: epoch + 4}, Time: began}, alone, true},
		{"one that died is listed", Past{View: membership.View{Epoch: epoch + 4, Members: alone.Members}, Time: began}, alone, false},
	} {
		if since, ok := c.past.Empty(c.v, began); ok != c.ok || ok && !since.Equal(c.past.Time) {
			t.Errorf("%s: %s, %t", c.name, since, ok)
		}
	}
}
