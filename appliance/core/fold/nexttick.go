package fold

import (
	"slices"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// NextAsk returns when an object that nothing happens to has to be asked again whether a
// Tick changes something: when one does, because a downtime starts or ends, an
// acknowledgement or a comment expires or people are told, or before. What a problem that
// was told waits for is mostly the end of an interval, which is known without a decision.
// An instant that is not after now is now; 0 is never.
func NextAsk(env *Env, s *State, now object.Time) object.Time {
	at := nextTick(env, s)
	if !timed(env, &s.Status) {
		return at
	}
	if held, until := interval(env, &s.Status, now); held {
		return first(at, until)
	}
	return first(at, nextNote(env, s, now))
}

// first returns the earlier of two instants of which 0 is never.
func first(a, b object.Time) object.Time {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// interval tells whether nothing but the interval decides that a problem is not
// told now, and when that ends at the earliest; 0 = never.
func interval(env *Env, st *event.Status, now object.Time) (held bool, until object.Time) {
	next := st.NextNotification
	if st.State == object.OK || st.NotificationNumber == 0 || next != notify.Never && (next <= now || notify.Ahead(st.LastNotification, next, now)) {
		return false, 0
	}
	if next != notify.Never {
		until = next
	}
	for n := env.Object.Notify; n != nil; n = n.Else {
		if opens(env, n.Contacts, n.Rotas) {
			return false, 0
		}
		for _, step := range n.Steps {
			if opens(env, step.Contacts, step.Rotas) {
				return false, 0
			}
			begins := st.Hard.Add(step.After)
			switch {
			case step.After <= 0 || st.Hard == 0:
			case st.Hard.Ahead(now, step.After):
				return false, 0
			case begins > now:
				until = first(until, begins)
			case begins > st.LastNotification:
				return false, 0 // it has begun, and may wait for something else
			}
		}
	}
	return true, until
}

// opens tells whether somebody may be told before the interval is over because a
// period of his own opens.
func opens(env *Env, all []*object.Contact, rotas []object.Rota) bool {
	bounded := func(c *object.Contact) bool {
		if c == nil || c.Notify == nil {
			return false
		}
		return c.Notify.Of(env.Object.Kind()).Period != nil || len(env.Contacts[c.Name].Settings) > 0
	}
	if slices.ContainsFunc(all, bounded) {
		return true
	}
	for _, r := range rotas {
		for _, name := range r.Members() {
			if bounded(env.Known[name]) {
				return true
			}
		}
	}
	return false
}
