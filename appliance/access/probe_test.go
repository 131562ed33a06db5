package access

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/queue"
)

// never lists, for each holder, subjects that it must not publish, whatever the table
// says: those whose use would control the monitoring or read what is secret.
func never() map[string][]string {
	events := []string{"jaque.log.web01", "jaque.log.system.config", "jaque.result.dmz.web01", "jaque.log.>", "jaque.result.>"}
	work := []string{"jaque.work.check.dmz", "jaque.work.check.lan", "jaque.work.result.engine.dmz", "jaque.work.result.engine.lan", "jaque.work.result.>"}
	state := []string{"$KV.JAQUE_STATE.other.x", "$JS.API.STREAM.MSG.GET.KV_JAQUE_STATE"}
	// What has the server deliver the values of buckets as they are, to any subject.
	var relay []string
	for _, bucket := range []string{"JAQUE_STATE", "JAQUE_MEMBERS"} {
		for _, key := range []string{"sink.x", "sink/membership/view", "notifier/membership/view"} {
			relay = append(relay, "$JS.API.DIRECT.GET.KV_"+bucket+".$KV."+bucket+"."+key, "$JS.API.CONSUMER.CREATE.KV_"+bucket+".x.$KV."+bucket+"."+key)
		}
		relay = append(relay, "$JS.API.DIRECT.GET.KV_"+bucket, "$JS.API.CONSUMER.CREATE.KV_"+bucket, "$JS.API.CONSUMER.CREATE.KV_"+bucket+".x")
	}
	takeWork := []string{
		"$JS.API.CONSUMER.CREATE.JAQUE_WORK.x", "$JS.API.CONSUMER.MSG.NEXT.JAQUE_WORK.zone-dmz", "$JS.API.CONSUMER.MSG.NEXT.JAQUE_WORK.zone-lan",
		"$JS.API.STREAM.MSG.GET.JAQUE_WORK", "$JS.API.DIRECT.GET.JAQUE_WORK", "$JS.ACK.JAQUE_WORK.zone-lan.1.1.1.1.1",
	}
	order := []string{"jaque.work.cmd.ingress", "jaque.cmd.engine", "jaque.cmd.e2", "jaque.cmd.>"}
	members := []string{"$KV.JAQUE_MEMBERS.membership/view", "$KV.JAQUE_MEMBERS.membership/member.x"}
	outcome := []string{"jaque.log.web01.outcome"}
	sinkPosition := []string{"$KV.JAQUE_STATE.sink.x"}
	snapshots := []string{"$O.JAQUE_SNAPSHOTS.M.x", "$JS.API.STREAM.PURGE.OBJ_JAQUE_SNAPSHOTS", "$JS.API.STREAM.PURGE.KV_JAQUE_MEMBERS", "$JS.API.STREAM.PURGE.KV_JAQUE_STATE"}
	worker := func(mine, other string) []string {
		return slices.Concat(events, state, relay, order, members, outcome, sinkPosition, snapshots, []string{
			"jaque.work.check." + mine, "jaque.work.check." + other, "jaque.work.result.engine." + other, "jaque.work.worker." + other,
			"jaque.work.hello", "jaque.work.result.>", "$JS.API.CONSUMER.CREATE.JAQUE_WORK.zone-" + other + ".jaque.work.check." + other,
			"$JS.API.CONSUMER.CREATE.JAQUE_WORK.zone-" + mine + ".jaque.work.check." + other,
			"$JS.API.CONSUMER.CREATE.JAQUE_WORK.zone-" + mine + ".jaque.work.check." + mine,
			"$JS.API.CONSUMER.CREATE.JAQUE_WORK.zone-" + mine, "$JS.API.CONSUMER.MSG.NEXT.JAQUE_WORK.zone-" + other,
			"$JS.ACK.JAQUE_WORK.zone-" + other + ".1.1.1.1.1", "$JS.API.STREAM.MSG.GET.JAQUE_WORK", "$JS.API.DIRECT.GET.JAQUE_WORK",
			"$JS.API.STREAM.INFO.JAQUE_LOG", "$JS.API.CONSUMER.CREATE.JAQUE_LOG.x", "$JS.API.DIRECT.GET.JAQUE_LOG",
		})
	}
	return map[string][]string{
		"engine":     slices.Concat(takeWork, []string{"jaque.work.cmd.ingress", "$KV.JAQUE_MEMBERS.sink/membership/view", "$KV.JAQUE_MEMBERS.notifier/membership/view", "$KV.JAQUE_STATE.other.x"}, relay),
		"worker-dmz": worker("dmz", "lan"),
		"worker-lan": worker("lan", "dmz"),
		"ui":         slices.Concat(events, work, takeWork, state, relay, members, outcome, sinkPosition, snapshots, []string{"jaque.cmd.engine", "jaque.cmd.e2", "jaque.cmd.>", "_INBOX.engine.e2.x", "jaque.work.worker.dmz"}),
		"sink":       slices.Concat(events, work, takeWork, relay, order, members, outcome, snapshots, []string{"jaque.work.hello", "$KV.JAQUE_STATE.other.x"}),
		"notifier":   slices.Concat(events, work, takeWork, state, relay, order, members, sinkPosition, snapshots, []string{"jaque.work.hello"}),
	}
}

