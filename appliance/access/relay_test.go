package access

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/journal"
)

// attempt is a request by which a holder has the server send something elsewhere.
type attempt struct {
	who, subject, reply, body string
}

// delivering asks for a consumer that delivers to a subject of its maker's choice.
func delivering(stream, filter, to string) string {
	return fmt.Sprintf(`{"stream_name":%q,"config":{"name":"x","deliver_subject":%q,"filter_subject":%q,"ack_policy":"none"}}`, stream, to, filter)
}

// attempts are those that nobody may carry out.
func attempts() []attempt {
	const target = "jaque.log.web01"
	out := []attempt{{
		"worker-dmz", "$JS.API.CONSUMER.CREATE.JAQUE_WORK.zone-dmz.jaque.work.check.dmz", target,
		fmt.Sprintf(`{"stream_name":"JAQUE_WORK","config":{"durable_name":"zone-dmz","filter_subject":"jaque.work.check.dmz","ack_policy":"explicit","metadata":{"junk":%q}}}`, strings.Repeat("x", 100_000)),
	}, {
		"worker-dmz", "$JS.API.CONSUMER.CREATE.JAQUE_WORK.zone-dmz.jaque.work.check.dmz", "_INBOX.worker.worker-dmz.x",
		delivering("JAQUE_WORK", "jaque.work.check.dmz", target),
	}}
	for who, keys := range writable() {
		for _, k := range keys {
			bucket, _, _ := strings.Cut(strings.TrimPrefix(k, "$KV."), ".")
			stream, last := "KV_"+bucket, fmt.Sprintf(`{"last_by_subj":%q}`, k)
			for _, to := range []string{
				target, "jaque.result.dmz.web01", "jaque.work.cmd.ingress", "jaque.cmd.engine", "jaque.work.result.engine.dmz",
				"$KV.JAQUE_MEMBERS.membership/view", "$KV.JAQUE_MEMBERS.membership/member.x", "$KV.JAQUE_STATE.sink.f", "$O.JAQUE_SNAPSHOTS.M.x",
			} {
				out = append(out,
					attempt{who, "$JS.API.DIRECT.GET." + stream + "." + k, to, ""},
					attempt{who, "$JS.API.DIRECT.GET." + stream, to, last},
					attempt{who, "$JS.API.CONSUMER.CREATE." + stream + ".x." + k, "_INBOX." + who + "." + who + ".x", delivering(stream, k, to)},
					attempt{who, "$JS.API.CONSUMER.CREATE." + stream + ".x", "_INBOX." + who + "." + who + ".x", delivering(stream, "", to)},
					attempt{who, "$JS.API.CONSUMER.CREATE." + stream, "_INBOX." + who + "." + who + ".x", delivering(stream, k, to)},
					attempt{who, "$JS.API.CONSUMER.DURABLE.CREATE." + stream + ".x", "_INBOX." + who + "." + who + ".x", delivering(stream, k, to)})
			}
		}
	}
	return out
}

// writable are keys under which holders may keep what they like.
func writable() map[string][]string {
	return map[string][]string{
		"sink":     {"$KV.JAQUE_STATE.sink.x", "$KV.JAQUE_MEMBERS.sink/membership/view", "$KV.JAQUE_MEMBERS.sink/membership/member.x"},
		"notifier": {"$KV.JAQUE_MEMBERS.notifier/membership/view", "$KV.JAQUE_MEMBERS.notifier/membership/member.x"},
	}
}

// forged is an event as an engine writes it.
func forged() []byte { return event.AppendJSON(nil, decision(event.CheckResult, "web01", 0)) }

