package handover

import (
	"fmt"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/fold"
)

// tale is one interleaving that is told step by step, in the words in which a search
// prints its findings.
type tale struct {
	t *testing.T
	m *model
	w world
}

// ofTwo is a tale of A, the only member under epoch 1, and B, which owns the object when
// both are members.
func ofTwo(t *testing.T, r rules) *tale {
	m := newModel(r).bounded(size{2, 1, mostEvents, mostViews})
	return &tale{t: t, m: m, w: m.first()}
}

// possible lists what can happen now.
func (x *tale) possible() (all []string, acts []act) {
	x.m.eachStep(&x.w, func(a act, _ *world) bool {
		all, acts = append(all, x.m.say(&x.w, a)), append(acts, a)
		return true
	})
	return all, acts
}

// do takes the steps, each of which must be possible.
func (x *tale) do(steps ...string) *tale {
	x.t.Helper()
	for _, step := range steps {
		all, acts := x.possible()
		at := -1
		for i, one := range all {
			if one == step {
				at = i
				break
			}
		}
		if at < 0 {
			x.t.Fatalf("%q is not possible; possible are:\n\t%s", step, strings.Join(all, "\n\t"))
		}
		x.m.step(&x.w, acts[at])
		if v := x.m.violated(&x.w); v != 0 && x.m.rules == (rules{}) {
			x.t.Errorf("%s violated by %q", v, step)
		}
	}
	return x
}

// not requires that steps are not possible now.
func (x *tale) not(steps ...string) *tale {
	x.t.Helper()
	all, _ := x.possible()
	for _, step := range steps {
		for _, one := range all {
			if one == step {
				x.t.Errorf("%q is possible", step)
			}
		}
	}
	return x
}

// read lets every running engine consume to the end of the log.
func (x *tale) read() *tale {
	for e := range uint8(x.m.engines) {
		for x.m.step(&x.w, act{consume, e, 0}) {
		}
	}
	return x
}

// log writes down what stands on the log and what the fold makes of each event.
func (x *tale) log() string {
	var out []string
	var f [mostObjects]held
	for i := range x.w.nlog {
		e := &x.w.log[i]
		outcome := fold.Accepted
		if !x.m.memory {
			outcome = x.m.fold(&f[e.object], e, i+1)
		}
		out = append(out, fmt.Sprintf("%s %s", e, outcome))
	}
	return strings.Join(out, ", ")
}

// held writes down which events an engine has folded.
func (x *tale) held(e uint8) string {
	var out []string
	for p := x.w.engine[e].held[0].past; p != 0; p >>= 4 {
		out = append([]string{fmt.Sprint(p & 15)}, out...)
	}
	return "{" + strings.Join(out, " ") + "}"
}

// ends reads to the end and compares: what stands on the log, what A and B hold. With the
// product's protocol a fresh replay and a reader hold the same, and no invariant but
// those is violated.
func (x *tale) ends(log, a, b string, but ...invariant) *tale {
	x.t.Helper()
	x.read()
	if got := x.log(); got != log {
		x.t.Errorf("the log holds %s; want %s", got, log)
	}
	if gotA, gotB := x.held(0), x.held(1); gotA != a || gotB != b {
		x.t.Errorf("A holds %s, B %s; want %s and %s", gotA, gotB, a, b)
	}
	broken := x.m.violated(&x.w)
	for _, v := range but {
		if broken&v == 0 {
			x.t.Errorf("%s holds", v)
		}
		broken &^= v
	}
	if broken != 0 && !x.m.memory {
		x.t.Errorf("%s violated", broken)
	}
	return x
}

// epoch returns the epoch on which an engine acts and the newest that it has seen.
func (x *tale) epoch(e uint8) (view, seen uint8) {
	return x.w.view(e).epoch, x.w.engine[e].held[0].fence
}

// attempt is the number of results that an engine counts for the problem.
func (x *tale) attempt(e uint8) int32 {
	return x.m.bodies[x.w.engine[e].held[0].body].status.Attempt
}

// calm lets everything happen that must happen in the end.
func (x *tale) calm() *tale {
	for x.m.must(&x.w) {
	}
	return x
}
