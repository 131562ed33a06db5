package roles

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/queue"
	"jaque.sh/jaque/appliance/rule/perfdata"
	"jaque.sh/jaque/appliance/service"
	"jaque.sh/jaque/web"
)

// zoneNews is how old what the log says of a zone may be for a follower to believe
// that an engine still watches workers.
const zoneNews = time.Minute

// zoneForgotten is how long engines may say nothing of any zone, while they write other
// things, until a follower shows zones no more.
const zoneForgotten = 5 * time.Minute

// learnZone takes the zones of workers into the objects of a process that only reads
// the log, once an engine says something of one: beside an engine that executes
// everything itself there are none. The caller holds a.folding.
func (a *appliance) learnZone(e *event.Event) {
	now := time.Now()
	if now.Sub(a.anyHeard) > zoneNews {
		a.zoneHeard = now // nobody said anything, so that zones are no exception
	}
	a.anyHeard = now
	if e.Object.Host() != config.CanaryHost || !strings.HasPrefix(e.Object.Service(), config.ZonePrefix) {
		if a.zoned && time.Since(a.zoneHeard) > zoneForgotten && a.live.Load() {
			a.forgetZones()
		}
		return
	}
	if time.Since(e.Time.Std()) > zoneNews {
		return
	}
	a.zoneHeard = time.Now()
	if a.zoned {
		return
	}
	c := a.newestConfig()
	a.zoned = true
	set := a.followedSet(c)
	change := config.Diff(a.proj.Set(), set)
	a.proj.Switch(set, change.Added, change.Removed)
	a.p.Logger.Info("an engine hands its checks to workers, their zones are shown", "zones", c.Zones)
}

// forgetZones takes the zones out of the objects: the engine that had workers was replaced
// by one that has none. The caller holds a.folding.
func (a *appliance) forgetZones() {
	a.zoned = false
	set := a.followedSet(a.newestConfig())
	change := config.Diff(a.proj.Set(), set)
	a.proj.Switch(set, change.Added, change.Removed)
	a.p.Logger.Info("no engine says anything of zones any more, they are not shown")
}

// newestConfig is the newest generation of a follower.
func (a *appliance) newestConfig() *config.Config {
	if a.followed != nil {
		return a.followed
	}
	return a.config
}

// followedSet returns the objects of a config generation in a process that only reads
// the log. The caller holds a.folding.
func (a *appliance) followedSet(c *config.Config) *object.Set {
	a.followed = c
	if a.zoned {
		return c.WithZones()
	}
	return c.Set
}

// watchFleet hears the workers in a process that gives them nothing to do, on the
// server where it sends its commands, else where the log is.
func (a *appliance) watchFleet(ctx context.Context) error {
	where := a.meeting()
	if !external(where) {
		return nil
	}
	b, err := a.link(ctx, "fleet-server", where)
	if err != nil {
		return err
	}
	q, err := queue.NewJetStream(b.Conn(), queue.JetStreamOptions{Logger: a.p.Logger})
	if err != nil {
		return err
	}
	w, err := q.Watch(ctx)
	if err != nil {
		return err
	}
	a.fleet = w.Fleet()
	a.undo = append(a.undo, w.Close)
	a.add(service.Service{Name: "fleet", Needs: a.names(), Run: func(ctx context.Context, ready func()) error {
		ready()
		select {
		case <-w.Failed():
			return errors.Join(service.Fail(ctx, w.Err()), w.Close())
		case <-ctx.Done():
			return w.Close()
		}
	}})
	return nil
}

// fleetForWeb tells the dashboard of zones and workers, nil where there are none.
func (a *appliance) fleetForWeb() *web.Fleet {
	switch {
	case a.zones != nil:
		f := &web.Fleet{Workers: webWorkers(a.dispatcher.Fleet()), Trouble: strings.Join(a.zones.trouble(), "; ")}
		for _, z := range a.zones.states() {
			f.Zones = append(f.Zones, web.FleetZone{
				Name: z.name, Workers: z.workers, Capacity: z.capacity, Busy: z.busy,
				Waiting: z.waiting, Oldest: z.oldest, Deserted: z.deserted, Old: z.unheard,
			})
		}
		return f
	case a.fleet == nil:
		return nil
	}
	f := &web.Fleet{Workers: webWorkers(a.fleet), Zones: alsoServed(a.zonesOnLog(), a.fleet)}
	if len(f.Workers)+len(f.Zones) == 0 {
		return nil
	}
	f.Trouble = unheard(f)
	if len(a.old()) > 0 {
		f.Trouble = "the zones are as an engine last saw them, and none says anything at present"
	}
	return f
}

// alsoServed adds the zones that workers serve and this config does not know, by name.
func alsoServed(known []web.FleetZone, fleet *queue.Fleet) []web.FleetZone {
	for _, z := range fleet.Zones() {
		if z.Workers > 0 && !slices.ContainsFunc(known, func(k web.FleetZone) bool { return k.Name == z.Zone }) {
			known = append(known, web.FleetZone{Name: z.Zone, Workers: z.Workers, Capacity: z.Capacity, Busy: z.Running})
		}
	}
	slices.SortFunc(known, func(x, y web.FleetZone) int { return strings.Compare(x.Name, y.Name) })
	return known
}

// unheard says that the log knows of workers that are not heard here.
func unheard(f *web.Fleet) string {
	n := 0
	for _, z := range f.Zones {
		n += z.Workers
	}
	if n == 0 || len(f.Workers) > 0 {
		return ""
	}
	return "the workers are not heard here: they announce themselves on another server, or these credentials do not allow it; the zones are as the engine sees them"
}

func webWorkers(f *queue.Fleet) []web.FleetWorker {
	var all []web.FleetWorker
	for _, m := range f.Workers() {
		all = append(all, web.FleetWorker{
			ID: m.ID, Version: m.Version, Zones: m.Zones, Capacity: m.Capacity, Busy: m.Running, Seen: m.Seen,
			TooOld: m.Understands < queue.Version,
		})
	}
	return all
}

// zonesOnLog returns the zones as the engine has last seen them.
func (a *appliance) zonesOnLog() []web.FleetZone {
	host := a.proj.Set().Get(object.HostID(config.CanaryHost))
	if host == nil {
		return nil
	}
	var all []web.FleetZone
	old := len(a.old()) > 0
	for _, o := range host.Services {
		if s := a.proj.State(o.ID); config.IsZone(o) && s.Status.Checked {
			z := web.FleetZone{Name: o.Zone, Old: old}
			if s.Status.State == object.Critical {
				z.Deserted = s.Status.LastChange.Std()
			}
			metrics, _ := perfdata.Parse(s.Measure.Perfdata)
			for _, m := range metrics {
				switch n := int(m.Value); m.Label {
				case "workers":
					z.Workers = n
				case "capacity":
					z.Capacity = n
				case "busy":
					z.Busy = n
				case "waiting":
					z.Waiting = n
				}
			}
			all = append(all, z)
		}
	}
	return all
}
