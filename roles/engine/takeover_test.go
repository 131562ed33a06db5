package engine_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/roles/engine"
)

// alerting is a site with a contact who is told of every problem again each 5 minutes.
func alerting() *object.Set {
	set := site(6, 5)
	ann := &object.Contact{Name: "ann", Notify: &object.ContactNotification{
		Hosts: object.Reach{Options: object.NoteAll}, Services: object.Reach{Options: object.NoteAll}, Channels: []string{"email"},
	}}
	note := &object.Notification{Contacts: []*object.Contact{ann}, Options: object.NoteAll, Interval: 5 * time.Minute, Timed: true}
	set.Contacts = map[string]*object.Contact{"ann": ann}
	for _, o := range set.Objects {
		o.Notify = note
	}
	return set
}

// told returns the problem notifications of an object as the log requests them.
func (c *cluster) told(id object.ID) (numbers []int32, times []time.Time) {
	for _, ev := range c.events(id) {
		for _, r := range ev.Requests() {
			if r.Note.Kind == string(notify.Problem) {
				numbers, times = append(numbers, ev.Status.NotificationNumber), append(times, ev.Time.Std())
			}
		}
	}
	return numbers, times
}

// S121, N7: engines die, leave and join all the time. Of every problem each notification
// is asked for once, in their order, and none later than interval and TTL allow.
func TestNotificationsGoOnOverHandovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, alerting)
		c.answer = critical
		for _, id := range []string{"a", "b", "c"} {
			c.join(id)
		}
		began := time.Now()
		var dead []*node
		for i, handovers := 0, []string{"b", "a", "c", "b", "a", "c"}; i < len(handovers); i++ {
			time.Sleep(4*time.Minute + 13*time.Second)
			id := handovers[i]
			if i%3 == 2 {
				c.leave(id)
			} else {
				dead = append(dead, c.kill(id))
				time.Sleep(ttl)
				c.bury(id)
			}
			time.Sleep(47 * time.Second)
			c.join(id)
		}
		time.Sleep(time.Minute)
		rounds := int(time.Since(began)/(5*time.Minute)) - 1
		total := 0
		for _, o := range c.checked() {
			numbers, times := c.told(o.ID)
			total += len(numbers)
			for i, n := range numbers {
				if n != int32(i+1) {
					t.Errorf("%s: the numbers of its notifications are %v", o.ID, numbers)
					break
				}
				if i == 0 {
					continue
				}
				if d := times[i].Sub(times[i-1]); d < 5*time.Minute || d > 5*time.Minute+ttl+time.Second {
					t.Errorf("%s is told again after %s", o.ID, d)
				}
			}
			if len(numbers) < rounds {
				t.Errorf("%s: %d notifications in %s", o.ID, len(numbers), time.Since(began))
			}
		}
		t.Logf("%d notifications of %d problems over %d handovers", total, len(c.checked()), 12)
		c.agree()
		c.end(dead...)
	})
}

// S121: what stands about an object goes on with its next owner: acknowledgement, a
// downtime that ends, a comment, the flap history.
func TestWhatStandsAboutAnObjectGoesOnWithItsNextOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, small)
		var bad atomic.Bool
		bad.Store(true)
		c.answer = func(engine.Job) fold.Result {
			if bad.Load() {
				return fold.Result{State: object.Critical}
			}
			return fold.Result{}
		}
		a := c.join("a")
		id := moving(t, "a", "b")
		time.Sleep(2 * time.Minute)
		at := func(d time.Duration) object.Time { return object.At(time.Now().Add(d)) }
		for _, command := range []fold.Command{
			fold.Acknowledge{Kind: object.AckSticky, Author: "m", Text: "on it"},
			fold.ScheduleDowntime{Downtime: event.Downtime{ID: "d", Author: "m", Text: "move", Start: at(0), End: at(10 * time.Minute)}},
			fold.AddComment{Author: "m", Text: "for now"},
		} {
			if err := a.do(id, command); err != nil {
				t.Fatal(err)
			}
		}
		b := c.join("b")
		before := *b.p.State(id)
		if !sameState(&before, a.p.State(id)) {
			t.Errorf("b begins with %+v", before)
		}
		time.Sleep(8 * time.Minute)
		st := b.p.State(id).Status
		if st.Ack != object.AckSticky || st.DowntimeDepth != 1 || st.Problem != before.Status.Problem || len(st.Extra.Comments) != 2 {
			t.Errorf("with b it is %+v with %+v", st, st.Extra)
		}
		bad.Store(false)
		time.Sleep(3 * time.Minute)
		st = b.p.State(id).Status
		if st.Ack != object.AckNone || st.DowntimeDepth != 0 || st.State != object.OK {
			t.Errorf("after recovery and downtime it is %+v", st)
		}
		for kind, want := range map[event.Kind]string{
			event.AckSet: "a", event.DowntimeScheduled: "a", event.AckCleared: "b", event.DowntimeEnded: "b",
		} {
			if all := c.events(id, kind); len(all) != 1 || all[0].Writer != want {
				t.Errorf("%d events %s, want one by %s", len(all), kind, want)
			}
		}
		if fold.Percent(b.p.State(id).Measure.Ring) == 0 {
			t.Error("the history of changes was lost")
		}
		c.agree()
		c.end()
	})
}

