package delivery

import (
	"context"
	"fmt"
	"log/slog"
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

func TestADeadlineShorterThanTheWaitOfTheGroupLosesNothing(t *testing.T) {
	for _, deadline := range []time.Duration{time.Second, 5 * time.Second, 20 * time.Second} {
		in(t, func(t *testing.T, w *world) {
			p := w.start(t, func(_ *process, o *Options) {
				o.Limits = func() deliver.Limits {
					return deliver.Limits{Deadline: deadline, Rates: map[string]deliver.Rate{"email": {Messages: 1, Per: time.Minute}}}
				}
			})
			g := object.Grouping{By: object.GroupHost, Wait: 10 * time.Second, Interval: 5 * time.Minute}
			for _, id := range []object.ID{"a", "b"} {
				w.ask(id, "PROBLEM", g, "email telegram", "alice")
				pass(30 * time.Second)
				w.ask(id, "RECOVERY", g, "email telegram", "alice")
			}
			pass(time.Hour)
			if n := len(w.of(event.NotificationDelivered)); n != 8 || len(w.all()) != 8 || w.left() != 0 {
				t.Errorf("with %s: %d of 8 are delivered, %d open", deadline, n, w.left())
			}
			p.stop()
		})
	}
}

func TestAfterTwoDaysAwayEachRequestHasOneAttempt(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		for i := range 5 {
			w.ask(object.ID(fmt.Sprint("h", i)), "PROBLEM", none, "email", "alice", "bob")
		}
		asked := object.At(time.Now())
		pass(48 * time.Hour)
		p := w.start(t, func(p *process, _ *Options) {
			p.send = func(_ context.Context, m *message.Message) error {
				if m.Contact.Name == "bob" {
					return errLater
				}
				return nil
			}
		})
		pass(time.Minute)
		if n, m := len(w.of(event.NotificationDelivered)), len(w.of(event.NotificationAbandoned)); n != 5 || m != 5 || len(p.got()) != 10 {
			t.Errorf("%d are delivered, %d given up, after %d attempts", n, m, len(p.got()))
		}
		for _, l := range p.got() {
			if i := l.Items[0]; !l.Repeat || i.Time != asked || i.Since != asked {
				t.Errorf("it does not say how old it is: %+v", i)
			}
		}
		p.stop()
	})
}

// lines keeps what the log says from INFO on.
type lines struct {
	slog.Handler
	all *[]string // written by the goroutine of run alone, read after its end
}

func (l lines) Enabled(_ context.Context, at slog.Level) bool { return at >= slog.LevelInfo }
func (l lines) Handle(_ context.Context, r slog.Record) error {
	*l.all = append(*l.all, r.Level.String()+" "+r.Message)
	return nil
}

func TestAHeartbeatOfYesterdayIsNotSentToday(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.every = time.Minute
		var down atomic.Bool
		var said []string
		down.Store(true)
		p := w.start(t, func(p *process, o *Options) {
			o.Logger = slog.New(lines{all: &said})
			p.send = func(context.Context, *message.Message) error {
				if down.Load() {
					return errLater
				}
				return nil
			}
		})
		for range 20 {
			w.ask("jaque!canary", "HEARTBEAT", none, "canary", "alice")
			pass(time.Minute)
		}
		tries := len(p.got())
		down.Store(false)
		w.ask("jaque!canary", "HEARTBEAT", none, "canary", "alice")
		pass(24 * time.Hour)
		if n := len(p.got()) - tries; n != 1 || w.left() != 0 {
			t.Errorf("once the address answers it gets %d rounds, %d are open", n, w.left())
		}
		if tries < 20*5 || tries > 20*7 {
			t.Errorf("%d attempts for 20 rounds", tries)
		}
		gone := w.of(event.NotificationAbandoned)
		if len(gone) != 20 || gone[0].Facts[event.FactReason] != "the next round takes its place" || gone[0].Time > object.At(time.Now()).Add(-24*time.Hour-18*time.Minute) {
			t.Errorf("given up are %d: %+v", len(gone), gone)
		}
		p.stop()
		said = slices.DeleteFunc(said, func(s string) bool { return !strings.Contains(s, "heartbeat") && !strings.HasPrefix(s, "WARN") })
		if want := []string{"WARN the heartbeat does not get through", "INFO the heartbeat gets through again"}; !slices.Equal(said, want) {
			t.Errorf("the log says %q", said)
		}
		// What an earlier process has left is over as well.
		w.ask("jaque!canary", "HEARTBEAT", none, "canary", "alice")
		pass(time.Hour)
		q := w.start(t, nil)
		pass(time.Hour)
		if len(q.got()) != 0 || w.left() != 0 {
			t.Errorf("the next process sends %d rounds of an hour ago", len(q.got()))
		}
		q.stop()
	})
}

