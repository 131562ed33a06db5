package client

import (
	"fmt"
	"strings"
)

// Help returns the help of a command, of one or two words; false = there is none
// of that name.
func Help(name string) (string, bool) {
	for _, c := range commands() {
		if c.name == name {
			return c.help(), true
		}
	}
	return "", false
}

// Summary returns one line for each command, for the help of the program.
func Summary() string {
	var b strings.Builder
	for _, c := range commands() {
		if !strings.Contains(c.name, " ") {
			fmt.Fprintf(&b, "  %-13s %s\n", c.name, c.summary)
		}
	}
	return b.String()
}

func (c *command) help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage: jaque %s %s [options]\n", c.name, c.usage)
	for _, sub := range commands() {
		if strings.HasPrefix(sub.name, c.name+" ") {
			fmt.Fprintf(&b, "       jaque %s %s [options]\n", sub.name, sub.usage)
		}
	}
	b.WriteString("\n" + c.text)
	if c.api != "" {
		b.WriteString("\nOBJECT is host or host!service; quote it in a shell that gives ! a meaning.\n" +
			"Of several objects one that does not exist is refused, the others are done.\n" +
			"More than 50 objects by -filter, -group or -scope must be confirmed.\n")
	}
	writeOptions(&b, "\nOptions:\n", c.options)
	writeOptions(&b, "\nWhere and how:\n", connection())
	b.WriteString("\nOptions may stand anywhere. Exit status: 0 done, 1 refused or failed, 2 wrong\nusage, 3 nothing matched.\n")
	return b.String()
}

func writeOptions(b *strings.Builder, head string, options []option) {
	if len(options) > 0 {
		b.WriteString(head)
	}
	for _, o := range options {
		name := strings.TrimSpace("-" + o.name + " " + o.arg)
		if len(name) > 18 {
			fmt.Fprintf(b, "  %s\n  %-18s %s\n", name, "", o.help)
		} else {
			fmt.Fprintf(b, "  %-18s %s\n", name, o.help)
		}
	}
}

// wrap breaks a text into lines for a terminal.
func wrap(text string) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		switch {
		case column == 0:
		case column+1+len(word) > 80:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String() + "\n"
}
