package deliver

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	"jaque.sh/jaque/appliance/core/object"
)

// GroupRate is the Group of a message that holds several groups because the
// channel's limit made them wait.
const GroupRate = "rate"

// Batch is one message that is due. Whoever takes it gives it back to the planner
// once: to Done, Failed or Abandoned.
type Batch struct {
	Contact, Channel string
	// Group says what its requests have in common: "root=sw1", "host=web01", …; ""
	// for one that goes alone, GroupRate for several groups.
	Group string
	// Root is the host whose failure explains the other objects; "" = none does.
	Root     object.ID
	Requests []*Pending // in the order of the log
	// Repeat says that the message may have gone out before: the process that had
	// it began anew.
	Repeat  bool
	Due     object.Time // since when it could have gone out, of the first of several groups
	Attempt int         // 1 for the first; of one that is Expired, how many there were
	Expired bool        // its time is over: it is abandoned, not sent
	// Until is when an attempt that still goes on is of no use any more: the next
	// round of a heartbeat begins; 0 = never.
	Until object.Time
	// ID is made from the requests: the same ones give the same. Thread names the
	// incident; all messages of it have the same.
	ID, Thread string

	entries []*entry
	units   []*unit // that wait until the batch comes back
	lane    *lane   // that it holds a place of; nil = of none
	doubt   bool    // the lane failed when it was taken
	woken   object.Time
}

// GroupOf returns the group of one of the Requests: its own also where the limit
// has put several groups into the message.
func (b *Batch) GroupOf(i int) string { return b.entries[i].group }

// batchID is the same for the same requests, whatever their order.
func batchID(requests []*Pending) string {
	ids := make([]string, len(requests))
	for i, p := range requests {
		ids[i] = p.ID
	}
	slices.Sort(ids)
	return digest(ids...)
}

// threadID names an incident of something, by its start.
func threadID(what string, start object.Time) string {
	return digest("thread", what, strconv.FormatInt(int64(start), 10))
}

// digest hashes texts to 32 hexadecimal digits.
func digest(texts ...string) string {
	h := sha256.New()
	for _, s := range texts {
		h.Write(strconv.AppendInt(nil, int64(len(s)), 10))
		h.Write([]byte{':'})
		h.Write([]byte(s))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
