package explain

import (
	"slices"
	"strconv"

	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// maxTurns bounds how many turns of an on-call schedule are looked at.
const maxTurns = 64

// turn returns when time alone chooses a contact who is not chosen now, and what
// happens then; 0 = never. A step of the escalation begins, or the contact's turn to
// be on call.
func (d *draft) turn(who string) (first object.Time, why string) {
	n := policy(d.in)
	if n == nil || d.in.Kind == notify.Recovery && n.ToTold {
		return 0, ""
	}
	consider := func(at object.Time, what string) {
		if at > d.in.Now && (first == 0 || at < first) && d.chosenAt(at, who) {
			first, why = at, what
		}
	}
	for _, s := range n.Steps {
		if s.After > 0 && d.in.Fields.Hard != 0 {
			consider(d.in.Fields.Hard.Add(s.After), "the step "+s.Name+" of the escalation begins")
		}
	}
	for _, r := range rotas(n) {
		if at := onCall(r, who, d.in.Now); at != 0 {
			consider(at, who+" is on call by "+r.Name())
		}
	}
	return first, why
}

// later lets it be a later notification, if that or a step of the escalation that begins
// with it chooses somebody who is not chosen now; false if none does.
func (d *draft) later(who string) bool {
	n := policy(d.in)
	if n == nil || d.in.Kind != notify.Problem {
		return false
	}
	own, now := d.in.Fields.Number, d.in.Now
	var number int32
	var at object.Time
	var begins string
	for _, s := range n.Steps {
		from := now
		if s.After > 0 && d.in.Fields.Hard != 0 {
			from = max(now, d.in.Fields.Hard.Add(s.After))
		}
		if s.First <= own+1 || number != 0 && number <= s.First {
			continue
		}
		d.in.Fields.Number = s.First - 1
		if d.chosenAt(from, who) {
			number, at, begins = s.First, from, s.Name
		}
		d.in.Fields.Number = own
	}
	if number == 0 {
		return false
	}
	d.in.Fields.Number = number - 1
	d.add(Change{
		Gate: notify.GateChosen, Contact: who, Number: number,
		Text: "it " + d.were() + " the notification number " + strconv.Itoa(int(number)) + ", with which the step " + begins + " of the escalation begins",
	})
	if at > now {
		d.waitFor(Change{Gate: notify.GateChosen, Contact: who}, at, "the problem is old enough for that step")
	}
	return true
}

// tooLate says of a contact for whom what holds the notification back is over too late:
// by then the escalation tells others instead. "" if that is not so.
func (d *draft) tooLate(out *notify.Outcome) string {
	what := map[notify.Gate]string{notify.GateInterval: "the interval", notify.GateDelay: "the first delay"}[out.By]
	end := d.in.Fields.Next
	if out.By == notify.GateDelay {
		end = out.Until
	}
	if what == "" || !d.still || d.who == "" || end <= d.in.Now || d.chosenAt(end, d.who) {
		return ""
	}
	look := *d.in
	look.Now, look.Forced = end, true
	steps := notify.Decide(&look).Steps
	if len(steps) == 0 {
		return ""
	}
	return what + d.did(" ended", " had ended") + " before the escalation tells others instead (" + list(steps) + ")"
}

// chosenAt tells whether a contact is chosen at a time. What is forced asks nothing
// else.
func (d *draft) chosenAt(at object.Time, who string) bool {
	look := *d.in
	look.Now, look.Forced = at, true
	out := notify.Decide(&look)
	return slices.Contains(out.Told(), who)
}

// onCall returns when a contact is on call next, 0 for never within the turns that
// are looked at.
func onCall(r object.Rota, who string, from object.Time) object.Time {
	if !slices.Contains(r.Members(), who) {
		return 0
	}
	for range maxTurns {
		name, _, until := r.OnCall(from)
		if name == who {
			return from
		}
		if until <= from {
			return 0
		}
		from = until
	}
	return 0
}