// hears lists everything that each holder may subscribe to.
func hears() map[string][]string {
	return map[string][]string{
		"engine":     {"_INBOX.engine.engine.>", "jaque.cmd.engine", "jaque.work.cmd.ingress", "jaque.work.result.engine.*", "jaque.work.worker.*"},
		"worker-dmz": {"_INBOX.worker.worker-dmz.>", "jaque.work.hello"},
		"worker-lan": {"_INBOX.worker.worker-lan.>", "jaque.work.hello"},
		"ui":         {"_INBOX.ui.ui.>", "jaque.work.worker.*"},
		"sink":       {"_INBOX.sink.sink.>"},
		"notifier":   {"_INBOX.notifier.notifier.>"},
		"backup":     {"_INBOX.backup.backup.>"},
	}
}

// nobody lists what none of them may publish.
func nobody() []string {
	out := []string{
		">", "*", "$SYS.>", "$SYS.REQ.SERVER.PING", "$SYS.REQ.ACCOUNT.PING.CONNZ", "$SYS.ACCOUNT.$G.CONNECT", "$JS.>", "$JS.API.>", "$JS.API.STREAM.LIST", "$JS.API.STREAM.NAMES",
		"$JS.API.META.LEADER.STEPDOWN", "$KV.>", "$O.>", "_INBOX.>", "_INBOX.*.*.>", "jaque.>", "other.subject", "$JS.EVENT.ADVISORY.>",
		// Where members of a cluster share their users, and remove each other.
		"jaque.cluster.>", "jaque.cluster.who", "jaque.cluster.users", "jaque.cluster.ask.*", "jaque.cluster.ask.engine",
	}
	for _, s := range append(streams(bus.NamesFor("")), "JAQUE_WORK", "OTHER") {
		for _, verb := range []string{"STREAM.DELETE", "STREAM.MSG.DELETE", "STREAM.SNAPSHOT", "STREAM.RESTORE", "STREAM.PEER.REMOVE", "STREAM.LEADER.STEPDOWN", "CONSUMER.LIST", "CONSUMER.NAMES"} {
			out = append(out, "$JS.API."+verb+"."+s)
		}
		if !slices.Contains([]string{"OBJ_JAQUE_SNAPSHOTS", "KV_JAQUE_MEMBERS", "KV_JAQUE_STATE"}, s) { // which an engine empties
			out = append(out, "$JS.API.STREAM.PURGE."+s)
		}
		out = append(out, "$JS.API.CONSUMER.DURABLE.CREATE."+s+".x", "$JS.API.CONSUMER.INFO."+s+".x", "$JS.API.CONSUMER.MSG.NEXT."+s+".x")
	}
	return append(out, "$JS.API.STREAM.CREATE.OTHER", "$JS.API.STREAM.UPDATE.OTHER")
}

// universe are subjects that some holder may use, with words for the wildcards, and
// those that none may.
func universe() []string {
	out := nobody()
	for _, h := range holders() {
		publish, subscribe := Subjects(Rights(h))
		for _, s := range append(publish, subscribe...) {
			out = append(out, strings.ReplaceAll(strings.ReplaceAll(s, ".*", ".x"), ".>", ".x.y"))
		}
		out = append(out, never()[h.ID]...)
		out = append(out, "_INBOX."+string(h.Role)+"."+token(h.ID)+".>")
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// covers tells whether a subject, which may have wildcards, lies within a pattern.
func covers(pattern, subject string) bool {
	p, s := strings.Split(pattern, "."), strings.Split(subject, ".")
	for i, word := range p {
		switch {
		case word == ">":
			return len(s) > i
		case i >= len(s):
			return false
		case word == "*" && s[i] != ">":
		case word != s[i]:
			return false
		}
	}
	return len(p) == len(s)
}

func anyCovers(patterns []string, subject string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return covers(p, subject) })
}

