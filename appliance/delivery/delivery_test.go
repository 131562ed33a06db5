package delivery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"jaque.sh/jaque/appliance/channel"
	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/message"
)

func TestWhatIsDueIsSentOnceAndTheLogKnows(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		p := w.start(t, func(p *process, o *Options) {
			o.URL, o.Workers, o.Zone = func() string { return "http://jaque" }, 1, time.UTC
		})
		ids := w.ask("web01!http", "PROBLEM", none, "email", "alice", "bob")
		pass(time.Second)
		got := p.got()
		if len(got) != 2 || got[0].Contact.Name != "alice" || got[0].Repeat || got[0].URL != "http://jaque" || got[0].Version != "test" || got[0].Zone != time.UTC {
			t.Fatalf("sent %+v", got)
		}
		item := got[0].Items[0]
		if item.ID != "web01!http" || item.Kind != "PROBLEM" || len(item.Others) != 1 || item.Others[0] != "bob" || item.Since == 0 || item.Why != "on call by nights" {
			t.Errorf("it tells of %+v", item)
		}
		done := w.of(event.NotificationDelivered)
		slices.SortFunc(done, func(a, b event.Event) int { return strings.Compare(a.ID, b.ID) })
		if len(done) != 2 || w.left() != 0 {
			t.Fatalf("outcomes %+v", done)
		}
		e := done[0]
		if e.ID != "outcome/delivered/"+ids[0] || e.Object != "web01!http" || e.Text != "PROBLEM to alice over email was delivered" ||
			e.Facts[event.FactMessage] != got[0].ID || e.Facts[event.FactAttempts] != "1" || e.Facts[event.FactRepeat] != "" {
			t.Errorf("the outcome is %+v", e)
		}
		pass(48 * time.Hour)
		if len(p.got()) != 2 {
			t.Errorf("sent again: %+v", p.got())
		}
		p.stop()
	})
}

func TestSlowChannelsTakeOnlyTheirPlaces(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		p := w.start(t, func(p *process, o *Options) {
			o.Workers, o.Queue = 2, 5
			p.send = func(context.Context, *message.Message) error { time.Sleep(10 * time.Second); return nil }
		})
		for i := range 10 {
			w.ask(object.ID(fmt.Sprintf("h%d", i)), "PROBLEM", none, "email telegram", "alice")
		}
		pass(5 * time.Second)
		s := p.d.State()
		if len(p.got()) != 2 || s.InFlight != 2 || s.Open != 20 || s.Due != 18 || s.Beyond != 13 {
			t.Fatalf("%d were begun, %+v", len(p.got()), s)
		}
		if n := testutil.ToFloat64(p.d.metrics.overflow); n != 13 {
			t.Errorf("overflow is %v", n)
		}
		if text := strings.Join(p.d.Trouble(), "; "); !strings.Contains(text, "18 notifications are due and wait for a place") {
			t.Errorf("trouble: %s", text)
		}
		pass(5 * time.Minute)
		if len(w.of(event.NotificationDelivered)) != 20 || len(p.d.Trouble()) != 0 || p.d.State().Beyond != 0 {
			t.Errorf("%d are delivered, %v", len(w.of(event.NotificationDelivered)), p.d.Trouble())
		}
		p.stop()
	})
}

func TestAFailureIsTriedAgainUntilItSucceeds(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var n atomic.Int64
		p := w.start(t, func(p *process, _ *Options) {
			p.send = func(context.Context, *message.Message) error {
				if n := n.Add(1); n <= 8 {
					return fmt.Errorf("reason %d", n/2)
				}
				return nil
			}
		})
		w.ask("web01", "PROBLEM", none, "email", "alice")
		pass(time.Second)
		if s := p.d.Trouble(); len(s) != 1 || !strings.HasPrefix(s[0], "1 notification waits over email since ") || !strings.HasSuffix(s[0], ": reason 0") {
			t.Errorf("trouble: %q", s)
		}
		if c := p.d.State().Channels; len(c) != 1 || c[0].Open != 1 || c[0].Failing.IsZero() || c[0].Reason != "reason 0" {
			t.Errorf("channels: %+v", c)
		}
		pass(2 * time.Hour)
		failed, done := w.of(event.NotificationFailed), w.of(event.NotificationDelivered)
		if len(failed) != 5 || len(done) != 1 || done[0].Facts[event.FactAttempts] != "9" {
			t.Fatalf("%d failures on the log, %+v", len(failed), done)
		}
		if failed[1].Facts[event.FactReason] != "reason 1" || !strings.Contains(failed[1].Text, "failed and is tried again: reason 1") {
			t.Errorf("failure: %+v", failed[1])
		}
		if c := p.d.State().Channels[0]; len(p.d.Trouble()) != 0 || !c.Failing.IsZero() || c.Sent.IsZero() {
			t.Errorf("after all it says %v, %+v", p.d.Trouble(), c)
		}
		for _, l := range p.got() {
			if l.Repeat {
				t.Error("it is marked although the other side refused it each time")
			}
		}
		p.stop()
	})
}

