package tla

import (
	"fmt"
	"strconv"
	"strings"
)

// A config is the text of a .cfg file: which formulas are taken and what the
// constants are.
type config struct {
	spec       string // definition of the whole behaviour
	invariants []string
	properties []string
	constants  map[string]value
}

// parseConfig reads the statements SPECIFICATION, INVARIANT, PROPERTY, CONSTANT
// and CHECK_DEADLOCK FALSE.
func parseConfig(file, text string) (*config, error) {
	c := &config{constants: map[string]value{}}
	section := ""
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "\\*")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "SPECIFICATION", "INVARIANT", "INVARIANTS", "PROPERTY", "PROPERTIES", "CONSTANT", "CONSTANTS", "CHECK_DEADLOCK":
			section = words[0]
			words = words[1:]
		}
		if err := c.take(section, words); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
	}
	if c.spec == "" {
		return nil, fmt.Errorf("%s: write SPECIFICATION and the name of a definition", file)
	}
	return c, nil
}

// take reads the words of one line of a section.
func (c *config) take(section string, words []string) error {
	if len(words) == 0 {
		return nil
	}
	switch section {
	case "SPECIFICATION":
		c.spec = words[0]
	case "INVARIANT", "INVARIANTS":
		c.invariants = append(c.invariants, words...)
	case "PROPERTY", "PROPERTIES":
		c.properties = append(c.properties, words...)
	case "CHECK_DEADLOCK":
		if words[0] != "FALSE" {
			return fmt.Errorf("CHECK_DEADLOCK is FALSE here: a bounded model ends")
		}
	case "CONSTANT", "CONSTANTS":
		if len(words) < 3 || words[1] != "=" {
			return fmt.Errorf("write one constant a line, as Name = value")
		}
		v, err := constantValue(strings.Join(words[2:], " "))
		if err != nil {
			return err
		}
		c.constants[words[0]] = v
	default:
		return fmt.Errorf("%q stands in no section", words[0])
	}
	return nil
}

// constantValue reads a number, TRUE, FALSE, a string or a set of them.
func constantValue(s string) (value, error) {
	s = strings.TrimSpace(s)
	switch n, err := strconv.Atoi(s); {
	case err == nil:
		return n, nil
	case s == "TRUE" || s == "FALSE":
		return s == "TRUE", nil
	case len(s) > 1 && s[0] == '"' && s[len(s)-1] == '"':
		return s[1 : len(s)-1], nil
	case len(s) > 1 && s[0] == '{' && s[len(s)-1] == '}':
		out := []value{}
		for part := range strings.SplitSeq(s[1:len(s)-1], ",") {
			if strings.TrimSpace(part) == "" {
				continue
			}
			v, err := constantValue(part)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return makeSet(out), nil
	}
	return nil, fmt.Errorf("%q is no number, string, TRUE, FALSE or set of them", s)
}
