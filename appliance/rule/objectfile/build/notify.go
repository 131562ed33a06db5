package build

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/objectfile"
)

// notifications says of contacts what they are told, and of objects who is told
// about them. Names were checked where the objects were made, so what is wrong
// with a reference was reported already.
func (b *builder) notifications(objects []*objectfile.Object) {
	seen := map[string]bool{}
	for _, o := range objects {
		if o.Type == "contact" && !seen[o.Name] {
			seen[o.Name] = true
			b.contacts[o.Name].Notify = b.contactNotify(o)
		}
	}
	for _, h := range b.order {
		h.Notify = b.notify(h, b.source[h.Name], b.source[h.Name])
	}
	// A definition makes many services; what is the same for all of them is made
	// once.
	type key struct{ own, people *objectfile.Object }
	made := map[key]*object.Notification{}
	read := map[*objectfile.Object]bool{}
	for _, s := range b.services {
		k := key{s.source, s.source}
		if !hasValue(s.source, "contacts") && !hasValue(s.source, "contact_groups") {
			k.people = b.source[s.object.Host.Name]
		}
		if made[k] == nil {
			b.once(read, s.source, func() { made[k] = b.notify(s.object, s.source, k.people) })
		}
		s.object.Notify = made[k]
	}
	b.weigh()
	b.steps(objects)
}

// weigh adds to the importance of a host that of its services.
func (b *builder) weigh() {
	for _, s := range b.services {
		s.object.Host.Notify.Importance += s.object.Notify.Importance
	}
}

// quietly does something whose problems were reported before.
func (b *builder) quietly(do func()) {
	kept := b.problems
	do()
	b.problems = kept
}

// once does something with a definition and reports what is wrong with it the first
// time only.
func (b *builder) once(done map[*objectfile.Object]bool, o *objectfile.Object, do func()) {
	if done[o] {
		b.quietly(do)
		return
	}
	done[o] = true
	do()
}

// contactNotify reads what a contact is told and how.
func (b *builder) contactNotify(o *objectfile.Object) *object.ContactNotification {
	n := &object.ContactNotification{Importance: int(o.Number("minimum_importance", 0))}
	for _, kind := range []object.Kind{object.Host, object.Service} {
		r, about := n.Of(kind), kind.String()+"_notification"
		r.Off = !o.Bool(about+"s_enabled", true)
		r.Options = b.noteOptions(kind, o, about+"_options", "fs", "")
		b.quietly(func() { r.Period = b.periodOf(o, about+"_period") })
		for _, command := range o.Names(about + "_commands") {
			if h, err := b.makeHandler(command); err == nil {
				r.Commands = append(r.Commands, h)
			}
		}
	}
	return n
}

// noteOptions reads letters of what people are told about: those of the kind's
// problems, r, and more.
func (b *builder) noteOptions(kind object.Kind, o *objectfile.Object, directive, more, def string) object.NoteOptions {
	allowed := "wucr" + more
	if kind == object.Host {
		allowed = "dur" + more
	}
	var options object.NoteOptions
	for _, letter := range o.Options(directive, allowed, def, &b.problems) {
		switch letter {
		case 'r':
			options |= object.NoteRecovery
		case 'f':
			options |= object.NoteFlapping
		case 's':
			options |= object.NoteDowntime
		default:
			state, _ := stateOf(kind, string(letter))
			options |= 1 << state
		}
	}
	return options
}

// notify reads who is told about an object: own is its definition, people the one
// that names the contacts.
func (b *builder) notify(x *object.Object, own, people *objectfile.Object) *object.Notification {
	kind := x.Kind()
	return &object.Notification{
		Contacts: b.contactsOf(people, nil), FirstDelay: b.units(own, "first_notification_delay", 0),
		Options:    b.noteOptions(kind, own, "notification_options", "fs", map[object.Kind]string{object.Host: "durfs", object.Service: "wucrfs"}[kind]),
		Importance: int(own.Number("importance", 0)),
	}
}

