package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/near"
)

// Kinds returns the kinds of notification that can be asked about.
func Kinds() []notify.Kind {
	return []notify.Kind{
		notify.Problem, notify.Recovery, notify.Acknowledgement, notify.FlappingStart, notify.FlappingStop, notify.FlappingDisabled,
		notify.DowntimeStart, notify.DowntimeEnd, notify.DowntimeCancelled, notify.Custom, notify.Heartbeat,
	}
}

// Unknown is the error for a name that means nothing.
type Unknown struct {
	What string // object, contact or kind
	Name string
	Near string // what may have been meant, "" = nothing
}

// Error says what is not known and what may have been meant.
func (u *Unknown) Error() string {
	text := fmt.Sprintf("no %s is called %q", u.What, u.Name)
	if u.Near != "" {
		text += fmt.Sprintf("; did you mean %q?", u.Near)
	}
	return text
}

// Ask answers a question. An error is an *Unknown.
func Ask(q Question, w *World) (*Answer, error) {
	if err := known(&q, w); err != nil {
		return nil, err
	}
	a := asking{q: q, w: w, o: w.Set.Get(q.Object)}
	if a.at = q.At; a.at == 0 {
		a.at = w.Now
	}
	a.answer = Answer{Object: q.Object, At: a.at, Past: a.at < w.Now, Future: a.at > w.Now}
	a.record()
	a.prepare()
	a.answer.Condition = a.condition()
	a.suppose()
	a.answer.Decision = a.decide()
	a.next()
	a.ahead()
	a.caveats()
	return &a.answer, nil
}

// known complains of names that mean nothing.
func known(q *Question, w *World) error {
	if w.Set.Get(q.Object) == nil {
		var ids []string
		for _, o := range w.Set.Objects {
			ids = append(ids, string(o.ID))
		}
		return &Unknown{"object", string(q.Object), nearest(string(q.Object), ids)}
	}
	if q.Contact != "" && w.Set.Contacts[q.Contact] == nil {
		var names []string
		for name := range w.Set.Contacts {
			names = append(names, name)
		}
		slices.Sort(names)
		return &Unknown{"contact", q.Contact, nearest(q.Contact, names)}
	}
	if q.Kind != "" && !slices.Contains(Kinds(), q.Kind) {
		var kinds []string
		for _, k := range Kinds() {
			kinds = append(kinds, string(k))
		}
		return &Unknown{"kind of notification", string(q.Kind), nearest(string(q.Kind), kinds)}
	}
	return nil
}

// nearest returns the first of the names that are nearest, "" if none is near.
func nearest(got string, names []string) string {
	best, least := "", min(4, len(got)/2+1)
	for _, name := range names {
		if d := near.Distance(got, name, least); d < least {
			best, least = name, d
		}
	}
	return best
}

// asking is one question while it is answered.
type asking struct {
	q       Question
	w       *World
	o       *object.Object
	at      object.Time
	env     *fold.Env     // of the object
	state   *fold.State   // of the object
	host    *event.Status // of a service's host, else nil
	in      *notify.Input
	records []Record // decisions up to the time, newest first
	answer  Answer
}

// prepare makes the input of the decision as things are at the time. At a time to
// come they are as time alone will have left them.
func (a *asking) prepare() {
	operators := a.w.Program
	if operators == nil {
		operators = &program.State{}
	}
	settings := program.Effective(a.w.Set.Settings, operators)
	a.env = &fold.Env{
		Object: a.o, Settings: &settings, Periods: a.w.Set.Periods, Look: a.w.State,
		Contacts: operators.Contacts, Known: a.w.Set.Contacts, Started: a.w.Started,
	}
	a.state = a.look(a.o)
	if a.o.Host != nil {
		a.env.Host = a.look(a.o.Host)
	}
	for _, parent := range a.o.Parents {
		if a.look(parent).Status.State == object.Up {
			a.env.ParentsUp++
		}
	}
	if a.answer.Future {
		l := a.lapse(a.w.Now, a.state)
		if !l.until(a.at) {
			a.answer.Caveats = append(a.answer.Caveats, fmt.Sprintf("what happens until then is looked at until %s only: the answer may be different", stamp(l.now)))
		}
		a.state, a.env.Host = l.own, l.host
	}
	if a.env.Host != nil {
		a.host = &a.env.Host.Status
	}
	in := fold.NoteInput(a.env, a.state, a.at)
	a.in = &in
}

