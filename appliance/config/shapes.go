package config

import (
	"strconv"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// Period is a named span of time as it is declared. What it means is among the
// periods of the object set.
type Period struct {
	Name     string
	Alias    string
	Timezone string   // IANA name; "" = the server's
	Ranges   []string // "monday-friday 09:00-17:00"
	Except   []string // "2026-12-25"
	Exclude  []string // names of periods that are taken out
}

// Contact is a person or channel that can be told something. What of the objects a
// contact is told stands in the object set; here is where the channels lead.
type Contact struct {
	Name     string
	Alias    string
	Email    string
	Telegram Secret   // chat id
	Webhook  *Webhook // nil = none
	// Chat are addresses of chat and on-call services: "slack://…", "ntfy://…".
	Chat    []Secret
	Command *object.Handler // run for each notification; nil = none
	// Hosts and Services are what the contact hears of each.
	Hosts, Services Wish
	Groups          []string
	Vars            map[string]string // upper-case names without "_"
}

// Wish is what a contact wants to hear of one kind of object.
type Wish struct {
	Off    bool
	Tell   object.NoteOptions
	Period string // name of a Period; "" = always
}

// Channels returns the names of the ways that lead to the contact, always in the
// same order.
func (c *Contact) Channels() []string {
	var names []string
	add := func(has bool, name string) {
		if has {
			names = append(names, name)
		}
	}
	add(c.Email != "", ChannelEmail)
	add(c.Telegram.Reveal() != "", ChannelTelegram)
	add(c.Webhook != nil, ChannelWebhook)
	for i := range c.Chat {
		names = append(names, ChatChannel(i))
	}
	add(c.Command != nil, ChannelCommand)
	return names
}

// The names of channels. What stands in front of a colon is the kind, by which rates
// and templates are chosen.
const (
	ChannelEmail    = "email"
	ChannelTelegram = "telegram"
	ChannelWebhook  = "webhook"
	ChannelChat     = "chat"
	ChannelCommand  = "command"
	ChannelCanary   = "canary" // the address outside that is asked after each round
)

// ChatChannel returns the name of the channel of a contact's chat address, counted
// from 0: "chat", "chat:2", "chat:3".
func ChatChannel(i int) string {
	if i == 0 {
		return ChannelChat
	}
	return ChannelChat + ":" + strconv.Itoa(i+1)
}

// Webhook is an address that messages are posted to.
type Webhook struct {
	URL     Secret
	Key     Secret            // for the HMAC signature; "" = none
	Headers map[string]Secret // beside those of jaque
	Body    string            // a template; "" = jaque's JSON
}

// Delivery says how messages go out.
type Delivery struct {
	URL      string        // of the dashboard, for links; "" = none
	Deadline time.Duration // how long a message is tried
	// Rates bound the messages to one contact over a channel, Templates say what
	// stands in them; both by the kind of channel. A kind without a rate has no limit.
	Rates       map[string]Rate
	Templates   map[string]Template
	TelegramAPI string // base address; "" = Telegram's own
	Canary      Canary
}

// Rate is so many messages in a time.
type Rate struct {
	Messages int
	Per      time.Duration
}

// Template holds the operator's own texts of a channel; "" = jaque's.
type Template struct{ Subject, Text, HTML string }

// Canary is the dead man's switch: a check whose every round is told to the outside.
// It is the service CanaryService; the contact CanaryContact has ChannelCanary.
type Canary struct {
	Every   time.Duration // 0 = there is none
	URL     Secret        // asked with GET after each round; "" = none
	Contact string        // told of each round; "" = nobody
}

// The names of what belongs to the canary.
const (
	CanaryHost    = "jaque"
	CanaryService = "canary"
	CanaryContact = "canary"
)

// Sink is an exporter: what it reads and where it writes.
type Sink struct {
	Name    string
	Input   string            // "metrics" or "events"
	Target  string            // "influx", "file", ...
	Options map[string]Secret // the target's settings as text
}

// View is a saved filter of the dashboard.
type View struct {
	Name, Title, Filter string
}

// User is somebody who may sign in.
type User struct {
	Name     string
	Password Secret // argon2id hash
	Role     string // "viewer", "operator" or "admin"
}

// HTTP holds what the config says about the dashboard and API.
type HTTP struct {
	PublicReads bool // whoever reaches an address beyond loopback may read, though no token is set
	// Hosts are names under which a loopback listener is reached, such as that
	// of a proxy in front of it.
	Hosts []string
}
