package roles

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
)

// record is what two virtual days leave behind.
type record struct {
	events int
	told   map[object.ID][]string // of the log; "" = the program
	nights map[object.ID][]string // when downtimes of the recurring one began and ended
	states map[object.ID]string   // in the end
	checks map[object.ID]string   // what they measured last
}

// live runs the script over one surface; with kills everything but the log is
// dropped and made anew after each step.
func live(t *testing.T, set *object.Set, surface virtualSurface, kills bool) (r record) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(virtualStart()))
		v := newVirtual(t, set)
		for _, s := range virtualScript() {
			time.Sleep(time.Until(virtualStart().Add(s.at)))
			if n := surface(v, s); n != s.refused {
				t.Errorf("%s: %d refused, want %d", s.name, n, s.refused)
			}
			if kills {
				v.kill()
				v.start()
			}
		}
		time.Sleep(time.Until(virtualStart().Add(virtualEnd)))
		r = v.record()
		v.end()
	})
	return r
}

// record reads the log and the present states.
func (v *virtual) record() record {
	v.t.Helper()
	r := record{
		told: map[object.ID][]string{}, nights: map[object.ID][]string{},
		states: map[object.ID]string{}, checks: map[object.ID]string{},
	}
	last := map[object.ID]uint64{}
	ctx, cancel := context.WithCancel(v.t.Context())
	err := v.log.Follow(ctx, journal.Position{}, func(batch []event.Event) error {
		for i := range batch {
			if e := &batch[i]; e.Stream == event.Log {
				if e.Object != "" && e.Prev != last[e.Object] {
					v.t.Errorf("%s of %q at %d follows %d, want %d", e.Kind, e.Object, e.Seq, e.Prev, last[e.Object])
				}
				last[e.Object] = e.Seq
				r.events++
				r.tell(e)
			}
		}
		return nil
	}, cancel)
	if err != nil {
		v.t.Fatal(err)
	}
	for _, o := range v.p.Set().Objects {
		s := v.p.State(o.ID)
		r.states[o.ID] = tellStatus(s.Status)
		r.checks[o.ID] = fmt.Sprintf("%+v", s.Measure)
	}
	program := v.p.Program()
	r.states[""] = fmt.Sprintf("off %b on %b, %v, %d rules", program.Switches.Off, program.Switches.On, unsigned(program.Switches.Settings), len(program.Rules))
	return r
}

func (r *record) tell(e *event.Event) {
	at := e.Time.Std().UTC().Format("02 15:04:05.000")
	switch {
	case strings.HasPrefix(string(e.Object), "night01"):
		for _, k := range append([]event.Kind{e.Kind}, e.Also...) {
			if k == event.DowntimeStarted || k == event.DowntimeEnded {
				r.nights[e.Object] = append(r.nights[e.Object], fmt.Sprint(at, " ", k, " depth ", e.Status.DowntimeDepth))
			}
		}
	case e.Status != nil:
		r.told[e.Object] = append(r.told[e.Object], fmt.Sprintf("%s %s %v %q: %s", at, e.Kind, e.Also, e.Text, tellStatus(*e.Status)))
	case e.Program != nil && e.Program.Switches != nil:
		w := *e.Program.Switches
		w.Settings = unsigned(w.Settings)
		r.told[""] = append(r.told[""], fmt.Sprintf("%s %s %+v", at, e.Kind, w))
	}
}

// tellStatus tells a status without what tells who made its parts: ids, numbers
// and rules.
func tellStatus(s event.Status) string {
	if s.Extra == nil {
		return fmt.Sprintf("%+v", s)
	}
	x := *s.Extra
	x.Comments, x.Downtimes, x.Settings = slices.Clone(x.Comments), slices.Clone(x.Downtimes), unsigned(x.Settings)
	for i := range x.Comments {
		x.Comments[i].ID, x.Comments[i].Number = "", 0
	}
	for i := range x.Downtimes {
		d := &x.Downtimes[i]
		d.ID, d.Rule, d.Number, d.Comment = "", "", 0, 0
	}
	s.Extra = nil
	return fmt.Sprintf("%+v and %+v", s, x)
}

// unsigned are settings without who made them: lines that switch do not say it.
func unsigned(all []event.Setting) []event.Setting {
	all = slices.Clone(all)
	for i := range all {
		all[i].Author = ""
	}
	return all
}

func virtualSet(t *testing.T, text string) *object.Set {
	t.Helper()
	c, problems := config.Load(folder(t, text), config.Options{AllZonesLocal: true})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return c.Set
}

func TestTwoVirtualDaysOfAnOperator(t *testing.T) {
	t.Parallel()
	set := virtualSet(t, virtualConfig)
	surfaces := []struct {
		name string
		do   virtualSurface
	}{{"HTTP", virtualHTTP}, {"command line", virtualCommandLine}, {"command file", virtualCommandFile}}
	calm := make([]record, len(surfaces))
	for i, s := range surfaces {
		t.Run("leave the same log over "+s.name, func(t *testing.T) {
			calm[i] = live(t, set, s.do, false)
			checkNights(t, calm[i].nights)
			checkFlood(t, set, &calm[i])
			compareRecords(t, surfaces[0].name, s.name, &calm[0], &calm[i])
			sameTexts(t, "last checks", surfaces[0].name, s.name, calm[0].checks, calm[i].checks)
		})
	}
	for i, s := range surfaces {
		t.Run("are not changed by kills between the steps over "+s.name, func(t *testing.T) {
			rough := live(t, set, s.do, true)
			checkNights(t, rough.nights)
			checkFlood(t, set, &rough)
			compareRecords(t, "without kills", "with kills", &calm[i], &rough)
		})
	}
	t.Logf("%d steps over %d surfaces, %d events on the log of each", len(virtualScript()), len(surfaces), calm[0].events)
}

