package delivery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/channel"
	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/message"
)

func TestWhatComesInWhileAnotherMayStillDeliverIsMarked(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var shared atomic.Bool
		shared.Store(true)
		p := w.start(t, func(_ *process, o *Options) { o.Shared = func(*deliver.Pending) bool { return shared.Load() } })
		w.ask("web01", "PROBLEM", none, "email", "alice")
		w.ask("web02", "PROBLEM", object.Grouping{By: object.GroupHost, Wait: time.Minute}, "email", "bob")
		pass(time.Second)
		shared.Store(false)
		w.ask("web03", "PROBLEM", none, "email", "carol")
		pass(5 * time.Minute)
		got := p.got()
		if len(got) != 3 {
			t.Fatalf("sent %d messages", len(got))
		}
		for i, marked := range []bool{true, false, false} { // the second was due only later
			if got[i].Repeat != marked {
				t.Errorf("the message about %s is marked: %t", got[i].Items[0].ID, got[i].Repeat)
			}
		}
		p.stop()
	})
}

// What waits for its group is marked too if it goes out while another may still send it.
func TestWhatGoesOutWhileAnotherMayStillDeliverIsMarked(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var rivals atomic.Bool
		rivals.Store(true)
		p := w.start(t, func(_ *process, o *Options) { o.Rivals = rivals.Load })
		w.ask("web01", "PROBLEM", object.Grouping{By: object.GroupHost, Wait: 10 * time.Second}, "email", "alice")
		pass(time.Minute)
		rivals.Store(false)
		w.ask("web02", "PROBLEM", none, "email", "alice")
		pass(time.Minute)
		if got := p.got(); len(got) != 2 || !got[0].Repeat || got[1].Repeat {
			t.Errorf("sent %+v", got)
		}
		p.stop()
	})
}

// What was not due while there were rivals may have been sent by one of them before it
// heard of this process: that is asked again when it goes out.
func TestWhatWaitedThroughATimeWithRivalsIsAskedForAgain(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var rivals atomic.Bool
		rivals.Store(true)
		due := map[object.ID]object.Time{}
		p := w.start(t, func(_ *process, o *Options) {
			o.Rivals = rivals.Load
			o.Begun = func(r *deliver.Pending, at object.Time) bool {
				due[r.Event.Object] = at
				return r.Event.Object == "web01"
			}
			o.Doubted = func(id string) bool { return strings.HasPrefix(id, "web02/") || strings.HasPrefix(id, "web04/") }
		})
		began := object.At(time.Now())
		for i, who := range []string{"alice", "bob", "carol"} {
			w.ask(object.ID(fmt.Sprint("web0", i+1)), "PROBLEM", object.Grouping{By: object.GroupHost, Wait: 10 * time.Second}, "email", who)
		}
		pass(5 * time.Second)
		rivals.Store(false)
		pass(time.Second)
		w.ask("web04", "PROBLEM", none, "email", "alice") // nobody else can have had it
		pass(time.Minute)
		marked := map[object.ID]bool{}
		for _, m := range p.got() {
			marked[m.Items[0].ID] = m.Repeat
		}
		if want := map[object.ID]bool{"web01": true, "web02": true, "web03": false, "web04": false}; !maps.Equal(marked, want) {
			t.Errorf("marked are %v, want %v", marked, want)
		}
		if at := began.Add(10 * time.Second); due["web01"] != at || due["web03"] != at || due["web04"] != 0 {
			t.Errorf("asked for what was due at %v", due)
		}
		p.stop()
	})
}

func TestNothingIsSentWhileTheProcessIsHalted(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var halted atomic.Bool
		halted.Store(true)
		p := w.start(t, func(_ *process, o *Options) { o.Halted = halted.Load })
		w.ask("web01", "PROBLEM", none, "email", "alice")
		pass(time.Minute)
		if len(p.got()) != 0 || w.left() != 1 || p.d.State().Due != 1 {
			t.Fatalf("sent %+v, %d are due", p.got(), p.d.State().Due)
		}
		halted.Store(false)
		pass(time.Second)
		if got := p.got(); len(got) != 1 || got[0].Repeat {
			t.Errorf("sent %+v", got)
		}
		p.stop()
	})
}

func TestAStopOfAHaltedProcessCutsOffWhatIsBeingSent(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var halted atomic.Bool
		p := w.start(t, func(p *process, o *Options) {
			o.Halted = halted.Load
			p.send = func(ctx context.Context, _ *message.Message) error { <-ctx.Done(); return ctx.Err() }
		})
		w.ask("web01", "PROBLEM", none, "email", "alice")
		pass(time.Second)
		halted.Store(true)
		w.ask("web02", "PROBLEM", none, "email", "bob")
		pass(time.Second)
		began := time.Now()
		p.stop()
		if took := time.Since(began); took > time.Second || len(p.got()) != 1 || len(w.all()) != 0 || w.left() != 2 {
			t.Fatalf("after %s: %d messages, %d outcomes, %d are open", took, len(p.got()), len(w.all()), w.left())
		}
		q := w.start(t, nil)
		pass(time.Second)
		got := q.got()
		if len(got) != 2 || !got[0].Repeat || !got[1].Repeat || w.left() != 0 {
			t.Errorf("the next one sent %+v", got)
		}
		q.stop()
	})
}

