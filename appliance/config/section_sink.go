package config

import (
	"errors"
	"strings"

	"jaque.sh/jaque/appliance/sink/target"
)

// sink reads #Sink. Every option is taken as a possible secret.
func (d *decoder) sink(at *path, f field, folder string) Sink {
	before := len(d.problems)
	s := d.open(at, f.node)
	d.name(at, f.pos, f.name)
	out := Sink{Name: d.strings.get(f.name), Input: s.oneOf("input", "", target.Metrics, target.Events)}
	s.need("input", `"metrics" or input: "events"`)
	var at1 field // of the target
	found := 0
	for _, kind := range target.Kinds() {
		n := s.take(kind)
		if n == nil {
			continue
		}
		found++
		out.Target, out.Options, at1 = kind, map[string]Secret{}, field{name: kind, pos: n.pos, node: n}
		// each asks for the target once more; a name that stands twice would be
		// shown twice to the operator.
		s.asked = s.asked[:len(s.asked)-1]
		s.each(kind, func(at *path, f field) {
			// Numbers and switches cannot be references to secrets.
			if f.node.kind == kindNumber || f.node.kind == kindBool {
				out.Options[d.strings.get(f.name)] = Secret{text: strings.Clone(f.node.text)}
				return
			}
			out.Options[d.strings.get(f.name)] = d.option(at, f.node)
		})
	}
	unknown := s.done()
	switch {
	// An unknown field is most likely a misspelt target and reported as such.
	case s.n == nil || unknown > 0:
	case found == 0:
		d.bad(at, f.pos, "writes nowhere; give one of %s", strings.Join(target.Kinds(), ", "))
	case found > 1:
		d.bad(at, f.pos, "%d targets are given; keep one and declare a sink for each other", found)
	// What could not be read would be missed once more.
	case len(d.problems) == before:
		d.tryTarget(at, at1, out.Setup(folder))
	}
	return out
}

// option reads a setting of a target. An empty text takes a label away.
func (d *decoder) option(at *path, n *node) Secret {
	if n.kind == kindText && n.text == "" {
		return Secret{}
	}
	return d.secret(at, n)
}

// tryTarget makes the target of a sink, which connects to nothing, and reports what
// is wrong with its settings at their places.
func (d *decoder) tryTarget(at *path, f field, setup target.Setup) {
	made, err := target.New(setup)
	if err == nil {
		_ = made.Target.Close() // nothing was opened
		return
	}
	var all target.Mistakes
	if !errors.As(err, &all) {
		all = target.Mistakes{{Text: err.Error()}}
	}
	for _, m := range all {
		where, pos := at.field(f.name), f.pos
		if m.Setting != "" {
			where = where.field(m.Setting)
		}
		for _, of := range f.node.fields {
			if of.name == m.Setting {
				pos = of.pos
			}
		}
		d.bad(where, pos, "%s", m.Text)
	}
}

// Setup returns what the target of a sink is made of. Folder is that of the config:
// relative paths lie in it.
func (s Sink) Setup(folder string) target.Setup {
	u := target.Setup{Kind: s.Target, Input: s.Input, Folder: folder, Settings: make(map[string]string, len(s.Options))}
	for name, v := range s.Options {
		u.Settings[name] = v.Reveal()
	}
	return u
}
