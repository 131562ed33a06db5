package config

import (
	"errors"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/rule/period"
)

// calendar is a declared period with the places of its texts.
type calendar struct {
	Period
	at             *path
	pos            Position
	zone           *time.Location
	ranges, except []ref
	exclude        []ref
}

// period reads #Period. Its texts are understood by compile.
func (d *decoder) period(at *path, f field) *calendar {
	s := d.open(at, f.node)
	d.name(at, f.pos, f.name)
	c := &calendar{at: at, pos: f.pos}
	c.Name, c.Alias = d.strings.get(f.name), s.prose("alias")
	c.Timezone, c.zone = s.zoneOf(time.Local)
	s.need("ranges", `["monday-friday 09:00-17:00"]`)
	c.ranges, c.except = s.lines("ranges"), s.lines("except")
	c.Ranges, c.Except = refNames(c.ranges), refNames(c.except)
	c.exclude = s.refs("exclude")
	c.Exclude = refNames(c.exclude)
	s.done()
	return c
}

// zoneOf reads the field timezone: its name and the zone, or another zone if it is
// absent.
func (s *section) zoneOf(absent *time.Location) (string, *time.Location) {
	name := s.text("timezone")
	if name == "" {
		return "", absent
	}
	// The name is looked up now: a zone that is missing on this machine must not
	// surface at the first notification.
	zone, err := time.LoadLocation(name)
	// Local would be whatever machine reads this.
	if err != nil || name == "Local" {
		s.d.bad(s.at.field("timezone"), s.n.get("timezone").pos, `%s is not a known time zone; write one such as "Europe/Berlin" or "UTC"`, quote(name))
	}
	return name, zone
}

// lines reads a list of texts with their places.
func (s *section) lines(name string) []ref {
	var out []ref
	s.list(name, func(at *path, n *node) {
		if v, ok := s.d.text(at, n); ok {
			out = append(out, ref{v, at, n.pos})
		}
	})
	return out
}

// compile makes what every declared period means, those that others exclude
// first.
func (l *loader) compile() {
	byName := map[string]*calendar{}
	for _, c := range l.calendars {
		byName[c.Name] = c
		for _, e := range c.exclude {
			if _, ok := l.out.Periods[e.name]; !ok {
				l.unknownPeriod(e)
			}
		}
	}
	excludes := func(name string) []string { return refNames(byName[name].exclude) }
	order, loop := period.Order(sortedKeys(byName), excludes)
	if loop != nil {
		c := byName[loop[0]]
		i := slices.IndexFunc(c.exclude, func(r ref) bool { return r.name == loop[1] })
		l.bad(c.exclude[i].at, c.exclude[i].pos, "the exclusions form a circle, %s; remove one of them", strings.Join(loop, " -> "))
	}
	made := map[string]*period.Period{}
	for _, name := range order {
		c := byName[name]
		var without []*period.Period
		for _, e := range c.exclude {
			if p := made[e.name]; p != nil {
				without = append(without, p)
			}
		}
		p, err := period.Parse(name, c.zone, c.Ranges, c.Except, without)
		var bad period.Problems
		if errors.As(err, &bad) {
			l.badPeriod(c, bad)
			continue
		}
		made[name] = p
		l.compiled[name] = p
	}
}

// badPeriod reports the texts of a period that say nothing, each at its place.
func (l *loader) badPeriod(c *calendar, bad period.Problems) {
	for _, one := range bad {
		list := c.ranges
		if one.Except {
			list = c.except
		}
		l.bad(list[one.Index].at, list[one.Index].pos, "%s", one.Text)
	}
}
