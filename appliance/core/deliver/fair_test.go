package deliver_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/object"
)

// hangs is how long an attempt to a server that hangs takes, answers to one that works.
const (
	hangs   = 30 * time.Second
	answers = time.Second
)

// office sends messages as workers do, to servers some of which hang.
type office struct {
	t       *rapid.T
	p       *deliver.Planner
	w       *world
	now     object.Time
	limits  deliver.Limits
	dead    map[string]bool // ways to servers that hang
	failed  map[string]bool // ways on which the newest attempt failed
	under   map[*deliver.Batch]object.Time
	doubt   map[*deliver.Batch]bool
	arrived map[string]object.Time
	tries   map[string][]object.Time
}

func way(b *deliver.Batch) string { return b.Contact + "/" + b.Channel }

// take starts what is due and holds it against the places of what fails.
func (o *office) take() {
	for {
		b, ok := o.p.Take(o.now, o.w.look())
		if !ok {
			return
		}
		o.tries[way(b)] = append(o.tries[way(b)], o.now)
		end := o.now.Add(answers)
		if o.dead[way(b)] {
			end = o.now.Add(hangs)
		}
		o.under[b], o.doubt[b] = end, o.failed[way(b)]
		all, kind := 0, 0
		for u := range o.under {
			if o.doubt[u] {
				all++
				if kindOf(u.Channel) == kindOf(b.Channel) {
					kind++
				}
			}
		}
		if o.doubt[b] && (all > o.limits.Failing || kind > 1) {
			o.t.Fatalf("%d messages are on ways that fail, %d over %s", all, kind, b.Channel)
		}
	}
}

// pass lets time go by until an instant.
func (o *office) pass(until object.Time) {
	for o.take(); ; o.take() {
		next := until
		if at := o.p.Next(o.now); at != 0 {
			next = min(next, max(at, o.now+1))
		}
		for _, end := range o.under {
			next = min(next, end)
		}
		if o.now = next; o.now >= until {
			return
		}
		for b, end := range o.under {
			if end > o.now {
				continue
			}
			delete(o.under, b)
			if o.failed[way(b)] = o.dead[way(b)]; o.failed[way(b)] {
				o.p.Failed(b, o.now, 0)
				continue
			}
			for _, r := range b.Requests {
				o.arrived[r.ID] = o.now
			}
			o.p.Done(b, o.now)
		}
	}
}

// Once a server that hangs is known by one attempt to each of its contacts, nobody else
// waits for it, with two workers and more; with a single one for one attempt each.
// What fails has its turn all the same, however much there is to do.
func TestWhatFailsHoldsNobodyUpAndHasItsTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		workers := rapid.IntRange(1, 8).Draw(t, "workers")
		half := max(1, workers/2)
		limits := deliver.Limits{Queue: workers, PerWay: 1, PerKind: half, Failing: half}
		o := &office{
			t: t, p: deliver.NewPlanner(limits), w: &world{}, now: start, limits: limits, dead: map[string]bool{}, failed: map[string]bool{},
			under: map[*deliver.Batch]object.Time{}, doubt: map[*deliver.Batch]bool{}, arrived: map[string]object.Time{}, tries: map[string][]object.Time{},
		}
		var dead, well []string
		for i := range rapid.IntRange(1, 8).Draw(t, "contacts of servers that hang") {
			c := fmt.Sprint("d", i, "/", rapid.SampledFrom([]string{"email", "webhook", "telegram"}).Draw(t, "channel"))
			o.dead[c], dead = true, append(dead, c)
		}
		for i := range rapid.IntRange(1, 4).Draw(t, "other contacts") {
			well = append(well, fmt.Sprint("w", i, "/", rapid.SampledFrom([]string{"email", "webhook", "command"}).Draw(t, "channel")))
		}
		l := &log{}
		ask := func(second int, all []string) (asked []*deliver.Pending) {
			asked = l.ask(ask{id: object.ServiceID(fmt.Sprint("h", second), "x"), second: second, contacts: all})
			for _, r := range asked {
				o.p.Add(r, false)
			}
			return asked
		}
		ask(0, slices.Concat(dead, well))
		o.pass(at(600))
		most := object.Time(len(well)+1) * object.Time(answers.Milliseconds())
		if workers == 1 {
			// One attempt that fails for each message: while it goes on, more come.
			most += 3 * object.Time(len(well)+1) * object.Time(hangs.Milliseconds())
		}
		busy := rapid.IntRange(1, 3).Draw(t, "every") // a problem in so many seconds
		if workers == 1 {                             // less often than each message and the attempt before it take
			busy = 1 + int((hangs+answers)/time.Second)
		}
		first := map[string]int{}
		for way, all := range o.tries {
			first[way] = len(all)
		}
		var asked []*deliver.Pending
		second := 600
		for ; second < 1400; second += busy * len(well) {
			asked = append(asked, ask(second, well)...)
			o.pass(at(second + busy*len(well)))
		}
		o.pass(at(second + 600))
		slowest := object.Time(0)
		for _, r := range asked {
			if o.arrived[r.ID] == 0 {
				t.Fatalf("to %s over %s nothing arrives", r.Contact, r.Channel)
			}
			slowest = max(slowest, o.arrived[r.ID]-r.Time)
		}
		if slowest > most {
			t.Fatalf("a message to a server that works takes %d ms, with at most %d", slowest, most)
		}
		for _, way := range dead {
			if len(o.tries[way]) == first[way] {
				t.Fatalf("%s is not tried again in %d s", way, second)
			}
		}
	})
}
