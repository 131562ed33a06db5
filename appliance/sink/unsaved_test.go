package sink

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"jaque.sh/jaque/appliance/journal"
)

func TestAPositionThatCannotBeReadOrKeptIsTold(t *testing.T) {
	synctested(t, func(w *world) {
		w.positions.at["vm"] = journal.Position{}
		w.positions.set(errors.New("disk on fire"))
		all := w.measure(2)
		s, stop := w.run()
		time.Sleep(time.Minute)
		w.check(nil)
		if trouble := strings.Join(s.Trouble(), ""); !strings.Contains(trouble, "disk on fire") {
			t.Errorf("trouble: %q", trouble)
		}
		w.positions.set(nil)
		time.Sleep(2 * time.Minute)
		w.check(all)
		w.positions.set(errors.New("disk full"))
		all = append(all, w.measure(2)...)
		time.Sleep(5 * time.Second)
		w.check(all)
		if trouble := strings.Join(s.Trouble(), ""); !strings.Contains(trouble, "disk full") {
			t.Errorf("trouble: %q", trouble)
		}
		w.positions.set(nil)
		time.Sleep(5 * time.Second)
		if got := s.Trouble(); len(got) != 0 {
			t.Errorf("trouble: %q", got)
		}
		stop()
	})
}

// What a restart would do while a position is not kept is said as it is.
func TestTroubleSaysWhatARestartWouldDo(t *testing.T) {
	for _, tt := range []struct {
		name      string
		saved     bool // a process before has kept one
		beginning bool
		want      string
	}{
		{"a new sink", false, false, "what lies between is missing"},
		{"a new sink of everything", false, true, "delivers again all that the log holds"},
		{"one that ran before", true, false, "delivers again what follows the position that was kept last"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctested(t, func(w *world) {
				if tt.saved {
					w.positions.at["vm"] = journal.Position{}
				}
				w.options = func(o *Options) { o.Beginning = tt.beginning; o.Positions = readable{w.positions} }
				w.positions.set(errors.New("publish refused"))
				s, stop := w.run()
				synctest.Wait()
				all := w.measure(2)
				time.Sleep(5 * time.Second)
				w.check(all)
				if trouble := strings.Join(s.Trouble(), ""); !strings.Contains(trouble, tt.want) || !strings.Contains(trouble, "publish refused") {
					t.Errorf("trouble: %q, want %q", trouble, tt.want)
				}
				if n := testutil.ToFloat64(s.metrics.unsaved); n == 0 {
					t.Error("no metric counts that")
				}
				w.positions.set(nil)
				time.Sleep(5 * time.Second)
				if got := s.Trouble(); len(got) != 0 {
					t.Errorf("trouble: %q", got)
				}
				stop()
			})
		})
	}
}

// readable are positions that can be read always.
type readable struct{ *kept }

func (r readable) Load(ctx context.Context, name string) (journal.Position, time.Time, error) {
	at, saved, _ := r.kept.Load(ctx, name)
	return at, saved, nil
}
