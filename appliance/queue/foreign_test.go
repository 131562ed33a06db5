package queue

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// Who may write a key and read it again can have the server deliver it where results,
// announcements and items are expected.
func TestWhatTheServerDeliversFromItsStoreIsOfNobody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b, logged := openBus(t), &bytes.Buffer{}
		q, err := NewJetStream(b.Conn(), JetStreamOptions{Registerer: prometheus.NewRegistry(), Logger: slog.New(slog.NewTextHandler(logged, nil))})
		if err != nil {
			t.Fatal(err)
		}
		d := dispatcher(t, q, "e").(*jetDispatcher)
		src := source(t, q, inZone("w1", "dmz", 4))
		it := item("dmz", 1)
		it.Engine, it.Sent = "e", 1
		w := d.orders.add(it)
		forged, err := encodeItem(it)
		if err != nil {
			t.Fatal(err)
		}
		kept := "$KV." + b.Names().State + ".sink.x"
		for subject, text := range map[string]string{
			q.names.result("e", "dmz"): `{"v":1,"id":"` + it.ID + `","worker":"me","output":"OK - all well"}`,
			q.names.worker("lab"):      `{"v":1,"id":"ghost","zone":"lab","capacity":9}`,
			q.names.check("dmz"):       string(forged),
		} {
			if _, err := q.js.Publish(t.Context(), kept, []byte(text)); err != nil {
				t.Fatal(err)
			}
			ask := []byte(`{"last_by_subj":"` + kept + `"}`)
			if err := q.nc.PublishRequest("$JS.API.DIRECT.GET.KV_"+b.Names().State, subject, ask); err != nil {
				t.Fatal(err)
			}
			if err := q.flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			if !strings.Contains(subject, ".result.") {
				continue
			}
			// With a reply that is no inbox, as a consumer delivers it.
			if err := q.nc.PublishRequest(subject, "jaque.log.web01", []byte(text)); err != nil {
				t.Fatal(err)
			}
			if err := q.nc.Publish(subject, []byte(text)); err != nil { // nobody waits for an answer
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		synctest.Wait()
		select {
		case r := <-w.result:
			t.Errorf("a result of nobody was taken: %+v", r)
		default:
		}
		if n := testutil.ToFloat64(q.metrics.results.WithLabelValues(resultForeign)); n != 3 {
			t.Errorf("%v results of nobody were counted, want one of each way", n)
		}
		if d.Fleet().Live("lab") != 0 {
			t.Error("an announcement of nobody was taken")
		}
		if n := len(src.Items()); n != 0 || testutil.ToFloat64(q.metrics.items.WithLabelValues(itemBad)) != 1 {
			t.Errorf("an item of nobody reached the worker: %d", n)
		}
		if n := strings.Count(logged.String(), "result from a worker cannot be read"); n != 1 {
			t.Errorf("%d lines tell of the results, want 1:\n%s", n, logged)
		}
	})
}

// A worker that sends nonsense fills the metric, not the log.
func TestNonsenseIsToldOfOnceAMinute(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b, logged := openBus(t), &bytes.Buffer{}
		q, err := NewJetStream(b.Conn(), JetStreamOptions{Registerer: prometheus.NewRegistry(), Logger: slog.New(slog.NewTextHandler(logged, nil))})
		if err != nil {
			t.Fatal(err)
		}
		d := dispatcher(t, q, "e").(*jetDispatcher)
		bad := func(zone string) { d.receive(&nats.Msg{Subject: q.names.result("e", zone), Data: []byte("nonsense")}) }
		for range 1000 {
			bad("dmz")
			bad("lab")
		}
		time.Sleep(time.Minute)
		bad("dmz")
		if n := testutil.ToFloat64(q.metrics.results.WithLabelValues(resultBad)); n != 2001 {
			t.Errorf("%v were counted, want 2001", n)
		}
		if n := strings.Count(logged.String(), "cannot be read"); n != 3 || !strings.Contains(logged.String(), "left_out=999") {
			t.Errorf("%d lines, want one of each zone and one a minute later with what was left out:\n%s", n, logged)
		}
	})
}
