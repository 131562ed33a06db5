package query

import (
	"strings"

	"jaque.sh/jaque/appliance/core/object"
)

// Nearest returns the configured object whose ID looks most like id, for "did
// you mean"; false if none is close enough.
func Nearest(set *object.Set, id object.ID) (object.ID, bool) {
	want := strings.ToLower(string(id))
	best, limit := object.ID(""), max(2, len(want)/3)+1
	objects := set.Objects
	if id.Kind() == object.Host {
		objects = set.Hosts
	}
	for _, o := range objects {
		if o.Kind() != id.Kind() {
			continue
		}
		if d := distance(want, strings.ToLower(string(o.ID)), limit); d < limit {
			best, limit = o.ID, d
			if d == 0 {
				break
			}
		}
	}
	return best, best != ""
}

// Closest returns the name that looks most like text, for "did you mean"; ""
// if none is close enough.
func Closest(names []string, text string) string {
	best, limit := "", max(2, len(text)/3)+1
	for _, name := range names {
		if d := distance(strings.ToLower(text), strings.ToLower(name), limit); d < limit {
			best, limit = name, d
		}
	}
	return best
}

// distance is the number of edits between two texts, at least limit if it is
// not below that.
func distance(a, b string, limit int) int {
	if d := len(a) - len(b); d >= limit || -d >= limit {
		return limit
	}
	prev := make([]int, len(b)+1)
	next := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		low := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(prev[j]+1, next[j-1]+1, prev[j-1]+cost)
			low = min(low, next[j])
		}
		if low >= limit {
			return limit
		}
		prev, next = next, prev
	}
	return min(prev[len(b)], limit)
}
