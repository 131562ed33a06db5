package query

import (
	"strings"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/near"
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
		if d := near.Distance(want, strings.ToLower(string(o.ID)), limit); d < limit {
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
		if d := near.Distance(strings.ToLower(text), strings.ToLower(name), limit); d < limit {
			best, limit = name, d
		}
	}
	return best
}
