package roles

import (
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
)

// An engine with zones may be replaced by one that executes everything itself.
func TestZonesThatNoEngineSpeaksOfAreLetGo(t *testing.T) {
	c, problems := config.Load(folder(t, dmz), config.Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	synctest.Test(t, func(t *testing.T) {
		a := &appliance{config: c, proj: projection.New(c.Set), p: Process{Logger: quiet()}}
		a.live.Store(true)
		shown := func() bool { return a.proj.Set().Get(config.ZoneID("dmz")) != nil }
		learn := func(id object.ID) {
			a.learnZone(&event.Event{Object: id, Time: object.At(time.Now())})
		}
		for range 2 {
			learn(config.ZoneID("dmz"))
			for range 30 { // both go on
				time.Sleep(20 * time.Second)
				learn("web01")
				learn(config.ZoneID("dmz"))
			}
			if !shown() {
				t.Fatal("a zone that an engine speaks of is not shown")
			}
			for range 20 {
				time.Sleep(20 * time.Second)
				learn("web01")
			}
			if shown() {
				t.Error("a zone that nobody speaks of any more is still shown")
			}
		}
		learn(config.ZoneID("dmz"))
		time.Sleep(time.Hour) // no engine at all: what was known stays
		if !shown() {
			t.Error("a zone was let go although no engine wrote")
		}
		learn("web01") // it is back
		if !shown() {
			t.Error("a zone was let go before an engine that is back had the time to look at it")
		}
	})
}
