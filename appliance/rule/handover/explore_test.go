package handover

import (
	"flag"
	"testing"
)

var long = flag.Bool("explore-long", false, "explore to the large bounds, which takes minutes and up to 2 GB")

// size says how large a world is.
type size struct{ engines, objects, events, views int }

func (m *model) bounded(s size) *model {
	m.engines, m.objects, m.events, m.views = s.engines, s.objects, s.events, s.views
	return m
}

// The variants that must hold. What is not said is the product's protocol.
func variants() []variant {
	plain := rules{forgets: true, noBump: true, noFloor: true, noRepair: true, noPrev: true}
	with := func(r rules, change func(*rules)) rules {
		change(&r)
		return r
	}
	ofAccepted := agree | truth | prefixFold | linear | oneWriter | monoEpoch | staleDiscarded | notBehind | once
	return []variant{
		// The engine's Write around the product's guard, fold and views.
		{name: "log_cas_prev", small: size{2, 1, 3, 2}, large: size{2, 1, 3, 4}, check: whole},
		{name: "log_cas_prev_views", large: size{2, 1, 3, 5}, check: whole},
		{name: "log_cas_prev_big", large: size{2, 1, 4, 4}, check: whole},
		{name: "log_cas_2obj", small: size{2, 2, 2, 2}, large: size{2, 2, 2, 4}, check: whole},
		{name: "log_cas_3e", small: size{3, 1, 1, 3}, large: size{3, 1, 2, 4}, check: whole},
		{name: "log_prev", small: size{2, 1, 2, 3}, large: size{2, 1, 3, 3}, rules: rules{noCAS: true}, check: ofAccepted | neverStuck, accepted: true},
		{name: "log_prev_4v", large: size{2, 1, 3, 4}, rules: rules{noCAS: true}, check: ofAccepted, accepted: true},
		{name: "log_removed", small: size{2, 1, 2, 2}, large: size{2, 1, 3, 3}, rules: rules{removals: 1}, check: ofAccepted | neverStuck, accepted: true},
		{name: "reset_lineage", large: size{2, 1, 2, 5}, rules: rules{resets: 1}, check: whole},
		{name: "log_live", small: size{2, 1, 2, 3}, large: size{2, 1, 3, 4}, check: whole | neverStuck},
		{name: "reset_repair_live", small: size{2, 1, 1, 4}, large: size{2, 1, 2, 4}, rules: rules{resets: 1}, check: whole | neverStuck},
		{name: "reset_log_repair_live", small: size{2, 1, 1, 4}, large: size{2, 1, 2, 4}, rules: rules{resets: 1, noLineage: true}, check: agree | truth | linear | monoEpoch | neverStuck},
		// Engines that forget what was refused or timed out, as the protocol's text has them.
		{name: "log_cas", large: size{2, 1, 3, 4}, rules: plain, check: whole},
		{name: "log_cas_bump", large: size{2, 1, 3, 4}, rules: with(plain, func(r *rules) { r.noBump = false }), check: whole},
		{name: "log_nocas", large: size{2, 1, 3, 4}, rules: with(plain, func(r *rules) { r.noCAS = true }), check: agree | truth | prefixFold | staleDiscarded | oneWriter},
		{name: "log_casonly", large: size{2, 1, 3, 4}, rules: with(plain, func(r *rules) { r.noFence, r.noGuard = true, true }), check: agree | truth | prefixFold | linear},
		{name: "pos_cas", large: size{2, 1, 3, 4}, rules: with(plain, func(r *rules) { r.memory, r.skip = true, skipPosition }), every: true, check: agree | truth | linear | oneWriter | monoEpoch},
		{name: "rules_atomic", small: size{2, 1, 2, 3}, large: size{2, 1, 3, 4}, rules: atomically(threeRules()), check: agree | truth},
		{name: "rules_gap_ownfence", large: size{2, 1, 3, 4}, rules: with(threeRules(), func(r *rules) { r.refence = true }), check: agree},
	}
}

// variant is a protocol with what must hold of it, or be found.
type variant struct {
	name         string
	rules        rules
	small, large size // the zero size is not explored
	check        invariant
	accepted     bool
	every        bool
	against      rules // what the fold of the protocol's text leaves out; see model
	steps        int   // of the shortest way to a violation; 0 = there must be none
}

func (v *variant) model(s size) *model {
	m := newModel(v.rules)
	m.check, m.accepted, m.every, m.against = v.check, v.accepted, v.every, v.against
	if v.rules.forgets && v.against == (rules{}) {
		m.against = v.rules
	}
	return m.bounded(s)
}

// threeRules are the three published rules with own writes kept in memory.
func threeRules() rules {
	return rules{
		noCAS: true, noPrev: true, forgets: true, memory: true, skip: skipWriter, noGhosts: true,
		noBump: true, noFloor: true, noRepair: true,
	}
}

// legacy is what engines did before these rules: what is older than the own view is
// discarded, what one owns is skipped.
func legacy() rules {
	r := threeRules()
	r.noFence, r.noGuard, r.viewed, r.skip = true, true, true, skipOwned
	return r
}

func atomically(r rules) rules {
	r.atomic = true
	return r
}

func TestEveryInterleavingKeepsTheInvariants(t *testing.T) {
	for _, v := range variants() {
		s := v.small
		if *long {
			s = v.large
		}
		if s == (size{}) {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			m := v.model(s)
			f := m.search(m.first(), false, 0)
			t.Logf("%d engines, %d objects, %d events, %d views; %s", s.engines, s.objects, s.events, s.views, v.check)
			f.report(t)
			if f.violated != 0 {
				m = v.model(s)
				f = m.search(m.first(), true, 5_000_000)
				f.report(t)
				t.Errorf("%s violated", f.violated)
			}
		})
	}
}
