package engine_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
)

// N6: an engine dies right after the append of a transition. The request to tell people
// is in the same event, so that it is there for whoever delivers; the next owner asks
// for no second one.
func TestTheRequestOfATransitionOutlivesItsEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, alerting)
		c.answer = critical
		a := c.join("a")
		b := c.join("b")
		var once sync.Once
		var id object.ID
		hard := make(chan struct{})
		a.intercept(func(ev *event.Event, expect uint64, done journal.Done) bool {
			if !ev.Transition || ev.Status == nil || ev.Status.Type != object.Hard || len(ev.Requests()) == 0 {
				return false
			}
			once.Do(func() {
				id = ev.Object
				a.Journal.Append(ev, expect, func(uint64, error) { close(hard) })
			})
			return true // and it hears of nothing any more
		})
		<-hard
		dead := c.kill("a")
		time.Sleep(ttl)
		c.bury("a")
		time.Sleep(4 * time.Minute)
		if numbers, _ := c.told(id); len(numbers) != 1 || numbers[0] != 1 {
			t.Errorf("%s: the numbers of its notifications are %v, want one", id, numbers)
		}
		open := 0
		for _, p := range b.p.OpenRequests() {
			if p.Event.Object == id {
				open++
			}
		}
		if open != 1 {
			t.Errorf("%d requests about %s are open for delivery, want 1", open, id)
		}
		c.agree()
		c.end(dead)
	})
}
