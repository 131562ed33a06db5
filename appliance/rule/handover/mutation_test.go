package handover

import (
	"strings"
	"testing"
)

// what the protocol's text lists: protocols that lack something, each with the length of
// the shortest way to what goes wrong then.
func listed() []variant {
	usual := size{2, 1, 3, 4}
	no := func(change func(*rules)) rules {
		r := atomically(threeRules())
		change(&r)
		return r
	}
	gap := threeRules()
	ghost := gap
	ghost.refence, ghost.noGhosts = true, false
	run := ghost
	run.skip = skipInstance
	plain := rules{forgets: true, noBump: true, noFloor: true, noRepair: true, noPrev: true}
	nocas, casonly, noguard, keep := plain, plain, plain, plain
	nocas.noCAS = true
	casonly.noFence, casonly.noGuard = true, true
	noguard.noGuard = true
	keep.noCAS, keep.noPrev, keep.noRaise = true, false, true
	emptied := no(func(r *rules) { r.resets, r.noLineage = 1, true })
	log := plain
	log.resets, log.noLineage = 1, true
	floor := log
	floor.noFloor = false
	all := []variant{
		{name: "before_gap: what is older than my view is discarded, what I own is skipped (T1)", rules: legacy(), check: agree, steps: 7},
		{name: "before_atomic: the same with atomic writes", rules: atomically(legacy()), check: agree, steps: 6},
		{name: "rules_no1: no fence in the fold (T2)", rules: no(func(r *rules) { r.noFence = true }), check: agree, steps: 9},
		{name: "rules_no2: what I own is skipped (T3)", rules: no(func(r *rules) { r.skip = skipOwned }), check: agree, steps: 6},
		{name: "rules_no3: who is behind writes (T4)", rules: no(func(r *rules) { r.noGuard = true }), check: agree, steps: 9},
		{name: "rules_atomic_delta: the state is what every event makes (T8)", rules: no(func(*rules) {}), every: true, check: agree, steps: 9},
		{name: "rules_atomic_linear: an update is lost (T9)", rules: no(func(*rules) {}), check: linear, steps: 4},
		{name: "rules_gap: own writes take effect at the acknowledgement without the fence (T5)", rules: gap, check: agree, steps: 11},
		{name: "rules_gap_ghost: what has my id is skipped (T6)", rules: ghost, check: agree, steps: 7},
		{name: "rules_gap_ghost_inc: what this run wrote is skipped (T6)", rules: run, check: agree, steps: 7},
		{name: "log_nocas_linear: no compare-and-set (T10)", rules: nocas, check: linear, steps: 5},
		{name: "log_casonly_mono: nothing but compare-and-set (T11)", rules: casonly, check: monoEpoch, steps: 7},
		{name: "log_cas_norule3: compare-and-set, who is behind writes", rules: noguard, check: monoEpoch, steps: 7},
		{name: "log_prev, first form: a refused event does not raise the fence (T14)", rules: keep, check: staleDiscarded, steps: 9},
		{name: "reset_rules: the store is emptied (T17)", rules: emptied, check: agree, steps: 10},
		{name: "reset_onewriter: epochs are given again", rules: log, check: oneWriter, steps: 7},
		{name: "reset_floor_onewriter: also above what the log holds", rules: floor, check: oneWriter, steps: 8},
		{name: "split_rules: epoch and members are seen apart (T15)", rules: split(atomically(threeRules())), check: agree, steps: 10},
		{name: "split_log_cas: the same with the full protocol", rules: split(plain), check: oneWriter, steps: 8},
		{name: "reset_live: nobody looks at the epochs on the log (T16)", rules: log, check: neverStuck, steps: 5},
	}
	for i := range all {
		all[i].small = usual
		if all[i].rules.resets > 0 {
			all[i].small.views++
		}
	}
	return all
}

func split(r rules) rules {
	r.split = true
	return r
}

// taken is the product's protocol with one thing taken away, alone or where the log does
// not compare: what each contributes.
func taken() []variant {
	return []variant{
		{name: "rule 3: who is behind writes", rules: rules{noGuard: true}, check: notBehind, steps: 6},
		{name: "rule 3, seen on the log", rules: rules{noGuard: true}, check: monoEpoch, steps: 7},
		{name: "the comparison of the log, where what was written counts", rules: rules{noCAS: true}, check: allAccepted, steps: 5},
		{name: "the comparison of the log, where epochs count", rules: rules{noCAS: true}, check: monoEpoch, steps: 6},
		{name: "the base in the fold, where the log does not compare", rules: rules{noCAS: true, noPrev: true}, check: linear, steps: 5},
		{name: "the base in the fold, where the replicas are compared with the text", rules: rules{noCAS: true, noPrev: true}, check: prefixFold, steps: 5},
		{name: "rule 1, where the log does not compare", rules: rules{noCAS: true, noFence: true}, check: prefixFold, steps: 9},
		{name: "the fence of a refused event, where the log does not compare", rules: rules{noCAS: true, noRaise: true}, check: staleDiscarded, steps: 9},
		{name: "the base that was read: an append expects what is there", rules: rules{blind: true}, check: allAccepted, steps: 6},
		{name: "that and the base in the fold", rules: rules{blind: true, noPrev: true}, check: linear, steps: 6},
		{name: "the id of a job: it is decided again under another", rules: rules{newIDs: true}, check: once, steps: 10},
		{name: "own events on the log", rules: rules{skipsOwn: true}, check: truth, steps: 3},
		{name: "the clock under a new record", rules: rules{resets: 1, noLineage: true}, check: oneWriter, steps: 8},
		{name: "the floor and the clock of a registration", rules: rules{resets: 1, noLineage: true, noFloor: true}, check: oneWriter, steps: 7},
		{name: "the floor, the clock and the repair of an epoch (T16)", rules: rules{resets: 1, noLineage: true, noFloor: true, noRepair: true}, check: neverStuck, steps: 5},
		{name: "the repair of an epoch (T16)", rules: rules{resets: 1, noLineage: true, noRepair: true}, check: neverStuck, steps: 5},
	}
}

func TestWhatIsLeftOutIsFound(t *testing.T) {
	for _, v := range append(listed(), taken()...) {
		name, _, _ := strings.Cut(v.name, ":")
		t.Run(name, func(t *testing.T) {
			if v.small == (size{}) {
				v.small = size{2, 1, 3, 4}
			}
			m := v.model(v.small)
			f := m.search(m.first(), true, 1_000_000)
			t.Log(v.name)
			f.report(t)
			if f.violated == 0 || len(f.trace) != v.steps {
				t.Errorf("%s in %d steps, want %s violated in %d", f.violated, len(f.trace), v.check, v.steps)
			}
		})
	}
}
