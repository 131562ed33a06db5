package roles

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/delivery"
	"jaque.sh/jaque/appliance/rule/membership"
)

func viewOf(epoch uint64, ids ...string) membership.View {
	v := membership.View{Epoch: epoch}
	for _, id := range ids {
		v.Members = append(v.Members, membership.Member{ID: id, Instance: id + "-run"})
	}
	return v
}

func rosterOf(id string) *roster {
	return &roster{me: membership.Member{ID: id, Instance: id + "-run"}, change: func() {}}
}

// With the same view in force every contact has exactly one owner; while some have
// adopted a newer view and not put it in force, none has two of those who adopted it.
func TestEachContactHasOneOwnerAmongTheNotifiers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := []string{"a", "b", "c", "d"}
		before := viewOf(1, all[:rapid.IntRange(1, 4).Draw(t, "before")]...)
		after := viewOf(2, all[rapid.IntRange(0, 3).Draw(t, "from"):]...)
		for _, contact := range []string{"alice", "bob", "canary", "team"} {
			owners := func(upTo int) (n int) {
				for _, id := range all {
					r := rosterOf(id)
					for i, v := range []membership.View{before, after}[:min(upTo, 2)] {
						if r.adopt(v); i == 0 || upTo > 2 {
							r.enforce(v.Epoch, 0)
						}
					}
					if r.owns(contact) {
						n++
					}
				}
				return n
			}
			if one, adopted, enforced := owners(1), owners(2), owners(3); one != 1 || adopted > 1 || enforced != 1 {
				t.Fatalf("%s has %d owners, %d once the next view is adopted, %d once it is in force", contact, one, adopted, enforced)
			}
		}
	})
}

func TestANotifierWithoutAViewOrOfAnotherRunOwnsNothing(t *testing.T) {
	r := rosterOf("a")
	if r.owns("alice") || r.epoch() != 0 {
		t.Error("it owns contacts before it is a member")
	}
	other := viewOf(3, "a")
	other.Members[0].Instance = "another run"
	r.adopt(other)
	if r.owns("alice") || r.epoch() != 3 {
		t.Error("it owns what another run under its id owns")
	}
}

