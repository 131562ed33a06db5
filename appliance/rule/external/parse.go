package external

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/near"
)

// Longest is how many bytes a line may have.
const Longest = 64 << 10

// Parse reads one line, with or without the line feed at its end and with or
// without "[time] " in front; without, it was written now. An error is a *Refusal.
func Parse(line string, now object.Time) (Command, error) {
	c := Command{Time: now}
	line = strings.Trim(line, " \t\r\n")
	switch {
	case line == "":
		return c, refusal(Malformed, "", "the line is empty; write [time] COMMAND;arguments")
	case len(line) > Longest:
		return c, refusal(Malformed, "", "the line has %d bytes; at most %d are read", len(line), Longest)
	}
	rest, err := c.stamp(line)
	if err != nil {
		return c, err
	}
	name, args, _ := strings.Cut(rest, ";")
	if c.row, err = find(name); err != nil {
		return c, err
	}
	c.Name = c.row.name
	if c.row.why != "" {
		return c, refusal(Unsupported, c.Name, "%s", c.row.why)
	}
	if err := c.split(args, strings.Contains(rest, ";")); err != nil {
		return c, err
	}
	if c.row.special != nil {
		c.Special = c.row.special(&c)
	}
	return c, nil
}

// stamp reads "[time] " and returns what follows.
func (c *Command) stamp(line string) (string, error) {
	inside, bracket := strings.CutPrefix(line, "[")
	if !bracket {
		if line[0] >= '0' && line[0] <= '9' {
			return "", refusal(Malformed, "", "the time has no brackets; write [1893456000] COMMAND;arguments")
		}
		return line, nil
	}
	text, rest, closed := strings.Cut(inside, "]")
	if !closed {
		return "", refusal(Malformed, "", "the bracket of the time is never closed; write [1893456000] COMMAND;arguments")
	}
	at, err := readTime(text)
	if err != nil {
		return "", refusal(Malformed, "", "[%s]: %v", clip(text), err)
	}
	rest, blank := strings.CutPrefix(rest, " ")
	if !blank || rest == "" {
		return "", refusal(Malformed, "", "a blank and a command must follow the time; write [%s] COMMAND;arguments", text)
	}
	c.Time, c.Stamped = at, true
	return rest, nil
}

// find returns the row of a command by its name in any case.
func find(name string) (*row, error) {
	upper := strings.ToUpper(name)
	if r := byName[upper]; r != nil {
		return r, nil
	}
	switch {
	case name == "":
		return nil, refusal(Malformed, "", "the name of the command is missing; write [time] COMMAND;arguments")
	case name[0] == '_':
		return nil, refusal(Custom, clip(upper), "names with _ in front belong to modules of Nagios, which do not run here; leave it out")
	case control(name) >= 0:
		return nil, refusal(Malformed, "", "the name of the command has a control character; write [time] COMMAND;arguments")
	}
	text := fmt.Sprintf("there is no command %q", clip(name))
	if best := nearest(upper); best != "" {
		text += "; did you mean " + best + "?"
	}
	return nil, refusal(Unknown, "", "%s", text)
}

// nearest returns the command whose name differs least, "" if none differs in a
// third of its letters at most.
func nearest(name string) string {
	if len(name) > 80 {
		return ""
	}
	best, distance := "", min(4, len(name)/3+1)
	for _, r := range rows {
		if d := near.Distance(name, r.name, distance); d < distance {
			best, distance = r.name, d
		}
	}
	return best
}

// split cuts the arguments apart and looks at the form of each. What follows
// the last one is dropped, as Nagios does.
func (c *Command) split(args string, any bool) error {
	kinds := c.row.args
	if c.row.noted {
		kinds = c.row.withNote
	}
	if any && len(kinds) > 0 {
		c.Args = make([]string, 0, len(kinds))
	}
	for i := 0; any && i < len(kinds); i++ {
		arg := args
		if !kinds[i].takesRest() {
			arg, args, any = strings.Cut(args, ";")
		} else {
			any = false
		}
		c.Args = append(c.Args, arg)
	}
	for i := range len(c.row.args) - c.row.optional {
		// An empty end of the line is no argument.
		if i >= len(c.Args) || c.Args[i] == "" && i == len(c.Args)-1 {
			return refusal(Argument, c.Name, "%s is missing; write %s", arguments[kinds[i]].name, c.row.form())
		}
	}
	for i := range c.Args {
		if err := c.clean(i, kinds[i]); err != nil {
			return refusal(Argument, c.Name, "%s: %v; write %s", arguments[kinds[i]].name, err, c.row.form())
		}
	}
	return nil
}

// clean looks at one argument. Texts lose what no page could show; in anything
// else that is refused.
func (c *Command) clean(i int, k kind) error {
	s := c.Args[i]
	if k.isText() {
		// Blanks at the end of a line mean nothing, so those before a ";" do not either.
		s = strings.TrimRight(readable(s), " ")
		c.Args[i] = s
		if s == "" && i == len(c.row.args)-c.row.optional-1 {
			return fmt.Errorf("it is empty")
		}
		return nil
	}
	if at := control(s); at >= 0 {
		return fmt.Errorf("%q has the control character %#x", clip(s), s[at])
	}
	// An optional argument may be left empty to reach the next.
	if s == "" && i >= len(c.row.args)-c.row.optional {
		return nil
	}
	if s == "" {
		return fmt.Errorf("it is empty")
	}
	return k.check(s)
}

// control returns where the first control character is, -1 if there is none.
func control(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] == 0x7f {
			return i
		}
	}
	return -1
}

// readable replaces control characters by blanks and broken UTF-8 by U+FFFD.
func readable(s string) string {
	if control(s) >= 0 {
		b := []byte(s)
		for i := range b {
			if b[i] < ' ' || b[i] == 0x7f {
				b[i] = ' '
			}
		}
		s = string(b)
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return s
}

// String returns the command as a line without its time.
func (c *Command) String() string {
	if len(c.Args) == 0 {
		return c.Name
	}
	return c.Name + ";" + strings.Join(c.Args, ";")
}
