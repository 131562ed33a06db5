package wire

import "jaque.sh/jaque/appliance/core/object"

// Preview is what a command would do.
type Preview struct {
	Total       int          `json:"total"`          // objects it would touch
	Note        string       `json:"note,omitempty"` // whether a downtime is also for those that are added later
	Items       []Touched    `json:"items"`          // the first of them
	Occurrences []Occurrence `json:"occurrences,omitempty"`
}

// Touched is one object that a command would touch.
type Touched struct {
	Object object.ID `json:"object"`
}

// Occurrence is one time of a recurring downtime, in UTC and on the clock of
// its zone.
type Occurrence struct {
	Start      Time   `json:"start"`
	End        Time   `json:"end"`
	LocalStart string `json:"local_start"` // RFC 3339 with the zone's offset
	LocalEnd   string `json:"local_end"`
	Length     int64  `json:"length"` // seconds that pass
	DST        string `json:"dst"`    // what the change of the clocks does to it, "" = nothing
}

// Accepted is what became of a command.
type Accepted struct {
	ID      string    `json:"id"`    // names it on the log
	Total   int       `json:"total"` // results
	Failed  int       `json:"failed"`
	Rule    string    `json:"rule,omitempty"` // id of the downtime for many objects or times that was made
	Results []Outcome `json:"results"`        // the first of them
}

// Outcome is what became of a command for one object, or for one downtime for
// many: that one has a rule and no object.
type Outcome struct {
	Object  object.ID `json:"object,omitempty"` // none = the whole program, or a rule
	Rule    string    `json:"rule,omitempty"`   // id of a downtime for many that was cancelled, with the object's
	Outcome string    `json:"outcome"`          // done, submitted, refused, unconfirmed or failed
	Detail  string    `json:"detail,omitempty"` // why not, or what goes on all the same
}

// Submission is how far a command is. Results are the first of those that were
// refused or are not confirmed.
type Submission struct {
	ID          string    `json:"id"`
	State       string    `json:"state"` // submitted, applied, partly, refused or unconfirmed
	Submitted   Time      `json:"submitted"`
	Total       int       `json:"total"`
	Applied     int       `json:"applied"`
	Refused     int       `json:"refused"`
	Unconfirmed int       `json:"unconfirmed"`
	Results     []Outcome `json:"results"`
}
