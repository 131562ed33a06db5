package explain

import "jaque.sh/jaque/appliance/core/notify"

// Changes returns what has to be different so that somebody, or one contact, is told, as
// answers say it of the present.
func Changes(in *notify.Input, contact string) []Change { return changesOf(in, contact, false) }
