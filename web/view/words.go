package view

// Command is a command in words.
type Command struct {
	Name    string
	Heading string
	Submit  string // label of the button that does it
	Many    string // label of the button where a look comes first, "" = Continue
	Done    string // what was done, behind the name of an object
	Help    string // one line for a menu
	Danger  bool   // it takes something away
	Dismiss string // label of the way out, "" = Cancel
	Key     string // shortcut on the page of an object
}

// commands are the commands in the order of menus; constant.
var commands = []Command{
	{Name: "acknowledge", Heading: "Acknowledge", Submit: "Acknowledge", Done: "is acknowledged", Help: "somebody takes care of the problem", Key: "a"},
	{Name: "schedule-downtime", Heading: "Schedule downtime", Submit: "Schedule downtime", Done: "has a downtime", Help: "problems are expected for a while, once or again and again", Key: "d"},
	{Name: "add-comment", Heading: "Comment", Submit: "Add the comment", Done: "has a new comment", Help: "leave a remark for others", Key: "c"},
	{Name: "check-now", Heading: "Check now", Submit: "Check now", Done: "will be checked; the result appears on its page", Help: "run the check at once", Key: "r"},
	{Name: "submit-result", Heading: "Submit a result", Submit: "Submit", Done: "got the result", Help: "say how it stands, in place of a check"},
	{Name: "notify", Heading: "Send a notification", Submit: "Send", Done: "will be told about", Help: "tell the people in charge something"},
	{Name: "remove-acknowledgement", Heading: "Remove the acknowledgement", Submit: "Remove", Done: "is not acknowledged any more", Help: "the problem needs somebody again", Danger: true},
	{Name: "cancel-downtime", Heading: "Cancel downtime", Submit: "Cancel the downtime", Done: "has this downtime no longer", Help: "end what runs and drop what is to come", Danger: true, Dismiss: "Keep it"},
	{Name: "delete-comment", Heading: "Delete comments", Submit: "Delete", Done: "has this comment no longer", Help: "all remarks of operators", Danger: true},
	{Name: "disable", Heading: "Turn off", Submit: "Turn off", Done: "was switched", Help: "checks, results, notifications, flap detection, event handlers", Danger: true},
	{Name: "enable", Heading: "Turn on", Submit: "Turn on", Done: "was switched", Help: "what was turned off"},
	{Name: "set", Heading: "Change a setting", Submit: "Change", Done: "has the setting", Help: "interval, attempts, periods, variables"},
}

// CommandWords returns a command by its name.
func CommandWords(name string) (Command, bool) {
	for _, c := range commands {
		if c.Name == name {
			c.Many, c.Dismiss = first(c.Many, "Continue"), first(c.Dismiss, "Cancel")
			return c, true
		}
	}
	return Command{}, false
}

// Menu is the page that offers every command for a target.
type Menu struct {
	Chrome Chrome
	Target Target
	Why    string
	Links  []MenuLink
	Back   string
}

// MenuLink is one command of a menu.
type MenuLink struct {
	Label string
	Help  string
	URL   string
}

// NewMenu fills the menu of a target, whose values for the address are given.
func NewMenu(c Chrome, t Target, query, why, back string) Menu {
	m := Menu{Chrome: c, Target: t, Why: why, Back: back}
	for _, w := range commands {
		m.Links = append(m.Links, MenuLink{Label: w.Heading, Help: w.Help, URL: "/do?command=" + w.Name + "&" + query})
	}
	return m
}

// switchWords are the switches of one object by the names that the API has;
// constant, in the order of pages.
var switchWords = []struct{ name, label string }{
	{"active_checks", "Active checks"},
	{"passive_checks", "Submitted results"},
	{"notifications", "Notifications"},
	{"event_handler", "Event handler"},
	{"flap_detection", "Flap detection"},
	{"perfdata", "Performance data"},
	{"obsess", "Obsessing"},
}

// programWords are those of the whole program.
var programWords = []struct{ name, label string }{
	{"host_checks", "Active checks of hosts"},
	{"service_checks", "Active checks of services"},
	{"passive_host_checks", "Submitted results of hosts"},
	{"passive_service_checks", "Submitted results of services"},
	{"notifications", "Notifications"},
	{"event_handlers", "Event handlers"},
	{"flap_detection", "Flap detection"},
	{"perfdata", "Performance data"},
	{"host_freshness", "Freshness of hosts"},
	{"service_freshness", "Freshness of services"},
}

// SwitchOptions returns the switches to choose from, those of one object or
// those of the whole program.
func SwitchOptions(whole bool) []Option {
	words := switchWords[:5]
	if whole {
		words = programWords
	}
	out := make([]Option, len(words))
	for i, w := range words {
		out[i] = Option{Value: w.name, Label: w.label}
	}
	return out
}

// SwitchLabel returns a switch or setting for people.
func SwitchLabel(name string) string {
	for _, words := range [][]struct{ name, label string }{switchWords, programWords, settingWords} {
		for _, w := range words {
			if w.name == name {
				return w.label
			}
		}
	}
	return name
}

// settingWords are what can be set beside switches.
var settingWords = []struct{ name, label string }{
	{"interval", "Check interval"},
	{"retry", "Retry interval"},
	{"attempts", "Attempts"},
	{"check_period", "Check period"},
	{"notification_period", "Notification period"},
	{"event_handler_period", "Event handler period"},
	{"host_notifications", "Notifications about hosts"},
	{"service_notifications", "Notifications about services"},
	{"host_notification_period", "Host notification period"},
	{"service_notification_period", "Service notification period"},
}

// SettingOptions returns the settings of an object to choose from.
func SettingOptions() []Option {
	out := make([]Option, 6)
	for i := range out {
		out[i] = Option{Value: settingWords[i].name, Label: settingWords[i].label}
	}
	return out
}
