package period

// Order returns names so that each comes behind everything that it excludes, in
// the order given otherwise. Names that excludes lists and names does not hold
// are left out. Loop is the way round if periods exclude each other, its first
// name again at the end; order is incomplete then.
func Order(names []string, excludes func(name string) []string) (order, loop []string) {
	known := make(map[string]bool, len(names))
	for _, n := range names {
		known[n] = true
	}
	s := sorter{known: known, excludes: excludes, state: map[string]int{}}
	for _, n := range names {
		if !s.visit(n) {
			return s.order, s.loop
		}
	}
	return s.order, nil
}

// sorter goes through the exclusions depth first.
type sorter struct {
	known    map[string]bool
	excludes func(name string) []string
	state    map[string]int // 0 untouched, 1 on the path, 2 done
	path     []string
	order    []string
	loop     []string
}

// visit adds a name behind what it excludes; false at a loop.
func (s *sorter) visit(name string) bool {
	switch s.state[name] {
	case 1:
		for i, n := range s.path {
			if n == name {
				s.loop = append(append(s.loop, s.path[i:]...), name)
			}
		}
		return false
	case 2:
		return true
	}
	s.state[name] = 1
	s.path = append(s.path, name)
	for _, e := range s.excludes(name) {
		if s.known[e] && !s.visit(e) {
			return false
		}
	}
	s.path = s.path[:len(s.path)-1]
	s.state[name] = 2
	s.order = append(s.order, name)
	return true
}
