package roles

import (
	"fmt"
	"strings"

	"jaque.sh/jaque/appliance/rule/near"
)

// didYouMean returns "; did you mean X?" for the nearest candidate, "" if none
// is near: at most a third of the letters differ, or one begins with the other.
func didYouMean(got string, candidates []string) string {
	best, distance := "", len(got)/3+1
	for _, c := range candidates {
		// A cut-off word is meant more often than a misspelt one; one or two letters
		// begin too many words.
		if len(got) > 2 && len(c) > 2 && (strings.HasPrefix(got, c) || strings.HasPrefix(c, got)) {
			return fmt.Sprintf("; did you mean %s?", c)
		}
		if d := near.Distance(got, c, len(got)+len(c)); d < distance || d == distance && best == "" && d <= 2 {
			best, distance = c, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// UnknownCommand is the error for a first word that is no subcommand; more are
// those beside the ones for the process itself.
func UnknownCommand(word string, more ...string) error {
	commands := append([]string{"check-config", "demo", "credentials", "cluster", "witness", "backup", "restore", "log verify", "version", "help"}, more...)
	return &UsageError{[]string{fmt.Sprintf("there is no command %q, only %s, or flags for a role%s",
		word, strings.Join(commands, ", "), didYouMean(word, commands))}}
}
