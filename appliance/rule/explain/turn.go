package explain

import (
	"slices"

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
