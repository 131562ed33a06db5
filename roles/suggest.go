package roles

import (
	"fmt"
	"strings"
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
		if d := edits(got, c); d < distance || d == distance && best == "" && d <= 2 {
			best, distance = c, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

// edits counts the single letters to insert, delete, replace, or swap with
// their neighbour to get from a to b.
func edits(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			// Two swapped letters are one slip of the fingers.
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

// UnknownCommand is the error for a first word that is no subcommand.
func UnknownCommand(word string) error {
	commands := []string{"check-config", "demo", "version", "help"}
	return &UsageError{[]string{fmt.Sprintf("there is no command %q, only %s, or flags for a role%s",
		word, strings.Join(commands, ", "), didYouMean(word, commands))}}
}
