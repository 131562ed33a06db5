package config

import (
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// What a service that stands for a zone of workers is recognised by: its name begins
// with ZonePrefix, it runs on the host of the canary and has the label.
const (
	ZonePrefix     = "zone "
	ZoneLabel      = "jaque"
	ZoneLabelValue = "zone"
)

// ZoneInterval is how often a zone is looked at.
const ZoneInterval = 10 * time.Second

// zoneRuleName names the rules of what nobody has declared.
const zoneRuleName = "zones"

// ZoneID returns the service that stands for a zone.
func ZoneID(zone string) object.ID { return object.ServiceID(CanaryHost, ZonePrefix+zone) }

// IsZone tells whether an object is the service that stands for a zone; the zone is
// the object's own.
func IsZone(o *object.Object) bool { return o.Host != nil && o.Rule.Name == zoneRuleName }

// addZones notes the zones whose checks workers execute and makes a service for each.
// They become objects if they are asked for; else they wait for WithZones, and what
// the config says about them is checked all the same.
func (l *loader) addZones(objects []*object.Object) []*object.Object {
	names := map[string]bool{}
	for _, o := range objects {
		if byWorkers(o.Rule.Check.Kind) {
			names[o.Zone] = true
		}
	}
	l.out.Zones = sortedKeys(names)
	if h := l.byName[CanaryHost]; h != nil && len(names) > 0 {
		const text = "the zones of workers have a host of this name; write another name"
		switch {
		case l.delivery.Canary.Every != 0: // said already
		case l.opts.Zones:
			l.bad(h.at, h.pos, text)
		case !l.opts.AllZonesLocal: // the config may be that of engines
			l.warning(h.at, h.pos, "an engine that hands checks to workers refuses it: "+text)
		}
		return objects
	}
	if len(names) == 0 {
		return objects
	}
	host := l.zoneHost(objects)
	rule := l.zoneRule(object.Service)
	services := make([]*object.Object, 0, len(names))
	for _, zone := range l.out.Zones {
		o := l.alloc()
		o.ID, o.Name, o.Host, o.Zone = ZoneID(zone), ZonePrefix+zone, host, zone
		o.Alias, o.Rule = "workers of zone "+zone, rule
		services = append(services, o)
	}
	if !l.opts.Zones {
		l.out.zones = services
		return objects
	}
	if !l.canaries[host.ID] {
		l.canaries = map[object.ID]bool{host.ID: true}
		objects = append(objects, host)
	}
	return append(objects, services...)
}

// byWorkers tells whether workers execute checks of a kind: aggregates are judged
// where the states are.
func byWorkers(k object.CheckKind) bool {
	return k != object.CheckNone && k != object.CheckPassive && k != object.CheckAggregate
}

// zoneHost returns the host on which the services of zones are, that of the canary if
// there is one.
func (l *loader) zoneHost(objects []*object.Object) *object.Object {
	for i := len(objects) - 1; i >= 0 && l.canaries[objects[i].ID]; i-- {
		if objects[i].Host == nil {
			return objects[i]
		}
	}
	host := l.alloc()
	host.ID, host.Name, host.Alias = object.HostID(CanaryHost), CanaryHost, "jaque itself"
	host.Address, host.Zone, host.Rule = "127.0.0.1", l.zone, l.zoneRule(object.Host)
	return host
}

// zoneRule is how zones are looked at, and their host. Whoever executes the check
// without knowing workers says so.
func (l *loader) zoneRule(k object.Kind) *object.Rule {
	r := &object.Rule{
		Name: zoneRuleName, Interval: ZoneInterval, Retry: ZoneInterval, Timeout: ZoneInterval / 2, Attempts: 1, Active: true,
		Check:        object.Check{Kind: object.CheckDummy, Dummy: &object.DummyCheck{Text: "nobody watches the workers here", States: []object.State{object.Unknown}}},
		Labels:       map[string]string{ZoneLabel: ZoneLabelValue},
		NoteInterval: or(l.base.renotify, 0), NotePeriod: l.compiled[or(l.base.notePeriod, "")],
	}
	if k == object.Host {
		r.Interval, r.Retry, r.Labels = time.Minute, time.Minute, nil
		r.Check.Dummy = &object.DummyCheck{Text: "the host of what jaque says of itself"}
	}
	return r
}

// told returns every object of which somebody may be told, also those that wait for
// WithZones.
func (l *loader) told() []*object.Object {
	objects := l.out.Set.Objects
	return append(objects[:len(objects):len(objects)], l.out.zones...)
}

// zoneObject returns the service that stands for a zone, also one that waits for
// WithZones; nil if there is none with that ID.
func (l *loader) zoneObject(id object.ID) *object.Object {
	for _, o := range l.out.zones {
		if o.ID == id {
			return o
		}
	}
	return nil
}

// WithZones returns the objects together with a service for each zone of workers, as
// Options.Zones makes them; the same set if it has them, or can have none because a
// host has their name. The generation does not differ. What is declared to depend on
// a zone does so only with Options.Zones, since only there it is judged.
func (c *Config) WithZones() *object.Set {
	if len(c.zones) == 0 {
		return c.Set
	}
	host := *c.zones[0].Host
	host.Services = nil
	added := []*object.Object{&host}
	services := c.zones
	if old := c.Set.Get(host.ID); old != nil {
		services = append(old.Services[:len(old.Services):len(old.Services)], services...)
	}
	for _, s := range services {
		own := *s
		own.Host = &host
		added = append(added, &own)
	}
	return c.Set.With(added)
}
