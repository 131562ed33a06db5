package program

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// Nagios' bits of modified attributes that contacts can have.
const (
	modNotifications = 1
	modVar           = 1 << 15
	modNotePeriod    = 1 << 16
)

// maxText bounds a text of an operator, in bytes.
const maxText = 4096

// Decide judges a command about the whole program. It returns what to write on
// the log, which may be nothing, or a *fold.Refusal. Nothing has changed until
// the event comes back from the log and Apply takes it in.
func Decide(env *Env, s *State, c Command, now object.Time) (fold.Decision, error) {
	d := decider{env: env, s: s, now: now}
	if author := authorOf(c); len(author) > maxText {
		return fold.Decision{}, refuse("the author has %d bytes; write at most %d", len(author), maxText)
	}
	switch c := c.(type) {
	case Switch:
		return d.setSwitches(c)
	case SwitchContact:
		return d.switchContact(c)
	case TuneContact:
		return d.tuneContact(c)
	case SetContactModified:
		return d.contactModified(c)
	case PutRule:
		return d.putRule(c.Rule)
	case RemoveRule:
		return d.removeRule(c)
	}
	return fold.Decision{}, refuse("command %T is unknown to this build", c)
}

func authorOf(c Command) string {
	switch c := c.(type) {
	case Switch:
		return c.Author
	case SwitchContact:
		return c.Author
	case TuneContact:
		return c.Author
	case SetContactModified:
		return c.Author
	case PutRule:
		return c.Rule.Author
	case RemoveRule:
		return c.Author
	}
	return ""
}

func refuse(format string, args ...any) error {
	return &fold.Refusal{Reason: fold.BadCommand, Text: fmt.Sprintf(format, args...)}
}

// decider holds one decision while it is made.
type decider struct {
	env *Env
	s   *State
	now object.Time
}

// said makes the event of the decision.
func (d *decider) said(k event.Kind, p event.Program, author, text string, facts ...string) fold.Decision {
	out := fold.Decision{HasLog: true}
	e := &out.Log
	e.Stream, e.Version, e.ID, e.Kind = event.Log, event.Version, d.env.ID, k
	e.Epoch, e.Writer, e.Instance, e.Prev, e.Time = d.env.Epoch, d.env.Writer, d.env.Instance, d.s.Sub, d.now
	e.Program, e.Author, e.Text = &p, author, text
	e.Facts = map[string]string{"topic": "program"}
	for i := 0; i+1 < len(facts); i += 2 {
		e.Facts[facts[i]] = facts[i+1]
	}
	return out
}

// setSwitches changes program-wide switches; what is already so changes nothing.
func (d *decider) setSwitches(c Switch) (fold.Decision, error) {
	if c.What == 0 || c.What&^allSwitches != 0 {
		return fold.Decision{}, refuse("no program-wide switches %#x; use a set of %s", uint16(c.What), Names(allSwitches))
	}
	config := d.env.Set.Settings.On
	next := d.s.Switches
	next.Off &^= c.What
	next.On &^= c.What
	to := "off"
	if c.On {
		to = "on"
		next.On |= c.What &^ config
	} else {
		next.Off |= c.What & config
	}
	if next.Off == d.s.Switches.Off && next.On == d.s.Switches.On {
		return fold.Decision{}, nil
	}
	for i, name := range switchNames {
		if bit := object.Program(1 << i); c.What.Has(bit) {
			next.Settings = d.enter(next.Settings, name, to, (next.Off | next.On).Has(bit), c.Author)
		}
	}
	return d.said(event.SettingChanged, event.Program{Switches: &next}, c.Author, "", "switch", Names(c.What), "to", to), nil
}

