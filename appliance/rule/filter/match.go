package filter

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// Match tells whether an object in its present state passes. Of its host's state
// nothing is known: see MatchIn.
func (f *Filter) Match(o *object.Object, s *fold.State) bool { return f.root.match(o, s, nil) }

// MatchIn is Match for an object among others, whose states look returns; nil =
// nothing is known of one.
func (f *Filter) MatchIn(o *object.Object, s *fold.State, look Look) bool {
	return f.root.match(o, s, look)
}

// Look returns the state of any object, nil if nothing is known of it.
type Look func(object.ID) *fold.State

// NeedsProblem tells whether only objects in a problem state can pass, so that
// a list of problems is enough to search in.
func (f *Filter) NeedsProblem() bool { return needsProblem(f.root) }

func needsProblem(n node) bool {
	switch n := n.(type) {
	case flag:
		return n.problem
	// One part that needs a problem is enough: the others only narrow it down.
	case allOf:
		for _, part := range n {
			if needsProblem(part) {
				return true
			}
		}
		return false
	// Every way to match must need one. A negation never does, whatever is in
	// it, because the opposite of a problem is most objects.
	case anyOf:
		for _, part := range n {
			if !needsProblem(part) {
				return false
			}
		}
		return true
	}
	return false
}

type node interface {
	match(o *object.Object, s *fold.State, look Look) bool
}

type (
	all     struct{}
	allOf   []node
	anyOf   []node
	negated struct{ inner node }
	flag    struct {
		test    func(o *object.Object, s *fold.State, look Look) bool
		problem bool // test holds only in a problem state
	}
	// compare holds if any value of the field fits.
	compare struct {
		get      getter
		value    string
		contains bool
		exact    bool // capitals count
	}
	// ordered compares a number.
	ordered struct {
		get   getter
		op    string // < <= > >=
		limit int
	}
	text struct{ lower string }
)

// getter calls yield with each value of a field until it returns true, which
// it then returns itself.
type getter func(o *object.Object, s *fold.State, yield func(string) bool) bool

func (all) match(*object.Object, *fold.State, Look) bool { return true }

func (n allOf) match(o *object.Object, s *fold.State, look Look) bool {
	for _, part := range n {
		if !part.match(o, s, look) {
			return false
		}
	}
	return true
}

func (n anyOf) match(o *object.Object, s *fold.State, look Look) bool {
	for _, part := range n {
		if part.match(o, s, look) {
			return true
		}
	}
	return false
}

func (n negated) match(o *object.Object, s *fold.State, look Look) bool {
	return !n.inner.match(o, s, look)
}

func (n flag) match(o *object.Object, s *fold.State, look Look) bool { return n.test(o, s, look) }

func (n compare) match(o *object.Object, s *fold.State, _ Look) bool {
	return n.get(o, s, func(v string) bool {
		switch {
		case n.contains:
			return containsFold(v, n.value)
		case n.exact:
			return v == n.value
		}
		return strings.EqualFold(v, n.value)
	})
}

func (n ordered) match(o *object.Object, s *fold.State, _ Look) bool {
	return n.get(o, s, func(v string) bool {
		have, err := strconv.Atoi(v)
		if err != nil {
			return false
		}
		switch n.op {
		case "<":
			return have < n.limit
		case "<=":
			return have <= n.limit
		case ">":
			return have > n.limit
		}
		return have >= n.limit
	})
}

func newText(s string) text { return text{strings.ToLower(s)} }

func (n text) match(o *object.Object, s *fold.State, _ Look) bool {
	return containsFold(string(o.ID), n.lower) || containsFold(o.Alias, n.lower) ||
		containsFold(o.HostObject().Alias, n.lower) || containsFold(s.Measure.Output, n.lower)
}

// containsFold tells whether s contains lower, which is in lower case already,
// in any case. ASCII needs no allocation.
func containsFold(s, lower string) bool {
	if lower == "" {
		return true
	}
	for i := 0; i < len(s); i++ {
		// Beyond ASCII the lower case of a letter may have another length, so the
		// bytes cannot be compared in place.
		if s[i] >= utf8.RuneSelf {
			return strings.Contains(strings.ToLower(s), lower)
		}
	}
	for i := 0; i+len(lower) <= len(s); i++ {
		if equalLower(s[i:i+len(lower)], lower) {
			return true
		}
	}
	return false
}

func equalLower(s, lower string) bool {
	for i := 0; i < len(s); i++ {
		if byte(unicode.ToLower(rune(s[i]))) != lower[i] {
			return false
		}
	}
	return true
}
