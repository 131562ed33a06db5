package engine_test

import (
	"testing"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/rehearse"
	"jaque.sh/jaque/appliance/rule/rehearse/trial"
	"jaque.sh/jaque/roles/engine"
)

// liveWith plays a scene with several engines; each act reaches another one of them.
func liveWith(t *testing.T, tr *trial.Trial, s *rehearse.Scene, ids ...string) (verdicts []rehearse.Entry, refused int) {
	c := newCluster(t, func() *object.Set { return s.Set })
	for _, id := range ids {
		c.join(id, func(o *engine.Options) { o.Runner = actor{tr} })
	}
	refused = enact(t, s, func(act int) *engine.Engine { return c.nodes[ids[act%len(ids)]].e })
	c.agree()
	c.end()
	return verdictsOn(t, c.j), refused
}

// S104, S113: three engines tell people the same as one, whoever of them owns a host,
// its services and the hosts around it, and whichever of them a command reaches.
func TestThreeEnginesTellTheSameAsARehearsal(t *testing.T) {
	sameAsRehearsed(t, max(*scenarios/6, 1), func(t *testing.T, tr *trial.Trial, s *rehearse.Scene) ([]rehearse.Entry, int) {
		return liveWith(t, tr, s, "a", "b", "c")
	})
}
