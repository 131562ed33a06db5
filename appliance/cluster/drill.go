package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
)

// DrillOrder is what a command wants of a member about a drill of its failover: the
// member's engine gives its objects to the others for a while and takes them back.
type DrillOrder struct {
	// Hold is how long the engine is out of the membership at most; 0 = the report of the
	// newest drill is wanted.
	Hold time.Duration `json:"hold,omitempty"`
	By   string        `json:"by,omitempty"` // who asks, for the log
	// Removal: the member is removed next. It stays out for all of Hold, and it is no matter
	// who else is out.
	Removal bool `json:"removal,omitempty"`
	From    int  `json:"from,omitempty"` // the moves of the report from here on are wanted
}

// DrillReport is how a drill went, or goes. Times are zero for what has not happened.
type DrillReport struct {
	Member string        `json:"member"`
	By     string        `json:"by,omitempty"`
	Hold   time.Duration `json:"hold"`            // nanoseconds
	Error  string        `json:"error,omitempty"` // why it ended early
	// Began is when no check was begun any more, Out when the engine was out of the
	// membership, Back when it was in it again, Ended when the drill was over.
	Began time.Time `json:"began,omitzero"`
	Out   time.Time `json:"out,omitzero"`
	Back  time.Time `json:"back,omitzero"`
	Ended time.Time `json:"ended,omitzero"`
	Moves []Move    `json:"moves"` // there once it is over; those to the others first
	// More tells how many moves there are from DrillOrder.From on, of which Moves are the
	// first.
	More int `json:"more,omitempty"`
}

// Move is one object that went to another engine, or came back.
type Move struct {
	Object string    `json:"object"`
	Return bool      `json:"return,omitempty"` // it came back
	Due    time.Time `json:"due,omitzero"`     // when its schedule had the next check; zero = it has none
	Last   time.Time `json:"last,omitzero"`    // when the engine before last checked it; zero = never
	First  time.Time `json:"first,omitzero"`   // when the next one first did; zero = not while it was watched
	By     string    `json:"by,omitempty"`     // who that is
	// Missed: the check fell due in time, nothing kept it back, and it did not run.
	Missed bool `json:"missed,omitempty"`
}

// Gap is how much later than its schedule had it the next engine began with an object,
// and false if it did not, or had nothing to begin with.
func (m *Move) Gap() (time.Duration, bool) {
	if m.Due.IsZero() || m.First.IsZero() {
		return 0, false
	}
	return max(m.First.Sub(m.Due), 0), true
}

// DrillSummary is one direction of a drill in figures.
type DrillSummary struct {
	Objects int           `json:"objects"` // that moved
	Checked int           `json:"checked"` // of these, by the next engine while it was watched
	Missed  int           `json:"missed"`  // not checked although they were due
	P50     time.Duration `json:"p50"`     // of the gaps, nanoseconds
	P99     time.Duration `json:"p99"`
	Max     time.Duration `json:"max"`
	Worst   []Move        `json:"worst,omitempty"` // those missed, then those with the longest gaps
}

// Over is how much longer than it was to be the engine was out: joining again can take
// longer while the membership does not answer. What is below a second or two is nothing.
func (r *DrillReport) Over() time.Duration {
	over := r.Back.Sub(r.Out) - r.Hold
	if r.Out.IsZero() || r.Back.IsZero() || over < overLeast {
		return 0
	}
	return over
}

// overLeast is how long joining again may take without being worth a word.
const overLeast = 2 * time.Second