// contactsOf returns the contacts that a definition names, itself and by groups,
// with those of more; each once.
func (b *builder) contactsOf(o *objectfile.Object, more []*object.Contact) []*object.Contact {
	names := map[string]bool{}
	for _, c := range more {
		names[c.Name] = true
	}
	b.quietly(func() {
		add(names, b.contactList(o, "contacts"))
		for group := range b.contactGroupList(o) {
			if g := b.contactGroups.byName[group]; g != nil {
				add(names, g.members)
			}
		}
	})
	var all []*object.Contact
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if c := b.contacts[name]; c != nil {
			all = append(all, c)
		}
	}
	return all
}

// contactGroupList returns the contact groups that a definition lists by name,
// "*" or "!".
func (b *builder) contactGroupList(o *objectfile.Object) map[string]bool {
	list := map[string]bool{}
	for _, name := range o.Names("contact_groups") {
		switch {
		case name == "*":
			for _, group := range b.contactGroups.order {
				list[group] = true
			}
		case strings.HasPrefix(name, "!"):
		case b.isPattern(name):
			b.matchingNames(o, "contact_groups", name, "contactgroup", b.contactGroups.order, list)
		default:
			list[name] = true
		}
	}
	b.strike(o, "contact_groups", list)
	return list
}

// steps makes the steps of escalations. Objects of one definition that share
// everything else get their own notification as soon as they have a step.
func (b *builder) steps(objects []*objectfile.Object) {
	own, read := map[*object.Object]bool{}, map[*objectfile.Object]bool{}
	for _, o := range objects {
		for _, x := range b.escalated(o) {
			if !own[x] {
				n := *x.Notify
				x.Notify, own[x] = &n, true
			}
			b.once(read, o, func() { x.Notify.Steps = append(x.Notify.Steps, b.step(o, x)) })
		}
	}
}

// escalated returns the objects that an escalation is for.
func (b *builder) escalated(o *objectfile.Object) (all []*object.Object) {
	b.quietly(func() {
		switch o.Type {
		case "hostescalation":
			for _, name := range slices.Sorted(maps.Keys(b.hostsOf(o, "host_name", "hostgroup_name"))) {
				if h := b.hosts[name]; h != nil {
					all = append(all, h)
				}
			}
		case "serviceescalation":
			for _, id := range b.servicesOf(o, "") {
				all = append(all, b.serviceObject(id))
			}
		}
	})
	return all
}

// step reads one escalation as it is for an object, from which it takes what it
// does not say itself.
func (b *builder) step(o *objectfile.Object, x *object.Object) *object.Step {
	// Without a number Nagios takes -2: from the first one on, and up to none.
	s := &object.Step{
		First: int32(o.Number("first_notification", -2)), Last: int32(o.Number("last_notification", -2)),
		Interval: -1, Period: x.Rule.NotePeriod,
	}
	s.Name = fmt.Sprintf("escalation %d-%d (%s)", s.First, s.Last, o.Pos)
	if d := o.Find("notification_interval"); d != nil {
		s.Interval = max(0, seconds(o.Number("notification_interval", 0)*b.unit))
	}
	kind := x.Kind()
	s.Options = b.noteOptions(kind, o, "escalation_options", "", map[object.Kind]string{object.Host: "dur", object.Service: "wucr"}[kind])
	b.quietly(func() {
		if p := b.periodOf(o, "escalation_period"); p != nil {
			s.Period = p
		}
	})
	switch {
	case !hasValue(o, "contacts") && !hasValue(o, "contact_groups"):
		s.Contacts = x.Notify.Contacts
	case adds(o, "contacts") || adds(o, "contact_groups"):
		s.Contacts = b.contactsOf(o, x.Notify.Contacts)
	default:
		s.Contacts = b.contactsOf(o, nil)
	}
	return s
}

// adds tells whether a list begins with a plus: it is added to that of the object.
func adds(o *objectfile.Object, directive string) bool {
	d := o.Find(directive)
	return d != nil && strings.HasPrefix(d.Value, "+")
}
