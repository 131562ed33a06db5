package web

import (
	"strings"

	"jaque.sh/jaque/web/view"
	"jaque.sh/jaque/web/wire"
)

func explainParams() []wire.Param {
	return []wire.Param{
		{Name: "object", Type: "string", Help: "host or host!service; must be given"},
		{Name: "contact", Type: "string", Help: "only about this contact; default everybody who could be told"},
		{Name: "at", Type: "string", Help: "RFC 3339 or Unix seconds, in the past or in the future; default now. Of the past the object, its host and what it " +
			"depends on are as they were, the configuration and the switches of the program and of contacts as they are now"},
		{Name: "kind", Type: "string", Help: "PROBLEM, RECOVERY, …; default what fits the state"},
	}
}

func notifyParams() []wire.Param {
	return []wire.Param{
		{Name: "object", Type: "string", Help: "host or host!service; default all"},
		{Name: "contact", Type: "string", Help: "only decisions about this contact, and only what is about him"},
		{Name: "channel", Type: "string", Help: "only with a message over this channel, as in email"},
		{Name: "kind", Type: "string", Help: "PROBLEM, RECOVERY, …; default all, without an object all but HEARTBEAT, the rounds of the canary"},
		{Name: "outcome", Type: "string", Help: "one of " + strings.Join(noteOutcomes(), ", ") + "; default all"},
		{Name: "state", Type: "string", Help: "of the object then, one of " + strings.Join(view.NoteStates(), ", ") + "; default all"},
		{Name: "since", Type: "string", Help: "RFC 3339, inclusive"},
		{Name: "until", Type: "string", Help: "RFC 3339, exclusive"},
		{Name: "limit", Type: "integer", Help: "decisions of a page, default 100, at most 1000. At most 4000 are looked at for a page, so that it may be " +
			"short or empty although next names another"},
		{Name: "cursor", Type: "string", Help: "next of the page before"},
	}
}

func openParams() []wire.Param {
	return []wire.Param{
		{Name: "object", Type: "string", Help: "host or host!service; default all"},
		{Name: "contact", Type: "string", Help: "of this contact; default all"},
		{Name: "channel", Type: "string", Help: "over this channel, as in email; default all"},
		{Name: "limit", Type: "integer", Help: "at most so many, default 1000, at most 10000"},
	}
}
