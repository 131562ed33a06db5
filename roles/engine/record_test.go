package engine_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
)

// restarted acknowledges measurements at the position that the next one gets and loses
// them, as the leader of the stream does that dies before they are on its disk. The engine
// alone calls it.
type restarted struct {
	journal.Journal
	lose   map[object.ID]bool      // whose second measurement is lost
	silent bool                    // nobody hears of the positions of what comes then
	lost   map[object.ID]time.Time // when
	back   map[object.ID]time.Time // when the same was recorded again
	ids    map[string]int          // how often measurements were recorded
}

func (r *restarted) Record(ctx context.Context, e *event.Event, done journal.Done) error {
	r.ids[e.ID]++
	switch {
	case r.ids[e.ID] == 1 && e.Measure.N == 2 && r.lose[e.Object]:
		r.lost[e.Object] = time.Now()
		end, err := r.End(ctx)
		go done(end.Results+1, err)
		return err
	case r.ids[e.ID] > 1:
		r.back[e.Object] = time.Now()
	case r.silent && len(r.lost) > 0:
		done = nil
	}
	return r.Journal.Record(ctx, e, done)
}

// The object is checked again at its next place: it does not wait until somebody looks for
// what is missing.
func TestAMeasurementThatIsLostIsMissedOnceTheStreamShowsIt(t *testing.T) {
	cases := map[string]struct {
		lose   []object.ID
		silent bool
		within time.Duration
	}{
		"the next one gets its position":             {lose: []object.ID{"h0!s0"}, within: 10 * time.Second},
		"the tail has gone past it":                  {lose: []object.ID{"h0!s0"}, silent: true, within: 10 * time.Second},
		"several are lost":                           {lose: []object.ID{"h0!s0", "h0!s3", "h0!s7", "h0!s9"}, within: 15 * time.Second},
		"several are lost, and the tail goes by all": {lose: []object.ID{"h0!s0", "h0!s3", "h0!s7", "h0!s9"}, silent: true, within: 15 * time.Second},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &restarted{
					Journal: newJournal(), silent: c.silent,
					lose: map[object.ID]bool{}, lost: map[object.ID]time.Time{}, back: map[object.ID]time.Time{}, ids: map[string]int{},
				}
				for _, id := range c.lose {
					j.lose[id] = true
				}
				g := start(t, site(1, 20), j, &runner{})
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				for _, id := range c.lose {
					if j.lost[id].IsZero() || j.back[id].IsZero() || j.back[id].Sub(j.lost[id]) > c.within {
						t.Errorf("%s was lost at %v and recorded again after %v, want within %v", id, j.lost[id], j.back[id].Sub(j.lost[id]), c.within)
					}
				}
				again := 0
				for _, n := range j.ids {
					again += n - 1
				}
				if again != len(c.lose) {
					t.Errorf("%d measurements were recorded again, want %d", again, len(c.lose))
				}
				for i := range 20 {
					id := object.ServiceID("h0", fmt.Sprint("s", i))
					if n := g.p.State(id).Measure.N; n < 5 || n > 6 {
						t.Errorf("%s was counted %d times in 5 minutes", id, n)
					}
				}
				g.end()
			})
		})
	}
	t.Logf("%d cases", len(cases))
}
