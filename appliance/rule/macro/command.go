package macro

import (
	"fmt"
	"strings"
)

// CheckCommand turns "name!first!second" into one command line in which the
// arguments stand in place of $ARG1$ and on; its other macros are left. lookup
// returns the line of a command. Expanding the result once gives what expanding
// each argument and then the line would.
func CheckCommand(command string, lookup func(name string) (line string, ok bool)) (string, error) {
	words := splitArgs(command)
	line, ok := lookup(words[0])
	if !ok {
		return "", fmt.Errorf("check command %q: there is no command %q; define it or name another", command, words[0])
	}
	args := words[1:]
	for i := range args {
		// An argument may name those before it.
		args[i] = fillArgs(args[i], args[:i])
	}
	return fillArgs(line, args), nil
}

// splitArgs splits at "!"; "\!" is one that does not split.
func splitArgs(command string) []string {
	var words []string
	var b strings.Builder
	for i := 0; i < len(command); i++ {
		switch {
		case command[i] == '\\' && i+1 < len(command) && command[i+1] == '!':
			b.WriteByte('!')
			i++
		case command[i] == '!':
			words = append(words, b.String())
			b.Reset()
		default:
			b.WriteByte(command[i])
		}
	}
	return append(words, b.String())
}

// fillArgs puts arguments in place of their macros. What is no macro is written
// so that a later Expand gives it back, wherever the text is put.
func fillArgs(text string, args []string) string {
	var b strings.Builder
	literal := func(s string) { b.WriteString(strings.ReplaceAll(s, "$", "$$")) }
	scan(text, literal, func(name string) {
		n, ok := numbered(name, "ARG", maxArgs)
		switch {
		case ok && n <= len(args):
			b.WriteString(args[n-1])
		case ok:
		case known(name):
			b.WriteString("$" + name + "$")
		default:
			literal("$" + name + "$")
		}
	})
	return b.String()
}
