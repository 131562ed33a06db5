package roles

import (
	"slices"
	"strings"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/membership"
	"jaque.sh/jaque/web"
)

// shares knows how many objects each engine owns. It counts them once for each view and
// generation: every page asks.
type shares struct {
	mu    sync.Mutex
	set   *object.Set
	epoch uint64
	ids   []string
	owned map[string]int
}

// shownMissed is how long an engine is shown that died.
const shownMissed = 24 * time.Hour

// of returns the engines of a view, and those that the log knows to have died lately, by
// id.
func (s *shares) of(set *object.Set, v membership.View, known []engineNews, now time.Time) []web.Engine {
	owned := s.count(set, v)
	said := map[string]engineNews{}
	for _, n := range known {
		said[n.ID] = n
	}
	var all []web.Engine
	for _, m := range v.Members {
		e := web.Engine{ID: m.ID, Live: true, Objects: owned[m.ID]}
		if n := said[m.ID]; n.Instance == m.Instance {
			e.Joined, e.Generation, e.Delivery = n.Joined, n.Generation, n.Delivery
		}
		all = append(all, e)
		delete(said, m.ID)
	}
	for _, n := range said {
		if n.Expired && !n.Live && now.Sub(n.Gone) < shownMissed {
			all = append(all, web.Engine{ID: n.ID, Joined: n.Joined, Gone: n.Gone, Generation: n.Generation, Delivery: n.Delivery})
		}
	}
	slices.SortFunc(all, func(a, b web.Engine) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// count returns how many objects each member owns. The map is not changed any more.
func (s *shares) count(set *object.Set, v membership.View) map[string]int {
	ids := memberIDs(v)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.set == set && s.epoch == v.Epoch && slices.Equal(s.ids, ids) {
		return s.owned
	}
	s.set, s.epoch, s.ids, s.owned = set, v.Epoch, ids, map[string]int{}
	for _, o := range set.Objects {
		s.owned[v.Owner(string(o.ID))]++
	}
	return s.owned
}

// memberIDs returns the ids of the members of a view.
func memberIDs(v membership.View) []string {
	ids := make([]string, len(v.Members))
	for i, m := range v.Members {
		ids[i] = m.ID
	}
	return ids
}
