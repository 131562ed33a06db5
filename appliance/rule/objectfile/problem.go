package objectfile

import (
	"fmt"
	"strings"
)

// Pos is a place in a text, the line counted from 1.
type Pos struct {
	File string
	Line int
}

// String returns the place as "file:line".
func (p Pos) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// Problem is one mistake in a text: where it stands, what is wrong and what
// would be right.
type Problem struct {
	Pos
	Text string
}

// Error returns the place and the text in one line.
func (p Problem) Error() string { return p.Pos.String() + ": " + p.Text }

// Problems is every mistake of one reading, in the order of the texts. An empty
// list means that there was none.
type Problems []Problem

// Add appends a problem at a place; the text is formatted as by fmt.Sprintf.
func (p *Problems) Add(at Pos, format string, args ...any) {
	*p = append(*p, Problem{Pos: at, Text: fmt.Sprintf(format, args...)})
}

// Err returns the list as an error, nil if it is empty.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// Error returns one line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}
