package build

import (
	"maps"
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/macro"
	"jaque.sh/jaque/appliance/rule/objectfile"
)

// people makes the contacts and fills their groups.
func (b *builder) people(objects []*objectfile.Object) {
	source := map[string]*objectfile.Object{}
	for _, o := range objects {
		if o.Type != "contact" {
			continue
		}
		if other := source[o.Name]; other != nil {
			b.problems.Add(o.Pos, "contact %q is already defined at %s; rename one of them", o.Name, other.Pos)
			continue
		}
		b.legal(o)
		source[o.Name] = o
		b.contacts[o.Name] = &object.Contact{
			Name: o.Name, Alias: o.Text("alias", o.Name), Email: o.Text("email", ""), Vars: o.Vars(),
		}
		b.reach(o)
		b.join(b.contactGroups, o, "contactgroups", o.Name)
	}
	b.contactGroups.list = func(o *objectfile.Object) map[string]bool { return b.contactList(o, "members") }
	b.expandAll(b.contactGroups)
}

// contactList returns the contacts that a directive lists by name, "*" or "!".
func (b *builder) contactList(o *objectfile.Object, directive string) map[string]bool {
	list := map[string]bool{}
	for _, name := range o.Names(directive) {
		switch {
		case name == "*":
			for contact := range b.contacts {
				list[contact] = true
			}
		// Struck at the end, wherever it stands in the list.
		case strings.HasPrefix(name, "!"):
		case b.isPattern(name):
			b.matchingNames(o, directive, name, "contact", slices.Collect(maps.Keys(b.contacts)), list)
		case b.contacts[name] == nil:
			b.problems.Add(o.At(directive), "could not find any contact matching %q; define it or remove it from this line", name)
		default:
			list[name] = true
		}
	}
	b.strike(o, directive, list)
	return list
}

// told checks the names of those who are told about an object.
func (b *builder) told(o *objectfile.Object) {
	b.contactList(o, "contacts")
	for _, name := range o.Names("contact_groups") {
		plain := strings.TrimSpace(strings.TrimPrefix(name, "!"))
		if b.contactGroups.byName[plain] == nil && name != "*" && !b.isPattern(name) {
			b.problems.Add(o.At("contact_groups"), "there is no contactgroup %q; define it or remove it from this line", plain)
		}
	}
}

// handler makes the event handler of an object, nil if it has none.
func (b *builder) handler(o *objectfile.Object) *object.Handler {
	d := o.Find("event_handler")
	if d == nil || d.Value == "" {
		return nil
	}
	h, err := b.makeHandler(d.Value)
	if err != nil {
		b.problems.Add(d.Pos, "%s %q: event handler: %v", o.Type, o.Name, err)
	}
	return h
}

// globalHandler makes a handler that the main file sets for everything.
func (b *builder) globalHandler(directive string) *object.Handler {
	d := b.main.Find(directive)
	if d == nil || d.Value == "" {
		return nil
	}
	h, err := b.makeHandler(d.Value)
	if err != nil {
		b.problems.Add(d.Pos, "%s: %v", directive, err)
	}
	return h
}

func (b *builder) makeHandler(command string) (*object.Handler, error) {
	line, err := macro.CheckCommand(command, b.command)
	if err != nil {
		return nil, err
	}
	return &object.Handler{Name: command, Shell: line, Environ: b.main.Bool("enable_environment_macros", false)}, nil
}

// off returns the switches that a definition turns off.
func off(o *objectfile.Object) object.Switches {
	var w object.Switches
	for _, s := range []struct {
		directive string
		bit       object.Switches
	}{
		{"notifications_enabled", object.SwitchNotifications},
		{"event_handler_enabled", object.SwitchEventHandler},
		{"process_perf_data", object.SwitchPerfdata},
		{"obsess", object.SwitchObsess},
	} {
		if !o.Bool(s.directive, true) {
			w |= s.bit
		}
	}
	return w
}
