package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/membership"
)

// ErrNotMember ends an engine that the others have declared dead.
var ErrNotMember = errors.New("the membership does not list this engine any more, the others have taken its objects over; start it again")

// sharing is what the loop knows of the membership beside the view.
type sharing struct {
	registering bool // somebody is at it
	member      bool // registered: must leave in the end

	adopted object.Time       // when the view was adopted
	barrier *journal.Position // where the log ended after that; nil = not known
	passed  bool              // everything up to the barrier is folded, or it was waited for long enough

	gone map[string]membership.Member // by instance: not in the view any more, and the log does not say so
	left map[string]bool              // by instance: in the view, and the log says that it leaves
	gap  membershipGap

	leaveBy time.Time // of an engine that stops: when others take over, once its checks have ended
	gaveUp  bool      // it has left

	drill    *drill               // nil = none is under way
	drilled  map[string]time.Time // other engines that are out for one, and until when at most
	returned object.Time          // when this engine came back from its last drill; 0 = never
}

// registered is what became of the registration.
type registered struct {
	view membership.View
	err  error
}

// ended is where the log ended after the view of an epoch was adopted; at is nil once
// it was waited for long enough.
type ended struct {
	epoch uint64
	at    *journal.Position
}

// barrierPatience bounds how long objects that were gained wait until everything is
// folded that stood on the log. Compare-and-set holds without the wait: it only saves
// checks and appends that the log would refuse.
const barrierPatience = 3 * time.Second

// resultsPatience is how much longer than for the end of the log it is waited for that
// of the measurements.
const resultsPatience = 300 * time.Millisecond

// register makes this engine a member. It may take a TTL, until the heartbeat of an
// earlier run has expired; the loop goes on folding meanwhile.
func (e *Engine) register(ctx context.Context) {
	sh := &e.state.sharing
	if sh.registering || sh.member || e.state.stopped {
		return
	}
	sh.registering = true
	e.accepts.Store(true) // the others will hand commands on as soon as they know of it
	go func() {
		v, err := e.opt.Coordinator.Register(ctx, e.member(), e.proj.Epoch())
		e.inbox.registered(registered{v, err})
	}()
}

// onRegistered takes the first view. Alone, this engine is live at once; among others
// it reads first what they have written in the meantime.
func (e *Engine) onRegistered(r *registered) error {
	sh := &e.state.sharing
	sh.registering = false
	if sh.member {
		return e.onBack(r)
	}
	switch {
	case r.err != nil && e.state.stopped:
		return nil
	case r.err != nil:
		return fmt.Errorf("register engine %q: %w", e.opt.ID, r.err)
	}
	sh.member = true
	e.view.Store(&r.view)
	sh.adopted = object.At(time.Now())
	if len(r.view.Members) == 1 {
		sh.passed = true
		return nil
	}
	e.readEnd(r.view.Epoch)
	return nil
}

// onView takes a view that the membership tells of.
func (e *Engine) onView(v membership.View) error {
	old := e.View()
	if !e.state.sharing.member || v.Epoch <= old.Epoch {
		return nil
	}
	e.adopt(v)
	if !v.Has(e.member()) && !e.state.stopped && !e.state.sharing.drill.away() {
		return fmt.Errorf("engine %q under epoch %d: %w", e.opt.ID, v.Epoch, ErrNotMember)
	}
	return nil
}

// adopt acts on a newer view from now on. What it takes away is not written any more
// at once; what it gives is planned when everything is folded that its owners before
// have written.
func (e *Engine) adopt(v membership.View) {
	old := e.View()
	e.view.Store(&v)
	sh := &e.state.sharing
	sh.adopted = object.At(time.Now())
	sh.barrier, sh.passed = nil, false
	ids := memberIDs(v)
	for _, m := range lostOf(old, v) {
		if !slices.Contains(ids, m.ID) && !sh.left[m.Instance] { // else it was started again, or said so
			sh.gone[m.Instance] = m
		}
		delete(sh.left, m.Instance)
	}
	e.log.Info("the membership has changed", "epoch", v.Epoch, "members", strings.Join(ids, ","))
	if !v.Has(e.member()) {
		if sh.drill.away() {
			e.addChore(&release{})
			e.retryBehind()
		}
		return
	}
	if d := sh.drill; d != nil && d.phase == returning {
		e.backIn(d)
	}
	if len(lostOf(old, v)) > 0 && v.Owner("membership") == e.opt.ID {
		e.markEpoch(v)
	}
	e.addChore(&release{})
	e.retryBehind()
	e.readEnd(v.Epoch)
}

// lostOf returns the members of a view that are not in the next one.
func lostOf(old, next membership.View) []membership.Member {
	return slices.DeleteFunc(slices.Clone(old.Members), next.Has)
}

func memberIDs(v membership.View) []string {
	ids := make([]string, len(v.Members))
	for i, m := range v.Members {
		ids[i] = m.ID
	}
	return ids
}

// markEpoch tells of a view on the log, so that an engine which the membership does
// not reach stops there. The one that registered or raised the epoch tells itself, of
// members that are gone one of those that are left does.
func (e *Engine) markEpoch(v membership.View) {
	e.announce(event.EpochRaised, "membership", map[string]string{
		"epoch": fmt.Sprint(v.Epoch), "members": strings.Join(memberIDs(v), ","),
	})
}

