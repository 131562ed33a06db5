package command

import (
	"bytes"
	"encoding/json"
	"fmt"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/operate"
)

// Part is the same command for several objects one after the other, or one for the
// program, as it stands in a message.
type Part struct {
	Kind    string          `json:"k"`
	With    json.RawMessage `json:"with"`
	Objects []object.ID     `json:"o,omitempty"` // none = the program
	Wait    bool            `json:"wait,omitempty"`
}

// NewPart returns an action as a part; an error wraps ErrRefused.
func NewPart(a *operate.Action) (p Part, err error) {
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

// Follows tells whether a part says the same as the one before it, for another object.
func (p *Part) Follows(before *Part) bool {
	return len(p.Objects) > 0 && len(before.Objects) > 0 && p.Kind == before.Kind && p.Wait == before.Wait && bytes.Equal(p.With, before.With)
}

// Actions returns the actions of a part in their order; an error wraps ErrRefused.
func (p *Part) Actions() ([]operate.Action, error) {
	command, err := read(p.Kind, p.With)
	if err != nil {
		return nil, err
	}
	asked, ok := command.(fold.Command)
	if !ok {
		if len(p.Objects) > 0 {
			return nil, fmt.Errorf("%s is about the program and names objects: %w", p.Kind, ErrRefused)
		}
		return []operate.Action{{Program: command.(program.Command), Wait: p.Wait}}, nil
	}
	if len(p.Objects) == 0 {
		return nil, fmt.Errorf("%s names no object: %w", p.Kind, ErrRefused)
	}
	all := make([]operate.Action, len(p.Objects))
	for i, id := range p.Objects {
		if id == "" {
			return nil, fmt.Errorf("%s names an object without a name: %w", p.Kind, ErrRefused)
		}
		all[i] = operate.Action{Object: id, Command: asked, Wait: p.Wait}
	}
	return all, nil
}