// A notification whose messages were all given up while its owner was dead is told again
// by the next owner, once.
func TestANotificationThatReachedNobodyIsMadeUpFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, func() *object.Set {
			set := alerting()
			set.Objects[0].Notify.Interval = 5 * time.Hour // for all
			return set
		})
		c.answer = critical
		c.join("a")
		c.join("b")
		time.Sleep(2*time.Minute + 30*time.Second)
		id := c.owned("b")[0]
		dead := c.kill("b")
		for _, r := range c.requests(id) {
			c.j.Append(&event.Event{
				Version: 1, ID: "gone-" + r.ID, Kind: event.NotificationAbandoned, Object: id, Writer: "n", Time: object.At(time.Now()),
				Facts: map[string]string{event.FactRequest: r.ID, event.FactContact: r.Contact, event.FactLost: "true"},
			}, 0, func(uint64, error) {})
		}
		time.Sleep(ttl)
		if n := len(c.events(id, event.NotificationMissed)); n != 0 {
			t.Errorf("who is no owner decided %d times", n)
		}
		c.bury("b")
		time.Sleep(time.Second)
		if all := c.events(id, event.NotificationMissed); len(all) != 1 || all[0].Writer != "a" {
			t.Errorf("%d decisions about what reached nobody, want one by a", len(all))
		}
		time.Sleep(time.Hour)
		if numbers, times := c.told(id); len(numbers) != 2 || times[1].Sub(times[0]) > 20*time.Minute {
			t.Errorf("people were told %v at %v, want again soon", numbers, times)
		}
		c.end(dead)
	})
}

// requests returns the requests of notifications that an object's events hold.
func (c *cluster) requests(id object.ID) (all []event.Request) {
	for _, ev := range c.events(id) {
		all = append(all, ev.Requests()...)
	}
	return all
}

// A host that is checked on demand only is asked about by its next owner, where a
// service's trouble began while nobody cared for the host.
func TestAHostIsAskedAboutThatNobodyCaredFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, func() *object.Set {
			set := site(20, 2)
			rule := *set.Objects[1].Rule
			rule.Interval = 0
			for _, o := range set.Objects {
				if o.Host == nil {
					o.Rule = &rule
				}
			}
			return set
		})
		var bad atomic.Bool
		c.answer = func(j engine.Job) fold.Result {
			switch {
			case !bad.Load():
				return fold.Result{}
			case j.Object.Host == nil:
				return fold.Result{State: object.Down}
			}
			return fold.Result{State: object.Critical}
		}
		c.join("a")
		c.join("b")
		time.Sleep(2 * time.Minute)
		dead := c.kill("b")
		bad.Store(true)
		time.Sleep(2 * time.Minute) // every service of a is in trouble
		host := object.ID("")
		for _, id := range c.owned("b") {
			o := c.set().Get(id)
			if o.Host != nil {
				continue
			}
			for _, s := range o.Services {
				if c.store.View().Owner(string(s.ID)) == "a" {
					host = id
				}
			}
		}
		if host == "" || len(c.times(host)) != 0 {
			t.Fatalf("%q was checked %d times", host, len(c.times(host)))
		}
		c.bury("b")
		time.Sleep(time.Second)
		if times := c.times(host); len(times) != 1 || times[0].by != "a" {
			t.Errorf("%s was checked %v, want once by a", host, times)
		}
		c.end(dead)
	})
}
