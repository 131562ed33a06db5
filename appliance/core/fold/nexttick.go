package fold

import "jaque.sh/jaque/appliance/core/object"

// NextTick returns the next instant at which a Tick changes something for an
// object that nothing happens to: a downtime starts or ends, an acknowledgement or a
// comment expires, people are told. An instant that is not after now is now; 0 is
// never.
func NextTick(env *Env, s *State, now object.Time) object.Time {
	at, note := nextTick(env, s), nextNote(env, s, now)
	if at == 0 || note != 0 && note < at {
		return note
	}
	return at
}
