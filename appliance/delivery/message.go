package delivery

import (
	"cmp"
	"slices"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/message"
)

// message puts together what a channel gets. The contact and the objects are those
// of the running config, what happened to them is as it was decided.
func (d *Delivery) message(b *deliver.Batch, repeat bool) *message.Message {
	set := d.opt.Projection.Set()
	m := &message.Message{
		ID: b.ID, Thread: b.Thread, Contact: set.Contacts[b.Contact], Channel: b.Channel, Repeat: repeat,
		Root: b.Root, URL: d.opt.URL(), Version: d.opt.Version, Now: object.At(time.Now()),
		Zone: d.opt.Zone,
	}
	if m.Contact == nil {
		m.Contact = &object.Contact{Name: b.Contact} // not everybody who is told is a contact of the config
	}
	m.Items = make([]message.Item, len(b.Requests))
	for i, p := range b.Requests {
		m.Items[i] = item(p, set)
	}
	// What a long message does not name is what matters least and was known longest.
	slices.SortStableFunc(m.Items, func(x, y message.Item) int {
		if (x.ID == b.Root) != (y.ID == b.Root) {
			return less(x.ID == b.Root)
		}
		return cmp.Or(cmp.Compare(weight(&y), weight(&x)), cmp.Compare(y.Time, x.Time))
	})
	return m
}

func less(yes bool) int {
	if yes {
		return -1
	}
	return 1
}

// item tells of one request.
func item(p *deliver.Pending, set *object.Set) message.Item {
	e, n := p.Event, p.Note
	i := message.Item{
		ID: e.Object, Object: set.Get(e.Object), Kind: n.Kind, Number: n.Number,
		Status: e.Status, Measure: e.Measure, Was: e.Was, Time: e.Time, Since: p.Since,
		Author: e.Author, Text: e.Text, Policy: n.Policy, Steps: n.Steps,
	}
	for j := range n.People {
		switch other := &n.People[j]; {
		case other.Name == p.Contact:
			i.Why = reason(other.Gates, notify.GateChosen)
		case other.Name != p.Contact && other.Told:
			i.Others = append(i.Others, other.Name)
		}
	}
	slices.Sort(i.Others)
	return i
}

// reason returns what a gate said.
func reason(all []event.Gate, of notify.Gate) string {
	for _, g := range all {
		if g.Name == string(of) {
			return g.Why
		}
	}
	return ""
}

// weight orders items by how bad their state is: a host that is down explains its
// services, one that cannot be reached is explained by another.
func weight(i *message.Item) int {
	if i.Status == nil {
		return 0
	}
	host := i.ID.Kind() == object.Host
	switch s := i.Status.State; {
	case host && s == object.Down:
		return 5
	case host && s == object.Unreachable:
		return 3
	case !host && s == object.Critical:
		return 4
	case !host && s == object.Unknown:
		return 2
	case !host && s == object.Warning:
		return 1
	}
	return 0
}
