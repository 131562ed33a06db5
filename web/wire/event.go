package wire

import (
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Event is one event in the words of the API.
type Event struct {
	Stream     string            `json:"stream"`
	Seq        uint64            `json:"seq"`
	ID         string            `json:"id,omitempty"`
	Time       Time              `json:"time"`
	Kind       event.Kind        `json:"kind"`
	Also       []event.Kind      `json:"also,omitempty"`
	Object     object.ID         `json:"object,omitempty"`
	Epoch      uint64            `json:"epoch"`
	Writer     string            `json:"writer,omitempty"`
	Transition bool              `json:"transition"`
	Was        *Condition        `json:"was,omitempty"`
	Now        *Condition        `json:"now,omitempty"`
	Passive    bool              `json:"passive,omitempty"`
	Output     string            `json:"output,omitempty"`
	Long       string            `json:"long_output,omitempty"`
	Perfdata   string            `json:"perfdata,omitempty"`
	Author     string            `json:"author,omitempty"`
	Text       string            `json:"text,omitempty"`
	Facts      map[string]string `json:"facts,omitempty"`
}

// Condition is a state with how sure it is.
type Condition struct {
	State   string `json:"state"`
	Type    string `json:"state_type,omitempty"`
	Attempt int32  `json:"attempt,omitempty"`
}

// FromEvent returns an event in the words of the API.
func FromEvent(e *event.Event) Event {
	w := Event{
		Stream: e.Stream.String(), Seq: e.Seq, ID: e.ID, Time: Time(e.Time), Kind: e.Kind, Also: e.Also,
		Object: e.Object, Epoch: e.Epoch, Writer: e.Writer, Transition: e.Transition,
		Author: e.Author, Text: e.Text, Facts: e.Facts,
	}
	kind := e.Object.Kind()
	if e.Was != nil {
		w.Was = condition(kind, e.Was.State, e.Was.Type, e.Was.Attempt, e.Was.Checked)
	}
	if s := e.Status; s != nil {
		w.Now = condition(kind, s.State, s.Type, s.Attempt, s.Checked)
	}
	if m := e.Measure; m != nil && e.Has(event.CheckResult) {
		w.Passive, w.Output, w.Long, w.Perfdata = m.Passive, m.Output, m.Long, m.Perfdata
		if w.Now == nil {
			w.Now = &Condition{State: m.State.Name(kind)}
		}
	}
	return w
}

func condition(k object.Kind, s object.State, t object.StateType, attempt int32, checked bool) *Condition {
	if !checked {
		return &Condition{State: "PENDING", Type: t.String()}
	}
	return &Condition{State: s.Name(k), Type: t.String(), Attempt: attempt}
}
