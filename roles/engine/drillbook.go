package engine

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// Handover is what became of the checks of one object that went to another engine.
type Handover struct {
	Object object.ID
	Due    object.Time // when its schedule had its next check; 0 = it has none
	Last   object.Time // when its owner before last checked it; 0 = never
	First  object.Time // when the next owner first did; 0 = not in the time that was watched
	By     string      // who that is
	// Missed: the check fell due in time, nothing kept it back, and it did not run.
	Missed bool
}

// DrillReport is how the newest drill of an engine went, or goes.
type DrillReport struct {
	By    string        // who asked for it
	Hold  time.Duration // how long it is out at most
	Error string        // "" = none
	// Began is when checks were begun no more, Out when the engine was out of the
	// membership, Back when it was in again, Ended when the drill was over; 0 = not yet.
	Began, Out, Back, Ended object.Time
	Away, Return            []Handover // one for each object that moved, by object
}

// book is the report while it is written. The loop writes, anybody reads.
type book struct {
	mu     sync.Mutex
	report DrillReport
	at     map[object.ID]int // index into the moves of the direction under way
	open   int               // moves whose check is waited for
	until  object.Time       // checks that fall due later are not waited for
	first  object.Time       // when it may be done
}

// DrillReport returns how the newest drill goes; false = there was none in this run.
// Its moves are there once it has ended.
func (e *Engine) DrillReport() (DrillReport, bool) {
	b := &e.book
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.report
	if r.Ended == 0 {
		r.Away, r.Return = nil, nil
	}
	return r, r.Began != 0
}

func (b *book) begin(hold time.Duration, by string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.report = DrillReport{By: by, Hold: hold, Began: object.At(time.Now())}
	b.at, b.open = nil, 0 // of the drill before; checks still end before the moves are known
}

func (b *book) fail(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.report.Error == "" {
		b.report.Error = text
	}
}

// watch begins with one direction. The caller holds b.mu.
func (b *book) watch(now object.Time) {
	hold := b.report.Hold
	b.at, b.open = map[object.ID]int{}, 0
	b.until, b.first = now.Add(hold-margin(hold)), now.Add(leaveWithin)
}

func (b *book) out() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.report.Out = object.At(time.Now())
}

// back returns how much longer than asked for the engine was out.
func (b *book) back() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.report.Back = object.At(time.Now())
	b.watch(b.report.Back)
	return b.report.Back.Sub(b.report.Out) - b.report.Hold
}

// margin is the part of the time out at its end: what falls due in it is not waited for.
func margin(hold time.Duration) time.Duration { return max(hold/drillMargin, drillMarginLeast) }

// move takes in an object that goes to another engine. The caller holds b.mu.
func (b *book) move(moves *[]Handover, id object.ID, due, last object.Time) {
	b.at[id] = len(*moves)
	*moves = append(*moves, Handover{Object: id, Due: due, Last: last})
	if b.awaits(due) {
		b.open++
	}
}

func (b *book) awaits(due object.Time) bool { return due != 0 && due <= b.until }

// done tells whether every check that fell due has run.
func (b *book) done() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open <= 0 && object.At(time.Now()) >= b.first
}

// openBook writes down what this engine owns, and what its schedule has, when it leaves.
func (e *Engine) openBook() {
	b := &e.book
	b.mu.Lock()
	defer b.mu.Unlock()
	now := object.At(time.Now())
	b.watch(now)
	for key := range e.state.entries {
		if ent := &e.state.entries[key]; ent.obj != nil && ent.ours {
			b.move(&b.report.Away, ent.obj.ID, e.nextCheck(int32(key), now), e.proj.State(ent.obj.ID).Measure.LastCheck)
		}
	}
}

// nextCheck returns when the schedule has the next check of an object, 0 for none.
func (e *Engine) nextCheck(key int32, now object.Time) object.Time {
	env := e.env(key)
	st := e.proj.State(env.Object.ID)
	env.Late = true // what else is due does not matter
	if why, _ := fold.Blocked(&env, st, now); why == fold.BlockSwitch {
		return 0
	}
	_, at := fold.Due(&env, st, now)
	if at != 0 && at <= now && !st.Status.Checked {
		return e.slot(key, now) // nobody owes a first check
	}
	return at
}

// gained writes down an object that came back.
func (e *Engine) gained(key int32, now object.Time) {
	if d := e.state.sharing.drill; d == nil || d.phase != back {
		return
	}
	b := &e.book
	b.mu.Lock()
	defer b.mu.Unlock()
	id := e.state.entries[key].obj.ID
	if _, known := b.at[id]; !known {
		b.move(&b.report.Return, id, e.nextCheck(key, now), e.proj.State(id).Measure.LastCheck)
	}
}

// bookCheck writes down a check that the log tells of. One that ran while somebody
// submitted a result began before that: the last check was later than this one then.
func (e *Engine) bookCheck(key int32, before *fold.State, ev *event.Event) {
	d, m := e.state.sharing.drill, &e.proj.State(ev.Object).Measure
	if d == nil || m.Passive || m.LastCheck == before.Measure.LastCheck && !before.Measure.Passive {
		return
	}
	b := &e.book
	b.mu.Lock()
	defer b.mu.Unlock()
	i, known := b.at[ev.Object]
	if !known {
		return
	}
	moves := b.report.Away
	if d.phase == back {
		moves = b.report.Return
	}
	move := &moves[i]
	mine := ev.Writer == e.opt.ID
	switch {
	case move.First != 0:
	case mine != (d.phase == back): // the last one of the owner before
		if b.awaits(move.Due) {
			b.open--
		}
		if move.Last, move.Due = m.LastCheck, e.nextCheck(key, object.At(time.Now())); b.awaits(move.Due) {
			b.open++
		}
	default:
		if move.First, move.By = m.LastCheck, ev.Writer; b.awaits(move.Due) {
			b.open--
		}
	}
}

// closeBook judges what was not checked.
func (e *Engine) closeBook() {
	b := &e.book
	b.mu.Lock()
	defer b.mu.Unlock()
	r := &b.report
	r.Ended = object.At(time.Now())
	e.judge(r.Away, r.Out, cmp.Or(r.Back, r.Ended))
	e.judge(r.Return, r.Back, r.Ended)
}

// judge marks the checks of one direction that did not run although they were due.
func (e *Engine) judge(moves []Handover, began, ended object.Time) {
	hold := e.book.report.Hold
	most := min(began.Add(hold-margin(hold)), ended.Add(-leaveWithin))
	for i := range moves {
		m := &moves[i]
		m.Missed = began != 0 && m.First == 0 && m.Due != 0 && m.Due <= most && !e.keptBack(m.Object, ended)
	}
	slices.SortFunc(moves, func(x, y Handover) int { return strings.Compare(string(x.Object), string(y.Object)) })
}

// keptBack tells whether something forbids the check of an object now, it runs or is being
// written here, or the object has left the config.
func (e *Engine) keptBack(id object.ID, now object.Time) bool {
	key, ok := e.state.keys[id]
	if !ok || e.state.entries[key].running || e.state.pending[key] != nil {
		return true
	}
	env := e.env(key)
	why, _ := fold.Blocked(&env, e.proj.State(id), now)
	return why != ""
}
