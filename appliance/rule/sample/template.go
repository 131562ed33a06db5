package sample

import (
	"fmt"
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/near"
)

// placeholders are what can stand in braces beside label.NAME; constant.
var placeholders = []string{"host", "service", "metric", "unit", "zone", "check"}

// Template is a text with placeholders such as {host}.
type Template struct{ parts []part }

// part is literal text, or a placeholder.
type part struct {
	text string // literal
	name string // of the placeholder, "" = literal
	key  string // of the label behind "label."
}

// ParseTemplate reads a template: {host}, {service} ("" for a host's own check),
// {metric}, {unit}, {zone}, {check} (the service, for a host's own check "host") and
// {label.NAME}. There are no escapes: braces stand for placeholders only.
func ParseTemplate(text string) (*Template, error) {
	t := &Template{}
	for rest := text; rest != ""; {
		literal, behind, found := strings.Cut(rest, "{")
		if strings.Contains(literal, "}") {
			return nil, fmt.Errorf(`template %q: a "}" closes nothing; take it out or write "{" in front of a name`, text)
		}
		if literal != "" {
			t.parts = append(t.parts, part{text: literal})
		}
		if !found {
			break
		}
		name, after, closed := strings.Cut(behind, "}")
		if !closed {
			return nil, fmt.Errorf(`template %q: a "{" is not closed; write "}" behind the name`, text)
		}
		p, err := placeholder(name)
		if err != nil {
			return nil, fmt.Errorf("template %q: %w", text, err)
		}
		t.parts, rest = append(t.parts, p), after
	}
	return t, nil
}

func placeholder(name string) (part, error) {
	if key, ok := strings.CutPrefix(name, "label."); ok && key != "" {
		return part{name: "label", key: key}, nil
	}
	if slices.Contains(placeholders, name) {
		return part{name: name}, nil
	}
	hint := ""
	for _, p := range placeholders {
		if near.Distance(name, p, 2) <= 2 {
			hint = fmt.Sprintf("; did you mean {%s}?", p)
			break
		}
	}
	return part{}, fmt.Errorf("there is no {%s}%s; write one of {%s} or {label.NAME}", name, hint, strings.Join(placeholders, "}, {"))
}

// source is what placeholders stand for.
type source struct {
	id           object.ID
	object       *object.Object // nil = not in the config any more
	metric, unit string
}

func (s *source) value(p part) string {
	switch p.name {
	case "host":
		return s.id.Host()
	case "service":
		return s.id.Service()
	case "check":
		if s.id.Kind() == object.Host {
			return "host"
		}
		return s.id.Service()
	case "metric":
		return s.metric
	case "unit":
		return s.unit
	}
	if s.object == nil {
		return ""
	}
	if p.name == "zone" {
		return s.object.Zone
	}
	v, _ := s.object.Label(p.key)
	return v
}

// append adds the text; every value goes through clean, literals do not.
func (t *Template) append(dst []byte, s *source, clean func(dst []byte, value string) []byte) []byte {
	for _, p := range t.parts {
		if p.name == "" {
			dst = append(dst, p.text...)
			continue
		}
		dst = clean(dst, s.value(p))
	}
	return dst
}
