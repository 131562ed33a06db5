package config

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// people puts into the object set what is not an object: periods, contacts and
// global handlers.
func (l *loader) people() {
	set := l.out.Set
	set.Periods, set.HostHandler, set.ServiceHandler = l.compiled, l.global.host, l.global.service
	set.Contacts, set.ContactGroups = map[string]*object.Contact{}, map[string][]string{}
	for _, name := range sortedKeys(l.out.Contacts) {
		c := l.out.Contacts[name]
		set.Contacts[name] = &object.Contact{Name: name, Alias: c.Alias, Email: c.Email, Vars: c.Vars, Notify: &object.ContactNotification{
			Hosts: l.reach(c.Hosts), Services: l.reach(c.Services), Channels: c.Channels(),
		}}
		for _, g := range c.Groups {
			set.ContactGroups[g] = append(set.ContactGroups[g], name)
		}
	}
}

// reach says what a contact is told about one kind of object.
func (l *loader) reach(w Wish) object.Reach {
	return object.Reach{Off: w.Off, Options: w.Tell, Period: l.compiled[w.Period]}
}

// toldNames reports names of who is told that nothing has. What is no contact may be
// a group of contacts.
func (l *loader) toldNames(t told) {
	for _, r := range t.notify {
		if _, ok := l.out.Contacts[r.name]; !ok && len(l.circle[r.name]) == 0 {
			l.unknown(r, "contact", l.addressees())
		}
	}
	for _, r := range t.oncall {
		if !slices.ContainsFunc(l.schedules, func(c *schedule) bool { return c.Name == r.name }) {
			l.unknown(r, "schedule", func(yield func(string) bool) {
				for _, c := range l.schedules {
					if !yield(c.Name) {
						return
					}
				}
			})
		}
	}
}

// addressees runs over the names of contacts and of their groups.
func (l *loader) addressees() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, names := range []iter.Seq[string]{maps.Keys(l.out.Contacts), maps.Keys(l.circle)} {
			for name := range names {
				if !yield(name) {
					return
				}
			}
		}
	}
}

// contactsOf returns the contacts that names mean, each once, sorted by name, and
// notes that somebody names them.
func (l *loader) contactsOf(t told) []*object.Contact {
	names := map[string]bool{}
	for _, r := range t.notify {
		if _, ok := l.out.Contacts[r.name]; ok {
			names[r.name] = true
			continue
		}
		for _, name := range l.circle[r.name] {
			names[name] = true
		}
	}
	var all []*object.Contact
	for _, name := range sortedKeys(names) {
		l.wanted[name] = true
		all = append(all, l.out.Set.Contacts[name])
	}
	return all
}

// rotasOf returns the rotas that names mean, in the order of the names.
func (l *loader) rotasOf(t told) []object.Rota {
	var all []object.Rota
	var seen []string
	for _, r := range t.oncall {
		l.wanted["oncall "+r.name] = true
		s := l.out.OnCall[r.name]
		if s == nil || slices.Contains(seen, r.name) {
			continue
		}
		for _, name := range s.Contacts() {
			l.wanted[name] = true
		}
		all, seen = append(all, s.Rota()), append(seen, r.name)
	}
	return all
}

// idle tells of contacts and schedules that nothing names, and of schedules with
// times without anybody.
func (l *loader) idle() {
	if len(l.policies) == 0 && len(l.persons) > 0 {
		c := l.persons[0]
		l.warning(c.at, c.pos, "there is no policy, so nobody is told of anything; write policies: [{notify: [%s]}]", quote(c.Name))
	}
	for _, c := range l.persons {
		if _, group := l.circle[c.Name]; group {
			l.warning(c.at, c.pos, "a group of contacts has the same name; where people are named it means this contact")
		}
		if !l.wanted[c.Name] && len(l.policies) > 0 {
			l.warning(c.at, c.pos, "nobody names this contact; name it in notify of a policy or remove it")
		}
	}
	for _, c := range l.schedules {
		if !l.wanted["oncall "+c.Name] {
			l.warning(c.at, c.pos, "no policy asks who is on call by it; write oncall: [%s] in one or remove it", quote(c.Name))
		}
		l.gaps(c)
	}
}

// keys runs over the keys of a map.
func keys[V any](m map[string]V) iter.Seq[string] { return maps.Keys(m) }

// brief writes a duration as people do: "1h30m".
func brief(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
