package web

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/web/sample"
)

// longLog is a log on JetStream that many decisions about telling people stand on.
type longLog struct {
	tb      testing.TB
	journal journal.Journal
	open    []event.Event // whose requests have no outcome yet
	last    map[object.ID]uint64
	waits   sync.WaitGroup
	mu      sync.Mutex
}

// newLongLog writes decisions of 20,000 services, now. Each tells two people, but every 50th nobody; every 1,000th message is given up
// after a failure, and the newest 20 are still open.
func newLongLog(tb testing.TB, decisions int) *longLog {
	tb.Helper()
	b, err := bus.Open(tb.Context(), bus.Options{Data: tb.TempDir(), Registerer: prometheus.NewRegistry()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = b.Close(tb.Context()) })
	l := &longLog{tb: tb, last: map[object.ID]uint64{}}
	if l.journal, err = journal.OpenJetStream(tb.Context(), b, journal.Options{Registerer: prometheus.NewRegistry()}); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.journal.Close(tb.Context()) })
	const atOnce = 2000 // fewer than there are services: one append of an object at a time
	for from := 0; from < decisions; from += atOnce {
		var outcomes []event.Event
		for n := from; n < min(from+atOnce, decisions); n++ {
			e := longDecision(n)
			l.append(&e)
			if n >= decisions-20 {
				l.open = append(l.open, e)
				continue
			}
			outcomes = append(outcomes, longOutcomes(n, &e)...)
		}
		l.waits.Wait()
		for i := range outcomes {
			l.append(&outcomes[i])
		}
		l.waits.Wait()
	}
	return l
}

func (l *longLog) append(e *event.Event) {
	l.waits.Add(1)
	l.mu.Lock()
	at := l.last[e.Object]
	l.mu.Unlock()
	l.journal.Append(e, at, func(seq uint64, err error) {
		if err != nil {
			l.tb.Error(err)
		}
		if !e.Kind.Outcome() {
			l.mu.Lock()
			l.last[e.Object] = seq
			l.mu.Unlock()
		}
		l.waits.Done()
	})
}

func longDecision(n int) event.Event {
	id := object.ServiceID(fmt.Sprintf("host%05d", n%20_000/10), fmt.Sprintf("service%d", n%10))
	at := object.At(time.Now())
	gates := func(names ...string) (all []event.Gate) {
		for _, name := range names {
			all = append(all, event.Gate{Name: name, Verdict: event.GatePassed})
		}
		return all
	}
	note := event.Note{Kind: "PROBLEM", Send: n%50 != 0, Number: 1, Policy: "default", Gates: gates("program", "object", "period", "downtime", "acknowledged", "flapping", "options", "interval")}
	e := event.Event{
		Version: event.Version, ID: fmt.Sprint("d", n), Kind: event.CheckResult, Also: []event.Kind{event.NotificationIntended}, Object: id, Epoch: 1, Writer: "engine-1",
		Time: at, Transition: true, Measure: &event.Measure{Epoch: 1, N: uint64(n), Output: "CRITICAL - load average: 40.42, 37.37, 31.31; 214 processes"},
		Status: &event.Status{State: object.Critical, Type: object.Hard, Checked: true, Attempt: 3, MaxAttempts: 3, Problem: at},
	}
	if !note.Send {
		note.By, e.Also = "downtime", []event.Kind{event.NotificationSuppressed}
		note.Gates = append(note.Gates[:3:3], event.Gate{Name: "downtime", Verdict: event.GateBlocked, Why: "in a downtime until tomorrow"})
	}
	for _, name := range []string{"ann", "ben", "eve"} {
		p := event.Person{Name: name, Told: note.Send && name != "eve", Gates: gates("contact", "options", "period")}
		if p.Told {
			p.Channels = []string{"email"}
		}
		note.People = append(note.People, p)
	}
	e.Notes = []event.Note{note}
	return e
}

func longOutcomes(n int, e *event.Event) (all []event.Event) {
	for i, r := range e.Requests() {
		kinds := []event.Kind{event.NotificationDelivered}
		if (2*n+i)%1000 == 3 {
			kinds = []event.Kind{event.NotificationFailed, event.NotificationAbandoned}
		}
		for _, k := range kinds {
			all = append(all, event.Event{
				Version: event.Version, ID: string(k) + r.ID, Kind: k, Object: e.Object, Epoch: 1, Writer: "engine-1", Time: object.At(time.Now()),
				Facts: map[string]string{
					event.FactRequest: r.ID, event.FactContact: r.Contact, event.FactChannel: r.Channel, event.FactAttempts: "1", event.FactMessage: "m" + r.ID, event.FactWith: "1",
				},
			})
		}
	}
	return all
}

// options returns those of a process that has folded what is open.
func (l *longLog) options() Options {
	site := sample.New()
	o := options(site)
	var objects []*object.Object
	for i := range l.open {
		id := l.open[i].Object
		host := &object.Object{ID: object.ID(id.Host()), Name: id.Host(), Rule: &object.Rule{}}
		objects = append(objects, host, &object.Object{ID: id, Name: "service", Host: host, Rule: host.Rule})
	}
	o.Projection = projection.New(object.NewSet("g", object.DefaultSettings(), objects))
	for i := range l.open {
		l.open[i].Seq = l.last[l.open[i].Object]
		o.Projection.Apply(&l.open[i])
	}
	o.History, o.Now = l.journal, time.Now
	return o
}

// longAsked are the questions about the notification log that are measured.
var longAsked = []struct{ name, path string }{
	{"page", "/notifications"},
	{"page, nobody told", "/notifications?outcome=suppressed"},
	{"page, waiting", "/notifications?outcome=waiting"},
	{"page, failed", "/notifications?outcome=failed"},
	{"page, abandoned", "/notifications?outcome=abandoned"},
	{"page, custom", "/notifications?kind=CUSTOM"},
	{"page, unknown channel", "/notifications?channel=sms"},
	{"page, a host", "/notifications?object=host00042"},
	{"api", root + "/notifications"},
	{"api, suppressed", root + "/notifications?outcome=suppressed"},
	{"api, abandoned", root + "/notifications?outcome=abandoned"},
	{"api, custom", root + "/notifications?kind=CUSTOM"},
	{"api, an object", root + "/notifications?object=host00042!service0"},
}

// BenchmarkNotificationLog asks a log of 60,000 decisions with two outcomes each.
// The first call of all is measured too: it finds nothing in memory. JAQUE_DECISIONS
// sets another length.
func BenchmarkNotificationLog(b *testing.B) {
	decisions, _ := strconv.Atoi(cmp.Or(os.Getenv("JAQUE_DECISIONS"), "60000"))
	l := newLongLog(b, decisions)
	h, err := New(l.options())
	if err != nil {
		b.Fatal(err)
	}
	first := true
	for _, c := range longAsked {
		b.Run(c.name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, "http://localhost"+c.path, nil)
			r = r.WithContext(contextWithAddr(r, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}))
			if first {
				first = false
				cold := time.Now()
				h.ServeHTTP(&quiet{http.Header{}}, r.Clone(r.Context()))
				b.Logf("the first call took %s", time.Since(cold))
			}
			b.ResetTimer()
			for b.Loop() {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				if w.Code != http.StatusOK {
					b.Fatal(w.Code)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/op")
		})
	}
}
