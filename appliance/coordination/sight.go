package coordination

import (
	"context"
	"slices"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/bucket"
	"jaque.sh/jaque/appliance/rule/membership"
)

// sights are what this process has seen of heartbeats. Who lives is judged by them and by
// this process's own clock, which only runs forward: a server lets keys expire by its wall
// clock, and one that jumps lets them vanish at once, or stay.
type sights struct {
	mu   sync.Mutex
	keys map[string]sight
}

// sight is what was seen under one key.
type sight struct {
	revision uint64    // of the newest heartbeat; 0 = none yet
	since    time.Time // when that was first seen, or the key if there was none
	steady   time.Time // since when the key was looked at without a long pause
	last     time.Time
}

// sighted takes in what stands under a key now. Only a heartbeat is a sign of life, and only
// one that was not seen before: neither that a key is gone nor that it stands means a thing.
func (s *JetStream) sighted(key string, e bucket.Entry) sight {
	now := time.Now()
	s.sights.mu.Lock()
	defer s.sights.mu.Unlock()
	was, known := s.sights.keys[key]
	if !known {
		was = sight{since: now, steady: now}
	} else if now.Sub(was.last) > s.ttl/3 {
		was.steady = now
	}
	if !e.Gone && !e.Foreign && e.Revision != was.revision {
		was.revision, was.since = e.Revision, now
	}
	was.last = now
	if s.sights.keys == nil {
		s.sights.keys = map[string]sight{}
	}
	s.sights.keys[key] = was
	return was
}

// rested tells whether whoever lives has had the time to write a key anew that vanished
// before its time. In a long pause between looks it may have come and gone.
func (s *JetStream) rested(seen sight) bool { return seen.last.Sub(seen.steady) >= s.ttl/2 }

// dead tells whether a heartbeat has not moved for a whole TTL: whoever wrote it has ended
// by its own clock, since it counts from before this process saw what it wrote.
func (s *JetStream) dead(key string, e bucket.Entry) bool {
	seen := s.sighted(key, e)
	stands := !e.Gone && !e.Foreign // what stands unmoved was not written meanwhile
	return seen.last.Sub(seen.since) >= s.ttl && (stands || s.rested(seen))
}

// Silent tells which other members of the view have not refreshed their heartbeat when they
// should have, and when each is found dead by this process if it stays so. Until then
// nobody does what such a member owns: that it is dead is known only after a whole TTL.
func (s *JetStream) Silent() map[string]time.Time {
	me, all := s.member().ID, map[string]time.Time{}
	s.sights.mu.Lock()
	defer s.sights.mu.Unlock()
	for _, m := range s.View().Members {
		seen, known := s.sights.keys[s.memberKey(m.ID)]
		// It is due at a third, and seen a poll later. What counts is when it was last looked
		// for: after a pause, as of a process that was stopped, nobody was silent yet.
		if known && m.ID != me && seen.last.Sub(seen.since) >= 2*s.ttl/3 {
			all[m.ID] = seen.since.Add(s.ttl)
		}
	}
	return all
}

// forget drops what was seen of keys that are not kept.
func (s *JetStream) forget(kept func(key string) bool) {
	s.sights.mu.Lock()
	defer s.sights.mu.Unlock()
	for key := range s.sights.keys {
		if !kept(key) {
			delete(s.sights.keys, key)
		}
	}
}

// observe looks at the heartbeats of a view's members except one, so that a process which
// waits for its own id need not begin with the others when it is in.
func (s *JetStream) observe(ctx context.Context, v membership.View, except string) {
	for _, m := range v.Members {
		if m.ID == except {
			continue
		}
		key := s.memberKey(m.ID)
		e, err := s.get(ctx, key)
		if err != nil {
			return
		}
		s.sighted(key, e)
	}
}

// lists tells whether any run of a member is in a view.
func lists(v membership.View, id string) bool {
	return slices.ContainsFunc(v.Members, func(m membership.Member) bool { return m.ID == id })
}
