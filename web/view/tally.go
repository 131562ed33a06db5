package view

import (
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
)

// Tally is how many objects of a kind are in which state.
type Tally struct {
	Kind  string // Hosts, Services
	Total string
	Parts []Part
}

// Part is one state of a tally. X and Width are its place in a bar of 1000.
type Part struct {
	Badge Badge
	N     int
	Count string
	URL   string
	X     int
	Width int
}

// NewTallies returns the tallies of both kinds, services first.
func NewTallies(c projection.Counts) []Tally {
	return []Tally{
		newTally(object.Service, c.PendingServices, c.Services[:], []object.State{2, 1, 3, 0}),
		newTally(object.Host, c.PendingHosts, c.Hosts[:], []object.State{1, 2, 0}),
	}
}

func newTally(k object.Kind, pending int, states []int, order []object.State) Tally {
	t := Tally{Kind: "Services"}
	if k == object.Host {
		t.Kind = "Hosts"
	}
	total := pending
	for _, n := range states {
		total += n
	}
	t.Total = Number(total)
	for _, s := range order {
		name := s.Name(k)
		t.Parts = append(t.Parts, Part{Badge: Badge{Name: name, Tone: Tone(k, s)}, N: states[s], URL: ListURL(k, "state="+name)})
	}
	t.Parts = append(t.Parts, Part{Badge: Badge{Name: "PENDING", Tone: "pending"}, N: pending, URL: ListURL(k, "state=PENDING")})
	t.place(total)
	return t
}

// place gives every state that occurs at least 12 of the 1000, so that one
// broken service among 100,000 can be seen.
func (t *Tally) place(total int) {
	const least = 12
	spare, x := 1000, 0
	for _, p := range t.Parts {
		if p.N > 0 {
			spare -= least
		}
	}
	for i := range t.Parts {
		p := &t.Parts[i]
		p.Count, p.X = Number(p.N), x
		if p.N > 0 {
			p.Width = least + spare*p.N/total
		}
		x += p.Width
	}
}

// NewPart returns how many objects a command had which outcome for.
func NewPart(outcome string, n int) Part {
	return Part{Badge: resultBadge(outcome), N: n, Count: Number(n)}
}
