package view

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
)

// MostContacts is how many contacts one page of them shows: a screen of a phone has
// room for three.
const MostContacts = 30

// Contacts is the page of who can be told, over what, and who is on call.
type Contacts struct {
	Chrome Chrome
	Why    string // why nothing can be switched here, "" = it can
	Name   string // part of a name that the list is narrowed to
	Duty   []Duty
	List   []Contact
	Broken string // why it is not known who was told last, "" = it is
	Rest   string // which of how many are shown, "" = all
	Before Link   // the page in front, without an address this is the first
	After  Link
	Empty  string
}

// Duty is an on-call schedule as it stands.
type Duty struct {
	Name    string
	Contact Link // who is on call, without a label nobody
	Why     string
	Until   When   // zero = for good
	Local   string // Until in the zone of the schedule, "" = that is UTC
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
	Missed   When // when the newest message was given up; zero = it was not
	MissedOf Link
	Missing  string // what it was
	Why      string // why it was given up
	Waiting  string // how many messages are on their way, "" = none
}

// ContactSources are what the page of contacts is filled from.
type ContactSources struct {
	Set     *object.Set
	Program *program.State
	Last    map[string]*event.Event // the newest delivery, by contact
	Missed  map[string]*event.Event // the newest that was given up since that, by contact
	Waiting map[string]int          // open requests, by contact
	Name    string                  // part of a name to narrow the list to
	Page    int                     // from 1; 0 = the first
	Broken  string                  // why Last and Missed are not known, "" = they are
}

// NewContactPage fills the page of contacts.
func NewContactPage(c Chrome, why string, src ContactSources, now time.Time) Contacts {
	v := Contacts{Chrome: c, Why: why, Name: src.Name, Broken: src.Broken}
	onCall := v.duty(src.Set, now)
	all := slices.DeleteFunc(NewContacts(src.Set, src.Program, now), func(s ContactSwitch) bool { return !named(&s, src.Name) })
	last := max(1, (len(all)+MostContacts-1)/MostContacts)
	page := min(max(src.Page, 1), last)
	from, to := (page-1)*MostContacts, min(page*MostContacts, len(all))
	groups := groupsOf(src.Set)
	for i := range all[from:to] {
		one := contact(&all[from+i], &src, now)
		one.Groups, one.OnCall = groups[one.Name], onCall[one.Name]
		v.List = append(v.List, one)
	}
	for i := range v.Duty { // who is on another page is found by name
		if at := &v.Duty[i].Contact; at.Label != "" && !slices.ContainsFunc(v.List, func(c Contact) bool { return c.Name == at.Label }) {
			at.URL = "/contacts?name=" + escape(at.Label) + at.URL
		}
	}
	if last > 1 {
		v.Rest = Number(from+1) + " to " + Number(to) + " of " + Count(len(all), "contact", "contacts")
		query := url.Values{}
		if src.Name != "" {
			query.Set("name", src.Name)
		}
		v.Before, v.After = pages("/contacts", query, page, last)
	}
	switch {
	case len(all) == 0 && src.Name != "":
		v.Empty = "No contact matches “" + src.Name + "”."
	case len(all) == 0:
		v.Empty = "The configuration declares no contacts: nobody is told of anything."
	}
	return v
}

// duty fills in the on-call schedules, and returns those by who is on call.
func (v *Contacts) duty(set *object.Set, now time.Time) map[string][]Duty {
	onCall := map[string][]Duty{}
	for _, r := range rotas(set) {
		who, reason, until := r.OnCall(object.At(now))
		d := Duty{Name: r.Name(), Why: reason}
		if until != 0 {
			d.Until, d.Local = NewWhen(until, now), local(until, zoneOf(r, now))
		}
		if who != "" {
			d.Contact = Link{Label: who, URL: "#contact-" + escape(who)}
			onCall[who] = append(onCall[who], d)
		}
		v.Duty = append(v.Duty, d)
	}
	return onCall
}

// zoned is a schedule that says in which time zone its turns are.
type zoned interface{ Zone() *time.Location }

// zoneOf returns the zone of a schedule, that of the machine where it says none.
func zoneOf(r object.Rota, now time.Time) *time.Location {
	if z, ok := r.(zoned); ok && z.Zone() != nil {
		return z.Zone()
	}
	return now.Location()
}

// local writes an instant in a zone, "" where that is UTC.
func local(at object.Time, zone *time.Location) string {
	t := at.Std().In(zone)
	if name := t.Format("MST"); name == "UTC" {
		return ""
	}
	if zone == time.Local {
		return t.Format("Mon 2006-01-02 15:04 MST")
	}
	return t.Format("Mon 2006-01-02 15:04 ") + zone.String()
}

// contact returns the card of one contact, without groups and duty.
func contact(s *ContactSwitch, src *ContactSources, now time.Time) Contact {
	one := Contact{
		ID: "contact-" + escape(s.Name), Name: s.Name, Alias: s.Alias, Channels: channelsOf(src.Set.Contacts[s.Name]),
		Switches: []Switch{s.Hosts, s.Services}, Other: s.Other, Log: notesURL((&NoteAsk{Contact: s.Name}).Query()),
	}
	for i := range one.Switches {
		one.Switches[i].URL = strings.TrimSuffix(one.Switches[i].URL, "/settings") + "/contacts"
	}
	if e := src.Last[s.Name]; e != nil {
		one.Last, one.LastOf, one.LastKind = NewWhen(e.Time, now), src.link(e.Object), e.Facts[event.FactKind]
	}
	if e := src.Missed[s.Name]; e != nil {
		kind, _, _ := strings.Cut(e.Facts[event.FactChannel], ":")
		one.Missed, one.MissedOf = NewWhen(e.Time, now), src.link(e.Object)
		one.Missing, one.Why = strings.TrimSpace(e.Facts[event.FactKind]+" over "+kind), e.Facts[event.FactReason]
	}
	if n := src.Waiting[s.Name]; n > 0 {
		one.Waiting = Count(n, "message waits", "messages wait")
	}
	return one
}

// link leads to an object, or to the log of one that has no page any more.
func (src *ContactSources) link(id object.ID) Link {
	if src.Set.Get(id) == nil {
		return Link{Label: string(id), URL: notesURL((&NoteAsk{Object: id}).Query())}
	}
	return Link{Label: string(id), URL: URL(id)}
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
