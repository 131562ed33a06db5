package queue

import (
	"testing"
	"time"
)

func TestAWatchHearsWorkersComeAndGo(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHub(t)
		eq, _ := h.process()
		dispatcher(t, eq, "e")
		q1, _ := h.process()
		s := source(t, q1, inZone("w1", "dmz", 4))
		seen, line := h.process()
		w, err := seen.Watch(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = w.Close() })
		time.Sleep(time.Second) // it answers the greeting
		if f := w.Fleet(); f.Live("dmz") != 1 || f.Gone("dmz") || f.Known() || !f.Since("dmz").IsZero() {
			t.Errorf("one worker: %+v", f.Workers())
		}
		time.Sleep(20 * time.Second)
		if f := w.Fleet(); f.Live("dmz") != 1 || !f.Known() || !f.Gone("lab") {
			t.Errorf("one worker after a while: %+v", f.Workers())
		}
		// A process that is cut off does not call the zone deserted when it is back.
		line.set(true)
		time.Sleep(30 * time.Second)
		line.set(false)
		time.Sleep(time.Second)
		if f := w.Fleet(); f.Live("dmz") != 1 || f.Gone("dmz") {
			t.Errorf("after the connection came back: %+v", f.Workers())
		}
		killed := time.Now()
		vanish(s)
		for !w.Fleet().Gone("dmz") {
			time.Sleep(100 * time.Millisecond)
		}
		if took := time.Since(killed); took > 10*time.Second {
			t.Errorf("a killed worker is missed after %s", took)
		}
		if w.Err() != nil {
			t.Error(w.Err())
		}
	})
}

// A check every ten seconds says within twenty that its zone has lost its worker.
func TestAZoneThatIsUnpluggedIsSaidWithinTwoIntervals(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHub(t)
		eq, _ := h.process()
		wq, _ := h.process()
		d := dispatcher(t, eq, "e")
		s := source(t, wq, inZone("w1", "dmz", 4))
		time.Sleep(20 * time.Second)
		killed := time.Now()
		vanish(s)
		for _, after := range []time.Duration{0, 5 * time.Second, 9900 * time.Millisecond} {
			time.Sleep(after - time.Since(killed))
			go func() {
				it := item("dmz", 1)
				it.Life = Life(10*time.Second, 30*time.Second)
				_, err := d.Do(t.Context(), it)
				if took := time.Since(killed); err == nil || took > 21*time.Second {
					t.Errorf("sent after %s, said after %s: %v", after, took, err)
				}
			}()
		}
		time.Sleep(1100 * time.Millisecond)
		if n := d.Waiting()["dmz"]; n.Items < 1 || n.Oldest.IsZero() {
			t.Errorf("waiting: %+v", n)
		}
		time.Sleep(30 * time.Second)
		if len(d.Waiting()) != 0 || len(d.Trouble()) != 0 {
			t.Errorf("waiting: %+v, trouble %v", d.Waiting(), d.Trouble())
		}
	})
}
