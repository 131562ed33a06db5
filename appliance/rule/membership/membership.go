package membership

import (
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Member is one live process of a bucket.
type Member struct {
	ID       string `json:"id"`       // engine id, sink id or notifier id
	Instance string `json:"instance"` // random id of the process run
	// Serves limits what the member can own, as Serves writes it; "" = everything.
	Serves string `json:"serves,omitempty"`
}

// Serves writes down the names of all that a member can own, no name = nothing.
// Names hold no "!".
func Serves(names ...string) string { return "!" + strings.Join(append(names, ""), "!") }

// serves tells whether a member can own what has the name.
func (m Member) serves(name string) bool {
	return m.Serves == "" || strings.Contains(m.Serves, "!"+name+"!")
}

// View is the one published record of a bucket: an epoch and its members can
// never be seen apart. Members are sorted by ID. Views are values; the methods
// return changed copies.
type View struct {
	Epoch   uint64   `json:"epoch"`
	Members []Member `json:"members"`
}

// Weight is the rank of a member for an object: xxhash64 over the member's id, a
// zero byte and the object's id. It is the same in every process, see the
// vectors in the test.
func Weight(member, object string) uint64 {
	var buf [128]byte
	b := append(buf[:0], member...)
	b = append(b, 0)
	b = append(b, object...)
	return xxhash.Sum64(b)
}

// Owner returns the id of the member that owns an object by rendezvous hashing:
// the one with the highest weight, of equal ones the smaller id. It is "" in a
// view without members.
func (v View) Owner(object string) string {
	if len(v.Members) == 1 {
		return v.Members[0].ID
	}
	owner, best := "", uint64(0)
	for _, m := range v.Members {
		w := Weight(m.ID, object)
		if owner == "" || w > best || w == best && m.ID < owner {
			owner, best = m.ID, w
		}
	}
	return owner
}

// Serving returns the view of those members that can own what has the name.
func (v View) Serving(name string) View {
	return View{Epoch: v.Epoch, Members: slices.DeleteFunc(slices.Clone(v.Members), func(m Member) bool { return !m.serves(name) })}
}

// Has tells whether a member with this id and instance is in the view.
func (v View) Has(m Member) bool {
	return slices.ContainsFunc(v.Members, func(o Member) bool { return o.ID == m.ID && o.Instance == m.Instance })
}

// First returns the view that creates a record: its only member is m, its epoch
// lies above everything seen on the log and, because a lost record could
// otherwise be followed by one with an epoch already used, at or above the wall
// clock in milliseconds.
func First(m Member, newestOnLog uint64, nowMillis int64) View {
	return View{Epoch: max(newestOnLog+1, uint64(max(nowMillis, 1))), Members: []Member{m}}
}

// Join returns the view after m registered: an older instance of the same id is
// replaced, and the epoch rises even if the ids stay the same.
func (v View) Join(m Member, newestOnLog uint64) View {
	rest := slices.DeleteFunc(slices.Clone(v.Members), func(o Member) bool { return o.ID == m.ID })
	rest = append(rest, m)
	slices.SortFunc(rest, func(a, b Member) int { return strings.Compare(a.ID, b.ID) })
	return View{Epoch: max(v.Epoch, newestOnLog) + 1, Members: rest}
}

// Leave returns the view without the member of that id, under the next epoch. A
// view that does not list it comes back unchanged.
func (v View) Leave(id string) View {
	rest := slices.DeleteFunc(slices.Clone(v.Members), func(o Member) bool { return o.ID == id })
	if len(rest) == len(v.Members) {
		return v
	}
	return View{Epoch: v.Epoch + 1, Members: rest}
}

// Repair returns the view with an epoch above the newest one seen on the log;
// it comes back unchanged if it is above already.
func (v View) Repair(newestOnLog uint64) View {
	if newestOnLog <= v.Epoch {
		return v
	}
	return View{Epoch: newestOnLog + 1, Members: v.Members}
}
