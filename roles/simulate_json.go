package roles

import (
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/rehearse"
)

// toldJSON is a simulation for programs. Times are RFC 3339.
type toldJSON struct {
	Object   object.ID     `json:"object"`
	State    string        `json:"state"`
	From     string        `json:"from"`
	Until    string        `json:"until"`
	Verdicts []verdictJSON `json:"verdicts"`
	Messages []messageJSON `json:"messages"`
	// Abandoned would not be sent any more, because the deadline has passed.
	Abandoned []messageJSON `json:"abandoned,omitempty"`
	Next      []verdictJSON `json:"next"`
	Refused   []string      `json:"refused,omitempty"`
}

type verdictJSON struct {
	Time    string    `json:"time"`
	Object  object.ID `json:"object"`
	Kind    string    `json:"kind"`
	Number  int32     `json:"number"`
	State   string    `json:"state"`
	Type    string    `json:"type"`
	Policy  string    `json:"policy,omitempty"`
	Steps   []string  `json:"steps,omitempty"`
	Contact string    `json:"contact,omitempty"`
	Told    bool      `json:"told"`
	Channel string    `json:"channel,omitempty"`
	Gate    string    `json:"gate,omitempty"`
	Why     string    `json:"why"`
	Until   string    `json:"until,omitempty"`
	Message int       `json:"message,omitempty"`
	// Abandoned tells that the message would be given up.
	Abandoned bool `json:"abandoned,omitempty"`
}

type messageJSON struct {
	Number  int         `json:"number"`
	Time    string      `json:"time"`
	Contact string      `json:"contact"`
	Channel string      `json:"channel"`
	Group   string      `json:"group,omitempty"`
	Root    object.ID   `json:"root,omitempty"`
	Objects []object.ID `json:"objects"`
}

// json returns the rehearsal for programs.
func (t *told) json() toldJSON {
	j := toldJSON{
		Object: t.story.Object, State: t.state(t.story.Object, t.story.State), From: t.instant(t.story.At),
		Until: t.instant(t.story.At.Add(t.story.For)), Verdicts: t.verdicts(t.out.Entries), Next: t.verdicts(t.out.Next),
		Messages: append([]messageJSON{}, t.messages(t.out.Messages)...), Abandoned: t.messages(t.out.Abandoned),
	}
	for _, r := range t.out.Refused {
		j.Refused = append(j.Refused, r.Err.Error())
	}
	return j
}

func (t *told) messages(all []rehearse.Message) (list []messageJSON) {
	for _, m := range all {
		one := messageJSON{Number: m.Number, Time: t.instant(m.Time), Contact: m.Contact, Channel: m.Channel, Group: m.Group, Root: m.Root}
		for _, i := range m.Entries {
			one.Objects = append(one.Objects, t.out.Entries[i].Object)
		}
		list = append(list, one)
	}
	return list
}

func (t *told) verdicts(all []rehearse.Entry) []verdictJSON {
	list := []verdictJSON{}
	for i := range all {
		e := &all[i]
		list = append(list, verdictJSON{
			Time: t.instant(e.Time), Object: e.Object, Kind: e.Kind, Number: e.Number, State: t.state(e.Object, e.State),
			Type: e.Type.String(), Policy: e.Policy, Steps: e.Steps, Contact: e.Contact, Told: e.Told, Channel: e.Channel,
			Gate: e.Gate, Why: e.Why, Until: t.instant(e.Until), Message: e.Message, Abandoned: e.Abandoned,
		})
	}
	return list
}

// instant writes a time for programs, "" for never.
func (t *told) instant(at object.Time) string {
	if at == 0 {
		return ""
	}
	return at.Std().In(t.zone).Format(time.RFC3339)
}
