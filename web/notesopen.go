package web

import "jaque.sh/jaque/appliance/core/event"

// openRequest is a request that nobody has delivered or given up.
type openRequest struct {
	event.Request
	Failures int
	Reason   string // of the last failure
}

// openRequests returns the requests without an outcome, and whether they are known.
func (s *site) openRequests() ([]openRequest, bool) { return nil, false }
