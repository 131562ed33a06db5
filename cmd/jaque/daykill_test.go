package main

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/web/wire"
)

var dayKills = flag.Int("day-kills", 3, "between how many steps of a day TestAKillBetweenTheStepsOfADay kills the appliance; 0 = all")

// decided are the fields that only decisions change: a kill loses none of them.
const decided = "state,state_type,attempt,max_attempts,acknowledgement,in_downtime,downtimes,comments,root,settings"

// seen is what the API says of each object and of the whole program.
type seen struct {
	objects map[object.ID]string // the decided fields and the newest output
	program string
}

// look asks the API for the fields of every object.
func (x *today) look(fields string) seen {
	x.t.Helper()
	s := seen{objects: map[object.ID]string{}}
	for _, kind := range []string{"hosts", "services"} {
		name := map[string]string{"hosts": "host,", "services": "host,service,"}[kind]
		_, page := x.r.get("/api/v1/" + kind + "?fields=" + name + fields)
		var list struct{ Items []json.RawMessage }
		if err := json.Unmarshal([]byte(page), &list); err != nil {
			x.t.Fatalf("%v in %s", err, page)
		}
		for _, raw := range list.Items {
			var o struct{ Host, Service string }
			if err := json.Unmarshal(raw, &o); err != nil {
				x.t.Fatal(err)
			}
			id := object.HostID(o.Host)
			if o.Service != "" {
				id = object.ServiceID(o.Host, o.Service)
			}
			s.objects[id] = string(raw)
		}
	}
	_, s.program = x.r.get("/api/v1/settings")
	return s
}

// folded is what the API would say of the state that the log has.
func folded(t *testing.T, p *projection.Projection, fields string) map[object.ID]string {
	t.Helper()
	all := map[object.ID]string{}
	for _, o := range p.Set().Objects {
		name := "host,"
		if o.Kind() == object.Service {
			name = "host,service,"
		}
		columns, err := wire.Pick(o.Kind(), name+fields)
		if err != nil {
			t.Fatal(err)
		}
		item := projection.Item{Object: o, State: p.State(o.ID)}
		all[o.ID] = string(wire.AppendItem(nil, &item, columns, &wire.Context{State: p.State, Set: p.Set()}))
	}
	return all
}

// kill kills the appliance, starts it again, and compares: what was decided
// before is still so, and everything is as the log has it.
func (x *today) kill(after string) {
	x.t.Helper()
	before := x.look(decided)
	x.end(syscall.SIGKILL)
	onLog := folded(x.t, x.readLog(func(*event.Event) {}), decided+",output,long_output,perfdata")
	x.start()
	now, whole := x.look(decided), x.look(decided+",output,long_output,perfdata")
	for id, was := range before.objects {
		if now.objects[id] != was {
			x.t.Errorf("killed after %q: %s was\n%s\nand is\n%s", after, id, was, now.objects[id])
		}
		if whole.objects[id] != onLog[id] {
			x.t.Errorf("killed after %q: %s is\n%s\non the log\n%s", after, id, whole.objects[id], onLog[id])
		}
	}
	if len(onLog) != len(now.objects) || now.program != before.program {
		x.t.Errorf("killed after %q: %d objects of %d, the program was\n%s\nand is\n%s", after, len(now.objects), len(onLog), before.program, now.program)
	}
}

// TestAKillBetweenTheStepsOfADay kills between steps of the script. What follows
// works on, and the log tells the same story as that of a day without a kill. The
// command file, whose pipe a kill leaves behind, and HTTP, which makes downtimes
// by rules, take turns by the seed.
func TestAKillBetweenTheStepsOfADay(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	dice := rand.New(rand.NewPCG(seed, 1))
	surfaces := []struct {
		name string
		do   func(*today, deed) bool
	}{{"command file", overPipe}, {"HTTP", overHTTP}}
	steps := dice.Perm(len(day()))
	if *dayKills > 0 {
		steps = steps[:min(*dayKills, len(steps))]
		turn := dice.IntN(len(surfaces))
		surfaces = surfaces[turn : turn+1]
	}
	for _, s := range surfaces {
		t.Run(s.name, func(t *testing.T) {
			killBetween(t, s.do, steps)
			t.Logf("seed %d: killed %d times between %d steps; state and log are as without", seed, len(steps), len(day()))
		})
	}
}

// killBetween runs a day without kills and one with a kill after each of the steps,
// and for some of them also before the engine is through with what it does by itself.
func killBetween(t *testing.T, surface func(*today, deed) bool, steps []int) {
	t.Helper()
	calm, rough := newDay(t, surface), newDay(t, surface)
	for i, d := range day() {
		calm.do(d)
		rough.ask(d)
		if slices.Contains(steps, i) && d.page != "" {
			rough.end(syscall.SIGKILL) // before the engine is through with it
			rough.start()
		}
		rough.settle(d)
		if slices.Contains(steps, i) {
			rough.kill(d.name)
		}
	}
	calm.end(syscall.SIGTERM)
	rough.end(syscall.SIGTERM)
	a, b := calm.story(), rough.story()
	for id := range merged(a, b) {
		compareStories(t, "without a kill", "with kills", id, a[id], b[id])
	}
	if strings.Contains(rough.r.log(), "panic") {
		t.Errorf("something panicked:\n%s", rough.r.log())
	}
}
