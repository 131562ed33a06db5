package queue

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// consumers returns the names of those on the server.
func consumers(t *testing.T, q *JetStream) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	s, err := q.js.Stream(t.Context(), q.names.stream)
	if err != nil {
		t.Fatal(err)
	}
	names := s.ConsumerNames(t.Context())
	for name := range names.Name() {
		all[name] = true
	}
	if err := names.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestTheEngineMakesTheQueueOfAZone(t *testing.T) {
	cases := []struct {
		name string
		run  func(t *testing.T, q *JetStream, d Dispatcher)
	}{
		{"before its first item is sent", func(t *testing.T, q *JetStream, d Dispatcher) {
			out := ask(t.Context(), d, item("dmz", 1))
			time.Sleep(time.Second)
			if !consumers(t, q)[q.names.consumer("dmz")] {
				t.Error("there is none while an item waits")
			}
			go work(source(t, q, inZone("w1", "dmz", 1)), "w1", 0, newDiary())
			if o := <-out; o.err != nil {
				t.Error(o.err)
			}
		}},
		{"as soon as a worker of it is heard", func(t *testing.T, q *JetStream, _ Dispatcher) {
			s := source(t, q, inZone("w1", "dmz", 1))
			time.Sleep(time.Second)
			if got := s.Trouble(); len(got) > 0 || !consumers(t, q)[q.names.consumer("dmz")] {
				t.Errorf("trouble %q", got)
			}
		}},
		{"again when it is gone", func(t *testing.T, q *JetStream, d Dispatcher) {
			s := source(t, q, inZone("w1", "dmz", 1))
			go work(s, "w1", 0, newDiary())
			time.Sleep(time.Second)
			if err := q.js.DeleteConsumer(t.Context(), q.names.stream, q.names.consumer("dmz")); err != nil {
				t.Fatal(err)
			}
			if o := <-ask(t.Context(), d, item("dmz", 1)); o.err != nil || len(s.Trouble()) > 0 {
				t.Errorf("%v, trouble %q", o.err, s.Trouble())
			}
		}},
		{"again with the stream when that is gone", func(t *testing.T, q *JetStream, d Dispatcher) {
			go work(source(t, q, inZone("w1", "dmz", 1)), "w1", 0, newDiary())
			time.Sleep(time.Second)
			if err := q.js.DeleteStream(t.Context(), q.names.stream); err != nil {
				t.Fatal(err)
			}
			for _, zone := range []string{"dmz", "lab"} {
				it := item(zone, 1)
				it.Life = 10 * time.Second
				if o := <-ask(t.Context(), d, it); (o.err == nil) != (zone == "dmz") {
					t.Errorf("zone %s: %v", zone, o.err)
				}
			}
			if all := consumers(t, q); len(all) != 2 {
				t.Errorf("consumers %v", all)
			}
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				q := openJetStream(t, openBus(t))
				c.run(t, q, dispatcher(t, q, "e"))
			})
		})
	}
	t.Logf("%d cases", len(cases))
}

// A worker whose zone has no queue yet waits; its engine may come at any time.
func TestAWorkerWaitsForItsQueue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHub(t)
		wq, _ := h.process()
		eq, _ := h.process()
		if err := eq.declare(t.Context()); err != nil { // an engine of before, without the zone
			t.Fatal(err)
		}
		s, b := source(t, wq, inZone("w1", "dmz", 1)), newDiary()
		go work(s, "w1", 0, b)
		time.Sleep(time.Minute)
		if len(s.Trouble()) != 1 || len(consumers(t, eq)) > 0 {
			t.Errorf("trouble %q, consumers %v", s.Trouble(), consumers(t, eq))
		}
		d := dispatcher(t, eq, "e")
		if o := <-ask(t.Context(), d, item("dmz", 1)); o.err != nil || len(s.Trouble()) > 0 {
			t.Errorf("%v, trouble %q", o.err, s.Trouble())
		}
	})
}

// However many items are sent at once, the queue of their zone is made once.
func TestManyItemsMakeOneQueue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHub(t)
		q, _ := h.process()
		d := dispatcher(t, q, "e").(*jetDispatcher)
		asked := 0
		if _, err := q.nc.Subscribe("$JS.API.CONSUMER.CREATE.>", func(*nats.Msg) { asked++ }); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 200 {
			all.Go(func() {
				if err := d.ensure(t.Context(), "dmz"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		synctest.Wait()
		info, err := q.js.Consumer(t.Context(), q.names.stream, q.names.consumer("dmz"))
		if err != nil || info.CachedInfo().Config.AckPolicy != jetstream.AckExplicitPolicy || asked != 1 {
			t.Errorf("asked for %d times: %v", asked, err)
		}
		if _, made := d.zones.get("dmz"); !made {
			t.Error("it is not known")
		}
		d.zones.forget("lab")
		if _, made := d.zones.get("dmz"); !made {
			t.Error("another zone's was forgotten")
		}
	})
}
