package delivery

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/message"
)

func TestAnOutcomeThatTheLogDoesNotTakeIsWrittenAgainAndNothingSentAgain(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var tries atomic.Int64
		p := w.start(t, func(p *process, _ *Options) {
			p.refuse = func(*event.Event) error {
				if tries.Add(1) <= 6 {
					return journal.ErrUnknown
				}
				return nil
			}
		})
		w.ask("web01", "PROBLEM", none, "email", "alice", "bob")
		pass(time.Second)
		if text := strings.Join(p.d.Trouble(), ""); len(w.all()) != 0 || text != "the outcomes of 2 notifications are not on the log: "+journal.ErrUnknown.Error() {
			t.Fatalf("%d outcomes, trouble %q", len(w.all()), text)
		}
		pass(time.Hour)
		if len(w.of(event.NotificationDelivered)) != 2 || len(p.got()) != 2 || len(p.d.Trouble()) != 0 {
			t.Fatalf("%d outcomes of %d messages, trouble %v", len(w.all()), len(p.got()), p.d.Trouble())
		}
		if n := testutil.ToFloat64(p.d.metrics.writeErrors); n != 6 {
			t.Errorf("counted %v", n)
		}
		p.stop()
	})
}

func TestAKillBetweenSendAndOutcomeMakesAMarkedRepetition(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		grouped := object.Grouping{By: object.GroupHost, Wait: time.Minute, Interval: time.Minute}
		p := w.start(t, func(p *process, _ *Options) { p.refuse = func(*event.Event) error { return journal.ErrUnknown } })
		w.ask("web01", "PROBLEM", none, "email", "alice")
		w.ask("web02", "PROBLEM", grouped, "email", "alice")
		pass(2 * time.Second)
		p.kill()
		q := w.start(t, nil)
		pass(2 * time.Second)
		w.ask("web03", "PROBLEM", none, "email", "alice")
		pass(2 * time.Minute)
		first, second := p.got(), q.got()
		if len(first) != 1 || len(second) != 3 || second[0].ID != first[0].ID || !second[0].Repeat {
			t.Fatalf("first %+v, then %+v", first, second)
		}
		if second[1].Repeat || second[2].Repeat {
			t.Error("what was not due before the kill, or new, is marked")
		}
		done := w.of(event.NotificationDelivered)
		if len(done) != 3 || done[0].Facts[event.FactRepeat] != "true" || !strings.HasSuffix(done[0].Text, "marked as a possible repetition") {
			t.Errorf("outcomes %+v", done)
		}
		q.stop()
	})
}

func TestAStopLetsMessagesEndAndLeavesTheRestOpen(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		takes := map[string]time.Duration{"alice": 3 * time.Second, "bob": 20 * time.Second}
		p := w.start(t, func(p *process, o *Options) {
			o.Workers = 4
			p.send = func(ctx context.Context, m *message.Message) error {
				select {
				case <-time.After(takes[m.Contact.Name]):
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		})
		w.ask("web01", "PROBLEM", none, "email", "alice", "bob", "carol")
		pass(time.Second)
		began := time.Now()
		p.stop()
		if took := time.Since(began); took < 5*time.Second || took > 6*time.Second {
			t.Errorf("the stop took %s", took)
		}
		done := w.of(event.NotificationDelivered)
		if len(w.all()) != 1 || len(done) != 1 || done[0].Facts[event.FactContact] != "alice" {
			t.Fatalf("outcomes %+v", w.all())
		}
		q := w.start(t, func(p *process, _ *Options) { p.send = nil })
		pass(time.Second)
		if got := q.got(); len(got) != 2 || !got[0].Repeat || !got[1].Repeat {
			t.Errorf("the next process sent %+v", got)
		}
		q.stop()
	})
}

func TestAStopWaitsUntilTheLogHasTheOutcomes(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var works atomic.Bool
		p := w.start(t, func(p *process, _ *Options) {
			p.refuse = func(*event.Event) error {
				if works.Load() {
					return nil
				}
				return journal.ErrUnknown
			}
		})
		w.ask("web01", "PROBLEM", none, "email", "alice")
		pass(20 * time.Second)
		time.AfterFunc(100*time.Millisecond, func() { works.Store(true) })
		p.stop()
		if len(w.of(event.NotificationDelivered)) != 1 {
			t.Errorf("outcomes %+v", w.all())
		}
	})
}