func TestWhatIsDeliveredElsewhereAndIsNot(t *testing.T) {
	request := func(age time.Duration, failures int, reason string) *deliver.Pending {
		p := &deliver.Pending{Time: object.At(time.Now().Add(-age)), Failures: failures, Reason: reason}
		p.Channel, p.Note = "email", &event.Note{Group: object.Grouping{Wait: time.Minute}}
		return p
	}
	for _, c := range []struct {
		name  string
		live  int
		err   error
		after time.Duration
		open  func() []*deliver.Pending
		want  string // "" = no trouble
	}{
		{"a notifier runs and nothing waits", 1, nil, time.Hour, nil, ""},
		{"none has been seen for a moment", 0, nil, 14 * time.Second, nil, ""},
		{"none runs", 0, nil, time.Minute, nil, "no notifier runs, so that nobody is told"},
		{"none runs and something waits", 0, nil, time.Minute, func() []*deliver.Pending { return []*deliver.Pending{request(0, 0, "")} }, "1 notification waits since"},
		{"it is not known for a moment whether one runs", 0, errors.New("denied"), 14 * time.Second, nil, ""},
		{"it is not known whether one runs", 0, errors.New("denied"), time.Hour, nil, "whether a notifier runs: their members cannot be read"},
		{
			"what waits for its group is nobody's fault", 2, nil, time.Minute,
			func() []*deliver.Pending { return []*deliver.Pending{request(5*time.Minute, 0, "")} }, "",
		},
		{
			"nobody tries", 2, nil, time.Minute,
			func() []*deliver.Pending {
				return []*deliver.Pending{request(time.Hour, 0, ""), request(time.Hour, 0, "")}
			},
			"2 notifications wait since",
		},
		{
			"a notifier says why it cannot", 2, nil, time.Minute,
			func() []*deliver.Pending {
				one, two := request(time.Hour, 1, "421 later"), request(time.Hour, 1, "421 later")
				one.Contact, two.Contact, two.By = "alice", "bob", "n2"
				return []*deliver.Pending{one, two}
			},
			": notifier n2: 421 later",
		},
		{
			"the mail server refuses", 2, nil, time.Minute,
			func() []*deliver.Pending { return []*deliver.Pending{request(time.Hour, 3, "421 later")} }, ": 421 later",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := &elsewhere{log: quiet(), count: func(context.Context) (int, error) { return c.live, c.err }}
				x.open = func() []*deliver.Pending { return nil }
				x.seen.Store(time.Now().UnixMilli())
				x.known.Store(time.Now().UnixMilli())
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- x.run(ctx, func() {}) }()
				time.Sleep(c.after)
				synctest.Wait()
				if c.open != nil {
					x.open = c.open
				}
				got := strings.Join(x.trouble(), "\n")
				if c.want == "" && got != "" || !strings.Contains(got, c.want) {
					t.Errorf("the trouble is %q, want %q", got, c.want)
				}
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestDeliveryElsewhereNeedsALogThatOthersCanFollow(t *testing.T) {
	s, err := Parse([]string{"-config", folder(t, shop), "-listen", "127.0.0.1:0", "-eventlog", "memory", "-notify-delivery", "notifier"}, world(nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), s, Process{Logger: quiet()}); err == nil || !strings.Contains(fmt.Sprint(err), "no other process can follow -eventlog memory") {
		t.Errorf("got %v", err)
	}
}

func TestWhoMayHaveSentWhatIsOpen(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name    string
		engines []event.Event // newest first
		alone   bool
		since   time.Time
		seq     uint64
		age     time.Duration
		want    bool
	}{
		{"no notifier ever ran and the engine leaves it to them", []event.Event{joined(10, "e1", "notifier")}, true, time.Time{}, 11, time.Hour, false},
		{"an engine before it delivered by itself", []event.Event{joined(10, "e1", "notifier"), joined(5, "e1", "local")}, true, time.Time{}, 7, time.Hour, true},
		{"that is long over", []event.Event{joined(10, "e1", "notifier"), joined(5, "e1", "local")}, true, time.Time{}, 11, time.Hour, false},
		{"the log begins later", []event.Event{joined(10, "e1", "notifier")}, true, time.Time{}, 9, time.Hour, true},
		{"the engine delivers by itself", []event.Event{joined(10, "e1", "local")}, true, time.Time{}, 11, time.Hour, true},
		{"another engine still delivers by itself", []event.Event{joined(10, "e1", "notifier", "e2"), joined(5, "e2", "local")}, true, time.Time{}, 11, time.Hour, true},
		{
			"it did until it left",
			[]event.Event{left(15, "e2", "stopped"), joined(10, "e1", "notifier", "e2"), joined(5, "e2", "local")},
			true,
			time.Time{},
			11, time.Hour, true,
		},
		{
			"it has left before",
			[]event.Event{left(15, "e2", "stopped"), joined(10, "e1", "notifier", "e2"), joined(5, "e2", "local")},
			true,
			time.Time{},
			16, time.Hour, false,
		},
		{"the log tells of no engine", nil, true, time.Time{}, 11, time.Hour, true},
		{"another notifier is there, or was", []event.Event{joined(10, "e1", "notifier")}, false, time.Time{}, 11, 0, true},
		{"it was asked for before the last one left", []event.Event{joined(10, "e1", "notifier")}, true, now.Add(-time.Minute), 11, 2 * time.Minute, true},
		{"it was asked for in that moment", []event.Event{joined(10, "e1", "notifier")}, true, now.Add(-time.Minute), 11, 55 * time.Second, true},
		{"it was asked for after the last one left", []event.Event{joined(10, "e1", "notifier")}, true, now.Add(-time.Minute), 11, 40 * time.Second, false},
	} {
		n := &notifier{sharing: sharing{a: &appliance{engines: &engines{}}, roster: rosterOf("a")}}
		n.a.engines.take(c.engines...)
		if c.alone {
			n.roster.alone(c.since, 10*time.Second)
		}
		if got := n.mayHaveSent(&deliver.Pending{Seq: c.seq, Time: object.At(now.Add(-c.age))}); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

// While nobody may have begun with what is taken over there is nothing to wait for;
// what stood on the log when the others let go is theirs until it is over for certain.
func TestWhatOthersMayBeSendingWhenOneJoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		alone, second := rosterOf("a"), rosterOf("b")
		second.join(time.Now().Add(10*time.Second), false)
		began, p := time.Now(), &deliver.Pending{Seq: 200}
		for _, r := range []*roster{alone, second} {
			r.begin(100, began)
		}
		for _, c := range []struct {
			name string
			r    *roster
			seq  uint64
			want time.Time
		}{
			{"alone", alone, 50, time.Time{}},
			{"before the others let go", second, 100, began.Add(delivery.SendMost)},
			{"after that", second, 101, time.Time{}},
		} {
			if got := c.r.busy(&deliver.Pending{Seq: c.seq}); !got.Equal(c.want) {
				t.Errorf("%s: until %s, want %s", c.name, got, c.want)
			}
		}
		if alone.isShared(p) || !second.isShared(p) {
			t.Error("what comes in is marked by the wrong one")
		}
		time.Sleep(11 * time.Second)
		if second.isShared(p) {
			t.Error("what comes in is marked for ever")
		}
	})
}

