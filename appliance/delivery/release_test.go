package delivery

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/message"
)

// leaver is what one says that had every contact.
func leaver(left bool) *deliver.Release {
	if !left {
		return nil
	}
	return &deliver.Release{ID: "a", Instance: "1", Left: true, Owners: []string{"a", "b"}, Had: func(string) bool { return true }}
}

// doubted returns what a release on the log names, sorted, and its place among the
// outcomes.
func doubted(t *testing.T, w *world) (ids []string, at int) {
	t.Helper()
	all := w.all()
	at = slices.IndexFunc(all, func(e event.Event) bool { return e.Kind == event.NotificationReleased })
	if at < 0 || all[at].Facts[event.FactOwners] != "a,b" {
		t.Fatalf("no release among %+v", all)
	}
	if text := all[at].Facts[event.FactDoubt]; text != "" {
		ids = strings.Split(text, "\n")
	}
	slices.Sort(ids)
	return ids, at
}

// Who leaves in order names what is cut off, and nothing that waits or has its outcome.
func TestAStopNamesWhatMayHaveBeenSent(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		takes := map[string]time.Duration{"alice": 3 * time.Second, "bob": time.Hour}
		p := w.start(t, func(p *process, o *Options) {
			o.Release = leaver
			p.send = func(ctx context.Context, m *message.Message) error {
				select {
				case <-time.After(takes[m.Contact.Name]):
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		})
		ids := w.ask("web01", "PROBLEM", none, "email", "alice", "bob")
		w.ask("web02", "PROBLEM", none, "email", "alice") // waits behind the other
		w.ask("web03", "PROBLEM", object.Grouping{By: object.GroupHost, Wait: time.Hour}, "email", "carol")
		pass(time.Second)
		p.stop()
		if named, _ := doubted(t, w); !slices.Equal(named, ids[1:]) {
			t.Errorf("named are %q, want %q", named, ids[1:])
		}
	})
}

func TestAStopOfOneThatIsQuietNamesNothing(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		p := w.start(t, func(_ *process, o *Options) { o.Release = leaver })
		w.ask("web01", "PROBLEM", none, "email", "alice")
		w.ask("web02", "PROBLEM", object.Grouping{By: object.GroupHost, Wait: time.Hour}, "email", "bob")
		pass(time.Second)
		p.stop()
		if named, at := doubted(t, w); len(named) != 0 || at != 1 {
			t.Errorf("named are %q, behind %d outcomes", named, at)
		}
	})
}

// What was doubtful when it came is so when it goes on to the next.
func TestWhatWasInDoubtStaysInDoubt(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		wait := object.Grouping{By: object.GroupHost, Wait: time.Hour}
		ids := w.ask("web01", "PROBLEM", wait, "email", "alice")
		p := w.start(t, func(_ *process, o *Options) { o.Release = leaver })
		w.ask("web02", "PROBLEM", wait, "email", "alice")
		pass(time.Second)
		p.stop()
		if named, _ := doubted(t, w); !slices.Equal(named, ids) {
			t.Errorf("named are %q, want %q", named, ids)
		}
	})
}

func TestAHaltedProcessVouchesForNothing(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var halted atomic.Bool
		p := w.start(t, func(_ *process, o *Options) { o.Release, o.Halted = leaver, halted.Load })
		pass(time.Second)
		halted.Store(true)
		p.stop()
		if all := w.all(); len(all) != 0 {
			t.Errorf("it says %+v", all)
		}
	})
}

// A contact goes from one that lives to another: named is what is under way, and what the
// first has never looked at although it was its own.
func TestWhatGoesToAnotherWhileItsOwnerLives(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var gone, owed atomic.Bool
		p := w.start(t, func(p *process, o *Options) {
			p.owner = func(c string) bool { return c != "alice" || !gone.Load() }
			p.send = func(ctx context.Context, _ *message.Message) error { <-ctx.Done(); return ctx.Err() }
			o.Release = func(bool) *deliver.Release {
				if !owed.Swap(false) {
					return nil
				}
				return &deliver.Release{
					ID: "a", Instance: "1", Epoch: 8, Owners: []string{"a", "b"}, From: 2,
					Had: func(c string) bool { return c == "alice" },
				}
			}
		})
		sending := w.ask("web01", "PROBLEM", none, "email", "alice", "bob")[:1]
		pass(time.Second)
		gone.Store(true)
		unseen := w.ask("web02", "PROBLEM", none, "email", "alice") // position 2: before it was its own
		w.ask("web03", "PROBLEM", none, "email", "alice")
		owed.Store(true)
		p.d.Kick()
		pass(time.Second)
		want := slices.Sorted(slices.Values(append(sending, unseen...)))
		if named, _ := doubted(t, w); !slices.Equal(named, want) {
			t.Errorf("named are %q, want %q", named, want)
		}
		p.stop()
	})
}

func TestWhatTheOwnerBeforeVouchesForIsNotMarked(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var mine atomic.Bool
		p := w.start(t, func(p *process, o *Options) {
			p.owner = func(string) bool { return mine.Load() }
			o.Former = func(r *deliver.Pending) bool { return r.Event.Object == "web02" }
		})
		w.ask("web01", "PROBLEM", none, "email", "alice")
		w.ask("web02", "PROBLEM", none, "email", "bob")
		pass(time.Second)
		mine.Store(true)
		p.d.Kick()
		pass(time.Second)
		got := p.got()
		if len(got) != 2 {
			t.Fatalf("sent %+v", got)
		}
		for _, l := range got {
			if host := l.Items[0].ID; l.Repeat != (host == "web02") {
				t.Errorf("%s: marked %t", host, l.Repeat)
			}
		}
		p.stop()
	})
}