func TestTheOwnerOfAContactSendsAndAnotherTakesOver(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var owner atomic.Int64 // of alice
		owner.Store(1)
		start := func(n int64) *process {
			return w.start(t, func(p *process, _ *Options) {
				p.owner = func(c string) bool { return c == "bob" && n == 2 || c == "alice" && owner.Load() == n }
			})
		}
		p, q := start(1), start(2)
		wait := object.Grouping{By: object.GroupHost, Wait: time.Minute}
		w.ask("web01", "PROBLEM", none, "email", "alice", "bob")
		w.ask("web02", "PROBLEM", wait, "email", "alice")
		pass(10 * time.Second)
		if a, b := p.got(), q.got(); len(a) != 1 || a[0].Contact.Name != "alice" || len(b) != 1 || b[0].Contact.Name != "bob" {
			t.Fatalf("sent %+v and %+v", a, b)
		}
		w.ask("web03", "PROBLEM", wait, "email", "alice")
		owner.Store(2)
		p.d.Kick()
		pass(10 * time.Second)
		w.ask("web04", "PROBLEM", none, "email", "alice")
		pass(time.Second)
		q.d.Kick() // it hears of it later
		pass(5 * time.Minute)
		got := q.got()
		if len(p.got()) != 1 || len(got) != 4 {
			t.Fatalf("the old owner sent %d, the new one %d", len(p.got()), len(got))
		}
		for _, l := range got[1:] {
			if host := l.Items[0].ID; l.Repeat != false && host != "web04" {
				t.Errorf("%s: marked %t", host, l.Repeat)
			}
		}
		p.stop()
		q.stop()
	})
}

func TestOwnershipThatIsLostUnnoticedIsSeenBeforeSending(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var lost atomic.Bool
		p := w.start(t, func(p *process, _ *Options) { p.owner = func(string) bool { return !lost.Load() } })
		w.ask("web01", "PROBLEM", object.Grouping{By: object.GroupHost, Wait: time.Minute}, "email", "alice")
		pass(time.Second)
		lost.Store(true)
		pass(time.Hour)
		if len(p.got()) != 0 || w.left() != 1 {
			t.Fatalf("it sent %+v", p.got())
		}
		lost.Store(false)
		p.d.Kick()
		pass(time.Second)
		if got := p.got(); len(got) != 1 || !got[0].Repeat {
			t.Errorf("it sent %+v", got)
		}
		p.stop()
	})
}

func TestARequestThatAnotherHasSettledIsNotSent(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		p := w.start(t, nil)
		ids := w.ask("web01", "PROBLEM", object.Grouping{By: object.GroupHost, Wait: time.Minute}, "email", "alice")
		pass(time.Second)
		w.fold(&event.Event{ID: "by hand", Kind: event.NotificationAbandoned, Facts: map[string]string{event.FactRequest: ids[0]}})
		pass(time.Hour)
		if len(p.got()) != 0 || p.d.State().Open != 0 {
			t.Errorf("it sent %+v", p.got())
		}
		p.stop()
	})
}

func TestATestMessageIsMarkedAndNotOnTheLog(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		p := w.start(t, func(p *process, _ *Options) {
			p.send = func(_ context.Context, m *message.Message) error {
				if m.Channel == "telegram" {
					return errNever
				}
				return nil
			}
		})
		all, err := p.d.Test(t.Context(), "alice", "")
		if err != nil || len(all) != 2 || all[0].Channel != "email" || all[0].Err != nil || !errors.Is(all[1].Err, errNever) {
			t.Fatalf("got %+v, %v", all, err)
		}
		if one, err := p.d.Test(t.Context(), "alice", "email"); err != nil || len(one) != 1 {
			t.Errorf("over one channel: %+v, %v", one, err)
		}
		for _, l := range p.got() {
			if !l.Test || len(l.Items) != 0 || l.ID == "" {
				t.Errorf("sent %+v", l.Message)
			}
		}
		if len(w.all()) != 0 || testutil.ToFloat64(p.d.metrics.tests.WithLabelValues("email", attemptSent)) != 2 {
			t.Errorf("outcomes %+v", w.all())
		}
		w.set.Contacts["mute"] = &object.Contact{Name: "mute"}
		for wrong, want := range map[[2]string]string{
			{"alise", ""}:     `there is no contact "alise"; did you mean "alice"?`,
			{"alice", "chat"}: `contact "alice" has no channel "chat", only email, telegram`,
			{"mute", ""}:      `contact "mute" has no channel; give it an email address or another one`,
		} {
			if _, err := p.d.Test(t.Context(), wrong[0], wrong[1]); err == nil || err.Error() != want {
				t.Errorf("%v: got %v, want %s", wrong, err, want)
			}
		}
		p.stop()
	})
}

func TestItemsAreInTheOrderOfWhatMattersMost(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		p := w.start(t, nil)
		g := object.Grouping{By: object.GroupRoot, Wait: time.Minute}
		for _, it := range []struct {
			id    object.ID
			state object.State
		}{{"sw1!load", object.Warning}, {"sw1!ping", object.Critical}, {"sw1!fan", object.Critical}, {"sw1", object.Down}} {
			w.state, w.root = it.state, "sw1"
			w.ask(it.id, "PROBLEM", g, "email", "alice")
			pass(time.Millisecond)
		}
		pass(time.Hour)
		var order []object.ID
		for _, l := range p.got() {
			for _, i := range l.Items {
				order = append(order, i.ID)
			}
		}
		if want := []object.ID{"sw1", "sw1!fan", "sw1!ping", "sw1!load"}; !slices.Equal(order, want) {
			t.Errorf("the order is %v, want %v", order, want)
		}
		p.stop()
	})
}
