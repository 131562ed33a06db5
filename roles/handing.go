package roles

import (
	"slices"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/membership"
)

// How contacts go from one engine to another: who gives them says on the log what of
// them it may have begun with, see deliver.Release, and who takes them marks that alone.
// Whatever is not known for certain is marked: a view that was left out, one that is not
// in force, another owner in between.

// owe notes that another takes contacts over with a view that comes. The caller holds
// r.mu.
func (r *roster) owe(v membership.View) {
	n := len(r.views)
	if r.said == nil || n == 0 || !v.Has(r.me) || !slices.ContainsFunc(v.Members, func(m membership.Member) bool { return !r.views[n-1].Has(m) }) {
		return
	}
	w := r.word()
	if r.owes != nil || v.Epoch != r.views[n-1].Epoch+1 {
		w.Owners, w.Had = nil, nil // somebody may have had them, and given them back, in between
	}
	w.Epoch = v.Epoch
	r.owes = w
}

// word is what this process can say of its contacts: it vouches for them if they are its
// own by the one view that is in force, and nobody else may deliver to them. The caller
// holds r.mu.
func (r *roster) word() *deliver.Release {
	w := &deliver.Release{ID: r.me.ID, Instance: r.me.Instance, From: r.since}
	if len(r.views) != 1 || !r.inForce || !r.views[0].Has(r.me) || r.resting || r.paused || r.sharedNow() {
		return w
	}
	w.Owners = memberIDs(r.shares[0])
	w.Had = func(contact string) bool { return ownerAmong(w.Owners, contact) == w.ID }
	return w
}

// release returns what is to be said now, nil if there is nothing; left says that this
// process stops.
func (r *roster) release(left bool) *deliver.Release {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.owes
	r.owes = nil
	n := len(r.views)
	if r.said == nil || !left || n == 0 || !r.views[n-1].Has(r.me) || len(r.views[n-1].Members) < 2 {
		return w
	}
	if w == nil {
		w = r.word()
	}
	w.Epoch, w.Left = r.views[n-1].Epoch, true
	return w
}

// ownerAmong returns who of some members has a contact, by id.
func ownerAmong(ids []string, contact string) string {
	v := membership.View{Members: make([]membership.Member, len(ids))}
	for i, id := range ids {
		v.Members[i].ID = id
	}
	return v.Owner(contact)
}

// released tells whether all those among whom this process has joined have let go of its
// contacts, and what stands behind which position of the log none of them has begun
// with. The caller holds r.mu.
func (r *roster) released() (end uint64, ok bool) {
	if r.said == nil || r.silent || len(r.views) == 0 || !r.first.Has(r.me) {
		return 0, false
	}
	for _, m := range r.first.Members {
		if m.Instance == r.me.Instance {
			continue
		}
		f, w := r.former(m, r.first.Epoch, r.first.Epoch-1), r.said(m.Instance)
		if !f.Released(w) {
			return 0, false
		}
		end = max(end, w.Seq())
	}
	return end, true
}

// former is one from whom the view of an epoch took something that it had since another.
// The caller holds r.mu.
func (r *roster) former(m membership.Member, epoch, since uint64) deliver.Former {
	return deliver.Former{ID: m.ID, Instance: m.Instance, Live: r.views[len(r.views)-1].Has(m), Since: since, Epoch: epoch}
}

// letGo is released for everybody.
func (r *roster) letGo() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.released()
	return ok
}

// sharedNow tells whether others may still begin with messages to contacts of this
// process. The caller holds r.mu.
func (r *roster) sharedNow() bool {
	_, ok := r.released()
	return !ok && time.Now().Before(r.shared)
}

// rivals is sharedNow for everybody.
func (r *roster) rivals() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sharedNow()
}

// isShared tells whether another process may have sent a request that comes in, or may
// still do so.
func (r *roster) isShared(p *deliver.Pending) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	end, ok := r.released()
	switch {
	case !ok && time.Now().Before(r.shared):
		return true
	case r.said == nil || p.Seq > max(end, r.since):
		return false
	}
	// It has waited here since before the contact was this one's, or until it was.
	return r.doubted(p.ID) || r.unvouched(p)
}

// mayHaveBegun tells whether one of those that this process shared its contacts with when
// a request came may have begun with it meanwhile. Who has not let go may have done so as
// long as it may not have heard of this process, if the request was due by then.
func (r *roster) mayHaveBegun(p *deliver.Pending, due object.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.released(); !ok {
		return due <= object.At(r.shared)
	}
	return r.unvouched(p)
}

// unvouched tells whether any of those who had the contact of a request, if there are any,
// does not vouch for it, or whether it is not known who they are. The caller holds r.mu.
func (r *roster) unvouched(p *deliver.Pending) bool {
	all, known := r.formers(p.Contact)
	return !known || len(all) > 0 && r.sentBy(p, all)
}

// formerly tells whether somebody who had the contact of a request before this process
// may have sent it.
func (r *roster) formerly(p *deliver.Pending) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.said == nil || len(r.views) == 0 || r.silent && time.Now().Before(r.shared) || r.doubted(p.ID) {
		return true
	}
	all, _ := r.formers(p.Contact)
	return r.sentBy(p, all)
}

// sentBy tells whether any of those who had the contact of a request may have sent it. The
// caller holds r.mu.
func (r *roster) sentBy(p *deliver.Pending, all []deliver.Former) bool {
	return deliver.MayHaveSent(p, all, r.said, func(ids []string) string { return ownerAmong(ids, p.Contact) })
}

// formers returns who had a contact that this process has now, none if it has always been
// its own; known is false if that cannot be told. The caller holds r.mu.
func (r *roster) formers(contact string) (all []deliver.Former, known bool) {
	type had struct {
		membership.Member
		since uint64
	}
	var before []had
	views := slices.Concat(r.past, r.shares)
	for i, v := range views {
		if i > 0 && v.Epoch > views[i-1].Epoch+1 {
			return nil, false // who had it in between?
		}
		owner := v.Owner(contact)
		at := slices.IndexFunc(v.Members, func(m membership.Member) bool { return m.ID == owner })
		switch {
		case at < 0:
			return nil, false
		case v.Members[at].Instance != r.me.Instance:
			if m := v.Members[at]; len(before) == 0 || before[len(before)-1].Instance != m.Instance {
				before = append(before, had{m, v.Epoch})
			}
			continue
		}
		for _, h := range before {
			all = append(all, r.former(h.Member, v.Epoch, h.since))
		}
		before = nil
	}
	return all, len(before) == 0 // else it is another one's
}
