package explain

import (
	"cmp"
	"fmt"
	"slices"

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
	a.prepare()
	a.answer.Condition = a.condition()
	a.suppose()
	a.answer.Decision = a.decide()
	a.next()
	a.answer.Ahead = ahead(a.in)
	a.record()
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
	q      Question
	w      *World
	o      *object.Object
	at     object.Time
	state  *fold.State   // of the object
	host   *event.Status // of a service's host, else nil
	in     *notify.Input
	answer Answer
}

// prepare makes the input of the decision as things are at the time.
func (a *asking) prepare() {
	a.state = a.look(a.o)
	operators := a.w.Program
	if operators == nil {
		operators = &program.State{}
	}
	settings := program.Effective(a.w.Set.Settings, operators)
	env := &fold.Env{
		Object: a.o, Settings: &settings, Periods: a.w.Set.Periods, Look: a.w.State,
		Contacts: operators.Contacts, Known: a.w.Set.Contacts, Started: a.w.Started,
	}
	if a.o.Host != nil {
		env.Host = a.look(a.o.Host)
		a.host = &env.Host.Status
	}
	in := fold.NoteInput(env, a.state, a.at)
	a.in = &in
	if a.answer.Future {
		meanwhile(a.in, a.w.Now)
	}
}

// look returns an object's state, that of one never checked if nothing is known.
func (a *asking) look(o *object.Object) *fold.State {
	if s := a.w.State(o.ID); s != nil {
		return s
	}
	s := fold.New(o)
	return &s
}

// suppose chooses the notification, and the state that it takes where the state is
// another.
func (a *asking) suppose() {
	st, k := a.in.Status, a.q.Kind
	bad := st.Checked && st.State != object.OK
	switch {
	case k != "":
	case a.o.Notify != nil && a.o.Notify.Heartbeat:
		k = notify.Heartbeat
	case !bad && st.Notified != 0:
		k = notify.Recovery
	default:
		k = notify.Problem
	}
	a.in.Kind = k
	switch {
	case k == notify.Problem && !bad:
		a.turn(failed(a.o.Kind()))
	case k == notify.Recovery && st.State != object.OK:
		a.turn(object.OK)
	}
}

// turn supposes that the object changes its state at the time, hard.
func (a *asking) turn(to object.State) {
	before, after := *a.in.Status, *a.in.Status
	after.State, after.Type, after.Checked, after.Attempt = to, object.Hard, true, 1
	after.LastChange, after.LastHardChange, after.Problem = a.at, a.at, 0
	if to != object.OK {
		after.Problem, after.Attempt = a.at, max(after.MaxAttempts, 1)
	}
	a.in.Fields = notify.Turn(a.in.Fields, &before, &after, a.at)
	a.in.Before, a.in.Status = &before, &after
	a.answer.Supposed = fmt.Sprintf("it is %s; this is what would happen if it became %s (hard) at %s",
		stateName(a.o, &before), to.Name(a.o.Kind()), stamp(a.at))
}

// stateName names the state of a status.
func stateName(o *object.Object, st *event.Status) string {
	if !st.Checked {
		return "PENDING"
	}
	return st.State.Name(o.Kind())
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
		d.Changes = Changes(a.in, "")
		d.If = condition("would be sent", d.Changes)
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

// verdict says the decision in one sentence.
func (a *asking) verdict(d *Decision, why string) string {
	would := "would be"
	if a.answer.Past {
		would = "would have been"
	}
	what := "the notification " + string(d.Kind)
	if d.Kind == notify.Problem && d.Number > 1 {
		what += fmt.Sprintf(" number %d", d.Number)
	}
	if !d.Send {
		to := ""
		if a.q.Contact != "" {
			to = " to " + a.q.Contact
		}
		return fmt.Sprintf("%s %s sent%s: %s", what, negated(would), to, why)
	}
	var names []string
	for i := range d.People {
		if d.People[i].Told {
			names = append(names, d.People[i].Name)
		}
	}
	return fmt.Sprintf("%s %s sent to %s", what, would, list(names))
}

func negated(would string) string {
	if would == "would be" {
		return "would not be"
	}
	return "would not have been"
}

// next says what time alone does.
func (a *asking) next() {
	n := &a.answer.Next
	n.At, n.Kind = notify.Next(a.in)
	note := a.o.Notify
	again := "people are told again"
	if a.in.Fields.Number == 0 {
		again = "people are told"
	}
	switch {
	case note == nil:
		n.Text = "nobody is ever told of this " + a.o.Kind().String() + ": the configuration names no contacts for it"
	case note.Heartbeat:
		n.Text = "every check result is told"
	case !note.Timed:
		n.Text = "people are told with check results only: the next one decides anew"
	case n.At == 0 || n.Kind != a.in.Kind:
		n.At, n.Kind = 0, ""
		n.Text = "nothing by itself: people are told when something happens"
	case n.At <= a.at:
		n.Text = again + " at once (" + string(n.Kind) + ")"
	default:
		n.Text = again + " at " + stamp(n.At) + " (" + string(n.Kind) + ")"
	}
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