func TestWhatCannotBeDeliveredIsGivenUpWithTheReason(t *testing.T) {
	cases := map[string]struct {
		contact string
		change  func(*process, *Options)
		after   time.Duration
		want    string
		unsure  bool // something may have arrived
	}{
		"the other side refuses for good": {"alice", func(p *process, _ *Options) {
			p.send = func(context.Context, *message.Message) error { return fmt.Errorf("send: %w", errNever) }
		}, time.Second, "send: no such mailbox", false},
		"the channel is gone": {"alice", func(p *process, _ *Options) {
			p.ways = func(string, string) error {
				return &channel.Error{Err: errors.New("alice has no email any more"), Permanent: true}
			}
		}, time.Second, "alice has no email any more", false},
		"the deadline is over": {"alice", func(p *process, o *Options) {
			o.Limits = func() deliver.Limits { return deliver.Limits{Deadline: time.Hour} }
			p.send = func(context.Context, *message.Message) error { return errLater }
		}, 2 * time.Hour, "not delivered in time: try later", false},
		"the deadline is over for what may have arrived": {"alice", func(p *process, o *Options) {
			o.Limits = func() deliver.Limits { return deliver.Limits{Deadline: time.Hour} }
			n := 0
			p.send = func(context.Context, *message.Message) error {
				if n++; n == 2 {
					return &channel.Error{Err: errLater, MayHaveArrived: true}
				}
				return errLater
			}
		}, 2 * time.Hour, "not delivered in time: try later", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				p := w.start(t, c.change)
				w.ask("web01", "PROBLEM", none, "email", c.contact)
				pass(c.after)
				got := w.of(event.NotificationAbandoned)
				if len(got) != 1 || got[0].Facts[event.FactReason] != c.want || !strings.HasSuffix(got[0].Text, "was given up: "+c.want) {
					t.Fatalf("got %+v", got)
				}
				if lost := got[0].Facts[event.FactLost] == "true"; lost == c.unsure {
					t.Errorf("that nothing arrived is certain: %t", lost)
				}
				if len(p.d.Trouble()) != 0 || p.d.State().Open != 0 {
					t.Errorf("trouble after the end: %v", p.d.Trouble())
				}
				p.stop()
			})
		})
	}
}

func TestAChannelThatIsMissingForAWhileIsAskedForAgain(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var repaired atomic.Bool
		p := w.start(t, func(p *process, _ *Options) {
			p.ways = func(string, string) error {
				if repaired.Load() {
					return nil
				}
				return errors.New("the password cannot be read")
			}
		})
		w.ask("web01", "PROBLEM", none, "email", "alice")
		pass(time.Minute)
		if w.left() != 1 || len(p.got()) != 0 {
			t.Fatalf("%d are open", w.left())
		}
		repaired.Store(true)
		pass(time.Hour)
		if len(w.of(event.NotificationDelivered)) != 1 || p.got()[0].Repeat {
			t.Errorf("delivered %v", p.got())
		}
		p.stop()
	})
}

func TestTheOtherSideIsLeftAloneAsLongAsItWants(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		p := w.start(t, func(p *process, _ *Options) {
			p.send = func(context.Context, *message.Message) error {
				if len(p.got()) == 1 {
					return &channel.Error{Err: errors.New("429"), RetryAfter: 30 * time.Minute}
				}
				return nil
			}
		})
		w.ask("web01", "PROBLEM", none, "telegram", "alice")
		pass(29 * time.Minute)
		if n := len(p.got()); n != 1 {
			t.Fatalf("%d attempts", n)
		}
		pass(5 * time.Minute)
		if n := len(w.of(event.NotificationDelivered)); n != 1 {
			t.Fatalf("%d delivered", n)
		}
		p.stop()
	})
}

func TestAChannelThatPanicsOrHangsHarmsNobodyElse(t *testing.T) {
	hang := make(chan struct{})
	cases := map[string]struct {
		bad  func(ctx context.Context) error
		want string
	}{
		"it panics":           {func(context.Context) error { panic("nil map") }, "the channel panicked: nil map"},
		"it hangs":            {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, "no answer within 30s: context deadline exceeded"},
		"it hangs for good":   {func(context.Context) error { <-hang; return nil }, "no answer within 30s: context deadline exceeded"},
		"it loses its answer": {func(context.Context) error { return fmt.Errorf("read: %w", context.DeadlineExceeded) }, "read: context deadline exceeded"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				hang = make(chan struct{})
				p := w.start(t, func(p *process, o *Options) {
					o.Workers = 1
					var begun atomic.Bool
					p.send = func(ctx context.Context, m *message.Message) error {
						if m.Contact.Name == "alice" && begun.CompareAndSwap(false, true) {
							return c.bad(ctx)
						}
						return nil
					}
				})
				w.ask("web01", "PROBLEM", none, "email", "alice", "bob")
				pass(3 * time.Minute)
				if n := len(w.of(event.NotificationDelivered)); n != 2 {
					t.Fatalf("%d are delivered", n)
				}
				failed := w.of(event.NotificationFailed)
				if len(failed) != 1 || failed[0].Facts[event.FactReason] != c.want {
					t.Errorf("failures %+v", failed)
				}
				for _, l := range p.got() {
					if again := l.Contact.Name == "alice" && l.at != p.got()[0].at; l.Repeat != again {
						t.Errorf("message to %s at %s: marked %t", l.Contact.Name, l.at, l.Repeat)
					}
				}
				p.stop()
				close(hang)
				synctest.Wait()
			})
		})
	}
}
