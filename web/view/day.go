package view

import (
	"maps"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
)

// Downtimes is the page of what is expected to fail.
type Downtimes struct {
	Chrome  Chrome
	Filter  string
	Error   string
	Why     string
	Running []Downtime
	Coming  []Downtime
	Rules   []Rule
	Rest    string // how many more there are, "" = none
}

// Rule is a downtime for many objects or many times.
type Rule struct {
	ID     string
	Target Link
	Text   string
	Author string
	When   string
	How    []string
	Begun  Link // to the objects that are in it now, "" = none are
	Next   []Occurrence
	Zone   string
	Cancel string
}

// NewRule returns a downtime for many; running is how many objects are in it.
func NewRule(r *event.DowntimeRule, running int, next []Occurrence, now time.Time) Rule {
	v := Rule{
		ID: r.ID, Target: Link{Label: RuleTarget(r)}, Text: r.Text, Author: r.Author, Next: next, Zone: r.Zone,
		Cancel: "/do?command=cancel-downtime&id=" + escape(r.ID) + "&back=/downtimes",
	}
	switch {
	case r.Object != "":
		v.Target.URL = URL(r.Object)
	case r.Group != "":
		v.Target.URL = ListURL(object.Service, "group="+quote(r.Group))
	default:
		v.Target.URL = ListURL(object.Service, strings.TrimSuffix(r.Filter, "*"))
	}
	if len(r.Ranges) > 0 {
		v.When = strings.Join(r.Ranges, ", ")
		if r.Start > object.At(now) {
			v.How = append(v.How, "from "+NewWhen(r.Start, now).Text)
		}
		if r.End != 0 {
			v.How = append(v.How, "for the last time before "+NewWhen(r.End, now).Text)
		}
	} else {
		v.When = Stretched(r.Start.Std().UTC(), r.End.Std().UTC()) + " UTC"
	}
	if r.Duration > 0 {
		v.How = append(v.How, "flexible: "+Span(time.Duration(r.Duration)*time.Millisecond)+" from the first problem")
	}
	if running > 0 {
		v.Begun = Link{Label: Count(running, "object is", "objects are") + " in it now", URL: "/downtimes?filter=" + escape(within(r))}
	}
	return v
}

// within is the filter of what a downtime for many is for.
func within(r *event.DowntimeRule) string {
	switch {
	case r.Object != "":
		return "host=" + quote(r.Object.Host())
	case r.Group != "":
		return "group=" + quote(r.Group)
	case r.Filter == "*":
		return "downtime"
	}
	return r.Filter
}

// RuleTarget says what a downtime for many is for.
func RuleTarget(r *event.DowntimeRule) string {
	switch {
	case r.Object != "" && r.WithServices:
		return string(r.Object) + " with its services"
	case r.Object != "":
		return string(r.Object)
	case r.Group != "":
		return "group " + r.Group
	}
	return filtered(r.Filter)
}

// filtered says what a filter is for. What was narrowed to hosts or services by a
// choice beside it is said in words.
func filtered(text string) string {
	things := "everything"
	for kind, name := range map[string]string{"host": "every host", "service": "every service"} {
		if text == "kind="+kind {
			return name
		}
		inner, ok := strings.CutSuffix(text, ") and kind="+kind)
		if ok && strings.HasPrefix(inner, "(") && strings.Count(inner, "(")+strings.Count(inner, ")") == 1 {
			things, text = name, inner[1:]
		}
	}
	if text == "*" {
		return things
	}
	if names, ok := namedBy(text, "id="); ok {
		return names
	}
	if names, ok := namedBy(text, "host="); ok && things == "every service" {
		return "the services of " + names
	} else if ok {
		return names + " with services"
	}
	return things + " that matches “" + text + "”"
}

