package external

import "strings"

// row is one command of the table.
type row struct {
	name     string
	aliases  []string
	args     []kind
	optional int    // how many of the last arguments may be missing
	noted    bool   // ";author;comment" may follow and becomes a comment
	only     string // the program that has it, "" = Nagios and all that came from it
	text     string // what it does, for people
	why      string // why it is refused, and what to use instead
	do       func(*translation) error
	special  func(*Command) Special

	withNote []kind // args, author and comment; made by finish
}

// form returns how the command is written.
func (r *row) form() string {
	var b strings.Builder
	b.WriteString(r.name)
	for i, k := range r.args {
		open, shut := ";", ""
		if i >= len(r.args)-r.optional {
			open, shut = "[;", "]"
		}
		b.WriteString(open + arguments[k].name + shut)
	}
	if r.noted {
		b.WriteString("[;author;comment]")
	}
	return b.String()
}

// rows is the table, in the order of the reference; constant.
var rows = finish(
	programRows(), hostRows(), serviceRows(), hostGroupRows(), serviceGroupRows(), contactRows(),
)

// byName finds a row by its name or an alias; constant.
var byName = index(rows)

func finish(parts ...[]row) []*row {
	var all []*row
	for _, part := range parts {
		for _, r := range part {
			if r.noted {
				r.withNote = append(append([]kind{}, r.args...), anAuthor, aComment)
			}
			all = append(all, &r)
		}
	}
	return all
}

func index(all []*row) map[string]*row {
	m := make(map[string]*row, 2*len(all))
	for _, r := range all {
		m[r.name] = r
		for _, alias := range r.aliases {
			m[alias] = r
		}
	}
	return m
}

// pair makes the rows of two commands that are each other's opposite.
func pair(on, off string, args []kind, noted bool, text string, do func(on bool) func(*translation) error) []row {
	return []row{
		{name: on, args: args, noted: noted, text: "Switches " + text + " on.", do: do(true)},
		{name: off, args: args, noted: noted, text: "Switches " + text + " off.", do: do(false)},
	}
}

func join(parts ...[]row) []row {
	var all []row
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}
