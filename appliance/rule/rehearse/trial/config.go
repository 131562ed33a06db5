package trial

import (
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// maker makes a config out of picked numbers.
type maker struct {
	pick     func(n int) int
	start    object.Time
	slots    int
	objects  []*object.Object
	periods  map[string]object.Period
	contacts []*object.Contact
	rotas    []object.Rota
	policies []*object.Notification
}

// chance is true once in n times.
func (m *maker) chance(n int) bool { return m.pick(n) == n-1 }

// slot is how far the places of two objects in a minute are apart.
const slot = 4 * time.Second

// named finds a name whose object has a place of its own in the minute, so that no
// two objects are checked in the same millisecond.
func (m *maker) named(prefix string, id func(string) object.ID) (string, object.ID) {
	from := time.Duration(m.slots) * slot
	m.slots++
	for n := 0; ; n++ {
		name := fmt.Sprint(prefix, "-", n)
		if at := fold.Phase(id(name), time.Minute); at >= from && at < from+slot/16 {
			return name, id(name)
		}
	}
}

func (m *maker) set() *object.Set {
	m.periods = map[string]object.Period{"always": &cycle{name: "always", every: time.Hour, open: time.Hour}}
	for i := range 3 {
		p := &cycle{
			name: fmt.Sprint("p", i), every: time.Duration(10+m.pick(30)) * time.Minute,
			open: time.Duration(3+m.pick(15)) * time.Minute, from: time.Duration(m.pick(20)) * time.Minute,
		}
		p.open = min(p.open, p.every-time.Minute)
		m.periods[p.name] = p
	}
	known := map[string]*object.Contact{}
	for _, name := range []string{"ann", "bob", "cid", "dee"} {
		c := m.contact(name)
		known[name], m.contacts = c, append(m.contacts, c)
	}
	for i := range 2 {
		m.rotas = append(m.rotas, &rota{name: fmt.Sprint("r", i), first: m.pick(4), turn: time.Duration(5+m.pick(40)) * time.Minute})
	}
	for i := range 3 {
		m.policies = append(m.policies, m.policy(fmt.Sprint("w", i)))
	}
	for i := range 2 + m.pick(2) {
		m.host(i)
	}
	settings := object.DefaultSettings()
	set := object.NewSet("trial", settings, m.objects)
	set.Periods, set.Contacts = m.periods, known
	return set
}

// period is a period or, mostly, none.
func (m *maker) period(n int) object.Period {
	if !m.chance(n) {
		return nil
	}
	return m.periods[fmt.Sprint("p", m.pick(3))]
}

func (m *maker) options() object.NoteOptions {
	if m.chance(3) {
		return object.NoteOptions(m.pick(64))
	}
	return object.NoteAll
}

func (m *maker) contact(name string) *object.Contact {
	n := &object.ContactNotification{Channels: []string{"email", "chat"}[:1+m.pick(2)]}
	if m.chance(8) {
		n.Importance = 1
	}
	for _, r := range []*object.Reach{&n.Hosts, &n.Services} {
		r.Off, r.Options, r.Period = m.chance(8), m.options(), m.period(5)
	}
	return &object.Contact{Name: name, Notify: n}
}

// some picks contacts, sorted by name.
func (m *maker) some() (all []*object.Contact) {
	for _, c := range m.contacts {
		if m.chance(3) {
			all = append(all, c)
		}
	}
	return all
}

func (m *maker) someRotas(n int) []object.Rota {
	if !m.chance(n) {
		return nil
	}
	return m.rotas[:1+m.pick(2)]
}

// late is a length of time, or 0, that no other one is a multiple of.
func (m *maker) late(n int, odd time.Duration) time.Duration {
	if !m.chance(n) {
		return 0
	}
	return time.Duration(m.pick(10))*time.Minute + odd
}

func (m *maker) policy(name string) *object.Notification {
	var head *object.Notification
	for range 1 + m.pick(2) {
		n := &object.Notification{
			Name: name, Contacts: m.some(), Rotas: m.someRotas(4), Options: m.options(),
			FirstDelay: m.late(3, 17011*time.Millisecond), Importance: m.pick(2),
			FromFirst: m.chance(2), ToTold: !m.chance(3), Period: m.period(6), Else: head,
		}
		if m.chance(5) {
			n.States = object.StateMask(m.pick(16))
		}
		by := []object.GroupBy{object.GroupNone, object.GroupRoot, object.GroupHost, object.GroupPolicy}
		n.Group = object.Grouping{By: by[m.pick(4)], Wait: m.late(2, 7001*time.Millisecond), Interval: m.late(2, 11003*time.Millisecond)}
		for i := range m.pick(3) {
			n.Steps = append(n.Steps, m.step(fmt.Sprint(name, ".", i)))
		}
		head = n
	}
	if m.chance(4) {
		head.Name = ""
	}
	head.Timed = !m.chance(3)
	return head
}

func (m *maker) step(name string) *object.Step {
	s := &object.Step{Name: name, Contacts: m.some(), Rotas: m.someRotas(4), Options: m.options(), Adds: m.chance(2), Interval: -1}
	if m.chance(2) {
		s.First = int32(1 + m.pick(4))
		if m.chance(2) {
			s.Last = s.First + int32(m.pick(3))
		}
	} else {
		s.After = m.late(1, 23017*time.Millisecond)
		if m.chance(3) {
			s.Until = s.After + time.Duration(1+m.pick(20))*time.Minute
		}
	}
	if m.chance(3) {
		s.Interval = m.late(2, 29009*time.Millisecond)
	}
	s.Period = m.period(6)
	return s
}

func (m *maker) host(i int) {
	o := &object.Object{Rule: m.rule(), Zone: "default"}
	o.Name, o.ID = m.named(fmt.Sprint("h", i), object.HostID)
	for _, p := range m.objects {
		if p.Host == nil && m.chance(2) {
			o.Parents = append(o.Parents, p)
		}
	}
	m.told(o)
	m.objects = append(m.objects, o)
	for k := range m.pick(3) {
		s := &object.Object{Rule: m.rule(), Host: o, Zone: "default"}
		s.Name, s.ID = m.named(fmt.Sprint("s", k), func(name string) object.ID { return object.ServiceID(o.Name, name) })
		m.told(s)
		m.objects = append(m.objects, s)
	}
}

// told gives an object its policy and, sometimes, something that it depends on.
func (m *maker) told(o *object.Object) {
	o.Notify = m.policies[m.pick(len(m.policies))]
	if len(m.objects) == 0 || !m.chance(6) {
		return
	}
	master := m.objects[m.pick(len(m.objects))]
	if master.Kind() == o.Kind() {
		o.Depends = []*object.Dependency{{Master: master, Notification: object.StateMask(m.pick(16)), Inherits: m.chance(2)}}
	}
}

func (m *maker) rule() *object.Rule {
	r := &object.Rule{
		Name: "trial", Check: object.Check{Kind: object.CheckDummy, Dummy: &object.DummyCheck{}},
		Interval: time.Duration(1+m.pick(5)) * time.Minute, Retry: time.Duration(1+m.pick(2)) * time.Minute,
		Timeout: time.Minute, Attempts: 1 + m.pick(4), Active: true, Passive: true,
		Volatile: m.chance(6), FlapDetection: m.chance(2), FlapLow: 10, FlapHigh: 25,
		NotePeriod: m.period(6), NoteInterval: m.late(2, 31013*time.Millisecond),
	}
	if m.chance(10) {
		r.Off = object.SwitchNotifications
	}
	return r
}
