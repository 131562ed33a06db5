package deliver

import (
	"maps"
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/event"
)

// Release is what a process that delivers says on the log when others take contacts over
// from it while it lives, or when it leaves in order: from then on it begins with nothing
// for contacts that are not its own. Whoever dies says nothing.
type Release struct {
	ID, Instance string
	// Epoch is that of the view it acts by; Left says that it delivers nothing any more.
	Epoch uint64
	Left  bool
	// Owners are the members among whom it shared the contacts until then: for those
	// that were its own it vouches that nobody has begun with any request but those in
	// Doubt. Without owners it vouches for none.
	Owners []string
	Doubt  map[string]bool

	// What is not on the log: which contacts were its own, and up to which position of
	// the log somebody else may have begun with what came to it from others.
	Had  func(contact string) bool
	From uint64

	seq uint64
}

// mostDoubt bounds how many requests a release names. Who has more vouches for none.
const mostDoubt = 200

// Name puts a request in doubt.
func (r *Release) Name(id string) {
	if r.Doubt == nil {
		r.Doubt = map[string]bool{}
	}
	if r.Doubt[id] = true; len(r.Doubt) > mostDoubt || strings.Contains(id, "\n") {
		r.Owners = nil
	}
}

// Facts are what stands on the log beside the writer.
func (r *Release) Facts() map[string]string {
	f := map[string]string{}
	if r.Left {
		f[event.FactLeft] = "true"
	}
	if len(r.Owners) == 0 {
		return f
	}
	f[event.FactOwners] = strings.Join(r.Owners, ",")
	if len(r.Doubt) > 0 {
		f[event.FactDoubt] = strings.Join(slices.Sorted(maps.Keys(r.Doubt)), "\n")
	}
	return f
}

// releaseOf reads an event.
func releaseOf(e *event.Event) *Release {
	r := &Release{ID: e.Writer, Instance: e.Instance, Epoch: e.Epoch, Left: e.Facts[event.FactLeft] == "true", seq: e.Seq}
	if all := e.Facts[event.FactOwners]; all != "" {
		r.Owners = strings.Split(all, ",")
	}
	if all := e.Facts[event.FactDoubt]; all != "" {
		for id := range strings.SplitSeq(all, "\n") {
			r.Name(id)
		}
	}
	return r
}

// mostReleases bounds how many are remembered. They matter only while contacts change
// hands.
const mostReleases = 100

// release takes in what a process says of itself. One that has left says no more, and
// what was written again may come late.
func (o *Open) release(e *event.Event) {
	if known := o.releases[e.Instance]; known != nil && (known.Left || known.Epoch > e.Epoch) {
		return
	}
	if o.releases == nil {
		o.releases = map[string]*Release{}
	}
	o.releases[e.Instance] = releaseOf(e)
	if len(o.releases) <= mostReleases {
		return
	}
	oldest := e.Instance
	for instance, r := range o.releases {
		if r.seq < o.releases[oldest].seq {
			oldest = instance
		}
	}
	delete(o.releases, oldest)
}

// Release returns what a process run last said of itself, nil if it said nothing.
func (o *Open) Release(instance string) *Release { return o.releases[instance] }

// Doubted tells whether anybody has said that a request may have been sent.
func (o *Open) Doubted(id string) bool {
	for _, r := range o.releases {
		if r.Doubt[id] {
			return true
		}
	}
	return false
}

// Seq is the position of the release on the log.
func (r *Release) Seq() uint64 { return r.seq }

// Former is one who had a contact before the process that has it now.
type Former struct {
	ID, Instance string
	Live         bool   // it is a member still
	Since        uint64 // epoch from which on it had the contact without a break, as far as is known
	Epoch        uint64 // of the view that took the contact from it
}

// Released tells whether the process has let go, by a release of its own that it made
// while it had the contact or when it lost it: nobody has had it in between.
func (f *Former) Released(r *Release) bool {
	if r == nil || r.ID != f.ID || r.Instance != f.Instance || len(r.Owners) == 0 {
		return false
	}
	return r.Left && r.Epoch >= f.Since || f.Live && r.Epoch >= f.Epoch
}

// MayHaveSent tells whether any of those who had a contact may have sent a request to it.
// Where one of them has not let go, or does not vouch for the request, it may have: so
// may whoever died. owner returns who had the contact among some members, by id.
func MayHaveSent(p *Pending, all []Former, said func(instance string) *Release, owner func(members []string) string) bool {
	for i := range all {
		f := &all[i]
		r := said(f.Instance)
		if !f.Released(r) || owner(r.Owners) != f.ID || r.Doubt[p.ID] {
			return true
		}
	}
	return len(all) == 0 || p.Failures > 0
}