// look returns an object's state, that of one never checked if nothing is known.
func (a *asking) look(o *object.Object) *fold.State {
	if s := a.w.State(o.ID); s != nil {
		return s
	}
	s := fold.New(o)
	return &s
}

// decide makes the decision and puts it into words.
func (a *asking) decide() Decision {
	out := notify.Decide(a.in)
	d := Decision{
		Kind: out.Kind, Send: out.Send, By: out.By, Until: out.Until, Policy: out.Policy, Number: out.Number,
		Steps: out.Steps, Gates: gatesOf(out.Gates),
	}
	for i := range out.Contacts {
		if who := &out.Contacts[i]; a.q.Contact == "" || a.q.Contact == who.Name {
			d.People = append(d.People, a.person(who, &out, len(d.People) < mostTried))
		}
	}
	if a.q.Contact == "" {
		d.Changes = a.changes("")
		d.If = condition(a.would("be sent"), d.Changes)
		d.Verdict = a.verdict(&d, out.Why())
		return d
	}
	if len(d.People) == 0 {
		d.People = append(d.People, a.stranger(&out))
	}
	p := &d.People[0]
	d.Send, d.By, d.Changes, d.If = p.Told, p.By, p.Changes, p.If
	if d.By != out.By {
		d.Until = 0
		for _, g := range p.Gates {
			d.Until = max(d.Until, g.Until)
		}
	}
	d.Verdict = a.verdict(&d, p.Why)
	return d
}

func gatesOf(all []notify.Check) []Gate {
	gates := make([]Gate, len(all))
	for i, c := range all {
		gates[i] = Gate{Name: c.Gate, Verdict: c.Verdict, Meaning: c.Gate.Meaning(), Why: c.Why, Until: c.Until}
	}
	return gates
}

// would says that something is supposed to happen, or for a time of the past that it
// would have happened; done begins with "be".
func (a *asking) would(done string) string {
	if a.answer.Past {
		return "would have been" + strings.TrimPrefix(done, "be")
	}
	return "would " + done
}

// verdict says the decision in one sentence.
func (a *asking) verdict(d *Decision, why string) string {
	what := "the notification " + string(d.Kind)
	if d.Kind == notify.Problem && d.Number > 1 {
		what += fmt.Sprintf(" number %d", d.Number)
	}
	if !d.Send {
		to := ""
		if a.q.Contact != "" {
			to = " to " + a.q.Contact
		}
		return what + " would not" + strings.TrimPrefix(a.would("be sent"), "would") + to + ": " + why
	}
	var names []string
	for i := range d.People {
		if d.People[i].Told {
			names = append(names, d.People[i].Name)
		}
	}
	return what + " " + a.would("be sent") + " to " + list(names)
}

func (a *asking) caveats() {
	all := &a.answer.Caveats
	if a.answer.Future {
		*all = append(*all, "the time is to come: this is what happens if everything stays as it is until then, and people are told meanwhile")
	}
	if a.answer.Past {
		*all = append(*all, a.pastCaveats()...)
	}
	*all = append(*all, a.w.Caveats...)
}

func (a *asking) pastCaveats() (all []string) {
	back, changed := false, object.Time(0)
	for i := range a.w.Events {
		e := &a.w.Events[i]
		back = back || e.Time <= a.at && e.Status != nil
		if e.Time > a.at && (e.Has(event.ObjectAdded) || e.Has(event.ObjectChanged)) {
			changed = e.Time
		}
	}
	switch {
	case back:
	case a.w.Complete:
		all = append(all, "no decision about it from before that time is on the log: it is shown as never checked")
	default:
		all = append(all, "the history that was read does not reach back to that time: it is shown as never checked")
	}
	since := cmp.Or(changed, a.w.Loaded)
	switch {
	case changed != 0:
		all = append(all, "its configuration was changed at "+stamp(since)+": the gates are those of the present one")
	case since > a.at:
		all = append(all, "the configuration was loaded at "+stamp(since)+", after that time: the gates are those of the present one")
	}
	return all
}