const nightConfig = `package site

hosts: night01: {address: "192.0.2.4", check: passive: {}}
services: job: {on: {}, check: passive: {}}
`

// A process that was away in the first night does what it missed as soon as it is
// back, and ends what is still to end in time.
func TestADowntimeOfTheNightTheClocksChangeOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	set := virtualSet(t, nightConfig)
	for name, c := range map[string]struct {
		from, to time.Duration
		night    []string
	}{
		"away at its start":      {16 * time.Hour, 17 * time.Hour, []string{"28 01:00:00.000 downtime.started depth 1", "28 01:30:00.000 downtime.ended depth 0"}},
		"away at its end":        {17 * time.Hour, 18 * time.Hour, []string{"28 00:30:00.000 downtime.started depth 1", "28 02:00:00.000 downtime.ended depth 0"}},
		"away all the time":      {16 * time.Hour, 18 * time.Hour, []string{"28 02:00:00.000 downtime.ended depth 0"}},
		"away since the morning": {6 * time.Hour, 17*time.Hour + 29*time.Minute, []string{"28 01:29:00.000 downtime.started depth 1", "28 01:30:00.000 downtime.ended depth 0"}},
	} {
		for surface, do := range map[string]virtualSurface{"by a rule": virtualHTTP, "by lines": virtualCommandFile} {
			t.Run(name+" "+surface, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					time.Sleep(time.Until(virtualStart()))
					v := newVirtual(t, set)
					i := slices.IndexFunc(virtualScript(), func(s virtualStep) bool { return strings.Contains(s.name, "recurs") })
					do(v, virtualScript()[i])
					time.Sleep(time.Until(virtualStart().Add(c.from)))
					v.kill()
					time.Sleep(time.Until(virtualStart().Add(c.to)))
					v.start()
					time.Sleep(time.Until(virtualStart().Add(virtualEnd)))
					want := slices.Concat(c.night, secondNight())
					if r := v.record(); !slices.Equal(r.nights["night01"], want) || !slices.Equal(r.nights["night01!job"], want) {
						t.Errorf("got %q, want %q for both", r.nights, want)
					}
					v.end()
				})
			})
		}
	}
}

func secondNight() []string {
	return []string{"28 23:30:00.000 downtime.started depth 1", "29 01:30:00.000 downtime.ended depth 0"}
}

// checkNights looks at the two nights: Berlin's clocks go forward in the first
// window, which so has one hour.
func checkNights(t *testing.T, nights map[object.ID][]string) {
	t.Helper()
	want := append([]string{"28 00:30:00.000 downtime.started depth 1", "28 01:30:00.000 downtime.ended depth 0"}, secondNight()...)
	for _, id := range []object.ID{"night01", "night01!job"} {
		if !slices.Equal(nights[id], want) {
			t.Errorf("%s: %q, want %q", id, nights[id], want)
		}
	}
}

// checkFlood looks whether each result counted once or was refused.
func checkFlood(t *testing.T, set *object.Set, r *record) {
	t.Helper()
	for _, o := range set.Get("many01").Services {
		if m := r.checks[o.ID]; !strings.Contains(m, fmt.Sprintf(" N:%d ", floodParts*floodTaken)) || !strings.Contains(m, "Output:"+floodLast(o.Name)+" ") {
			t.Errorf("%s ends with %s, want %d results and %q", o.ID, m, floodParts*floodTaken, floodLast(o.Name))
		}
	}
}

func compareRecords(t *testing.T, first, other string, a, b *record) {
	t.Helper()
	sameLists(t, first, other, a.told, b.told)
	sameLists(t, first, other, a.nights, b.nights)
	sameTexts(t, "final states", first, other, a.states, b.states)
}

func sameLists(t *testing.T, first, other string, a, b map[object.ID][]string) {
	t.Helper()
	if len(a) != len(b) {
		t.Errorf("%d objects %s, %d %s", len(a), first, len(b), other)
	}
	for id := range a {
		for i := range max(len(a[id]), len(b[id])) {
			x, y := "nothing", "nothing"
			if i < len(a[id]) {
				x = a[id][i]
			}
			if i < len(b[id]) {
				y = b[id][i]
			}
			if x != y {
				t.Errorf("%q, event %d\n%s: %s\n%s: %s", id, i, first, x, other, y)
				break
			}
		}
	}
}

func sameTexts(t *testing.T, what, first, other string, a, b map[object.ID]string) {
	t.Helper()
	for id := range a {
		if a[id] != b[id] {
			t.Errorf("%s of %q\n%s: %s\n%s: %s", what, id, first, a[id], other, b[id])
		}
	}
}
