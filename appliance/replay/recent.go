package replay

import (
	"slices"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
)

// recent remembers the instants that were asked for last, the newest first.
type recent struct{ list []told }

type told struct {
	at object.Time
	p  *projection.Projection
}

// get returns what was told of an instant. What was told of other objects than
// those of set is forgotten: a reload changed them.
func (c *recent) get(at object.Time, set *object.Set) *projection.Projection {
	c.list = slices.DeleteFunc(c.list, func(x told) bool { return x.p.Set() != set })
	i := slices.IndexFunc(c.list, func(x told) bool { return x.at == at })
	if i < 0 {
		return nil
	}
	found := c.list[i]
	c.list = slices.Insert(slices.Delete(c.list, i, i+1), 0, found)
	return found.p
}

func (c *recent) put(at object.Time, p *projection.Projection) {
	c.list = slices.Insert(c.list, 0, told{at: at, p: p})
	room := kept / max(1, len(p.Set().Objects))
	room = min(max(room, 1), mostInstants)
	for len(c.list) > room {
		c.list[len(c.list)-1] = told{} // let its states go
		c.list = c.list[:len(c.list)-1]
	}
}

// mostInstants bounds what small installations remember.
const mostInstants = 8
