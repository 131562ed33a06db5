package queue

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// WorkerStatus is what is known of a live worker.
type WorkerStatus struct {
	Worker
	Understands int // version of work items
	Running     int // items it executes
	Seen        time.Time
}

// ZoneStatus sums up the workers of a zone.
type ZoneStatus struct {
	Zone              string
	Workers           int // that live
	Capacity, Running int // of those workers, which may serve other zones too
	Seen              time.Time
}

// Fleet knows which workers live, from what they announce. Its methods may be
// called from any goroutine.
type Fleet struct {
	began  time.Time
	silent time.Duration // a worker not heard of for so long is gone

	mu      sync.Mutex
	workers map[string]*member
	served  map[string]time.Time // when a zone's workers were last heard of
}

type member struct {
	WorkerStatus
	// running of a worker in this process, which lives until it leaves; nil for
	// one that announces itself.
	running func() int
	// heard is when it announced itself to each of its zones: what it says in
	// one zone counts there only, since no server has checked the rest.
	heard map[string]time.Time
}

func newFleet(silent time.Duration) *Fleet {
	return &Fleet{began: time.Now(), silent: silent, workers: map[string]*member{}, served: map[string]time.Time{}}
}

// Workers returns the live workers by id.
func (f *Fleet) Workers() []WorkerStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []WorkerStatus
	for _, m := range f.live() {
		all = append(all, m.WorkerStatus)
	}
	slices.SortFunc(all, func(a, b WorkerStatus) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// Zones returns every zone that a worker has served since the fleet is known,
// also those that nobody serves any more, by name.
func (f *Fleet) Zones() []ZoneStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	live := f.live()
	var all []ZoneStatus
	for zone, seen := range f.served {
		s := ZoneStatus{Zone: zone, Seen: seen}
		for _, m := range live {
			if slices.Contains(m.Zones, zone) {
				s.Workers++
				s.Capacity += m.Capacity
				s.Running += m.Running
				s.Seen = later(s.Seen, m.Seen)
			}
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b ZoneStatus) int { return strings.Compare(a.Zone, b.Zone) })
	return all
}

// Live returns how many live workers serve a zone.
func (f *Fleet) Live(zone string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, m := range f.live() {
		if slices.Contains(m.Zones, zone) {
			n++
		}
	}
	return n
}

// Deserted returns for how long nobody has served a zone, 0 while somebody does.
// For a zone that never had a worker it counts from when the fleet is watched.
func (f *Fleet) Deserted(zone string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.live() {
		if slices.Contains(m.Zones, zone) {
			return 0
		}
	}
	return time.Since(later(f.began, f.served[zone]))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// live forgets the workers that are silent and returns the others.
func (f *Fleet) live() map[string]*member {
	now := time.Now()
	for id, m := range f.workers {
		if m.running != nil {
			m.Running, m.Seen = m.running(), now
			continue
		}
		m.leave(func(zone string) bool { return now.Sub(m.heard[zone]) > f.silent })
		if len(m.Zones) == 0 {
			delete(f.workers, id)
		}
	}
	return f.workers
}

// attach takes in a worker of this process.
func (f *Fleet) attach(w Worker, running func() int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := &member{WorkerStatus: WorkerStatus{Worker: w, Understands: Version, Seen: time.Now()}, running: running}
	f.workers[m.ID] = m
	for _, zone := range m.Zones {
		f.served[zone] = m.Seen
	}
}

// leave takes a worker out of some of its zones. Readers hold the old list.
func (m *member) leave(gone func(zone string) bool) {
	if slices.ContainsFunc(m.Zones, gone) {
		m.Zones = slices.DeleteFunc(slices.Clone(m.Zones), gone)
	}
}

// forget takes a worker of this process out.
func (f *Fleet) forget(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if m := f.workers[id]; m != nil {
		for _, zone := range m.Zones {
			f.served[zone] = time.Now()
		}
		delete(f.workers, id)
	}
}

// announcement is what a worker says of itself, to each of its zones.
type announcement struct {
	Version     int    `json:"v"`
	ID          string `json:"id"`
	Program     string `json:"program,omitempty"`
	Zone        string `json:"zone"`
	Understands int    `json:"understands"`
	Capacity    int    `json:"capacity"`
	Running     int    `json:"running"`
	Leaving     bool   `json:"leaving,omitempty"`
	// Queueless asks the engines to make the zone's queue, which is not there.
	Queueless bool `json:"queueless,omitempty"`
}

// Bounds of what an announcement may make the fleet remember: they come from
// outside and are not to fill the memory.
const (
	maxWorkers = 10_000
	maxZones   = 1000
	maxName    = 255
)

func decodeAnnouncement(data []byte) (announcement, error) {
	var a announcement
	if err := json.Unmarshal(data, &a); err != nil {
		return a, fmt.Errorf("decode announcement: %w", err)
	}
	if a.Version < 1 || a.ID == "" || a.Zone == "" || len(a.ID) > maxName || len(a.Zone) > maxName || len(a.Program) > maxName || a.Capacity < 0 || a.Running < 0 {
		return a, fmt.Errorf("decode announcement: version %d of worker %.40q in zone %.40q is none", a.Version, a.ID, a.Zone)
	}
	return a, nil
}

// hear takes in an announcement. A worker announces itself to one zone at a
// time, since its credentials may allow no more.
func (f *Fleet) hear(a announcement) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.workers[a.ID]
	switch {
	case a.Leaving && m == nil || m != nil && m.running != nil:
		return
	case a.Leaving:
		m.leave(func(zone string) bool { return zone == a.Zone })
		return
	case m == nil && len(f.workers) >= maxWorkers:
		return
	case m == nil:
		m = &member{WorkerStatus: WorkerStatus{Worker: Worker{ID: a.ID}}, heard: map[string]time.Time{}}
		f.workers[a.ID] = m
	case len(m.Zones) >= maxZones && !slices.Contains(m.Zones, a.Zone):
		return
	}
	now := time.Now()
	m.Version, m.Understands, m.Capacity, m.Running, m.Seen = a.Program, a.Understands, a.Capacity, a.Running, now
	m.heard[a.Zone], f.served[a.Zone] = now, now
	if !slices.Contains(m.Zones, a.Zone) {
		m.Zones = append(slices.Clone(m.Zones), a.Zone)
		slices.Sort(m.Zones)
	}
}
