package wire

import "math"

// Entries of a flap history and bits of each.
const (
	ringSize = 21
	ringBits = 2
)

// Change returns how much a flap history changes, in percent: newer changes
// weigh more, from 0.75 for the oldest to 1.25 for the newest.
func Change(ring uint64) float64 {
	at := func(i int) uint64 { return ring >> (ringBits * i) & (1<<ringBits - 1) }
	sum := 0.0
	for age := 0; age < ringSize-1; age++ {
		if at(age) != at(age+1) {
			sum += 1.25 - 0.5*float64(age)/float64(ringSize-2)
		}
	}
	return math.Round(sum*100/(ringSize-1)*100) / 100
}