func TestAnAttemptOfAHeartbeatEndsWithItsRound(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.every = 10 * time.Second
		p := w.start(t, func(p *process, _ *Options) {
			p.send = func(ctx context.Context, _ *message.Message) error {
				if len(p.got()) == 1 {
					<-ctx.Done()
					return ctx.Err()
				}
				return nil
			}
		})
		for range 3 {
			w.ask("jaque!canary", "HEARTBEAT", none, "canary", "alice")
			pass(10 * time.Second)
		}
		if n := len(w.of(event.NotificationDelivered)); n != 2 || len(w.of(event.NotificationAbandoned)) != 1 {
			t.Errorf("%d of 3 rounds are delivered", n)
		}
		p.stop()
	})
}

// One channel's server takes connections and says nothing. What goes elsewhere goes
// out at once, over the same kind of channel too as far as there are places.
func TestAServerThatHangsStarvesNobodyElse(t *testing.T) {
	cases := map[string]struct {
		hangs  func(m *message.Message) bool
		others int // messages that must not wait
	}{
		"the mailbox of one":   {func(m *message.Message) bool { return m.Channel == "email" && m.Contact.Name == "alice" }, 100},
		"the mailboxes of all": {func(m *message.Message) bool { return m.Channel == "email" }, 60},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				p := w.start(t, func(p *process, o *Options) {
					o.Workers = 4
					p.send = func(ctx context.Context, m *message.Message) error {
						if c.hangs(m) {
							<-ctx.Done()
							return ctx.Err()
						}
						return nil
					}
				})
				for i := range 20 {
					w.ask(object.ID(fmt.Sprint("h", i)), "PROBLEM", none, "email telegram", "alice", "bob", "carol")
				}
				pass(time.Second)
				if n := len(w.of(event.NotificationDelivered)); n != c.others {
					t.Errorf("%d are delivered at once, not %d", n, c.others)
				}
				p.stop()
			})
		})
	}
}

func TestOneFailureIsOneLine(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var said []string
		p := w.start(t, func(p *process, o *Options) {
			o.Logger = slog.New(lines{all: &said})
			p.send = func(context.Context, *message.Message) error { return errLater }
		})
		w.ask("web01", "PROBLEM", none, "email", "alice")
		pass(12 * time.Hour)
		p.stop()
		said = slices.DeleteFunc(said, func(s string) bool { return !strings.HasPrefix(s, "WARN") })
		if len(p.got()) < 50 || len(said) != 1 {
			t.Errorf("%d attempts, the log says %q", len(p.got()), said)
		}
	})
}

// Two servers of different kinds take connections and say nothing, each with six contacts.
// Others wait at most for one attempt, and after that for none.
func TestTwoServersThatHangHoldOthersUpOnce(t *testing.T) {
	for _, c := range []struct {
		workers int
		first   time.Duration // until others have all of the first messages
		later   time.Duration // the same once each contact was tried
	}{{8, 61 * time.Second, time.Second}, {4, 3 * time.Minute, time.Second}, {2, 8 * time.Minute, time.Second}} {
		t.Run(fmt.Sprint(c.workers, " workers"), func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				var hanging, well []string
				for i := range 6 {
					hanging = append(hanging, fmt.Sprint("a", i))
				}
				well = []string{"ok"}
				for _, name := range append(well, hanging...) {
					w.set.Contacts[name] = &object.Contact{Name: name, Notify: &object.ContactNotification{Channels: []string{"email", "webhook"}}}
				}
				p := w.start(t, func(p *process, o *Options) {
					o.Workers = c.workers
					p.send = func(ctx context.Context, m *message.Message) error {
						if m.Contact.Name != "ok" {
							<-ctx.Done()
							return ctx.Err()
						}
						return nil
					}
				})
				storm := func(within time.Duration) {
					began := time.Now()
					n := len(w.of(event.NotificationDelivered))
					for i := range 12 {
						id := object.ID(fmt.Sprint("h", i))
						w.ask(id, "PROBLEM", none, "email webhook", hanging...)
						w.ask(id, "PROBLEM", none, "webhook command", well...)
					}
					pass(within)
					if got := len(w.of(event.NotificationDelivered)) - n; got != 24 {
						t.Errorf("after %s %d of 24 messages have arrived", time.Since(began), got)
					}
				}
				storm(c.first)
				pass(10 * time.Minute)
				storm(c.later)
				pass(5 * time.Minute)
				storm(c.later)
				p.stop()
			})
		})
	}
}
