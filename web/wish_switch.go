package web

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/operate"
)

// switchable is one word of the field what: what it switches of an object and of
// the whole program; 0 = nothing.
type switchable struct {
	name    string
	object  object.Switches
	program object.Program
}

// switchables are the words in the order in which they are told; constant.
var switchables = []switchable{
	{event.SettingActive, object.SwitchActive, object.ProgramHostChecks | object.ProgramServiceChecks},
	{event.SettingPassive, object.SwitchPassive, object.ProgramPassiveHosts | object.ProgramPassiveServices},
	{event.SettingNotifications, object.SwitchNotifications, object.ProgramNotifications},
	{event.SettingFlapDetection, object.SwitchFlapDetection, object.ProgramFlapDetection},
	{event.SettingEventHandler, object.SwitchEventHandler, object.ProgramEventHandlers},
	{event.SettingPerfdata, object.SwitchPerfdata, object.ProgramPerfdata},
	{event.SettingObsess, object.SwitchObsess, object.ProgramObsessHosts | object.ProgramObsessServices},
	{"host_checks", 0, object.ProgramHostChecks},
	{"service_checks", 0, object.ProgramServiceChecks},
	{"passive_host_checks", 0, object.ProgramPassiveHosts},
	{"passive_service_checks", 0, object.ProgramPassiveServices},
	{"event_handlers", 0, object.ProgramEventHandlers},
	{"host_freshness", 0, object.ProgramHostFreshness},
	{"service_freshness", 0, object.ProgramServiceFreshness},
	{"obsess_hosts", 0, object.ProgramObsessHosts},
	{"obsess_services", 0, object.ProgramObsessServices},
}

func (w *wisher) enable() (operate.Request, error)  { return w.turn(true) }
func (w *wisher) disable() (operate.Request, error) { return w.turn(false) }

// turn switches what is named on or off, of objects, the program or a contact.
func (w *wisher) turn(on bool) (operate.Request, error) {
	author, err := w.author()
	if err != nil {
		return operate.Request{}, err
	}
	if err := w.onlyOne(); err != nil {
		return operate.Request{}, err
	}
	if w.q.Contact != "" {
		return w.turnContact(on, author)
	}
	whole := is(w.q.Program, false)
	objects, all, err := w.what(whole)
	if err != nil {
		return operate.Request{}, err
	}
	if !whole {
		return w.each(fold.Switch{What: objects, On: on, Author: author})
	}
	for field, text := range map[string]string{"kind": w.q.Kind, "scope": w.q.Scope} {
		if text != "" {
			return operate.Request{}, badField(field, "%s narrows objects; leave it out with program", field)
		}
	}
	return operate.Request{Program: program.Switch{What: all, On: on, Author: author}}, nil
}

// what reads the words of the field, for objects or for the whole program.
func (w *wisher) what(whole bool) (objects object.Switches, all object.Program, err error) {
	var known []string
	for _, s := range switchables {
		if whole || s.object != 0 {
			known = append(known, s.name)
		}
	}
	if len(w.q.What) == 0 {
		return 0, 0, unknownWord("what", "switch", "", known)
	}
	for _, name := range w.q.What {
		n := slices.IndexFunc(switchables, func(s switchable) bool { return s.name == name })
		switch {
		case n >= 0 && !whole && switchables[n].object == 0:
			return 0, 0, badField("what", "%s is a switch of the whole program; add program: true, or write one of %s", name, strings.Join(known, ", "))
		case n < 0:
			return 0, 0, unknownWord("what", "switch", name, known)
		}
		objects |= switchables[n].object
		all |= switchables[n].program
	}
	return objects, all, nil
}

// turnContact switches what a contact is told.
func (w *wisher) turnContact(on bool, author string) (operate.Request, error) {
	q := w.q
	if _, err := operate.Contact(w.Projection.Set(), q.Contact); err != nil {
		return operate.Request{}, within("contact", err)
	}
	switch {
	case len(q.What) != 1 || q.What[0] != event.SettingNotifications:
		return operate.Request{}, badField("what", "what is for objects, a contact has notifications alone; write [%q]", event.SettingNotifications)
	case q.Kind != "" && q.Kind != "host" && q.Kind != "service":
		return operate.Request{}, unknownWord("kind", "kind", q.Kind, []string{"host", "service"})
	case q.Scope != "":
		return operate.Request{}, badField("scope", "scope is of hosts; leave it out with contact")
	}
	return operate.Request{Program: program.SwitchContact{
		Name: q.Contact, Hosts: q.Kind != "service", Services: q.Kind != "host", On: on, Author: author,
	}}, nil
}

// tunables are what set can change; constant.
var tunables = []string{
	event.SettingInterval, event.SettingRetry, event.SettingAttempts,
	event.SettingCheckPeriod, event.SettingNotePeriod, event.SettingHandlerPeriod, event.SettingVar + "NAME",
}

// tune sets one thing of objects against the config.
func (w *wisher) tune() (operate.Request, error) {
	author, err := w.author()
	if err != nil {
		return operate.Request{}, err
	}
	if w.q.Value == nil {
		return operate.Request{}, badField("value", `value is missing; write "" to have it as configured again`)
	}
	name, value := w.q.Setting, *w.q.Value
	if variable, ok := strings.CutPrefix(name, event.SettingVar); ok {
		name = event.SettingVar + strings.ToUpper(strings.TrimPrefix(variable, "_"))
	}
	if err := w.setting(name, value); err != nil {
		return operate.Request{}, err
	}
	return w.each(fold.Tune{Name: name, Value: value, Author: author})
}

// setting checks a setting's name, and its value unless it is as configured.
func (w *wisher) setting(name, value string) error {
	variable, isVariable := strings.CutPrefix(name, event.SettingVar)
	switch {
	case isVariable && (variable == "" || strings.Trim(variable, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != ""):
		return badField("setting", "setting is %q; write var. and a name of letters, digits and _", short(w.q.Setting))
	case !isVariable && !slices.Contains(tunables, name):
		f := unknownWord("setting", "setting", name, tunables)
		if _, _, err := (&wisher{site: w.site, q: &request{What: []string{name}}}).what(false); err == nil {
			f.Detail = name + " is a switch; use enable or disable"
		}
		return f
	case len(value) > longestComment:
		return badField("value", "value has %d bytes; write at most %d", len(value), longestComment)
	case value == "" || isVariable:
		return nil
	}
	switch name {
	case event.SettingAttempts:
		if n, err := strconv.Atoi(value); err != nil || n < 1 || n > 1000 {
			return badField("value", "value is %q; write a number of attempts from 1 to 1000", short(value))
		}
	case event.SettingInterval, event.SettingRetry:
		if d, err := time.ParseDuration(value); err != nil || d < time.Second || d > 366*24*time.Hour {
			return badField("value", "value is %q; write a duration from 1s to a year, as in 5m or 1h30m", short(value))
		}
	default:
		if _, err := operate.Period(w.Projection.Set(), value); err != nil {
			return within("value", err)
		}
	}
	return nil
}
