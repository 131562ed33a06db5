package roles

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/queue"
	"jaque.sh/jaque/roles/engine"
)

// hangs answers as a server does that is stopped now and then.
func hangs(stopped *atomic.Bool) func(context.Context) error {
	return func(ctx context.Context) error {
		if !stopped.Load() {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}
}

func TestAServerThatHangsIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stopped atomic.Bool
		s := &answers{ask: hangs(&stopped), what: "the server"}
		if !s.steady(time.Hour) || len(s.trouble()) > 0 {
			t.Error("where nobody asks nothing is wrong")
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); s.run(ctx) }()
		const long = 10 * time.Second
		for _, c := range []struct {
			name    string
			hang    bool
			after   time.Duration
			trouble string
			steady  bool
		}{
			{"at the start not everybody was heard", false, 5 * time.Second, "", false},
			{"it has answered for long enough", false, 6 * time.Second, "", true},
			{"a moment without an answer is nothing", true, 2 * time.Second, "", true},
			{"it hangs", true, 7 * time.Second, "the server has not answered for 9s", false},
			{"it is back, and not everybody was heard", false, 5 * time.Second, "", false},
			{"it has answered for long enough again", false, 8 * time.Second, "", true},
		} {
			stopped.Store(c.hang)
			time.Sleep(c.after + time.Millisecond)
			synctest.Wait()
			if got := strings.Join(s.trouble(), ""); got != c.trouble || s.steady(long) != c.steady || (s.missed(long) == nil) != c.steady {
				t.Errorf("%s: trouble %q, steady %t, missed %v", c.name, got, s.steady(long), s.missed(long))
			}
		}
		stop()
		<-ended
		time.Sleep(time.Minute)
		if len(s.trouble()) > 0 {
			t.Error("after the end there is trouble")
		}
	})
}

// A worker that cannot be heard has not left its zone.
func TestAZoneIsUnknownWhileTheServerOfTheQueueHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stopped atomic.Bool
		w := watched(t, queue.NewMemory(queue.MemoryOptions{}), dmz)
		w.server = answers{ask: hangs(&stopped), what: "the server of the queue"}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); w.server.run(ctx) }()
		r := w.runner(beneath{})
		look := func() fold.Result {
			return r.Run(t.Context(), engine.Job{Object: w.proj.Set().Get(config.ZoneID("dmz"))})
		}
		time.Sleep(20 * time.Second)
		if res := look(); res.State != object.Critical {
			t.Errorf("nobody serves the zone: %+v", res)
		}
		stopped.Store(true)
		time.Sleep(18 * time.Second)
		if res := look(); res.State != object.Unknown || !strings.Contains(res.Output, "the server of the queue has not answered for ") || res.Took > 0 {
			t.Errorf("the server hangs: %+v", res)
		}
		stopped.Store(false)
		began := time.Now()
		time.Sleep(5 * time.Second) // what was asked while it hung ends by its time-out first
		if res := look(); res.State != object.Critical || time.Since(began) < w.dispatcher.Fleet().Settling() {
			t.Errorf("it was looked after %s: %+v", time.Since(began), res)
		}
		stop()
		<-ended
	})
}

// unbegun is a queue of which nobody has begun anything.
type unbegun struct{ queue.Dispatcher }

func (unbegun) Do(context.Context, *queue.Item) (*queue.Result, error) {
	return nil, &queue.Unanswered{Zone: "dmz", Waited: 10 * time.Second}
}

func TestNoWorkerIsBlamedForAServerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watched(t, queue.NewMemory(queue.MemoryOptions{}), dmz)
		w.server.what = "the server of the queue"
		d := hearing{unbegun{w.dispatcher}, w}
		if _, err := d.Do(t.Context(), &queue.Item{}); err == nil || !strings.HasPrefix(err.Error(), "no worker serves zone dmz") {
			t.Errorf("the server answers: %v", err)
		}
		w.server.answered(time.Now())
		time.Sleep(11 * time.Second)
		var lost *queue.Unanswered
		if _, err := d.Do(t.Context(), &queue.Item{}); !errors.As(err, &lost) || !strings.HasSuffix(err.Error(), "the server of the queue has not answered for 11s") {
			t.Errorf("the server hangs: %v", err)
		}
		if z := w.states()[0]; !z.unheard || !z.deserted.IsZero() {
			t.Errorf("while the server hangs the zone is shown as %+v", z)
		}
		w.server.answered(time.Now())
		if _, err := d.Do(t.Context(), &queue.Item{}); err == nil || !strings.HasSuffix(err.Error(), "did not answer in the meantime") {
			t.Errorf("it is back: %v", err)
		}
	})
}

// A process that was itself stopped has not waited for the server: it asks first.
func TestWhatAProcessHasSleptIsNoSilenceOfTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const long = 10 * time.Second
		for _, slept := range []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, time.Hour} {
			for _, asleep := range []bool{false, true} { // stopped between two questions, and while one is under way
				s := &answers{what: "the server"}
				ctx, stop := context.WithCancel(t.Context())
				wrong := ""
				sleep := func() { // the clock goes on, this process does not
					s.mu.Lock()
					s.awake, s.last, s.since = s.awake.Add(-slept), s.last.Add(-slept), s.since.Add(-slept)
					s.mu.Unlock()
					wrong += strings.Join(s.trouble(), "")
				}
				begin, stopped := time.Now(), false
				s.ask = func(context.Context) error {
					if stopped || !asleep || time.Since(begin) < time.Minute {
						return nil
					}
					stopped = true
					sleep()
					return context.DeadlineExceeded // the answer came meanwhile, and was late
				}
				ended := make(chan struct{})
				go func() { defer close(ended); s.run(ctx) }()
				time.Sleep(time.Minute + time.Millisecond)
				if !asleep {
					sleep()
				}
				for range 500 {
					if wrong += strings.Join(s.trouble(), ""); wrong != "" {
						t.Fatalf("stopped for %s: %s", slept, wrong)
					}
					time.Sleep(10 * time.Millisecond)
				}
				if slept > frozen && s.steady(long) {
					t.Errorf("stopped for %s: those who listened to it are taken for heard", slept)
				}
				time.Sleep(2 * long)
				if !s.steady(long) {
					t.Errorf("stopped for %s: the server answers, and is not steady", slept)
				}
				stop()
				<-ended
			}
		}
	})
}
