package access

import (
	"testing"
	"time"

	"jaque.sh/jaque/appliance/bucket"
	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/sink/position"
)

// answering are requests that a holder may make, whose answers the server stores wherever
// it is told to.
func answering() []attempt {
	return []attempt{
		{who: "worker-dmz", subject: "$JS.API.CONSUMER.MSG.NEXT.JAQUE_WORK.zone-dmz", body: `{"batch":1,"no_wait":true}`},
		{who: "ui", subject: "$JS.API.STREAM.INFO.JAQUE_LOG"},
		{who: "ui", subject: "$JS.API.DIRECT.GET.JAQUE_LOG", body: `{"seq":1000000}`},
		{who: "notifier", subject: "$JS.API.DIRECT.GET.JAQUE_LOG", body: `{"last_by_subj":"jaque.log.web01"}`},
	}
}

// Whatever the server stores over the entries of members and sinks and among the
// snapshots: everybody goes on, and those who start find their way.
func TestAnswersOfTheServerAreNoEntries(t *testing.T) {
	t.Parallel()
	p := embedded(t)
	engine := p.join(t, "engine", bus.Options{})
	sink, notifier := p.join(t, "sink", bus.Options{Attach: true}), p.join(t, "notifier", bus.Options{Attach: true})
	d, err := openQueue(engine).Dispatcher(t.Context(), "engine")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	j := open(t, engine, journal.Options{})
	put(t, j, decision(event.CheckResult, "web01", 0), 0)
	if err := j.SaveSnapshot(t.Context(), journal.Position{Log: 1}, []byte("state")); err != nil {
		t.Fatal(err)
	}
	for path, b := range map[string]*bus.Bus{coordination.Engines: engine, coordination.Sinks: sink, coordination.Notifiers: notifier} {
		belongs(t, b, path)
	}
	keeps(t, sink, "graphite")
	total, hidden := 0, 0
	for _, a := range answering() {
		nc := p.join(t, a.who, bus.Options{Bare: true}).Conn()
		for _, key := range targets() {
			if err := nc.PublishRequest(a.subject, key, []byte(a.body)); err != nil {
				t.Fatal(err)
			}
			total++
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	state, err := bucket.New(engine.Conn(), engine.Names().State)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); hidden == 0 && time.Now().Before(end); {
		e, err := state.Get(t.Context(), "sink.graphite")
		if err != nil {
			t.Fatal(err)
		}
		if e.Foreign {
			hidden++
		}
	}
	for path, b := range map[string]*bus.Bus{coordination.Engines: engine, coordination.Sinks: sink, coordination.Notifiers: notifier} {
		if n, err := coordination.Live(t.Context(), b.Conn(), b.Names().Members, path); err != nil || n != 0 {
			t.Errorf("%s: %d live, %v", path, n, err)
		}
		belongs(t, b, path)
	}
	if hidden == 0 {
		t.Error("nothing was stored over the position of a sink")
	}
	if at, err := savedPosition(t, sink); err != nil || at.Log != 3 {
		t.Errorf("the sink goes on at %+v, %v", at, err)
	}
	keeps(t, sink, "graphite")
	if _, data, err := open(t, engine, journal.Options{ReadOnly: true}).LoadSnapshot(t.Context()); err != nil || string(data) != "state" {
		t.Errorf("snapshot %q, %v", data, err)
	}
	t.Logf("%d attempts", total)
}

// targets are keys at which everybody looks.
func targets() []string {
	out := []string{"$KV.JAQUE_STATE.sink.graphite", "$KV.JAQUE_STATE.sink.f", "$O.JAQUE_SNAPSHOTS.M.x", "$O.JAQUE_SNAPSHOTS.C.x"}
	for _, path := range []string{coordination.Engines, coordination.Sinks, coordination.Notifiers} {
		out = append(out, "$KV.JAQUE_MEMBERS."+path+"/view", "$KV.JAQUE_MEMBERS."+path+"/member.one")
	}
	return out
}

// savedPosition reads the position that keeps left.
func savedPosition(t *testing.T, b *bus.Bus) (journal.Position, error) {
	t.Helper()
	k, err := position.New(b.Conn(), b.Names().State, position.Options{})
	if err != nil {
		return journal.Position{}, err
	}
	at, _, err := k.Load(t.Context(), "graphite")
	return at, err
}
