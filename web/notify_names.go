package web

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
)

// knownNames complains of an object, a contact or a channel that nothing is listed of
// because it is nowhere: neither in the config nor on the log of the time that is asked
// for. What is gone from the config can still be asked for.
func (s *site) knownNames(r *http.Request, q *noteQuery) error {
	object, contact, channel := s.strange(q.Object, q.contact, q.channel)
	if object == nil && contact == nil && channel == nil {
		return nil
	}
	list, err := s.history(r, journal.Query{Kinds: noteKinds(), Since: q.Since, Until: q.Until, Limit: noteMost})
	if err != nil {
		return err
	}
	if len(list) == noteMost {
		return nil // further back it may be there
	}
	for i := range list {
		if list[i].Object == q.Object {
			object = nil
		}
		for j := range list[i].Notes {
			for k := range list[i].Notes[j].People {
				p := &list[i].Notes[j].People[k]
				if p.Name == q.contact {
					contact = nil
				}
				if over(p.Channels, q.channel) {
					channel = nil
				}
			}
		}
	}
	return firstFault(object, contact, channel)
}

// knownOpen does the same for the messages that wait.
func (s *site) knownOpen(id object.ID, who, over string, open []openRequest) error {
	object, contact, channel := s.strange(id, who, over)
	for i := range open {
		if open[i].Event.Object == id {
			object = nil
		}
		if open[i].Contact == who {
			contact = nil
		}
		if overChannel(open[i].Channel, over) {
			channel = nil
		}
	}
	return firstFault(object, contact, channel)
}

// strange returns a fault for each name that the config does not know; "" is none.
func (s *site) strange(id object.ID, who, over string) (object, contact, channel error) {
	set := s.Projection.Set()
	if id != "" && set.Get(id) == nil {
		object = s.unknown(id)
	}
	if who != "" && set.Contacts[who] == nil {
		contact = s.unknownContact(who)
	}
	if over != "" {
		channel = s.unknownChannel(over)
	}
	return object, contact, channel
}

// unknownChannel is the fault for a channel that no contact has, nil if one has it.
func (s *site) unknownChannel(name string) error {
	names := map[string]bool{}
	for _, c := range s.Projection.Set().Contacts {
		for _, channel := range channelNames(c) {
			if overChannel(channel, name) {
				return nil
			}
			names[channel] = true
		}
	}
	f := faultf(http.StatusNotFound, "no channel is called %q", short(name))
	f.Field, f.Known = "channel", slices.Sorted(maps.Keys(names))
	if f.Near = nearestOf(name, f.Known); f.Near != "" {
		f.Detail += fmt.Sprintf("; did you mean %q?", f.Near)
	}
	return f
}

func over(channels []string, name string) bool {
	return name != "" && slices.ContainsFunc(channels, func(c string) bool { return overChannel(c, name) })
}

// firstFault returns the first of the errors that is one.
func firstFault(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}
