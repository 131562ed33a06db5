package config

import "strings"

// otherWords are the names that Nagios has for what is called otherwise here.
var otherWords = map[string]string{
	"host_name": "name", "display_name": "alias", "hostgroups": "groups", "host_groups": "groups", "hostgroup_name": "groups",
	"check_command": "check", "command": "check", "check_interval": "interval", "normal_check_interval": "interval",
	"retry_interval": "retry", "retry_check_interval": "retry", "max_check_attempts": "attempts",
	"check_timeout": "timeout", "freshness_threshold": "freshness", "is_volatile": "volatile", "initial_state": "initial",
	"active_checks_enabled": "active", "passive_checks_enabled": "passive", "flap_detection_enabled": "flap_detection",
	"low_flap_threshold": "flap_low", "high_flap_threshold": "flap_high", "service_description": "name",
}

// didYouMean returns `; did you mean "ops"?` for the candidate that is nearest
// to a mistyped name, "" if none is near. Equal distances go to the candidate
// that sorts first, so that the text never depends on map order.
func didYouMean(name string, candidates func(yield func(string) bool)) string {
	if other, ok := otherWords[name]; ok {
		for c := range candidates {
			if c == other {
				return `; did you mean ` + quote(other) + `?`
			}
		}
	}
	limit := min(1+len(name)/5, 3)
	best, bestAt := "", limit+1
	for c := range candidates {
		d := distance(strings.ToLower(name), strings.ToLower(c), bestAt)
		if d < bestAt || d == bestAt && d <= limit && c < best {
			best, bestAt = c, d
		}
	}
	if bestAt > limit || best == "" {
		return ""
	}
	return `; did you mean ` + quote(best) + `?`
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours between two texts; beyond limit it may stop with any larger number.
func distance(a, b string, limit int) int {
	if diff := len(a) - len(b); diff > limit || -diff > limit {
		return limit + 1
	}
	before, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit {
			return least
		}
		before, prev, row = prev, row, before
	}
	return prev[len(b)]
}
