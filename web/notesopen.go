package web

import "jaque.sh/jaque/appliance/core/event"

// openRequest is a request that nobody has delivered or given up.
type openRequest struct {
	event.Request
	Failures int
	Reason   string // of the last failure
}

// openRequests returns the requests without an outcome in the order of the log.
func (s *site) openRequests() []openRequest {
	all := s.Projection.OpenRequests()
	out := make([]openRequest, len(all))
	for i, r := range all {
		out[i] = openRequest{Request: r.Request, Failures: r.Failures, Reason: r.Reason}
		if s.Attempts != nil {
			out[i].Failures = max(r.Failures, s.Attempts(r.ID)) // the log has not each of them
		}
	}
	return out
}
