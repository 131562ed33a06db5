package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/handover"
)

// programKey stands for the program where objects have their key.
const programKey = -1

// programs is the one outstanding decision about the program and the commands in
// line behind it.
type programs struct {
	now   *order // nil = none is outstanding
	event event.Event
	tries int
	line  []*order
}

// onProgramOrder decides a command about the program, now or when it is its turn.
func (e *Engine) onProgramOrder(o *order) {
	p := &e.state.programs
	p.line = append(p.line, o)
	if p.now == nil {
		e.nextProgram()
	}
}

// nextProgram decides commands in line until one waits for the log.
func (e *Engine) nextProgram() {
	p := &e.state.programs
	for p.now = nil; p.now == nil && len(p.line) > 0; {
		o := p.line[0]
		p.line = p.line[1:]
		d, err := program.Decide(e.programEnv(o.id), e.proj.Program(), o.program, object.At(time.Now()))
		switch {
		case err != nil:
			e.metrics.refuse(err)
			e.answer(o, fmt.Errorf("%w: %w", err, ErrRefused))
		case !d.HasLog:
			o.made.end()
			e.answer(o, nil)
		default:
			p.now, p.event, p.tries = o, d.Log, 0
			e.publishProgram()
		}
	}
}

func (e *Engine) programEnv(id string) *program.Env {
	return &program.Env{
		Set: e.proj.Set(), Downtime: e.free(e.numbers().Downtime),
		Epoch: e.view.Load().Epoch, Writer: e.opt.ID, Instance: e.opt.Instance, ID: id,
	}
}

func (e *Engine) publishProgram() {
	p := &e.state.programs
	p.tries++
	if r := p.event.Program.Rule; r != nil {
		e.state.numbers.Downtime = max(e.state.numbers.Downtime, r.Number)
	}
	e.stuck.CompareAndSwap(0, int64(object.At(time.Now())))
	id := p.event.ID
	e.opt.Journal.Append(&p.event, 0, func(seq uint64, err error) {
		e.inbox.append(appended{key: programKey, id: id, seq: seq, err: err})
	})
}

// onProgramAppended tries again what failed: the log takes the same id once.
// Success takes effect when it is read back.
func (e *Engine) onProgramAppended(ctx context.Context, a *appended) {
	p := &e.state.programs
	if errors.Is(a.err, journal.ErrClosed) || p.now == nil || p.event.ID != a.id {
		return
	}
	if a.err == nil {
		if a.seq <= e.proj.Position().Log { // the log knew the id already: it was done before
			e.unstick()
			e.answer(p.now, nil)
			e.nextProgram()
		}
		return
	}
	e.metrics.appendErrors.Inc()
	if p.tries == 1 {
		e.log.Warn("an append failed and is tried again", "object", "the program", "err", a.err)
	}
	time.AfterFunc(handover.Backoff(p.tries+1), func() {
		if ctx.Err() == nil {
			e.inbox.retry(retry{key: programKey})
		}
	})
}

// onProgramEvent looks at an event about the program that was just folded,
// whoever wrote it.
func (e *Engine) onProgramEvent(ev *event.Event, outcome fold.Outcome) {
	p := &e.state.programs
	mine := p.now != nil && ev.ID == p.event.ID
	if outcome == fold.Accepted {
		e.refresh()
		e.onRuleEvent(ev)
		if ev.Program.Contact != nil {
			e.addChore(&sweep{}) // people may be told now
		}
	}
	if mine {
		e.metrics.decided.Inc()
		e.unstick()
		e.making(ev, p.now)
		e.answer(p.now, nil)
		e.nextProgram()
	}
}

// refresh takes in what operators and the config say of the program. Where that
// changed something, objects are planned anew piece by piece.
func (e *Engine) refresh() {
	set := e.proj.Set()
	old := e.state.settings
	if e.state.periods = set.Periods; set.Periods == nil {
		e.state.periods = map[string]object.Period{} // none, as against unknown ones
	}
	e.state.known = set.Contacts
	e.state.settings = program.Effective(set.Settings, e.proj.Program())
	e.metrics.program.Store(uint32(e.state.settings.On))
	if e.state.live && planning(old) != planning(e.state.settings) {
		e.addChore(&sweep{})
	}
}

// planning returns the settings that say what is due, or what flaps.
func planning(s object.Settings) object.Settings {
	s.On &= object.ProgramHostChecks | object.ProgramServiceChecks | object.ProgramPassiveHosts | object.ProgramPassiveServices |
		object.ProgramFlapDetection | object.ProgramNotifications | object.ProgramHostFreshness | object.ProgramServiceFreshness
	return s
}

// sweep plans every object anew after a change of the program's settings, and
// ends or begins what flaps.
type sweep struct{ at int }

func (*sweep) name() string { return "sweep" }

func (s *sweep) step(e *Engine, now object.Time) bool {
	end := min(s.at+pieceLooks, len(e.state.entries))
	for work := 0; s.at < end && work < pieceDecisions; s.at++ {
		key := int32(s.at)
		o := e.state.entries[key].obj
		if o == nil || !e.owns(o.ID) {
			continue
		}
		if st := e.proj.State(o.ID); st.Status.Flapping || fold.Percent(st.Measure.Ring) > 0 {
			e.decide(key, job{command: fold.SetProgramSwitches{}})
			work++
		}
		e.planSpread(key, now)
	}
	return s.at >= len(e.state.entries)
}
