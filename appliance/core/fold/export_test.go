package fold

import "jaque.sh/jaque/appliance/core/object"

// NextTick returns the next instant at which a Tick changes something for an object that
// nothing happens to, with every decision made anew: what NextAsk must never be behind.
func NextTick(env *Env, s *State, now object.Time) object.Time {
	return first(nextTick(env, s), nextNote(env, s, now))
}
