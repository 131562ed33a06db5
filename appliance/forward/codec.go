package forward

import (
	"encoding/json"
	"errors"
	"fmt"

	"jaque.sh/jaque/appliance/command"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
)

// message is commands on their way to one engine, in their order.
type message struct {
	Version int    `json:"v"`
	Hop     int    `json:"hop"`
	From    string `json:"from"`
	Parts   []part `json:"do"`
}

// part is a command for several objects, with an id for each.
type part struct {
	command.Part
	IDs []string `json:"i"`
}

// piece is one command in the form of a message.
type piece struct {
	part part
	size int // bytes that it takes, at most
}

// room is what a message and each part need beside what varies, in bytes.
const room = 128

// newPiece writes a command.
func newPiece(c *Command) (piece, error) {
	if err := c.check(); err != nil {
		return piece{}, err
	}
	p, err := command.NewPart(&c.Action)
	if err != nil {
		return piece{}, err
	}
	// A name takes up to six bytes for each of its own.
	return piece{part{Part: p, IDs: []string{c.ID}}, room + len(p.Kind) + len(p.With) + 6*(len(c.Action.Object)+len(c.ID))}, nil
}

// encode returns commands as a message from an engine.
func encode(from string, pieces []piece) []byte {
	m := message{Version: Version, Hop: Hop, From: from}
	for i := range pieces {
		p := &pieces[i].part
		if last := len(m.Parts) - 1; last >= 0 && p.Follows(&m.Parts[last].Part) {
			to := &m.Parts[last]
			to.Objects, to.IDs = append(to.Objects, p.Objects...), append(to.IDs, p.IDs...)
			continue
		}
		m.Parts = append(m.Parts, *p)
	}
	data, err := json.Marshal(m)
	if err != nil {
		panic(err) // its fields were JSON already
	}
	return data
}

var errVersion = errors.New("run the same version of jaque everywhere")

// decode reads a message as encode writes it; most is how many commands it may have.
// An error leaves the sender's name, if that could be read.
func decode(data []byte, most int) (from string, all []Command, err error) {
	// The version and the hop stand alone: what else a later one has need not be
	// readable.
	var head struct {
		Version int    `json:"v"`
		Hop     int    `json:"hop"`
		From    string `json:"from"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return "", nil, fmt.Errorf("read forwarded commands: %w", err)
	}
	switch {
	case head.Version != Version:
		return head.From, nil, fmt.Errorf("forwarded commands have version %d, this engine reads %d: %w", head.Version, Version, errVersion)
	case head.Hop != Hop:
		return head.From, nil, fmt.Errorf("forwarded commands have made %d hops, only %d is possible", head.Hop, Hop)
	}
	var m message
	if err := command.Strict(data, &m); err != nil {
		return head.From, nil, fmt.Errorf("read forwarded commands: %w", err)
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if len(p.IDs) != len(p.Objects) || len(p.IDs) == 0 || len(all)+len(p.IDs) > most {
			return m.From, nil, fmt.Errorf("part %d has %d ids for %d objects; there is one for each, and %d commands are the most", i, len(p.IDs), len(p.Objects), most)
		}
		actions, err := p.Actions()
		if err != nil {
			return m.From, nil, fmt.Errorf("part %d: %w", i, err)
		}
		for n, id := range p.IDs {
			c := Command{ID: id, Action: actions[n]}
			if err := c.check(); err != nil {
				return m.From, nil, fmt.Errorf("part %d: %w", i, err)
			}
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return m.From, nil, errors.New("no command was forwarded")
	}
	return m.From, all, nil
}

// answer is what became of some commands of a message.
type answer struct {
	Version int      `json:"v"`
	Engine  string   `json:"engine"`
	Results []result `json:"r,omitempty"`
	All     *result  `json:"all,omitempty"` // the same of every command of the message
}

// result is what became of one command.
type result struct {
	Index  int         `json:"i,omitempty"` // of the command in the message
	Code   Code        `json:"c,omitempty"` // "" = it is done
	Text   string      `json:"t,omitempty"`
	Reason fold.Reason `json:"why,omitempty"` // of a refusal
	Object object.ID   `json:"o,omitempty"`
	Detail string      `json:"d,omitempty"` // the refusal's own words

	// At is how far the owner had read the log by then.
	At journal.Position `json:"at,omitzero"`
}

// mostText is how long a text in an answer may be, in bytes; mostAnswer is how much
// of them goes in one.
const (
	mostText   = 16 << 10
	mostAnswer = 128 << 10
)

func newResult(index int, at journal.Position, f *Failure) result {
	if f == nil {
		return result{Index: index, At: at}
	}
	r := result{Index: index, Code: f.Code, Text: cut(f.Text), At: at}
	if f.Refusal != nil {
		r.Reason, r.Object, r.Detail = f.Refusal.Reason, f.Refusal.Object, cut(f.Refusal.Text)
	}
	return r
}

// error returns what became of a command as an error, nil = it is done.
func (r *result) error() error {
	if r.Code == "" {
		return nil
	}
	f := &Failure{Code: r.Code, Text: r.Text}
	if r.Detail != "" {
		f.Refusal = &fold.Refusal{Object: r.Object, Reason: r.Reason, Text: r.Detail}
	}
	return f
}

func cut(s string) string {
	if len(s) > mostText {
		return s[:mostText] + "…"
	}
	return s
}

func (a answer) encode() []byte {
	a.Version = Version
	data, err := json.Marshal(a)
	if err != nil {
		panic(err) // it holds nothing that JSON has not
	}
	return data
}

func decodeAnswer(data []byte) (a answer, err error) {
	if err := json.Unmarshal(data, &a); err != nil {
		return a, fmt.Errorf("read the answer of an engine: %w", err)
	}
	if a.Version != Version {
		return a, fmt.Errorf("the answer of engine %.80q has version %d, this one reads %d: %w", a.Engine, a.Version, Version, errVersion)
	}
	return a, nil
}
