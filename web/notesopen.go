package web

import "jaque.sh/jaque/appliance/core/deliver"

// openRequests returns the requests that nobody has delivered or given up, and
// whether that is known.
func (s *site) openRequests() ([]*deliver.Pending, bool) {
	p, ok := any(s.Projection).(interface{ OpenRequests() []*deliver.Pending })
	if !ok {
		return nil, false
	}
	return p.OpenRequests(), true
}