// enter notes who set a value against the config and when; what is as configured
// has no entry. The given list stays as it is.
func (d *decider) enter(all []event.Setting, name, value string, differs bool, author string) []event.Setting {
	at, has := slices.BinarySearchFunc(all, name, func(s event.Setting, name string) int { return strings.Compare(s.Name, name) })
	if has && differs && all[at].Value == value {
		return all
	}
	all = slices.Clone(all)
	if has {
		all = slices.Delete(all, at, at+1)
	}
	if differs {
		all = slices.Insert(all, at, event.Setting{Name: name, Value: value, Author: author, Time: d.now})
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// contact returns a contact of the config and what is known to differ.
func (d *decider) contact(name string) (*object.Contact, event.ContactStatus, error) {
	config := d.env.Set.Contacts[name]
	if config == nil {
		return nil, event.ContactStatus{}, refuse("no contact %q in the config%s", name, fold.Choice(slices.Sorted(maps.Keys(d.env.Set.Contacts))))
	}
	status := d.s.Contacts[name]
	status.Name = name
	return config, status, nil
}

// changed makes the event of a change of a contact, if it is one.
func (d *decider) changed(next event.ContactStatus, author string, facts ...string) (fold.Decision, error) {
	before := d.s.Contacts[next.Name]
	before.Name = next.Name
	if reflect.DeepEqual(before, next) {
		return fold.Decision{}, nil
	}
	facts = append(facts, "contact", next.Name)
	return d.said(event.SettingChanged, event.Program{Contact: &next}, author, "", facts...), nil
}

// switchContact switches what a contact is told about hosts, services or both.
func (d *decider) switchContact(c SwitchContact) (fold.Decision, error) {
	config, next, err := d.contact(c.Name)
	if err != nil {
		return fold.Decision{}, err
	}
	if !c.Hosts && !c.Services {
		return fold.Decision{}, refuse("nothing says which notifications of contact %q; name those of hosts, of services or both", c.Name)
	}
	to := map[bool]string{true: "on", false: "off"}[c.On]
	if c.Hosts && Tells(config, &next, object.Host) != c.On {
		off := offByConfig(config, object.Host)
		next.HostOff, next.HostModified = !c.On && !off, next.HostModified|modNotifications
		next.Settings = d.enter(next.Settings, HostNotifications, to, c.On == off, c.Author)
	}
	if c.Services && Tells(config, &next, object.Service) != c.On {
		off := offByConfig(config, object.Service)
		next.ServiceOff, next.ServiceModified = !c.On && !off, next.ServiceModified|modNotifications
		next.Settings = d.enter(next.Settings, ServiceNotifications, to, c.On == off, c.Author)
	}
	return d.changed(next, c.Author, "to", to)
}

// tuneContact sets a setting of a contact, or sets it back.
func (d *decider) tuneContact(c TuneContact) (fold.Decision, error) {
	contact, next, err := d.contact(c.Name)
	switch {
	case err != nil:
		return fold.Decision{}, err
	case len(c.Value) > maxText:
		return fold.Decision{}, refuse("%s has a value of more than %d bytes; write less", c.Setting, maxText)
	}
	setting, config := c.Setting, ""
	switch c.Setting {
	case HostNotePeriod, ServiceNotePeriod:
		if _, known := d.env.Set.Periods[c.Value]; !known && c.Value != "" {
			return fold.Decision{}, refuse("no period %q in the config%s", c.Value, fold.Choice(slices.Sorted(maps.Keys(d.env.Set.Periods))))
		}
		if c.Setting == HostNotePeriod {
			next.HostModified |= modNotePeriod
		} else {
			next.ServiceModified |= modNotePeriod
		}
	default:
		name, ok := strings.CutPrefix(c.Setting, event.SettingVar)
		if !ok {
			return fold.Decision{}, refuse("no setting %q of contacts; use %s, %s or var.NAME", c.Setting, HostNotePeriod, ServiceNotePeriod)
		}
		name = strings.ToUpper(strings.TrimPrefix(name, "_"))
		if config, ok = contact.Vars[name]; !ok {
			return fold.Decision{}, refuse("contact %q has no custom variable %q%s", c.Name, name, fold.Choice(slices.Sorted(maps.Keys(contact.Vars))))
		}
		setting = event.SettingVar + name
		next.Modified |= modVar
	}
	had := len(next.Settings)
	next.Settings = d.enter(next.Settings, setting, c.Value, c.Value != "" && c.Value != config, c.Author)
	if c.Value == "" && had == len(next.Settings) {
		return fold.Decision{}, nil
	}
	return d.changed(next, c.Author, "setting", setting, "to", c.Value)
}

// contactModified sets Nagios' bits and nothing else.
func (d *decider) contactModified(c SetContactModified) (fold.Decision, error) {
	_, next, err := d.contact(c.Name)
	if err != nil {
		return fold.Decision{}, err
	}
	facts := []string{"setting", "modified_attributes"}
	for _, part := range []struct {
		fact string
		from *uint32
		to   *uint32
	}{{"to", c.Bits, &next.Modified}, {"hosts", c.HostBits, &next.HostModified}, {"services", c.SvcBits, &next.ServiceModified}} {
		if part.from != nil {
			*part.to = *part.from
			facts = append(facts, part.fact, strconv.FormatUint(uint64(*part.from), 10))
		}
	}
	return d.changed(next, c.Author, facts...)
}