// Engines that leave the delivery to notifiers have no share in the contacts.
func TestOnlyThoseThatDeliverShareTheContacts(t *testing.T) {
	x := &engines{}
	x.take(joined(1, "a", "local", "b", "c"), joined(2, "b", "notifier", "a", "c"), joined(3, "c", "local", "a", "b"))
	v := viewOf(7, "a", "b", "c", "d") // d has said nothing yet
	owners := map[string]int{}
	for _, id := range []string{"a", "b", "c", "d"} {
		r := rosterOf(id)
		r.sharers = x.delivering
		r.adopt(v)
		for i := range 100 {
			if r.owns(fmt.Sprint("contact", i)) {
				owners[id]++
			}
		}
		if n := r.members(); n != 3 {
			t.Errorf("%s counts %d that deliver", id, n)
		}
	}
	if owners["b"] != 0 || owners["a"]+owners["c"]+owners["d"] != 100 || owners["a"] == 0 || owners["c"] == 0 || owners["d"] == 0 {
		t.Errorf("the contacts belong to %v", owners)
	}
	n := rosterOf("n1")
	n.rests = x.local
	n.adopt(viewOf(1, "n1"))
	if n.owns("contact1") || !n.rest() {
		t.Error("a notifier delivers beside engines that do")
	}
	x.take(left(4, "a", "stopped"), left(5, "c", "expired"))
	if n.renew(); !n.owns("contact1") {
		t.Error("it does not when the last of them is gone")
	}
}

func TestThatNoNotifierRunsIsSaidOnceAndWhenItIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var live atomic.Int64
		var said strings.Builder
		x := &elsewhere{
			log:   slog.New(slog.NewTextHandler(&said, nil)),
			open:  func() []*deliver.Pending { return make([]*deliver.Pending, 7) },
			count: func(context.Context) (int, error) { return int(live.Load()), nil },
		}
		x.seen.Store(time.Now().UnixMilli())
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- x.run(ctx, func() {}) }()
		for _, n := range []int64{0, 2, 1} {
			live.Store(n)
			time.Sleep(5 * time.Minute)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		if len(lines) != 2 || !strings.Contains(lines[0], "level=WARN") || !strings.Contains(lines[0], "no notifier runs") || !strings.Contains(lines[0], "open=7") ||
			!strings.Contains(lines[1], "level=INFO") || !strings.Contains(lines[1], "notifiers=2") {
			t.Errorf("said:\n%s", said.String())
		}
	})
}
