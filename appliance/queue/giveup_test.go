package queue

import (
	"errors"
	"testing"
	"time"
)

// An item that vanished before a busy worker had room for it is not waited for as
// long as its check might have taken; one that was begun is.
func TestAnItemThatNobodyBeganIsGivenUpSoon(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := openJetStream(t, openBus(t))
		d := dispatcher(t, q, "e")
		b := newDiary()
		go work(source(t, q, inZone("w1", "default", 1)), "w1", 50*time.Second, b)
		time.Sleep(time.Second)
		long, short := item("default", 1), item("default", 2)
		long.Life, long.Timeout = time.Second, time.Minute
		short.Life, short.Timeout = time.Second, time.Minute
		began := time.Now()
		first := ask(t.Context(), d, long)
		time.Sleep(100 * time.Millisecond)
		got := <-ask(t.Context(), d, short)
		var open *Unanswered
		if took := time.Since(began); !errors.As(got.err, &open) || open.Worker != "" || open.Live != 1 || took > 14*time.Second {
			t.Errorf("the one that had no room: %v after %s", got.err, took)
		}
		if done := <-first; done.err != nil || time.Since(began) < 50*time.Second {
			t.Errorf("the one that runs: %v after %s", done.err, time.Since(began))
		}
		time.Sleep(time.Minute) // a run that has begun again ends too
	})
}

func TestASourceSaysWhyNothingArrives(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := openJetStream(t, openBus(t))
		s := source(t, q, inZone("w1", "dmz", 1))
		want := "no engine has made the queue of zone dmz yet; start one"
		time.Sleep(time.Second / 10)
		if got := s.Trouble(); len(got) != 1 || got[0] != want {
			t.Errorf("before an engine: %q, want %q", got, want)
		}
		dispatcher(t, q, "e")
		time.Sleep(5 * time.Second)
		if got := s.Trouble(); len(got) > 0 {
			t.Errorf("with an engine: %q", got)
		}
	})
}