// Summary returns the figures of one direction, with the worst moves, most of them.
func (r *DrillReport) Summary(back bool, most int) DrillSummary {
	var s DrillSummary
	var gaps []time.Duration
	for i := range r.Moves {
		m := &r.Moves[i]
		if m.Return != back {
			continue
		}
		s.Objects++
		gap, ok := m.Gap()
		switch {
		case ok:
			gaps = append(gaps, gap)
		case m.Missed:
			s.Missed++
		}
		if m.Missed || gap > 0 {
			s.Worst = append(s.Worst, *m)
		}
	}
	if s.Checked = len(gaps); s.Checked > 0 {
		slices.Sort(gaps)
		at := func(percent int) time.Duration { return gaps[min(len(gaps)*percent/100, len(gaps)-1)] }
		s.P50, s.P99, s.Max = at(50), at(99), gaps[len(gaps)-1]
	}
	slices.SortStableFunc(s.Worst, func(x, y Move) int {
		a, _ := x.Gap()
		b, _ := y.Gap()
		switch {
		case x.Missed != y.Missed && x.Missed:
			return -1
		case x.Missed != y.Missed:
			return 1
		}
		return int(b - a)
	})
	s.Worst = s.Worst[:min(len(s.Worst), most)]
	return s
}

// mostMoves is how many of them one answer holds.
const mostMoves = 2000

// ErrAway: a member of the cluster does not answer.
var ErrAway = errors.New("it does not answer")

// AskDrill asks a member about a drill of its failover, or for one. A report that is over
// comes with all its moves.
func AskDrill(ctx context.Context, nc *nats.Conn, id string, o DrillOrder) (*DrillReport, error) {
	r, err := askDrill(ctx, nc, id, o)
	if err != nil || r == nil {
		return nil, err
	}
	for all := r.More; len(r.Moves) < all; {
		next, err := askDrill(ctx, nc, id, DrillOrder{From: len(r.Moves)})
		switch {
		case err != nil:
			return nil, err
		case next == nil || !next.Began.Equal(r.Began) || len(next.Moves) == 0:
			return nil, fmt.Errorf("member %s has begun with another drill meanwhile", id)
		}
		r.Moves = append(r.Moves, next.Moves...)
	}
	r.More = 0
	return r, nil
}

func askDrill(ctx context.Context, nc *nats.Conn, id string, o DrillOrder) (*DrillReport, error) {
	r, err := askMember(ctx, nc, id, Question{Drill: &o})
	if errors.Is(err, nats.ErrNoResponders) {
		return nil, fmt.Errorf("ask member %s: %w", id, ErrAway)
	}
	if err != nil {
		return nil, err
	}
	return r.Drill, nil
}

// Driller has the engine of a member drilled; *engine.Engine does it.
type Driller interface {
	// Drill returns once the engine is out of the membership, or says why it is not.
	Drill(ctx context.Context, hold time.Duration, by string) error
	// StepAside does the same in front of a removal of the member: see DrillOrder.Removal.
	StepAside(ctx context.Context, hold time.Duration, by string) error
	// Report tells of the newest drill, nil = there was none.
	Report() *DrillReport
	// Away tells whether the engine is out of the membership for one now.
	Away() bool
}

// Ended says what follows from the end of a member in the middle of a drill.
func Ended(id string) string {
	return fmt.Sprintf("member %s ended during the drill, or cannot be reached any more: its objects are the others' until it is back; "+
		"look at jaque cluster status at another member, and at the log of %s", id, id)
}

// drill answers what is asked about a drill.
func (a *Answers) drill(ctx context.Context, o *DrillOrder) Reply {
	if a.Driller == nil {
		return Reply{Error: fmt.Sprintf("%s runs no engine, so that there is nothing to move away from it", a.Self.ID)}
	}
	if o.Hold != 0 {
		a.Logger.Warn("a drill of the failover was asked for", "hold", o.Hold, "by", o.By)
		out := a.Driller.Drill
		if o.Removal {
			out = a.Driller.StepAside
		}
		err := out(ctx, o.Hold, o.By)
		switch {
		case ctx.Err() != nil:
			return Reply{Error: Ended(a.Self.ID)}
		case err != nil:
			return Reply{Error: err.Error()}
		}
	}
	r := a.Driller.Report()
	if r == nil {
		return Reply{Error: fmt.Sprintf("there was no drill of %s since it started", a.Self.ID)}
	}
	page := *r
	page.Member = a.Self.ID
	page.Moves = r.Moves[min(max(o.From, 0), len(r.Moves)):]
	page.More = len(page.Moves)
	page.Moves = page.Moves[:min(len(page.Moves), mostMoves)]
	return Reply{Drill: &page}
}
