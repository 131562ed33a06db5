package chain

import (
	"maps"
	"slices"

	"jaque.sh/jaque/appliance/core/object"
)

// Rule names an invariant.
type Rule string

// The invariants.
const (
	Epoch   Rule = "epoch"   // epochs never go back along an object's subject
	Writer  Rule = "writer"  // one process run writes about an object in one epoch
	Chain   Rule = "chain"   // a decision's base is an accepted decision about the object
	Twice   Rule = "twice"   // no decision is accepted twice and no notification asked for twice
	Outcome Rule = "outcome" // an outcome is one of a request that an accepted event has made
	Subject Rule = "subject" // an event stands on its object's subject
	Gap     Rule = "gap"     // every position is there, or it is known why not
	Decode  Rule = "decode"  // every event can be read
)

const defaultKeep = 1000

// Violation is one place where an invariant does not hold.
type Violation struct {
	Rule   Rule      `json:"rule"`
	Seq    uint64    `json:"seq"` // position
	Object object.ID `json:"object,omitempty"`
	Text   string    `json:"text"`
}

// Report is what was found in a log. Every message that was read is counted under
// exactly one of Accepted, Stale, Conflicts, Outcomes, System, Foreign and Unreadable.
type Report struct {
	First    uint64 `json:"first"` // position of the first message
	Last     uint64 `json:"last"`
	Complete bool   `json:"complete"` // the log begins at position 1 and nothing was removed

	Events     uint64 `json:"events"`
	Accepted   uint64 `json:"accepted"`   // decisions that every reader takes in
	Stale      uint64 `json:"stale"`      // decisions of an older epoch, discarded
	Conflicts  uint64 `json:"conflicts"`  // decisions on another base, discarded
	Outcomes   uint64 `json:"outcomes"`   // of notifications and event handlers
	System     uint64 `json:"system"`     // events without an object
	Foreign    uint64 `json:"foreign"`    // messages that are no events, passed over
	Unreadable uint64 `json:"unreadable"` // violations of decode
	Unknown    uint64 `json:"unknown"`    // accepted, of a shape that this build does not know
	Newer      uint64 `json:"newer"`      // of a newer version of the encoding
	Missing    uint64 `json:"missing"`    // positions that nothing explains
	Removed    uint64 `json:"removed"`    // positions that are known to have been removed

	Objects  int    `json:"objects"`
	Requests uint64 `json:"requests"` // notifications that were asked for
	Open     uint64 `json:"open"`     // without a final outcome
	Repeated uint64 `json:"repeated"` // further final outcomes of a request
	Earlier  uint64 `json:"earlier"`  // outcomes of requests in front of the first position

	Epoch uint64 `json:"epoch"` // the newest
	// Writers are the engines and whoever has delivered, with how many events.
	Writers map[string]uint64 `json:"writers"`

	// Violations are the first ones, as many as are kept; ByRule counts all.
	Violations []Violation     `json:"violations"`
	ByRule     map[Rule]uint64 `json:"by_rule"`
}

// Report returns what was found so far.
func (v *Verifier) Report() Report {
	r := v.report
	r.Objects = len(v.objects)
	for name, n := range v.writers {
		if r.Writers == nil {
			r.Writers = map[string]uint64{}
		}
		r.Writers[name] = *n
	}
	r.Violations = slices.Clone(r.Violations)
	r.ByRule = maps.Clone(r.ByRule)
	return r
}

// Count returns how many violations there are.
func (r *Report) Count() uint64 {
	n := uint64(0)
	for _, of := range r.ByRule {
		n += of
	}
	return n
}

// Clean tells whether every invariant holds.
func (r *Report) Clean() bool { return r.Count() == 0 }
