package ingress

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/operate"
)

// message is a command on its way.
type message struct {
	Version int    `json:"v"`
	ID      string `json:"id"`
	From    string `json:"from,omitempty"`
	Parts   []part `json:"do"`
}

// part is the same command for several objects one after the other, or one for
// the program.
type part struct {
	Kind    string          `json:"k"`
	With    json.RawMessage `json:"with"`
	Objects []object.ID     `json:"o,omitempty"` // none = the program
	Wait    bool            `json:"wait,omitempty"`
}

// Encode returns a command as a message; an error wraps ErrRefused.
func Encode(c *Command) ([]byte, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	m := message{Version: Version, ID: c.ID, From: c.From}
	for i := range c.Actions {
		p, err := newPart(&c.Actions[i])
		if err != nil {
			return nil, fmt.Errorf("action %d: %w", i, err)
		}
		if last := len(m.Parts) - 1; last >= 0 && p.follows(&m.Parts[last]) {
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

func newPart(a *operate.Action) (p part, err error) {
	p.Wait = a.Wait
	switch {
	case (a.Command == nil) == (a.Program == nil):
		return p, fmt.Errorf("it needs a command for an object or one for the program: %w", ErrRefused)
	case a.Program != nil && a.Object != "":
		return p, fmt.Errorf("it is about the program and names object %q too: %w", a.Object, ErrRefused)
	case a.Program != nil:
		p.Kind, p.With, err = write(a.Program)
		return p, err
	case a.Object == "":
		return p, fmt.Errorf("it names no object: %w", ErrRefused)
	}
	p.Objects = []object.ID{a.Object}
	p.Kind, p.With, err = write(a.Command)
	return p, err
}

// follows tells whether a part says the same as the one before it, for another
// object.
func (p *part) follows(before *part) bool {
	return len(p.Objects) > 0 && len(before.Objects) > 0 && p.Kind == before.Kind && p.Wait == before.Wait && bytes.Equal(p.With, before.With)
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
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return c, fmt.Errorf("read the command: %w: %w", err, ErrRefused)
	}
	if _, err := d.Token(); err != io.EOF {
		return c, fmt.Errorf("read the command: something stands behind it: %w", ErrRefused)
	}
	c.ID, c.From = m.ID, m.From
	for i := range m.Parts {
		if err := m.Parts[i].read(&c); err != nil {
			return c, fmt.Errorf("part %d: %w", i, err)
		}
	}
	return c, c.check()
}

// read adds the actions of a part.
func (p *part) read(c *Command) error {
	if len(c.Actions)+len(p.Objects) > MostActions {
		return fmt.Errorf("more than %d actions at once: %w", MostActions, ErrRefused)
	}
	command, err := read(p.Kind, p.With)
	if err != nil {
		return err
	}
	switch command := command.(type) {
	case program.Command:
		if len(p.Objects) > 0 {
			return fmt.Errorf("%s is about the program and names objects: %w", p.Kind, ErrRefused)
		}
		c.Actions = append(c.Actions, operate.Action{Program: command, Wait: p.Wait})
	case fold.Command:
		if len(p.Objects) == 0 {
			return fmt.Errorf("%s names no object: %w", p.Kind, ErrRefused)
		}
		for _, id := range p.Objects {
			if id == "" {
				return fmt.Errorf("%s names an object without a name: %w", p.Kind, ErrRefused)
			}
			c.Actions = append(c.Actions, operate.Action{Object: id, Command: command, Wait: p.Wait})
		}
	}
	return nil
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
