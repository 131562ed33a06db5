package config

import (
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// canary appends the host and the service whose every check is told to the outside,
// if there are to be any.
func (l *loader) canary(objects []*object.Object) []*object.Object {
	c := l.delivery.Canary
	if c.Every == 0 {
		return objects
	}
	if h := l.byName[CanaryHost]; h != nil {
		l.bad(h.at, h.pos, "the canary of delivery has a host of this name; write another name")
		return objects
	}
	host, service := l.alloc(), l.alloc()
	host.ID, host.Name, host.Alias = object.HostID(CanaryHost), CanaryHost, "jaque itself"
	host.Address, host.Zone = "127.0.0.1", l.zone
	host.Rule = canaryRule(object.Host, c.Every)
	service.ID, service.Name, service.Host = object.ServiceID(CanaryHost, CanaryService), CanaryService, host
	service.Alias, service.Zone = "from the schedule to the delivery", l.zone
	service.Rule = canaryRule(object.Service, c.Every)
	l.canaries = map[object.ID]bool{host.ID: true, service.ID: true}
	return append(objects, host, service)
}

// canaryRuleName names the rule of what nobody has declared.
const canaryRuleName = "delivery.canary"

// canaryRule checks without doing anything, and every result is good.
func canaryRule(k object.Kind, every time.Duration) *object.Rule {
	return &object.Rule{
		Name:     canaryRuleName,
		Check:    object.Check{Kind: object.CheckDummy, Dummy: &object.DummyCheck{Text: "the " + k.String() + " of the canary"}},
		Interval: every, Retry: every, Timeout: min(every, 30*time.Second), Attempts: 1, Active: true,
	}
}

// tellCanary says who hears of the canary: the address outside, and the contact that
// is to be told of each round.
func (l *loader) tellCanary() {
	c, set := l.delivery.Canary, l.out.Set
	if c.Every == 0 {
		return
	}
	var told []*object.Contact
	for _, r := range l.delivery.contact {
		l.wanted[r.name] = true
		if other := set.Contacts[r.name]; other != nil {
			told = append(told, other)
			continue
		}
		l.unknown(r, "contact", keys(l.out.Contacts))
	}
	if i := slices.IndexFunc(l.persons, func(p *person) bool { return p.Name == CanaryContact }); i >= 0 {
		l.bad(l.persons[i].at, l.persons[i].pos, "the canary of delivery has a contact of this name; write another name")
	}
	if c.URL.Reveal() != "" {
		everything := object.Reach{Options: object.NoteAll}
		own := &object.Contact{Name: CanaryContact, Alias: "the canary", Notify: &object.ContactNotification{
			Hosts: everything, Services: everything, Channels: []string{ChannelCanary},
		}}
		set.Contacts[CanaryContact] = own
		told = append(told, own)
	}
	slices.SortFunc(told, func(a, b *object.Contact) int { return strings.Compare(a.Name, b.Name) })
	if o := set.Get(object.ServiceID(CanaryHost, CanaryService)); l.canaries[object.HostID(CanaryHost)] {
		o.Notify = &object.Notification{Name: "canary", Contacts: told, Options: object.NoteAll, Heartbeat: true}
	}
}