// readEnd finds out where the log ends now. The measurements save a check that has run
// already, no more: nobody waits for a leader of theirs that is only being chosen.
func (e *Engine) readEnd(epoch uint64) {
	ctx, patience := e.state.work, barrierPatience
	time.AfterFunc(patience, func() { e.inbox.end(ended{epoch: epoch}) })
	results := make(chan uint64, 1)
	go func() {
		one, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if at, err := e.opt.Journal.EndOf(one, event.Results); err == nil {
			results <- at
		}
	}()
	go func() {
		for {
			one, cancel := context.WithTimeout(ctx, patience)
			log, err := e.opt.Journal.EndOf(one, event.Log)
			cancel()
			if err == nil {
				at := journal.Position{Log: log}
				select {
				case at.Results = <-results:
				case <-time.After(resultsPatience):
				case <-ctx.Done():
				}
				e.inbox.end(ended{epoch, &at})
				return
			}
			select {
			case <-time.After(patience / 10):
			case <-ctx.Done():
				return
			}
		}
	}()
}

// onEnd takes where the log ended.
func (e *Engine) onEnd(r *ended) {
	sh := &e.state.sharing
	switch {
	case r.epoch != e.View().Epoch || sh.passed:
	case r.at == nil:
		e.log.Warn("the log was not read up to where it ended when the membership changed, the work begins without that", "epoch", r.epoch)
		e.passBarrier()
	default:
		sh.barrier = r.at
		e.lookAtBarrier()
	}
}

// lookAtBarrier begins with what was gained once the log is folded up to the barrier.
func (e *Engine) lookAtBarrier() {
	sh := &e.state.sharing
	if sh.passed || sh.barrier == nil {
		return
	}
	if at := e.proj.Position(); at.Log >= sh.barrier.Log && at.Results >= sh.barrier.Results {
		e.passBarrier()
	}
}

func (e *Engine) passBarrier() {
	e.state.sharing.passed = true
	if e.state.live {
		e.addChore(&takeover{began: object.At(time.Now())})
		e.tellGone()
	}
}

// hearMember follows what the log says of the members.
func (e *Engine) hearMember(ev *event.Event) {
	switch ev.Kind {
	case event.EngineLeft:
		e.hearDrill(ev)
		m := membership.Member{ID: ev.Facts["engine"], Instance: ev.Facts["instance"]}
		delete(e.state.sharing.gone, m.Instance)
		if e.View().Has(m) && m != e.member() {
			e.state.sharing.left[m.Instance] = true
			e.lookSoon(m)
		}
	case event.EngineJoined:
		e.hearDrill(ev)
		delete(e.state.sharing.left, ev.Facts["instance"]) // after a drill it is the same one
		e.hearEpoch(ev.Epoch)
	case event.EpochRaised:
		e.hearEpoch(ev.Epoch)
	}
}

// lookSoon looks at the store a few times after a member has said that it leaves, until
// it has: sooner than the membership tells of that by itself.
func (e *Engine) lookSoon(m membership.Member) {
	for _, after := range []time.Duration{0, 20 * time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond} {
		time.AfterFunc(after, func() { e.inbox.askAbout(m) })
	}
}

// tellGone says on the log which members are gone that have not said so themselves;
// one of those that are left does.
func (e *Engine) tellGone() {
	sh := &e.state.sharing
	if e.View().Owner("membership") != e.opt.ID {
		return
	}
	for _, m := range sh.gone {
		e.announce(event.EngineLeft, "membership", leftFacts(m, "expired"))
	}
}

func leftFacts(m membership.Member, why string) map[string]string {
	return map[string]string{"engine": m.ID, "instance": m.Instance, "why": why}
}

// sayLeave puts on the log that this engine leaves, and waits for that.
func (e *Engine) sayLeave(ctx context.Context) error {
	return e.say(ctx, event.EngineLeft, leftFacts(e.member(), "stopped"))
}

// leaveEarly lets the others take over from an engine that stops as soon as its checks
// have ended, whatever else it waits for: what is due meanwhile would be late by that.
func (e *Engine) leaveEarly(ctx context.Context) error {
	sh := &e.state.sharing
	if !e.state.stopped || !sh.member || sh.gaveUp || e.state.places > 0 || len(e.View().Members) < 2 || time.Now().Before(sh.leaveBy) {
		return nil
	}
	e.log.Info("the others take over while this engine still waits", "appends", len(e.state.pending))
	sh.gaveUp = true
	_, err := e.lastWrites(ctx, false, e.leaving()...)
	return err
}

// sayJoined puts on the log that this engine is a member; why is "" after a start.
func (e *Engine) sayJoined(why string) {
	facts := map[string]string{"engine": e.opt.ID, "instance": e.opt.Instance, "members": strings.Join(memberIDs(e.View()), ",")}
	if e.opt.Delivery != "" {
		facts[event.FactDelivery] = e.opt.Delivery
	}
	if why != "" {
		facts["why"] = why
	}
	e.announce(event.EngineJoined, "membership", facts)
}