// namedBy reads a filter of nothing but quoted names, as a downtime for several
// objects has it.
func namedBy(text, field string) (string, bool) {
	const most = 5
	var names []string
	terms := strings.Split(text, " or ")
	for _, term := range terms {
		name, begins := strings.CutPrefix(term, field+`"`)
		name, ends := strings.CutSuffix(name, `"`)
		if !begins || !ends || strings.ContainsAny(name, `"\`) {
			return "", false
		}
		names = append(names, name)
	}
	if len(names) > most {
		return Count(len(names), "object", "objects") + ": " + strings.Join(names[:most], ", ") + ", …", true
	}
	return strings.Join(names, ", "), true
}

// Stretched writes from when to when, the day once if it is the same.
func Stretched(from, to time.Time) string {
	const day, clock = "Mon 2006-01-02", "15:04"
	text := from.Format(day + " " + clock)
	if to.Unix() <= 0 {
		return text
	}
	if from.Format(day) == to.Format(day) {
		return text + " to " + to.Format(clock)
	}
	return text + " to " + to.Format(day+" "+clock)
}

// Comments is the page of what operators said.
type Comments struct {
	Chrome Chrome
	Filter string
	Error  string
	Why    string
	List   []Comment
	Range  string
	Prev   string
	Next   string
}

// Settings is the page of what operators set against the config.
type Settings struct {
	Chrome   Chrome
	Why      string
	Program  []Switch
	Contacts []ContactSwitch
	Objects  []Setting
	Rest     string
}

// ContactSwitch is what a contact is told.
type ContactSwitch struct {
	Name     string
	Alias    string
	Hosts    Switch
	Services Switch
	Other    []Setting // periods and variables
}

// programBits are those of programWords as bits; constant.
var programBits = []object.Program{
	object.ProgramHostChecks, object.ProgramServiceChecks, object.ProgramPassiveHosts, object.ProgramPassiveServices,
	object.ProgramNotifications, object.ProgramEventHandlers, object.ProgramFlapDetection, object.ProgramPerfdata,
	object.ProgramHostFreshness, object.ProgramServiceFreshness,
}

// NewProgramSwitches returns the switches of the whole program.
func NewProgramSwitches(config object.Program, s *event.Switches, now time.Time) []Switch {
	on := config&^s.Off | s.On
	var out []Switch
	for n, bit := range programBits {
		name := programWords[n].name
		v := Switch{Label: programWords[n].label, On: on.Has(bit), Changed: (s.Off|s.On)&bit != 0, Verb: "Turn on"}
		command := "enable"
		if v.On {
			command, v.Verb = "disable", "Turn off"
		}
		v.URL = "/do?command=" + command + "&program=true&what=" + name + "&back=/settings"
		v.Author, v.When = who(s.Settings, name, now)
		out = append(out, v)
	}
	return out
}

// who says who set something and when; program-wide switches of both kinds may
// stand under the name of the pair.
func who(settings []event.Setting, name string, now time.Time) (string, When) {
	for _, x := range settings {
		if x.Name == name {
			return x.Author, NewWhen(x.Time, now)
		}
	}
	return "", When{}
}

// NewContacts returns what contacts are told, by name; those that differ from
// the config first.
func NewContacts(set *object.Set, p *program.State, now time.Time) []ContactSwitch {
	var out, same []ContactSwitch
	for _, name := range slices.Sorted(maps.Keys(set.Contacts)) {
		st, differs := p.Contacts[name]
		c := ContactSwitch{
			Name: name, Hosts: contactSwitch(name, "host", st.HostOff, st.Settings, now),
			Services: contactSwitch(name, "service", st.ServiceOff, st.Settings, now),
		}
		if alias := set.Contacts[name].Alias; alias != name {
			c.Alias = alias
		}
		for i := range st.Settings {
			if n := st.Settings[i].Name; n != "host_notifications" && n != "service_notifications" {
				s := NewSetting("", &st.Settings[i], now)
				s.Back = nil
				c.Other = append(c.Other, s)
			}
		}
		if differs {
			out = append(out, c)
		} else {
			same = append(same, c)
		}
	}
	return append(out, same...)
}

func contactSwitch(contact, kind string, off bool, settings []event.Setting, now time.Time) Switch {
	name := kind + "_notifications"
	v := Switch{Label: SwitchLabel(name), On: !off, Changed: off, Verb: "Turn off"}
	command := "disable"
	if off {
		command, v.Verb = "enable", "Turn on"
	}
	v.URL = "/do?command=" + command + "&what=notifications&kind=" + kind + "&contact=" + escape(contact) + "&back=/settings"
	v.Author, v.When = who(settings, name, now)
	return v
}
