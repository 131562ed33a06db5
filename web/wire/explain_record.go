package wire

import (
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/explain"
)

// Notification is one decision about telling people, as it stands on the log, with
// what became of the messages that it asked for.
type Notification struct {
	Seq        uint64         `json:"seq"`
	Event      string         `json:"event"` // its id
	Time       Time           `json:"time"`
	Object     object.ID      `json:"object"`
	Cause      string         `json:"cause"` // kind of the event
	State      string         `json:"state"`
	Kind       notify.Kind    `json:"kind"`
	Send       bool           `json:"send"`
	Number     int32          `json:"number"`
	Policy     string         `json:"policy"`
	Steps      []string       `json:"steps"`
	Author     string         `json:"author,omitempty"`
	Text       string         `json:"text,omitempty"`
	By         notify.Gate    `json:"by"`
	Why        string         `json:"why"`
	Until      Time           `json:"until"`
	Gates      []NoteGate     `json:"gates"`
	Contacts   []NotePerson   `json:"contacts"`
	Deliveries []NoteDelivery `json:"deliveries"`
}

// NoteDelivery is one message to one contact over one channel.
type NoteDelivery struct {
	Request  string         `json:"request"`
	Contact  string         `json:"contact"`
	Channel  string         `json:"channel"`
	Status   explain.Status `json:"status"`
	Time     Time           `json:"time"` // of the newest outcome
	Attempts int            `json:"attempts"`
	Reason   string         `json:"reason"` // of the last failure
	Repeat   bool           `json:"repeat"` // it was marked as a possible repetition
	Group    string         `json:"group"`
	With     int            `json:"with"`    // requests in that message
	Message  string         `json:"message"` // its id
}

// OpenRequest is a message that nobody has delivered or given up yet.
type OpenRequest struct {
	Request  string      `json:"request"`
	Seq      uint64      `json:"seq"`
	Time     Time        `json:"time"` // of the decision
	Object   object.ID   `json:"object"`
	Kind     notify.Kind `json:"kind"`
	Number   int32       `json:"number"`
	Contact  string      `json:"contact"`
	Channel  string      `json:"channel"`
	Failures int         `json:"failures"`
	Reason   string      `json:"reason"` // of the last failure
}

// ContactEntry is somebody who can be told. Addresses are not said.
type ContactEntry struct {
	Name     string    `json:"name"`
	Alias    string    `json:"alias"`
	Groups   []string  `json:"groups"`
	Channels []string  `json:"channels"`
	Hosts    bool      `json:"host_notifications"`
	Services bool      `json:"service_notifications"`
	OnCall   []OnCall  `json:"on_call"`  // now
	Settings []Setting `json:"settings"` // that operators set
}

// OnCall is a schedule by which somebody is on call.
type OnCall struct {
	Schedule string `json:"schedule"`
	Why      string `json:"why"`
	Until    Time   `json:"until"` // null = for good
}

// Tested is what became of a message that somebody sent to try a contact.
type Tested struct {
	Contact   string       `json:"contact"`
	Delivered bool         `json:"delivered"` // over every channel
	Outcomes  []TestedOver `json:"outcomes"`
}

// TestedOver is the same over one channel.
type TestedOver struct {
	Channel   string  `json:"channel"`
	Delivered bool    `json:"delivered"`
	Reason    string  `json:"reason"` // why not
	Seconds   float64 `json:"seconds"`
}

// FromRecord returns a decision in the words of the API.
func FromRecord(r *explain.Record) Notification {
	w := Notification{
		Seq: r.Seq, Event: r.Event, Time: Time(r.Time), Object: r.Object, Cause: r.Cause, State: r.State, Kind: r.Kind, Send: r.Send,
		Number: r.Number, Policy: r.Policy, Steps: filled(r.Steps), Author: r.Author, Text: r.Text, By: r.By, Why: r.Why,
		Until: Time(r.Until), Gates: gates(r.Gates), Contacts: persons(r.People), Deliveries: make([]NoteDelivery, len(r.Deliveries)),
	}
	for i, d := range r.Deliveries {
		w.Deliveries[i] = NoteDelivery{
			Request: d.Request, Contact: d.Contact, Channel: d.Channel, Status: d.Status, Time: Time(d.Time), Attempts: d.Attempts,
			Reason: d.Reason, Repeat: d.Repeat, Group: d.Group, With: d.With, Message: d.Message,
		}
	}
	return w
}
