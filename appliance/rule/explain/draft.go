package explain

import (
	"maps"
	"slices"

	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// clone returns an input of its own for a decision in which anything may be
// changed: nothing of it is shared but what no change touches.
func clone(in *notify.Input) *notify.Input {
	c := *in
	status, settings := *in.Status, *in.Settings
	c.Status, c.Settings = &status, &settings
	if in.Before != nil {
		before := *in.Before
		c.Before = &before
	}
	if in.Host != nil {
		host := *in.Host
		c.Host = &host
	}
	c.Contacts, c.Periods = maps.Clone(in.Contacts), maps.Clone(in.Periods)
	c.Fields.Told = slices.Clone(in.Fields.Told)
	own, rule := *in.Object, *in.Object.Rule
	c.Object, own.Rule = &own, &rule
	people := copies{}
	own.Notify = people.chain(own.Notify)
	c.Known = maps.Clone(in.Known)
	if c.Known == nil {
		c.Known = map[string]*object.Contact{}
	}
	for was, copied := range people {
		if c.Known[was.Name] == was {
			c.Known[was.Name] = copied
		}
	}
	return &c
}

// own makes the contact of a clone whom nothing names one that may be changed. There
// may be thousands of them, of whom one is asked about.
func own(in *notify.Input, who string) {
	known := in.Known[who]
	if known == nil {
		return
	}
	for n := range policies(in) {
		if slices.Contains(n.Contacts, known) || slices.ContainsFunc(n.Steps, func(s *object.Step) bool { return slices.Contains(s.Contacts, known) }) {
			return // a copy already
		}
	}
	in.Known[who] = copies{}.one(known)
}

// copies are contacts by what they were copied from.
type copies map[*object.Contact]*object.Contact

func (p copies) one(c *object.Contact) *object.Contact {
	if known := p[c]; known != nil {
		return known
	}
	own, notify := *c, object.ContactNotification{}
	if c.Notify != nil {
		notify = *c.Notify
	}
	own.Notify = &notify
	p[c] = &own
	return &own
}

func (p copies) all(list []*object.Contact) []*object.Contact {
	own := make([]*object.Contact, len(list))
	for i, c := range list {
		own[i] = p.one(c)
	}
	return own
}

func (p copies) chain(n *object.Notification) *object.Notification {
	if n == nil {
		return nil
	}
	own := *n
	own.Contacts, own.Else = p.all(n.Contacts), p.chain(n.Else)
	own.Steps = make([]*object.Step, len(n.Steps))
	for i, s := range n.Steps {
		step := *s
		step.Contacts = p.all(s.Contacts)
		own.Steps[i] = &step
	}
	return &own
}

// policies goes through the policies of an input, the first one first.
func policies(in *notify.Input) func(yield func(*object.Notification) bool) {
	return func(yield func(*object.Notification) bool) {
		for n := in.Object.Notify; n != nil && yield(n); n = n.Else {
		}
	}
}

// policy returns the policy that has its say in a decision, the first one if none
// has, nil where the object has none.
func policy(in *notify.Input) *object.Notification {
	state := object.OK
	if in.Kind == notify.Problem || in.Kind == notify.Acknowledgement {
		state = in.Status.State
	}
	if n := in.Object.Notify.For(state, in.Now); n != nil {
		return n
	}
	return in.Object.Notify
}

// reaches calls fn for everything that the input holds of a contact's config.
func reaches(in *notify.Input, name string, fn func(*object.ContactNotification)) {
	seen := map[*object.Contact]bool{}
	look := func(c *object.Contact) {
		if c != nil && c.Name == name && !seen[c] {
			seen[c] = true
			fn(c.Notify)
		}
	}
	look(in.Known[name])
	for n := range policies(in) {
		for _, c := range n.Contacts {
			look(c)
		}
		for _, s := range n.Steps {
			for _, c := range s.Contacts {
				look(c)
			}
		}
	}
}

// open makes a contact that hears of everything at any time.
func open(c *object.ContactNotification) {
	for _, k := range []object.Kind{object.Host, object.Service} {
		r := c.Of(k)
		r.Off, r.Options, r.Period = false, object.NoteAll, nil
	}
}

// name lets the policy and its steps name a contact.
func name(in *notify.Input, who string) {
	c := in.Known[who]
	if c == nil {
		c = &object.Contact{Name: who, Notify: &object.ContactNotification{}}
		open(c.Notify)
		in.Known[who] = c
	}
	if in.Object.Notify == nil {
		in.Object.Notify = &object.Notification{Options: object.NoteAll}
	}
	for n := range policies(in) {
		n.Contacts = append(n.Contacts, c)
		for _, s := range n.Steps {
			s.Contacts = append(s.Contacts, c)
		}
	}
	told(in, who)
}

// told lets a contact have heard of the problem.
func told(in *notify.Input, who string) {
	in.Fields.Notified |= object.NoteAll.Problems()
	if at, found := slices.BinarySearch(in.Fields.Told, who); !found {
		in.Fields.Told = slices.Insert(in.Fields.Told, at, who)
	}
}
