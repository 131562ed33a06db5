package view

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
)

// MostContacts is how many contacts their page shows.
const MostContacts = 200

// Contacts is the page of who can be told, over what, and who is on call.
type Contacts struct {
	Chrome Chrome
	Why    string // why nothing can be switched here, "" = it can
	Name   string // part of a name that the list is narrowed to
	Duty   []Duty
	List   []Contact
	Rest   string
	Empty  string
}

// Duty is an on-call schedule as it stands.
type Duty struct {
	Name    string
	Contact Link // who is on call, without a label nobody
	Why     string
	Until   When // zero = for good
}

// Contact is somebody who can be told.
type Contact struct {
	ID       string // of the element
	Name     string
	Alias    string
	Channels []string // names only: addresses are nobody's business
	Groups   []string
	OnCall   []Duty
	Switches []Switch
	Other    []Setting
	Log      string
	Last     When // when a message last reached the contact; zero = not known
	LastOf   Link
	LastKind string
	Waiting  string // how many messages are on their way, "" = none
}

// ContactSources are what the page of contacts is filled from.
type ContactSources struct {
	Set     *object.Set
	Program *program.State
	Last    map[string]*event.Event // the newest delivery, by contact
	Waiting map[string]int          // open requests, by contact
	Name    string                  // part of a name to narrow the list to
}

// NewContactPage fills the page of contacts.
func NewContactPage(c Chrome, why string, src ContactSources, now time.Time) Contacts {
	v := Contacts{Chrome: c, Why: why, Name: src.Name}
	onCall := map[string][]Duty{}
	for _, r := range rotas(src.Set) {
		who, reason, until := r.OnCall(object.At(now))
		d := Duty{Name: r.Name(), Why: reason}
		if until != 0 {
			d.Until = NewWhen(until, now)
		}
		if who != "" {
			d.Contact = Link{Label: who, URL: "#contact-" + escape(who)}
			onCall[who] = append(onCall[who], d)
		}
		v.Duty = append(v.Duty, d)
	}
	groups := groupsOf(src.Set)
	shown := 0
	for _, s := range NewContacts(src.Set, src.Program, now) {
		if !named(&s, src.Name) {
			continue
		}
		if shown++; shown > MostContacts {
			continue
		}
		one := Contact{
			ID: "contact-" + escape(s.Name), Name: s.Name, Alias: s.Alias, Channels: channelsOf(src.Set.Contacts[s.Name]), Groups: groups[s.Name],
			OnCall: onCall[s.Name], Switches: []Switch{s.Hosts, s.Services}, Other: s.Other, Log: notesURL((&NoteAsk{Contact: s.Name}).Query()),
		}
		for i := range one.Switches {
			one.Switches[i].URL = strings.TrimSuffix(one.Switches[i].URL, "/settings") + "/contacts"
		}
		if e := src.Last[s.Name]; e != nil {
			one.Last, one.LastOf, one.LastKind = NewWhen(e.Time, now), Link{Label: string(e.Object), URL: URL(e.Object)}, e.Facts[event.FactKind]
		}
		if n := src.Waiting[s.Name]; n > 0 {
			one.Waiting = Count(n, "message waits", "messages wait")
		}
		v.List = append(v.List, one)
	}
	switch {
	case shown > MostContacts:
		v.Rest = "and " + Number(shown-MostContacts) + " more; write part of a name"
	case shown == 0 && src.Name != "":
		v.Empty = "No contact matches “" + src.Name + "”."
	case shown == 0:
		v.Empty = "The configuration declares no contacts: nobody is told of anything."
	}
	return v
}

func named(c *ContactSwitch, part string) bool {
	part = strings.ToLower(strings.TrimSpace(part))
	return strings.Contains(strings.ToLower(c.Name), part) || strings.Contains(strings.ToLower(c.Alias), part)
}

// rotas returns the on-call schedules that anything asks, by name.
func rotas(set *object.Set) []object.Rota {
	byName := map[string]object.Rota{}
	seen := map[*object.Notification]bool{}
	for _, o := range set.Objects {
		for n := o.Notify; n != nil && !seen[n]; n = n.Else {
			seen[n] = true
			for _, r := range n.Rotas {
				byName[r.Name()] = r
			}
			for _, s := range n.Steps {
				for _, r := range s.Rotas {
					byName[r.Name()] = r
				}
			}
		}
	}
	return slices.SortedFunc(maps.Values(byName), func(a, b object.Rota) int { return cmp.Compare(a.Name(), b.Name()) })
}

func groupsOf(set *object.Set) map[string][]string {
	out := map[string][]string{}
	for _, g := range slices.Sorted(maps.Keys(set.ContactGroups)) {
		for _, name := range set.ContactGroups[g] {
			out[name] = append(out[name], g)
		}
	}
	return out
}

// channelsOf returns the ways to a contact, for hosts and services alike, by
// their names.
func channelsOf(c *object.Contact) []string {
	if c == nil || c.Notify == nil {
		return nil
	}
	out := c.Notify.Over(object.Host)
	for _, name := range c.Notify.Over(object.Service) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// ChannelKinds returns the kinds of channels that contacts of a set have, sorted.
func ChannelKinds(set *object.Set) []string {
	kinds := map[string]bool{}
	for _, c := range set.Contacts {
		for _, name := range channelsOf(c) {
			kind, _, _ := strings.Cut(name, ":")
			kinds[kind] = true
		}
	}
	return slices.Sorted(maps.Keys(kinds))
}
