package notify

import (
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// What operators set of contacts, for each kind of object.
const (
	settingHosts         = "host_notifications"
	settingServices      = "service_notifications"
	settingHostPeriod    = "host_notification_period"
	settingServicePeriod = "service_notification_period"
)

// candidate is somebody who could be told.
type candidate struct {
	name   string
	config *object.Contact
	chosen bool
	why    string // of chosen, either way
}

// people goes through the gates of everybody who could be told, and then through
// the object's last one.
func (d *decision) people() {
	for _, c := range d.candidates() {
		d.out.Contacts = append(d.out.Contacts, d.contact(c))
	}
	d.gates.look(GateContacts, func() Check {
		if d.out.Told() != nil {
			return pass("at least one contact is told")
		}
		c := block("no contact is left to be told")
		c.Until = d.nextStep()
		if f := &d.in.Fields; d.early && f.Next > d.in.Now && (c.Until == 0 || f.Next < c.Until) {
			c.Until = f.Next // then it is for the others
		}
		for i := range d.out.Contacts {
			for _, g := range d.out.Contacts[i].Gates {
				if g.Until != 0 && (c.Until == 0 || g.Until < c.Until) {
					c.Until = g.Until
				}
			}
		}
		return c
	})
	d.out.Gates = d.gates.all
	if by := d.gates.by; by != nil {
		d.out.By, d.out.Until = by.Gate, by.Until
		return
	}
	d.out.Send = true
}

// contact goes through the gates of one contact.
func (d *decision) contact(c candidate) Contact {
	var g gates
	g.by = d.gates.by
	ask := func(gate Gate, ask func() Check) { g.look(gate, ask) }
	unlessForced := func(gate Gate, ask func() Check) {
		g.look(gate, func() Check {
			if d.in.Forced {
				return pass(forced)
			}
			return ask()
		})
	}
	ask(GateKnown, func() Check {
		return passIf(c.config != nil, "the config has the contact", "the config has the contact no more")
	})
	ask(GateChosen, func() Check { return passIf(c.chosen, c.why, c.why) })
	d.filters(c.config, c.name, unlessForced)
	out := Contact{Name: c.name, Config: c.config, Gates: g.all, Told: g.by == nil}
	if g.by != nil {
		out.By = g.by.Gate
	}
	return out
}

// filters asks the gates that the contact's own config and switches make.
func (d *decision) filters(c *object.Contact, name string, ask func(Gate, func() Check)) {
	own := &object.ContactNotification{}
	if c != nil && c.Notify != nil {
		own = c.Notify
	}
	reach, set := own.Of(d.in.Object.Kind()), d.in.Contacts[name]
	ask(GateImportance, func() Check {
		return passIf(d.note.Importance >= own.Importance, "the "+d.kind()+" is important enough", "the "+d.kind()+" is not important enough for the contact")
	})
	ask(GateContactSwitch, func() Check { return d.contactSwitch(reach, &set) })
	ask(GateContactPeriod, func() Check {
		return inside("the contact's", d.periodOf(reach, &set), d.in.Now)
	})
	if d.in.Kind == Custom || d.in.Kind == Heartbeat {
		return
	}
	ask(GateContactOption, func() Check {
		what, name := d.subject()
		return passIf(reach.Options.Has(what), "the contact wants to hear of "+name, "the contact does not want to hear of "+name)
	})
	if d.in.Kind == Recovery {
		ask(GateContactProblem, func() Check { return d.wasTold(reach, name) })
	}
}

func (d *decision) byKind(host, service string) string {
	if d.in.Object.Kind() == object.Host {
		return host
	}
	return service
}

// setting returns what an operator set of a contact, "" if nothing.
func setting(c *event.ContactStatus, name string) string {
	for i := range c.Settings {
		if c.Settings[i].Name == name {
			return c.Settings[i].Value
		}
	}
	return ""
}

func (d *decision) contactSwitch(r *object.Reach, c *event.ContactStatus) Check {
	off := c.ServiceOff
	if d.in.Object.Kind() == object.Host {
		off = c.HostOff
	}
	kind := d.kind()
	switch {
	case off:
		return block("an operator switched the contact's " + kind + " notifications off")
	case r.Off && setting(c, d.byKind(settingHosts, settingServices)) != "on":
		return block("the contact's " + kind + " notifications are switched off by the config")
	}
	return pass("the contact's " + kind + " notifications are on")
}

// subject returns what a contact has to want to hear of, and its name.
func (d *decision) subject() (object.NoteOptions, string) {
	switch k := d.in.Kind; {
	case k.flapping():
		return object.NoteFlapping, "flapping"
	case k.downtime():
		return object.NoteDowntime, "downtimes"
	case k == Recovery:
		return object.NoteRecovery, "recoveries"
	}
	return 1 << d.in.Status.State, d.in.Status.State.Name(d.in.Object.Kind())
}

// wasTold blocks the end of what a contact cannot have heard of.
func (d *decision) wasTold(r *object.Reach, name string) Check {
	told := d.in.Fields.Notified&r.Options.Problems() != 0
	if d.note.ToTold {
		told = slices.Contains(d.in.Fields.Told, name)
	}
	return passIf(told, "the contact hears of such problems", "the contact was not told of the problem")
}

// candidates returns everybody whom the object, its escalation or the incident
// names, sorted by name, and says of each whether this notification is for him.
func (d *decision) candidates() []candidate {
	byName := map[string]*candidate{}
	add := func(c *object.Contact, chosen bool, why string) {
		was := byName[c.Name]
		if was == nil {
			was = &candidate{name: c.Name, config: c}
			byName[c.Name] = was
		}
		if was.why == "" || chosen && !was.chosen {
			was.chosen, was.why = chosen, why
		}
	}
	switch {
	case d.toTold():
		d.told(byName, add)
	case d.in.Broadcast:
		d.everybody(add)
	default:
		d.chosen(add)
	}
	all := make([]candidate, 0, len(byName))
	for _, c := range byName {
		all = append(all, *c)
	}
	slices.SortFunc(all, func(a, b candidate) int { return strings.Compare(a.name, b.name) })
	return all
}

type chooser func(c *object.Contact, chosen bool, why string)

// told chooses those who were told of the problem.
func (d *decision) told(byName map[string]*candidate, add chooser) {
	for _, name := range d.in.Fields.Told {
		c := &candidate{name: name, config: d.in.Known[name], chosen: true, why: "the contact was told of the problem"}
		byName[name] = c
	}
	d.rest(add, d.notTold())
}

// notTold is why somebody does not hear of the end of a problem. When the recovery is
// decided again it is only for those whose period was closed the first time.
func (d *decision) notTold() string {
	if d.in.Kind == Recovery && d.in.Fields.Number == 0 {
		return "the recovery was decided before; it is still told to those who heard of the problem and whose notification period was closed"
	}
	return "the contact was not told of the problem"
}

// everybody chooses all contacts of the object and of its escalation.
func (d *decision) everybody(add chooser) {
	const why = "the notification is for everybody"
	for _, c := range d.note.Contacts {
		add(c, true, why)
	}
	d.onCall(add, d.note.Rotas)
	for _, s := range d.note.Steps {
		for _, c := range s.Contacts {
			add(c, true, why)
		}
		d.onCall(add, s.Rotas)
	}
	d.name(d.steps)
}

// periodOf returns when a contact may be told: as an operator set it, else as
// configured; nil is always.
func (d *decision) periodOf(r *object.Reach, set *event.ContactStatus) object.Period {
	if p, known := d.in.Periods[setting(set, d.byKind(settingHostPeriod, settingServicePeriod))]; known {
		return p
	}
	return r.Period
}

// chosen chooses the contacts of the steps that hold; those of the object unless
// a step is instead of them.
func (d *decision) chosen(add chooser) {
	if d.early {
		d.chosenEarly(add)
		return
	}
	instead := false
	for _, s := range d.steps {
		instead = instead || !s.Adds
		d.ofStep(add, s)
	}
	if !instead {
		for _, c := range d.note.Contacts {
			add(c, true, "the "+d.names()+" names the contact")
		}
		d.onCall(add, d.note.Rotas)
	}
	d.name(d.steps)
	why := "no step of the escalation that holds now names the contact"
	if instead {
		why = "the escalation tells others instead: " + strings.Join(d.out.Steps, ", ")
	}
	d.rest(add, why)
}

// chosenEarly chooses those alone who do not wait for the interval.
func (d *decision) chosenEarly(add chooser) {
	var steps []*object.Step
	for _, s := range d.steps {
		if d.fresh(s) {
			steps = append(steps, s)
			d.ofStep(add, s)
		}
	}
	for _, c := range d.late() {
		add(c, true, lateOpened)
	}
	d.name(steps)
	d.rest(add, "the interval still runs; only those are told now who were not told yet")
}

func (d *decision) ofStep(add chooser, s *object.Step) {
	for _, c := range s.Contacts {
		add(c, true, "the step "+s.Name+" names the contact")
	}
	d.onCall(add, s.Rotas)
}

// rest gives everybody else the reason why he is not told.
func (d *decision) rest(add chooser, why string) {
	for _, c := range d.note.Contacts {
		add(c, false, why)
	}
	d.offDuty(add, d.note.Rotas)
	for _, s := range d.note.Steps {
		for _, c := range s.Contacts {
			add(c, false, why)
		}
		d.offDuty(add, s.Rotas)
	}
}

// name notes the steps that have chosen.
func (d *decision) name(steps []*object.Step) {
	for _, s := range steps {
		d.out.Steps = append(d.out.Steps, s.Name)
	}
}
