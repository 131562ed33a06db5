package delivery

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/rule/message"
)

// Trouble says since when messages wait: since what they tell of happened, also to a
// process that began later, and in the zone that they tell times in.
func TestTroubleSaysSinceWhenMessagesWait(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		zone := time.FixedZone("CEST", 2*3600)
		refuse := func(p *process, o *Options) {
			o.Zone = zone
			p.send = func(context.Context, *message.Message) error { return errors.New("421 later") }
		}
		p := w.start(t, refuse)
		first := time.Now()
		ids := w.ask("web01", "PROBLEM", none, "email", "alice")
		pass(90 * time.Minute)
		second := time.Now()
		w.ask("web01", "PROBLEM", none, "email", "bob")
		pass(10 * time.Minute)
		if n := p.d.Attempts(ids[0]); n < 10 || len(w.of(event.NotificationFailed)) != 2 {
			t.Errorf("%d attempts, the log has %d failures", n, len(w.of(event.NotificationFailed)))
		}
		want := "2 notifications wait over email since " + first.In(zone).Format("15:04") + " CEST: 421 later"
		if got := p.d.Trouble(); !slices.Equal(got, []string{want}) {
			t.Errorf("it says %q, want %q", got, want)
		}
		p.stop()
		p = w.start(t, refuse)
		pass(2 * time.Second)
		if got := p.d.Trouble(); !slices.Equal(got, []string{want}) {
			t.Errorf("after a restart it says %q, want %q", got, want)
		}
		w.fold(&event.Event{ID: "by hand", Kind: event.NotificationAbandoned, Facts: map[string]string{event.FactRequest: ids[0]}})
		pass(time.Minute)
		if n := p.d.Attempts(ids[0]); n != 0 {
			t.Errorf("of what is over there are %d attempts", n)
		}
		want = "1 notification waits over email since " + second.In(zone).Format("15:04") + " CEST: 421 later"
		if got := p.d.Trouble(); !slices.Equal(got, []string{want}) {
			t.Errorf("without the first it says %q, want %q", got, want)
		}
		p.stop()
	})
}
