package period

import "slices"

// Order returns names so that each comes behind everything that it excludes, in
// the order given otherwise. What excludes lists and names does not hold is
// passed over. Loop is the way round if periods exclude each other, its first
// name again at the end; one exclusion of it is passed over in the order.
func Order(names []string, excludes func(name string) []string) (order, loop []string) {
	s := sorter{excludes: excludes, state: make(map[string]int, len(names))}
	for _, n := range names {
		s.state[n] = untouched
	}
	for _, n := range names {
		s.visit(n)
	}
	return s.order, s.loop
}

// What sorter knows of a name; one that is not in its map is unknown.
const (
	untouched = 1 + iota
	onPath
	done
)

// sorter goes through the exclusions depth first.
type sorter struct {
	excludes func(name string) []string
	state    map[string]int
	path     []string
	order    []string
	loop     []string // the first one found
}

// visit adds a name behind what it excludes.
func (s *sorter) visit(name string) {
	switch s.state[name] {
	case untouched:
		s.state[name] = onPath
		s.path = append(s.path, name)
		for _, e := range s.excludes(name) {
			s.visit(e)
		}
		s.path = s.path[:len(s.path)-1]
		s.state[name] = done
		s.order = append(s.order, name)
	case onPath:
		if s.loop == nil {
			at := slices.Index(s.path, name)
			s.loop = append(slices.Clone(s.path[at:]), name)
		}
	}
}
