package config

import (
	"fmt"
	"sort"
	"strings"
)

// Position is a place in a file. Line and Column count from 1; 0 = unknown.
type Position struct {
	File         string
	Line, Column int
}

// String returns "site.cue:14:12", without the parts that are unknown.
func (p Position) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Column == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Problem is one thing that is wrong with a config.
type Problem struct {
	Position
	Path string // as the operator writes it: hosts.web01.interval; "" = the file
	Text string // what is wrong; what would be right
}

// String returns the problem as one line without a line feed.
func (p Problem) String() string {
	parts := make([]string, 0, 3)
	if at := p.Position.String(); at != "" {
		parts = append(parts, at)
	}
	if p.Path != "" {
		parts = append(parts, p.Path)
	}
	return strings.Join(append(parts, p.Text), ": ")
}

// Problems is every problem of one config. It is an error as a whole.
type Problems []Problem

// String lists the problems, one a line, and ends with how many there are.
func (ps Problems) String() string {
	if len(ps) == 0 {
		return ""
	}
	return ps.Lines() + counted(len(ps), "problem") + ", nothing was changed.\n"
}

// Error is String without the last line feed, so that Problems is an error.
func (ps Problems) Error() string { return strings.TrimSuffix(ps.String(), "\n") }

// Lines lists the problems, each with a line feed, without a summary.
func (ps Problems) Lines() string {
	var b strings.Builder
	for _, p := range ps {
		b.WriteString(p.String())
		b.WriteByte('\n')
	}
	return b.String()
}

// sorted orders problems by place and drops repetitions.
func (ps Problems) sorted() Problems {
	sort.SliceStable(ps, func(i, j int) bool {
		a, b := ps[i], ps[j]
		switch {
		case a.File != b.File:
			return a.File < b.File
		case a.Line != b.Line:
			return a.Line < b.Line
		case a.Column != b.Column:
			return a.Column < b.Column
		case a.Path != b.Path:
			return a.Path < b.Path
		}
		return a.Text < b.Text
	})
	out := ps[:0]
	for i, p := range ps {
		if i == 0 || p != ps[i-1] {
			out = append(out, p)
		}
	}
	return out
}

// counted writes "1 host", "2 hosts", "2 policies".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