// refusals collects what a server refuses a connection.
type refusals struct {
	mu  sync.Mutex
	all map[string]bool
}

func (r *refusals) add(_ *nats.Conn, _ *nats.Subscription, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, subject, _ := strings.Cut(err.Error(), `"`)
	r.all[strings.ToLower(text)+`"`+subject] = true
}

// after returns the refusals of everything that was sent so far: they come in order,
// so that one more says that the others are there.
func (r *refusals) after(t *testing.T, nc *nats.Conn) map[string]bool {
	t.Helper()
	if err := nc.Publish("last.one", nil); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		r.mu.Lock()
		all := maps.Clone(r.all)
		r.mu.Unlock()
		if last := refusal("publish", "last.one"); all[last] {
			delete(all, last)
			return all
		}
		if time.Since(began) > time.Minute {
			t.Fatal("the server refuses nothing")
		}
	}
}

// refusal is what the client says of one; what is publish or subscription.
func refusal(what, subject string) string {
	return strings.ToLower("nats: permissions violation: permissions violation for "+what+" to ") + `"` + subject + `"`
}

func TestTheServerRefusesWhatNoRightLists(t *testing.T) {
	t.Parallel()
	subjects := universe()
	for name, start := range places() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t)
			total, no := 0, 0
			for _, h := range holders() {
				r := &refusals{all: map[string]bool{}}
				nc := p.join(t, h.ID, bus.Options{Bare: true}).Conn()
				nc.SetErrorHandler(r.add)
				publish, subscribe := Subjects(Rights(h))
				want := map[string]bool{}
				for _, s := range subjects {
					total += 2
					if !anyCovers(publish, s) && !strings.ContainsAny(s, "*>") {
						want["publish "+s] = true
					}
					if !anyCovers(subscribe, s) {
						want["subscription "+s] = true
					}
					if !strings.ContainsAny(s, "*>") {
						_ = nc.Publish(s, nil)
					}
					_, _ = nc.SubscribeSync(s)
				}
				got := r.after(t, nc)
				for s := range want {
					what, subject, _ := strings.Cut(s, " ")
					if !got[refusal(what, subject)] {
						t.Errorf("%s: the server allows %s", h.ID, s)
					}
				}
				for text := range got {
					if _, rest, _ := strings.Cut(text, " for "); !want[strings.Replace(strings.Trim(rest, `"`), ` to "`, " ", 1)] {
						t.Errorf("%s: the table allows what the server refuses: %s", h.ID, text)
					}
				}
				no += len(want)
				for _, s := range slices.Concat(never()[h.ID], nobody()) {
					copies := h.Role == Backup && strings.HasPrefix(s, "$JS.API.STREAM.SNAPSHOT.") // what the role is for
					if anyCovers(publish, s) && !copies {
						t.Errorf("%s: the table allows to publish %s", h.ID, s)
					}
				}
				if !slices.Equal(subscribe, hears()[h.ID]) {
					t.Errorf("%s: it may subscribe to %q, want only %q", h.ID, subscribe, hears()[h.ID])
				}
			}
			t.Logf("%d combinations of holder, subject and direction, %d refused", total, no)
		})
	}
}

// TestAForgedResultIsRefused has a worker of one zone answer the work of another one.
func TestAForgedResultIsRefused(t *testing.T) {
	t.Parallel()
	for name, start := range places() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t)
			b := p.join(t, "engine", bus.Options{})
			d, err := openQueue(b).Dispatcher(t.Context(), "engine")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close() })
			heard, err := b.Conn().SubscribeSync("jaque.work.result.engine.*")
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Conn().Flush(); err != nil {
				t.Fatal(err)
			}
			r := &refusals{all: map[string]bool{}}
			forger := p.join(t, "worker-lan", bus.Options{Bare: true}).Conn()
			forger.SetErrorHandler(r.add)
			for _, zone := range []string{"dmz", "lan"} {
				if err := forger.Publish("jaque.work.result.engine."+zone, []byte(`{"v":1,"id":"x"}`)); err != nil {
					t.Fatal(err)
				}
			}
			if !r.after(t, forger)[refusal("publish", "jaque.work.result.engine.dmz")] {
				t.Error("the server took a result for the work of another zone")
			}
			m, err := heard.NextMsg(time.Minute)
			if err != nil || m.Subject != "jaque.work.result.engine.lan" {
				t.Errorf("heard %v, %v; want only the result of the worker's own zone", m, err)
			}
		})
	}
}

// token is an id as part of a subject.
func token(id string) string { return queue.WorkerRights("", id, nil).Inbox[len("_INBOX.worker."):] }
