package fold

import "jaque.sh/jaque/appliance/core/object"

// NextTick returns the next instant at which a Tick changes something, 0 for
// never. Due tells the same among other things; this one serves while a check of
// the object runs, which must not hold up its downtimes.
func NextTick(env *Env, s *State) object.Time { return nextTick(env, s) }
