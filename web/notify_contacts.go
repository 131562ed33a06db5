package web

import (
	"maps"
	"net/http"
	"slices"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/wire"
)

// contacts answers who can be told, over what, and who is on call now. Addresses
// are nobody's business.
func (s *site) contacts(w http.ResponseWriter, r *http.Request) error {
	if err := parameters(r); err != nil {
		return err
	}
	set, operators := s.Projection.Set(), s.Projection.Program()
	groups := map[string][]string{}
	for _, g := range slices.Sorted(maps.Keys(set.ContactGroups)) {
		for _, name := range set.ContactGroups[g] {
			groups[name] = append(groups[name], g)
		}
	}
	duty := onDuty(set, object.At(s.Now()))
	items := make([]wire.ContactEntry, 0, len(set.Contacts))
	for _, name := range slices.Sorted(maps.Keys(set.Contacts)) {
		c, st := set.Contacts[name], operators.Contacts[name]
		one := wire.ContactEntry{
			Name: name, Alias: c.Alias, Groups: []string{}, Channels: channelNames(c), OnCall: []wire.OnCall{},
			Hosts: hears(c, &st, object.Host), Services: hears(c, &st, object.Service), Settings: wire.FromSettings(st.Settings),
		}
		one.Groups, one.OnCall = append(one.Groups, groups[name]...), append(one.OnCall, duty[name]...)
		items = append(items, one)
	}
	return s.json(w, r, map[string]any{"items": items})
}

// hears tells whether the notifications of a contact are on for a kind of object.
func hears(c *object.Contact, st *event.ContactStatus, k object.Kind) bool {
	off := st.ServiceOff
	if k == object.Host {
		off = st.HostOff
	}
	on := slices.ContainsFunc(st.Settings, func(s event.Setting) bool {
		return s.Name == k.String()+"_notifications" && s.Value == "on"
	})
	return !off && (on || c.Notify == nil || !c.Notify.Of(k).Off)
}

// channelNames returns the names of the ways to a contact, for hosts and services
// alike.
func channelNames(c *object.Contact) []string {
	names := []string{}
	if c.Notify == nil {
		return names
	}
	for _, name := range slices.Concat(c.Notify.Over(object.Host), c.Notify.Over(object.Service)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// onDuty returns by which schedules contacts are on call at a time.
func onDuty(set *object.Set, now object.Time) map[string][]wire.OnCall {
	all := map[string][]wire.OnCall{}
	asked, seen := map[string]bool{}, map[*object.Notification]bool{}
	look := func(rotas []object.Rota) {
		for _, r := range rotas {
			if asked[r.Name()] {
				continue
			}
			asked[r.Name()] = true
			if who, why, until := r.OnCall(now); who != "" {
				all[who] = append(all[who], wire.OnCall{Schedule: r.Name(), Why: why, Until: wire.Time(until)})
			}
		}
	}
	// Many objects share a policy.
	for _, o := range set.Objects {
		for n := o.Notify; n != nil && !seen[n]; n = n.Else {
			seen[n] = true
			look(n.Rotas)
			for _, s := range n.Steps {
				look(s.Rotas)
			}
		}
	}
	return all
}
