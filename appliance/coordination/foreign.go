package coordination

import (
	"context"
	"errors"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/bucket"
	"jaque.sh/jaque/appliance/rule/membership"
)

// errUnrestored: what stands in the view's place was written by no member, and those who
// know the view are given the time to write it anew.
var errUnrestored = errors.New("an answer of the log server stands in place of the view; whoever knows it writes it anew")

// foreign are the keys under which something stands that no member wrote. That means
// nothing: neither that somebody lives, nor that nobody does.
type foreign struct {
	mu   sync.Mutex
	keys map[string]intruder
}

type intruder struct {
	revision uint64
	since    time.Time // when the key was first seen so
}

// judge takes note of what stands under a key, and tells of the first foreign entry in
// a row.
func (s *JetStream) judge(key string, e bucket.Entry) {
	f := &s.foreign
	f.mu.Lock()
	was, known := f.keys[key]
	if !e.Foreign || e.Revision == 0 {
		delete(f.keys, key)
		f.mu.Unlock()
		return
	}
	now := intruder{revision: e.Revision, since: was.since}
	if !known {
		now.since = time.Now()
	}
	if f.keys == nil {
		f.keys = map[string]intruder{}
	}
	f.keys[key] = now
	f.mu.Unlock()
	if was.revision != e.Revision {
		s.metrics.foreign.Inc()
	}
	if !known {
		s.log.Warn("somebody had the log server store an answer over an entry of the members; it is written anew", "key", key, "revision", e.Revision)
	}
}

// foreignFor is for how long nothing else was seen under a key.
func (s *JetStream) foreignFor(key string) time.Duration {
	s.foreign.mu.Lock()
	defer s.foreign.mu.Unlock()
	if i, ok := s.foreign.keys[key]; ok {
		return time.Since(i.since)
	}
	return 0
}

// restored is the view that this member knows, under an epoch above all that the record
// can have had: members who registered a moment ago may have seen later ones.
func (s *JetStream) restored() membership.View {
	v := s.View()
	return membership.View{Epoch: max(v.Epoch+1, uint64(max(time.Now().UnixMilli(), 1))), Members: v.Members}
}

// restoreWait is how long one that knows no view waits for those who do.
func (s *JetStream) restoreWait() time.Duration { return 3*s.poll() + s.ttl/4 }

// again joins a member to a view that was written without it.
func (s *JetStream) again(v membership.View, exists bool, me membership.Member) membership.View {
	if !exists || v.Has(me) {
		return v
	}
	return v.Join(me, 0)
}

// awaitView gives those who know the view the time to write it anew, if something else
// stands in its place. What cannot be read is found out later.
func (s *JetStream) awaitView(ctx context.Context) {
	for {
		e, err := s.get(ctx, s.viewKey())
		if err != nil || !e.Foreign || s.View().Epoch > 0 || s.foreignFor(s.viewKey()) >= s.restoreWait() {
			return
		}
		select {
		case <-time.After(s.ttl / 20):
		case <-ctx.Done():
			return
		}
	}
}
