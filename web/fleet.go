package web

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/page"
	"jaque.sh/jaque/web/view"
	"jaque.sh/jaque/web/wire"
)

// Fleet is who executes checks for the engines, and for which zones.
type Fleet struct {
	Workers []FleetWorker // by id
	Zones   []FleetZone   // by name
	Trouble string        // why the rest may not be the whole truth, "" = it is
}

// FleetWorker is a worker that lives.
type FleetWorker struct {
	ID       string
	Version  string // of its program, "" = it does not say
	Zones    []string
	Capacity int // checks that it runs at once at most
	Busy     int // checks that it runs, as it last said
	Seen     time.Time
	TooOld   bool // it does not understand the checks of this version
}

// FleetZone is a zone with what its workers are together.
type FleetZone struct {
	Name                    string
	Workers, Capacity, Busy int
	Waiting                 int       // checks that no worker has begun
	Oldest                  time.Time // when the oldest of them was sent; zero = none waits, or it is not known
	Deserted                time.Time // since when no worker serves the zone; zero = one does
	Old                     bool      // nobody says at present how it does
}

// fleetAnswer is the answer of /api/v1/workers.
type fleetAnswer struct {
	Items   []workerAnswer `json:"items"`
	Zones   []zoneAnswer   `json:"zones"`
	Trouble string         `json:"trouble"`
}

type workerAnswer struct {
	ID           string    `json:"id"`
	Zones        []string  `json:"zones"`
	Version      string    `json:"version"`
	OtherVersion bool      `json:"other_version"`
	TooOld       bool      `json:"too_old"`
	Capacity     int       `json:"capacity"`
	Busy         int       `json:"busy"`
	LastSeen     wire.Time `json:"last_seen"`
}

type zoneAnswer struct {
	Zone     string    `json:"zone"`
	Workers  int       `json:"workers"`
	Capacity int       `json:"capacity"`
	Busy     int       `json:"busy"`
	Waiting  int       `json:"waiting"`
	Oldest   wire.Time `json:"oldest_waiting"`
	Deserted wire.Time `json:"deserted_since"`
	Old      bool      `json:"old"`
}

// fleet returns the fleet, narrowed to one zone if one is asked for. A process
// without workers has none, which is an error for who asks.
func (s *site) fleet(r *http.Request) (*Fleet, error) {
	f := s.workers()
	if f == nil {
		return nil, faultf(http.StatusNotFound, "there are no workers here: this process executes checks itself, or follows an engine that does; ask an engine that was started with -target engine")
	}
	zone := r.URL.Query().Get("zone")
	if zone == "" {
		return f, nil
	}
	var known []string
	for _, z := range f.Zones {
		known = append(known, z.Name)
	}
	if !slices.Contains(known, zone) {
		e := faultf(http.StatusNotFound, "there is no zone %q", zone)
		e.Known = known
		return nil, e
	}
	return &Fleet{
		Workers: slices.DeleteFunc(slices.Clone(f.Workers), func(w FleetWorker) bool { return !slices.Contains(w.Zones, zone) }),
		Zones:   slices.DeleteFunc(slices.Clone(f.Zones), func(z FleetZone) bool { return z.Name != zone }), Trouble: f.Trouble,
	}, nil
}

// workers returns the fleet, nil if there is none.
func (s *site) workers() *Fleet {
	if s.Fleet == nil {
		return nil
	}
	return s.Fleet()
}

func (s *site) fleetAPI(w http.ResponseWriter, r *http.Request) error {
	if err := parameters(r, "zone"); err != nil {
		return err
	}
	f, err := s.fleet(r)
	if err != nil {
		return err
	}
	answer, own := fleetAnswer{Items: []workerAnswer{}, Zones: []zoneAnswer{}, Trouble: f.Trouble}, s.Status().Version
	for i := range f.Workers {
		m := &f.Workers[i]
		answer.Items = append(answer.Items, workerAnswer{
			ID: m.ID, Zones: append([]string{}, m.Zones...), Version: m.Version, OtherVersion: m.Version != own, TooOld: m.TooOld,
			Capacity: m.Capacity, Busy: m.Busy, LastSeen: wire.Stamp(m.Seen),
		})
	}
	for i := range f.Zones {
		z := &f.Zones[i]
		answer.Zones = append(answer.Zones, zoneAnswer{
			Zone: z.Name, Workers: z.Workers, Capacity: z.Capacity, Busy: z.Busy, Waiting: z.Waiting,
			Oldest: wire.Stamp(z.Oldest), Deserted: wire.Stamp(z.Deserted), Old: z.Old,
		})
	}
	return s.json(w, r, answer)
}

func (s *site) workersPage(w http.ResponseWriter, r *http.Request) error {
	f, err := s.fleet(r)
	if err != nil {
		return err
	}
	src := view.FleetSources{Zone: r.URL.Query().Get("zone"), Version: s.Status().Version, Trouble: f.Trouble}
	for i := range f.Workers {
		m := &f.Workers[i]
		src.Workers = append(src.Workers, view.FleetWorker{
			ID: m.ID, Version: m.Version, Zones: m.Zones, Capacity: m.Capacity, Busy: m.Busy, Seen: object.At(m.Seen), TooOld: m.TooOld,
		})
	}
	for i := range f.Zones {
		z := &f.Zones[i]
		v := view.FleetZone{
			Name: z.Name, Workers: z.Workers, Capacity: z.Capacity, Busy: z.Busy, Waiting: z.Waiting,
			Oldest: object.At(z.Oldest), Deserted: object.At(z.Deserted), Old: z.Old,
		}
		if id := config.ZoneID(z.Name); s.hasPage(id) {
			v.URL = view.URL(id)
		}
		src.Zones = append(src.Zones, v)
	}
	c := s.chrome(r, cmp.Or(src.Zone, "Workers"), "workers")
	return s.render(w, r, http.StatusOK, page.Workers(view.NewWorkers(c, src, s.Now())))
}

// fleetParams are the parameters of the list of workers.
func fleetParams() []wire.Param {
	return []wire.Param{{Name: "zone", Type: "string", Help: "only this zone and its workers; default all"}}
}
