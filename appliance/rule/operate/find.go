package operate

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/near"
)

// searched bounds the names that are compared to find what was meant, so that a
// flood of wrong names costs little.
const searched = 400

// Object returns the object with an ID, or an *Error that says which one may
// have been meant.
func Object(set *object.Set, id object.ID) (*object.Object, error) {
	if o := set.Get(id); o != nil {
		return o, nil
	}
	if host, service, slash := strings.Cut(string(id), "/"); slash && id.Kind() == object.Host {
		// Nagios' people write it so.
		if o := set.Get(object.ServiceID(host, service)); o != nil {
			return nil, &Error{
				Fault: NotFound, Text: fmt.Sprintf("there is no host %q", id),
				Name: string(id), Near: []string{string(o.ID)},
			}
		}
	}
	host := set.Get(object.HostID(id.Host()))
	if host == nil || host.Kind() != object.Host {
		return nil, unknown("host", id.Host(), hostNames(set, id.Host()), func(name string) string {
			if id.Kind() == object.Service && set.Get(object.ServiceID(name, id.Service())) != nil {
				return string(object.ServiceID(name, id.Service()))
			}
			return name
		})
	}
	var names []string
	for _, s := range host.Services {
		names = append(names, s.Name)
	}
	e := unknown("service", id.Service(), names, func(name string) string {
		return string(object.ServiceID(host.Name, name))
	})
	e.Text = fmt.Sprintf("host %q has no service %q", host.Name, id.Service())
	return nil, e
}

// hostNames returns the names of hosts to compare with: all of them, or where
// there are very many those next to it in the order of names.
func hostNames(set *object.Set, name string) []string {
	from, to := 0, len(set.Hosts)
	if to > searched {
		at := sort.Search(to, func(i int) bool { return set.Hosts[i].Name >= name })
		from, to = max(0, at-searched/2), min(to, at+searched/2)
	}
	names := make([]string, 0, to-from)
	for _, h := range set.Hosts[from:to] {
		names = append(names, h.Name)
	}
	return names
}

// ByAddress returns the first host in the order of names that has an address, nil
// if none has. It looks at every host.
func ByAddress(set *object.Set, address string) *object.Object {
	for _, h := range set.Hosts {
		if h.Address == address && address != "" {
			return h
		}
	}
	return nil
}

// Group returns the objects whose config names a group, in the order of the set,
// or an *Error. What an operator means by a group are its Members.
func Group(set *object.Set, name string) ([]*object.Object, error) {
	if members, ok := set.Groups[name]; ok {
		return members, nil
	}
	return nil, unknown("group", name, keys(set.Groups), nil)
}

// Members returns what a group stands for: the hosts in it with all their
// services, and the services that are in it themselves, each once and in the order
// of the set; or an *Error. A filter on the group matches the same objects.
func Members(set *object.Set, name string) ([]*object.Object, error) {
	direct, err := Group(set, name)
	if err != nil {
		return nil, err
	}
	u := union{seen: make(map[object.ID]bool, len(direct))}
	for _, o := range direct {
		u.add(o)
		u.add(o.Services...)
	}
	return u.list, nil
}

// Contact returns a contact, or an *Error.
func Contact(set *object.Set, name string) (*object.Contact, error) {
	if c := set.Contacts[name]; c != nil {
		return c, nil
	}
	return nil, unknown("contact", name, keys(set.Contacts), nil)
}

// ContactGroup returns the contacts of a group by name, or an *Error.
func ContactGroup(set *object.Set, name string) ([]string, error) {
	if members, ok := set.ContactGroups[name]; ok {
		return members, nil
	}
	return nil, unknown("contact group", name, keys(set.ContactGroups), nil)
}

// Period returns a period of the config, or an *Error.
func Period(set *object.Set, name string) (object.Period, error) {
	if p := set.Periods[name]; p != nil {
		return p, nil
	}
	return nil, unknown("time period", name, keys(set.Periods), nil)
}

func keys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// unknown makes the error for a name that nothing has. show writes a name as it
// should be typed; nil = as it is.
func unknown(what, name string, candidates []string, show func(string) string) *Error {
	e := &Error{Fault: NotFound, Name: name, Text: fmt.Sprintf("there is no %s %q", what, shorten(name))}
	for _, n := range nearest(name, candidates) {
		if show != nil {
			n = show(n)
		}
		e.Near = append(e.Near, n)
	}
	return e
}

// shorten keeps error texts readable when the name is a page of text.
func shorten(name string) string {
	const most = 120
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "") + "…"
}

// nearest returns at most three names that differ from a name in a third of its
// letters at most, the nearest first.
func nearest(name string, candidates []string) []string {
	type match struct {
		name     string
		distance int
	}
	if len(name) > 255 {
		return nil
	}
	var found []match
	limit := min(len(name)/3, 3) + 1
	lower := strings.ToLower(name)
	for i, c := range candidates {
		if i == searched {
			break
		}
		if d := near.Distance(lower, strings.ToLower(c), limit); d <= limit && d < len(name) {
			found = append(found, match{c, d})
		}
	}
	slices.SortStableFunc(found, func(a, b match) int { return a.distance - b.distance })
	var names []string
	for i := 0; i < len(found) && i < 3 && found[i].distance == found[0].distance; i++ {
		names = append(names, found[i].name)
	}
	return names
}