// What was asked for while nobody could have sent it is no repetition, unless the log
// knows of an attempt.
func TestWhatNobodyCanHaveSentIsNotMarked(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		w.ask("web01", "PROBLEM", none, "email", "alice")
		refusing := w.start(t, func(p *process, _ *Options) {
			p.send = func(context.Context, *message.Message) error { return errors.New("421 later") }
		})
		pass(time.Second)
		refusing.stop()
		w.ask("web02", "PROBLEM", none, "email", "bob")
		w.ask("web03", "PROBLEM", none, "email", "carol")
		p := w.start(t, func(_ *process, o *Options) {
			o.Before = func(p *deliver.Pending) bool { return p.Event.Object == "web03" }
		})
		pass(time.Hour)
		marked := map[object.ID]bool{}
		for _, l := range p.got() {
			marked[l.Items[0].ID] = l.Repeat
		}
		if want := map[object.ID]bool{"web01": true, "web02": false, "web03": true}; !maps.Equal(marked, want) {
			t.Errorf("marked are %v, want %v", marked, want)
		}
		p.stop()
	})
}

// A contact that the config has only now is told at once, not when the next attempt
// would be due; what a channel refused waits on.
func TestAReloadIsFollowedByAnAttemptAtWhatHadNoWay(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var known atomic.Bool
		tries := 0
		p := w.start(t, func(p *process, o *Options) {
			way := o.Resolve
			o.Resolve = func(contact, name string) (channel.Channel, error) {
				if contact == "alice" && !known.Load() {
					return nil, errors.New("the config has no contact alice")
				}
				return way(contact, name)
			}
			p.send = func(_ context.Context, m *message.Message) error {
				if m.Contact.Name == "bob" {
					tries++
					return errors.New("421 later")
				}
				return nil
			}
		})
		w.ask("web01", "PROBLEM", none, "email", "alice")
		w.ask("web02", "PROBLEM", none, "email", "bob")
		pass(20 * time.Minute) // attempts are minutes apart
		p.d.Kick()
		pass(time.Second)
		before := tries
		known.Store(true)
		p.d.Kick()
		pass(time.Second)
		delivered := w.of(event.NotificationDelivered)
		if len(delivered) != 1 || delivered[0].Facts[event.FactContact] != "alice" || delivered[0].Facts[event.FactRepeat] != "" || tries != before {
			t.Errorf("delivered %+v, %d more attempts at the rest", delivered, tries-before)
		}
		p.stop()
	})
}

// takeOver starts a process that takes alice over from a live one, which has been
// sending for a second, and returns it.
func takeOver(t *testing.T, w *world, send func(context.Context, *message.Message) error) (from, to *process, ids []string) {
	t.Helper()
	var owner atomic.Int64
	start := func(n int64, change func(*process, *Options)) *process {
		return w.start(t, func(p *process, o *Options) {
			p.owner = func(string) bool { return owner.Load() == n }
			if change != nil {
				change(p, o)
			}
		})
	}
	from = start(0, func(p *process, _ *Options) { p.send = send })
	ids = w.ask("web01", "PROBLEM", none, "email", "alice")
	pass(time.Second)
	until := time.Now().Add(SendMost)
	owner.Store(1)
	from.d.Kick()
	to = start(1, func(_ *process, o *Options) { o.Busy = func(*deliver.Pending) time.Time { return until } })
	t.Cleanup(func() { from.stop(); to.stop() })
	return from, to, ids
}

// N3: one joins while the owner before is sending.
func TestWhatALiveOwnerWasSendingIsNotSentAgain(t *testing.T) {
	for _, c := range []struct {
		name  string
		takes time.Duration
		err   error
		sent  int // by the new owner
	}{
		{"it is delivered in the end", 20 * time.Second, nil, 0},
		{"it is refused for good", 20 * time.Second, errNever, 0},
		{"it fails, and the new owner goes on when the time is over", 20 * time.Second, errLater, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(t *testing.T, w *world) {
				from, to, _ := takeOver(t, w, func(ctx context.Context, _ *message.Message) error {
					select {
					case <-time.After(c.takes):
						return c.err
					case <-ctx.Done():
						return ctx.Err()
					}
				})
				pass(15 * time.Second)
				if len(to.got()) != 0 {
					t.Fatal("it is sent although the owner before is at it")
				}
				pass(10 * time.Second)
				if c.sent > 0 {
					pass(SendMost)
				}
				if a, b := len(from.got()), len(to.got()); a != 1 || b != c.sent || w.left() != 0 {
					t.Errorf("the owner before sent %d times, the new one %d times, %d are open", a, b, w.left())
				}
			})
		})
	}
}

func TestWhatALiveOwnerNeverTellsOfIsSentInTheEnd(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		from, to, _ := takeOver(t, w, func(ctx context.Context, _ *message.Message) error { <-ctx.Done(); return ctx.Err() })
		from.kill()
		pass(SendMost - 2*time.Second)
		if len(to.got()) != 0 {
			t.Fatal("it is sent while the owner before may be at it")
		}
		pass(3 * time.Second)
		if got := to.got(); len(got) != 1 || !got[0].Repeat || w.left() != 0 {
			t.Errorf("sent %+v", got)
		}
	})
}