// Whoever may write a value cannot have the server deliver it where he may not write.
func TestNobodyHasTheServerSayWhatHeMayNotSay(t *testing.T) {
	t.Parallel()
	for name, start := range places() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t)
			engine := p.join(t, "engine", bus.Options{})
			d, err := openQueue(engine).Dispatcher(t.Context(), "engine") // there is a queue
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close() })
			heard, err := engine.Conn().SubscribeSync("jaque.work.cmd.ingress")
			if err != nil {
				t.Fatal(err)
			}
			forwarded, err := engine.Conn().SubscribeSync("jaque.cmd.engine")
			if err != nil || engine.Conn().Flush() != nil { // what the others send comes after it
				t.Fatal(err)
			}
			all := attempts()
			for _, who := range []string{"worker-dmz", "sink", "notifier"} {
				r := &refusals{all: map[string]bool{}}
				nc := p.join(t, who, bus.Options{Bare: true}).Conn()
				nc.SetErrorHandler(r.add)
				for _, key := range writable()[who] {
					keep(t, nc, key)
				}
				for _, a := range all {
					if a.who == who {
						if err := nc.PublishRequest(a.subject, a.reply, []byte(a.body)); err != nil {
							t.Fatal(err)
						}
					}
				}
				got := r.after(t, nc)
				for _, a := range all {
					if a.who == who && !got[refusal("publish", a.subject)] {
						t.Errorf("%s: the server takes %s with the answer to %s", who, a.subject, a.reply)
					}
				}
			}
			if at, err := open(t, engine, journal.Options{ReadOnly: true}).End(t.Context()); err != nil || at != (journal.Position{}) {
				t.Errorf("something came on the log: %+v, %v", at, err)
			}
			for _, sub := range []*nats.Subscription{heard, forwarded} {
				if m, err := sub.NextMsg(50 * time.Millisecond); err == nil {
					t.Errorf("a command arrived on %s: %s", m.Subject, m.Data)
				}
			}
			t.Logf("%d attempts", len(all))
		})
	}
}

// keep writes a forged event under a key.
func keep(t *testing.T, nc *nats.Conn, key string) {
	t.Helper()
	m, err := nc.RequestWithContext(t.Context(), key, forged())
	if err != nil || strings.Contains(string(m.Data), `"error"`) {
		t.Fatalf("write %s: %v", key, err)
	}
}

// An answer of the server's own may come anywhere, and holds a forged event; readers
// of the log take it for none.
func TestAnswersOfTheServerAreNoEvents(t *testing.T) {
	t.Parallel()
	p := embedded(t)
	engine := p.join(t, "engine", bus.Options{})
	sink := p.join(t, "sink", bus.Options{Bare: true}).Conn()
	const key = "$KV.JAQUE_STATE.sink.x"
	keep(t, sink, key)
	ask, err := json.Marshal(map[string]string{"last_by_subj": key})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []attempt{
		{"", "$JS.API.STREAM.MSG.GET.KV_JAQUE_STATE", "jaque.log.web01", string(ask)},
		{"", "$JS.API.STREAM.MSG.GET.KV_JAQUE_STATE", "jaque.result.dmz.web01", string(ask)},
		{"", "$JS.API.STREAM.INFO.JAQUE_LOG", "jaque.log.web01", ""},
		{"", "$JS.API.CONSUMER.CREATE.JAQUE_LOG.x", "jaque.log.web01", string(forged())},
	} {
		if err := sink.PublishRequest(a.subject, a.reply, []byte(a.body)); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Flush(); err != nil {
		t.Fatal(err)
	}
	// A notifier may get an event of the log, to any subject; it is marked there.
	notifier := p.join(t, "notifier", bus.Options{Bare: true}).Conn()
	outcome := decision(event.NotificationDelivered, "web02", 0)
	outcome.Status, outcome.Measure = nil, nil
	if _, err := notifier.RequestWithContext(t.Context(), "jaque.log.web02.outcome", event.AppendJSON(nil, outcome)); err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"jaque.log.web02", "jaque.result.dmz.web02"} {
		if err := notifier.PublishRequest("$JS.API.DIRECT.GET.JAQUE_LOG", to, []byte(`{"last_by_subj":"jaque.log.web02.outcome"}`)); err != nil {
			t.Fatal(err)
		}
	}
	if err := notifier.Flush(); err != nil {
		t.Fatal(err)
	}
	j := open(t, engine, journal.Options{})
	last := put(t, j, decision(event.CheckResult, "db", 0), 0)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var seen []event.Event
	caughtUp := false
	err = j.Follow(ctx, journal.Position{}, func(events []event.Event) error { seen = append(seen, events...); return nil }, func() { caughtUp = true; cancel() })
	if !caughtUp || last != 6 || len(seen) != 2 || seen[0].Object != "web02" || seen[1].Object != "db" {
		t.Errorf("of %d messages on the log these were taken for events: %+v, caught up %v: %v", last, seen, caughtUp, err)
	}
}
