package message

import (
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Message is everything that one message to one contact is about.
type Message struct {
	// ID names the message: the same requests give the same one, so that whoever
	// gets it twice can tell. Thread names the incident, the same for all messages
	// of it. Both are made of letters, digits, dots and dashes.
	ID, Thread string

	Contact *object.Contact
	Channel string
	Repeat  bool // it may have been sent before: the sender was restarted meanwhile
	Test    bool // somebody tries the channel, nothing has happened

	// Items are what happened, the root first, then the worst, then the newest; at
	// least one unless Test is set.
	Items []Item
	Root  object.ID // the failed host that explains the others; "" = none

	URL     string // of the dashboard, without a slash at the end; "" = not known
	Version string // of jaque
	Now     object.Time
	Zone    *time.Location // in which times are told; nil = UTC
}

// Item is one notification: what happened to one object.
type Item struct {
	ID     object.ID
	Object *object.Object // nil if the config has it no more
	Kind   string         // PROBLEM, RECOVERY, …: see package notify
	Number int32

	Status  *event.Status  // of the object with the event
	Measure *event.Measure // what the check said
	Was     *event.Was     // what was before; nil if the state is as it was
	Time    object.Time    // of the event
	Since   object.Time    // of the problem, that of one that is over too; 0 = none

	Author, Text string   // of who asked for it: acknowledgement, downtime, custom
	Policy       string   // whose policy
	Steps        []string // of the escalation
	Why          string   // why this contact: what the gate "chosen" says; "" = not known
	Others       []string // who else was told with it, sorted
}

// Rendered is a message in words. All of it is free of control and direction
// characters and valid UTF-8.
type Rendered struct {
	Subject string // one line
	Text    string // lines of at most 76 columns where words allow it, "\n" between them
	HTML    string // a whole document; "" = the text is all there is
	// Short is for chats, at most 300 characters; the text of an operator's template
	// for a channel other than mail stands here too, with up to 4000.
	Short string
	// Trouble is why an operator's template was not used; "" = it was, or there is
	// none. The text says so too.
	Trouble string
}
