package ingress

import (
	"encoding/json"
	"fmt"
	"slices"

	"jaque.sh/jaque/appliance/command"
)

// message is a command on its way.
type message struct {
	Version int            `json:"v"`
	ID      string         `json:"id"`
	From    string         `json:"from,omitempty"`
	Parts   []command.Part `json:"do"`
}

// Encode returns a command as a message; an error wraps ErrRefused.
func Encode(c *Command) ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	m := message{Version: Version, ID: c.ID, From: c.From}
	for i := range c.Actions {
		p, err := command.NewPart(&c.Actions[i])
		if err != nil {
			return nil, fmt.Errorf("action %d: %w", i, err)
		}
		if last := len(m.Parts) - 1; last >= 0 && p.Follows(&m.Parts[last]) {
			m.Parts[last].Objects = append(m.Parts[last].Objects, p.Objects...)
			continue
		}
		m.Parts = append(m.Parts, p)
	}
	data, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write command %s: %w", c.ID, err)
	}
	return data, nil
}

// Decode reads a message as Encode writes it. An error wraps ErrRefused; the
// command then has the id of the message if that could be read.
func Decode(data []byte) (Command, error) {
	// The version stands alone: what else a later one has need not be readable.
	var head struct {
		Version int    `json:"v"`
		ID      string `json:"id"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return Command{}, fmt.Errorf("read the command: %w: %w", err, ErrRefused)
	}
	c := Command{ID: head.ID}
	if head.Version != Version {
		return c, fmt.Errorf("the command has version %d, this engine reads %d; run the same version of jaque everywhere: %w", head.Version, Version, ErrRefused)
	}
	var m message
	if err := command.Strict(data, &m); err != nil {
		return c, fmt.Errorf("read the command: %w: %w", err, ErrRefused)
	}
	c.ID, c.From = m.ID, m.From
	for i := range m.Parts {
		p := &m.Parts[i]
		if len(c.Actions)+len(p.Objects) > MostActions {
			return c, fmt.Errorf("more than %d actions at once: %w", MostActions, ErrRefused)
		}
		actions, err := p.Actions()
		if err != nil {
			return c, fmt.Errorf("part %d: %w", i, err)
		}
		c.Actions = append(c.Actions, actions...)
	}
	return c, c.check()
}

// States of a command in an answer.
const (
	claimed = "claimed"
	refused = "refused" // it cannot be carried out as it is
	busy    = "busy"
	ended   = "ended" // this is what became of it
)

// answer is what an engine says of a command: first that it claims it or why not,
// then what became of it.
type answer struct {
	Version  int       `json:"v"`
	State    string    `json:"state"`
	Engine   string    `json:"engine,omitempty"`
	Why      string    `json:"why,omitempty"`
	Total    int       `json:"total,omitempty"`
	Refused  int       `json:"refused,omitempty"`
	Unknown  int       `json:"unknown,omitempty"`
	Failures []Failure `json:"failures,omitempty"`
}

// mostWhy is how long a reason in an answer may be, in bytes.
const mostWhy = 2 << 10

func (a answer) encode() []byte {
	a.Version = Version
	a.Why, a.Failures = cut(a.Why), slices.Clone(a.Failures) // they are somebody else's
	for i := range a.Failures {
		a.Failures[i].Why = cut(a.Failures[i].Why)
	}
	data, err := json.Marshal(a)
	if err != nil {
		panic(err) // it holds nothing that JSON has not
	}
	return data
}

func cut(s string) string {
	if len(s) > mostWhy {
		return s[:mostWhy] + "…"
	}
	return s
}

func decodeAnswer(data []byte) (a answer, err error) {
	if err := json.Unmarshal(data, &a); err != nil {
		return a, fmt.Errorf("read the answer of an engine: %w", err)
	}
	return a, nil
}
