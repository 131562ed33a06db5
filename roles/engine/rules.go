package engine

import (
	"maps"
	"strconv"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/operate"
)

// A downtime rule stands for many objects or many times. The engine makes each
// object's own downtime for the occurrence that runs or comes next, under an id
// that follows from both, so that making it twice changes nothing. What an
// operator cancelled of an occurrence stays cancelled. Who matches a filter is
// looked at when an occurrence is made, at a start and after a reload; who has the
// downtime then keeps it while it matches. It may match again after another reload.

// overAgain is when a rule is looked at again whose last occurrence has passed
// while downtimes made from it still run: flexible ones outlast it.
const overAgain object.Time = 2000

// soonAgain is when a rule is looked at again after what was cancelled of it.
const soonAgain object.Time = 500

// occurrenceID is the id of the downtimes that a rule makes for a start.
func occurrenceID(rule string, start object.Time) string {
	return rule + "@" + strconv.FormatInt(int64(start), 10)
}

// onRuleEvent begins what a change of the rules asks for.
func (e *Engine) onRuleEvent(ev *event.Event) {
	if r := ev.Program.Rule; r != nil {
		e.reconcile(r.ID)
	}
	if id := ev.Program.RuleGone; id != "" {
		delete(e.state.ruleDue, id)
		e.state.ruleNext = 0 // looked up anew
		e.addChore(&withdraw{rule: id, author: ev.Author})
	}
}

// reconcile makes what is missing of a rule.
func (e *Engine) reconcile(rule string) {
	if !e.state.live {
		return
	}
	r := &reconcile{id: rule}
	if b := e.state.chores.named[r.name()]; b != nil {
		r.made = b.chore.(*reconcile).made
	}
	e.addChore(r)
}

// reconcileAll looks at every rule, and at downtimes whose rule has gone: at a
// start and after a reload.
func (e *Engine) reconcileAll() {
	rules := e.proj.Program().Rules
	for id := range rules {
		e.reconcile(id)
	}
	for _, id := range e.proj.RuleIDs() {
		if _, ok := rules[id]; !ok {
			e.addChore(&withdraw{rule: id})
		}
	}
}

// dueRules looks at the rules whose time has come.
func (e *Engine) dueRules(now object.Time) {
	s := &e.state
	if !s.live || len(s.ruleDue) == 0 || s.ruleNext > now {
		return
	}
	s.ruleNext = 0
	for id, at := range s.ruleDue {
		switch {
		case at <= now:
			delete(s.ruleDue, id)
			e.reconcile(id)
		case s.ruleNext == 0 || at < s.ruleNext:
			s.ruleNext = at
		}
	}
}

// lookAgain sets when a rule is looked at next.
func (e *Engine) lookAgain(rule string, at object.Time) {
	s := &e.state
	s.ruleDue[rule] = at
	if s.ruleNext == 0 || at < s.ruleNext {
		s.ruleNext = at
	}
}

// reconcile is the chore of one rule.
type reconcile struct {
	id   string
	rule event.DowntimeRule
	set  *object.Set // the list is of this generation; nil = not begun

	start, end object.Time // of the occurrence to make; end 0 = there is none any more
	match      func(*object.Object) bool
	holds      func(*object.Object) bool // who keeps what it has; nil = everybody
	list       []*object.Object          // to look at for missing ones
	had        []object.ID               // to look at for those of other occurrences
	dropped    int                       // of those
	made       []*made                   // who waits for it
}

func (r *reconcile) name() string { return "rule " + r.id }

func (r *reconcile) step(e *Engine, now object.Time) bool {
	rule, ok := e.proj.Program().Rules[r.id]
	if !ok {
		r.all()
		return true // its downtimes are withdrawn by another chore
	}
	if r.set != e.proj.Set() {
		r.begin(e, rule, now)
	}
	work := 0
	for looks := 0; looks < pieceLooks && work < pieceDecisions && len(r.had) > 0; looks++ {
		n := e.dropOthers(r.had[0], r, now)
		work, r.dropped = work+n, r.dropped+n
		r.had = r.had[1:]
	}
	for looks := 0; looks < pieceLooks && work < pieceDecisions && len(r.list) > 0; looks++ {
		work += e.makeOccurrence(r.list[0], r, now)
		r.list = r.list[1:]
	}
	if len(r.had)+len(r.list) > 0 {
		return false
	}
	r.all()
	r.finish(e, now)
	return true
}

// begin finds the occurrence and the objects of the running generation.
func (r *reconcile) begin(e *Engine, rule event.DowntimeRule, now object.Time) {
	*r = reconcile{id: r.id, rule: rule, set: e.proj.Set(), made: r.made}
	start, end, err := occurrence(&rule, now)
	if err != nil {
		e.log.Error("a recurring downtime cannot be computed, it makes no more downtimes", "downtime", rule.ID, "err", err)
		return
	}
	r.start, r.end = start, end
	r.had = e.proj.OfRule(rule.ID)
	if end == 0 {
		return
	}
	switch {
	case rule.Object != "":
		o := r.set.Get(rule.Object)
		if o == nil {
			return // it left the config; it may come back
		}
		r.list = []*object.Object{o}
		if rule.WithServices {
			r.list = append(r.list, o.Services...)
		}
		r.holds = among(r.list)
	case rule.Group != "":
		if r.list, err = operate.Members(r.set, rule.Group); err != nil {
			r.holds = among(nil)
			return // it left the config; it may come back
		}
		r.holds = among(r.list)
	default:
		w := operate.World{Set: r.set, State: e.proj.State}
		if r.match, err = w.Matcher(rule.Filter); err != nil {
			e.log.Error("the filter of a downtime is wrong, it makes no more downtimes", "downtime", rule.ID, "err", err)
			return
		}
		r.list = r.set.Objects
		if rule.Filter == "*" || operate.Lasting(rule.Filter) == nil {
			r.holds = r.match
		}
	}
}

