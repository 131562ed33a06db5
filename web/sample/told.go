package sample

import (
	"fmt"
	"strconv"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// HostileReason is what a mail server says that tries to break pages.
const HostileReason = `550 5.1.1 <img src=x onerror=alert(1)> no such user "here"`

// turns is an on-call schedule in which one has the first half of each day, UTC,
// and the other the second.
type turns struct{ name, first, second string }

func (t turns) Name() string      { return t.name }
func (t turns) Members() []string { return []string{t.first, t.second} }

func (t turns) OnCall(at object.Time) (string, string, object.Time) {
	const half = 12 * 3600 * 1000
	who := t.first
	if int64(at)/half%2 == 1 {
		who = t.second
	}
	return who, "layer halves", object.Time((int64(at)/half + 1) * half)
}

// Told returns the office with people who are told of its problems: messages that
// arrived, wait, failed and were given up, those that many objects share, and
// problems that nobody is told of.
func Told() *Site {
	objects := office()
	policy, contacts := people()
	for _, o := range objects {
		o.Notify = policy
	}
	rack := &object.Object{ID: "rack7", Name: "rack7", Alias: "shelf of disks", Rule: objects[0].Rule, Zone: "default", Notify: policy}
	objects = append(objects, rack)
	for n := range 24 {
		name := fmt.Sprintf("disk%02d", n)
		objects = append(objects, &object.Object{ID: object.ServiceID("rack7", name), Name: name, Host: rack, Rule: objects[1].Rule, Zone: "default", Notify: policy})
	}
	s := New(objects...)
	set := s.Set()
	set.Contacts = contacts
	set.ContactGroups = map[string][]string{"shop": {"maria", "ops"}, "everybody": {"boss", "jo", "lars", "maria", "ops"}}
	s.storm(rack)
	s.history()
	s.outcomes()
	return s
}

// people returns the policy of the office and the contacts that it names.
func people() (*object.Notification, map[string]*object.Contact) {
	contacts := map[string]*object.Contact{}
	add := func(name, alias string, options object.NoteOptions, channels ...string) *object.Contact {
		reach := object.Reach{Options: options}
		contacts[name] = &object.Contact{Name: name, Alias: alias, Email: name + "@example.com", Notify: &object.ContactNotification{Hosts: reach, Services: reach, Channels: channels}}
		return contacts[name]
	}
	maria, ops := add("maria", "Maria, shop", object.NoteAll, "email", "telegram"), add("ops", "the team's room", object.NoteAll, "chat", "webhook")
	jo, boss := add("jo", "Jo", object.NoteAll&^(1<<object.Warning), "telegram"), add("boss", "Head of operations", object.NoteAll, "email")
	add("lars", "Lars", object.NoteAll, "telegram")
	return &object.Notification{
		Name: "shop", Contacts: []*object.Contact{jo, maria, ops}, Rotas: []object.Rota{turns{"night", "jo", "lars"}}, Options: object.NoteAll,
		Interval: time.Hour, FromFirst: true, ToTold: true, Timed: true,
		Group: object.Grouping{By: object.GroupRoot, Wait: 10 * time.Second, Interval: 5 * time.Minute},
		Steps: []*object.Step{{Name: "after 30 minutes", Contacts: []*object.Contact{boss}, After: 30 * time.Minute, Options: object.NoteAll, Interval: -1, Adds: true}},
	}, contacts
}

// storm folds a host that took all its services with it for a while, before what
// else happens in the office.
func (s *Site) storm(rack *object.Object) {
	for _, o := range append([]*object.Object{rack}, rack.Services...) {
		s.Result(o.ID, object.OK, "fine", 27*time.Hour)
	}
	for _, o := range rack.Services {
		s.Result(o.ID, object.Critical, "I/O error", 26*time.Hour+40*time.Minute)
	}
	s.Result("rack7", object.Down, "no answer within 3 s", 26*time.Hour+39*time.Minute)
}

// note adds to an event what was decided about telling people.
func (s *Site) note(e *event.Event, before *event.Status) {
	set := s.Set()
	o := set.Get(e.Object)
	if o == nil || o.Notify == nil {
		return
	}
	after := e.Status
	fields := notify.Turn(notify.FieldsOf(before), before, after, e.Time)
	fields.Put(after)
	settings := set.Settings
	for _, k := range notify.Attempts(e, before, after) {
		in := notify.Input{
			Object: o, Kind: k, Status: after, Before: before, Fields: notify.FieldsOf(after), Settings: &settings,
			Known: set.Contacts, Periods: set.Periods, Now: e.Time,
		}
		if o.Host != nil {
			in.Host = &s.State(o.Host.ID).Status
		}
		out := notify.Decide(&in)
		out.Fields.Put(after)
		e.Notes = append(e.Notes, out.Note(o.Kind()))
		kind := event.NotificationSuppressed
		if out.Send {
			kind = event.NotificationIntended
		}
		e.Also = append(e.Also, kind)
	}
}

// outcomes folds what became of the messages.
func (s *Site) outcomes() {
	all := s.requests()
	with := map[string]int{}
	message := func(r event.Request) string {
		return r.Channel + "-" + r.Contact + "-" + r.Event.Object.Host() + "-" + strconv.FormatInt(int64(r.Event.Time)/180_000, 10)
	}
	for _, r := range all {
		with[message(r)]++
	}
	for _, r := range all {
		facts := map[string]string{event.FactMessage: message(r), event.FactWith: strconv.Itoa(with[message(r)]), event.FactAttempts: "1"}
		age := Now.Sub(r.Event.Time.Std())
		switch {
		case r.Channel == "chat" && age < 10*time.Minute:
			facts[event.FactAttempts], facts[event.FactReason] = "2", "chat.example.com answers 503 Service Unavailable: <b>try later</b>"
			s.Outcome(r, event.NotificationFailed, 15*time.Second, facts)
		case r.Channel == "telegram" && r.Contact == "jo" && age < time.Hour:
			facts[event.FactAttempts], facts[event.FactReason] = "1", "403 Forbidden: the bot was blocked by the user"
			s.Outcome(r, event.NotificationAbandoned, 2*time.Second, facts)
		case r.Channel == "email" && age < 5*time.Minute && r.Event.Object == "web01!disk":
			facts[event.FactReason] = HostileReason
			s.Outcome(r, event.NotificationAbandoned, 3*time.Second, facts)
		case r.Channel == "webhook" && age < time.Minute:
			continue // it waits for its first attempt
		case r.Channel == "email" && age > 2*time.Hour && age < 4*time.Hour:
			facts[event.FactAttempts], facts[event.FactRepeat], facts[event.FactReason] = "3", "true", "450 4.2.0 greylisted"
			s.Outcome(r, event.NotificationFailed, 5*time.Second, facts)
			delete(facts, event.FactReason)
			s.Outcome(r, event.NotificationDelivered, 4*time.Minute, facts)
		default:
			s.Outcome(r, event.NotificationDelivered, 11*time.Second, facts)
		}
	}
}

// requests returns all requests on the log, in order.
func (s *Site) requests() (all []event.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.events {
		all = append(all, s.events[i].Requests()...)
	}
	return all
}

// Outcome folds what became of a request some time after it.
func (s *Site) Outcome(r event.Request, k event.Kind, after time.Duration, more map[string]string) {
	facts := map[string]string{event.FactRequest: r.ID, event.FactContact: r.Contact, event.FactChannel: r.Channel, event.FactKind: r.Note.Kind}
	for name, value := range more {
		facts[name] = value
	}
	s.Append(event.Event{
		Kind: k, Object: r.Event.Object, Epoch: 3, Writer: "engine-1", Time: r.Event.Time.Add(after), ID: "outcome/" + string(k) + "/" + r.ID + "/" + facts[event.FactAttempts],
		Text: "to " + r.Contact + " over " + r.Channel, Facts: facts,
	})
}