// among tells whether an object is in a list.
func among(list []*object.Object) func(*object.Object) bool {
	in := make(map[object.ID]bool, len(list))
	for _, o := range list {
		in[o.ID] = true
	}
	return func(o *object.Object) bool { return in[o.ID] }
}

// finish says when the rule is looked at next, or removes it.
func (r *reconcile) finish(e *Engine, now object.Time) {
	switch {
	case r.dropped > 0: // one of them may have the id of one to make
		e.lookAgain(r.id, now+soonAgain)
		return
	case r.end != 0:
		e.lookAgain(r.id, r.end)
		return
	}
	if !over(&r.rule, now) || !e.owns(object.ID("rule "+r.id)) {
		return // its owner removes it
	}
	left := e.proj.AnyOfRule(r.id, func(id object.ID) bool { _, ok := e.state.keys[id]; return ok })
	if left {
		e.lookAgain(r.id, now+overAgain)
		return
	}
	e.onProgramOrder(&order{id: e.newID(), program: program.RemoveRule{ID: r.id, Over: true}})
}

// makeOccurrence makes an object's downtime if it should have one and has none;
// it returns the number of decisions.
func (e *Engine) makeOccurrence(o *object.Object, r *reconcile, now object.Time) int {
	key, ok := e.state.keys[o.ID]
	if !ok || r.end <= now || r.match != nil && !r.match(o) || !e.owns(o.ID) {
		return 0
	}
	id := occurrenceID(r.id, r.start)
	if findDowntime(downtimes(e.proj.State(o.ID).Status.Extra), id) != nil {
		return 0
	}
	if e.proj.Dropped(o.ID, id, r.end) && e.state.unmatched[unmatched{o.ID, id}] == 0 {
		return 0
	}
	delete(e.state.unmatched, unmatched{o.ID, id})
	e.decide(key, job{order: e.part(r), command: fold.ScheduleDowntime{Downtime: event.Downtime{
		ID: id, Rule: r.id, Author: r.rule.Author, Text: r.rule.Text, Entry: r.rule.Entry,
		Start: r.start, End: r.end, Duration: r.rule.Duration,
	}}})
	return 1
}

// dropOthers cancels an object's downtimes of other occurrences that are still to
// come or still run, because the rule was replaced by one with other times, and all
// of an object that the rule is not for any more, because the config changed.
func (e *Engine) dropOthers(id object.ID, r *reconcile, now object.Time) (decisions int) {
	key, ok := e.state.keys[id]
	if !ok || !e.owns(id) {
		return 0
	}
	own := occurrenceID(r.id, r.start)
	stays := r.holds == nil || r.holds(e.state.entries[key].obj)
	for _, d := range downtimes(e.proj.State(id).Status.Extra) {
		same := r.end != 0 && d.ID == own && d.End == r.end
		switch {
		case d.Rule != r.id || same && stays:
			continue
		case !stays: // a flexible one that outlasts its window ends too
			e.unmatch(unmatched{id, d.ID}, d.End, now)
			e.decide(key, job{command: fold.CancelDowntimes{ID: d.ID}})
		case d.End > now:
			e.decide(key, job{command: fold.CancelDowntimes{ID: d.ID, Author: r.rule.Author}})
		default:
			continue
		}
		decisions++
	}
	return decisions
}

// unmatched is a downtime that an object lost because its rule is not for it any
// more. Nobody cancelled it, so it is made again if the object comes back to the
// rule; a restart in between forgets that for the occurrence of that time.
type unmatched struct {
	object   object.ID
	downtime string
}

func (e *Engine) unmatch(u unmatched, end, now object.Time) {
	all := e.state.unmatched
	maps.DeleteFunc(all, func(_ unmatched, end object.Time) bool { return len(all) > 1000 && end <= now })
	all[u] = end
}

// withdraw is the chore that cancels what was made from a rule that has gone.
type withdraw struct {
	rule, author string
	begun        bool
	ids          []object.ID
}

func (w *withdraw) name() string { return "withdraw " + w.rule }

func (w *withdraw) step(e *Engine, _ object.Time) bool {
	if _, again := e.proj.Program().Rules[w.rule]; again {
		return true // it was put anew, and is reconciled
	}
	if !w.begun {
		w.begun, w.ids = true, e.proj.OfRule(w.rule)
	}
	n := min(len(w.ids), pieceDecisions)
	for _, id := range w.ids[:n] {
		if key, ok := e.state.keys[id]; ok && e.owns(id) {
			e.decide(key, job{command: fold.CancelDowntimes{Rule: w.rule, Author: w.author}})
		}
	}
	w.ids = w.ids[n:]
	return len(w.ids) == 0
}
