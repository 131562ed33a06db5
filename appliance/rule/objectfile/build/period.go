package build

import (
	"errors"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/objectfile"
	"jaque.sh/jaque/appliance/rule/period"
)

// ZoneName returns the time zone that a main file sets for everything
// (use_timezone), "" for that of the process. The caller looks it up.
func ZoneName(m objectfile.Main) string {
	return strings.TrimPrefix(m.Text("use_timezone", ""), ":")
}

// calendars are the time periods of a file.
type calendars struct {
	source map[string]*objectfile.Object
	made   map[string]*period.Period // without those that have problems
}

// calendar makes every time period, those that others exclude first.
func (b *builder) calendar(objects []*objectfile.Object, zone *time.Location) {
	c := calendars{map[string]*objectfile.Object{}, map[string]*period.Period{}}
	b.calendars = c
	var names []string
	for _, o := range objects {
		if o.Type != "timeperiod" {
			continue
		}
		if other := c.source[o.Name]; other != nil {
			b.problems.Add(o.Pos, "timeperiod %q is already defined at %s; rename one of them", o.Name, other.Pos)
			continue
		}
		c.source[o.Name] = o
		names = append(names, o.Name)
	}
	order, loop := period.Order(names, func(name string) []string { return c.source[name].Names("exclude") })
	if loop != nil {
		o := c.source[loop[0]]
		b.problems.Add(o.At("exclude"), "timeperiod %q is part of a loop: %s; remove one of these exclusions", o.Name, strings.Join(loop, " excludes "))
	}
	for _, name := range order {
		b.period(c.source[name], zone)
	}
}

// period makes one time period of its days.
func (b *builder) period(o *objectfile.Object, zone *time.Location) {
	if o.Text("alias", "") == "" {
		b.problems.Add(o.Pos, "timeperiod %q has no alias; give it one", o.Name)
	}
	var lines []string
	var at []objectfile.Pos
	for _, d := range o.Directives {
		switch d.Name {
		case "timeperiod_name", "alias", "exclude":
		default:
			lines = append(lines, d.Name+" "+d.Value)
			at = append(at, d.Pos)
		}
	}
	p, err := period.ParseNagios(o.Name, zone, lines)
	var bad period.Problems
	if errors.As(err, &bad) {
		for _, one := range bad {
			b.problems.Add(at[one.Index], "timeperiod %q: %s", o.Name, one.Text)
		}
		return
	}
	var excluded []*period.Period
	for _, name := range o.Names("exclude") {
		if b.calendars.source[name] == nil {
			b.noPeriod(o, "exclude", name)
		} else if e := b.calendars.made[name]; e != nil {
			excluded = append(excluded, e)
		}
	}
	b.calendars.made[o.Name] = p.Without(excluded...)
}

// periodOf returns the period that a directive of a host or service names, nil
// if it names none. Nil is always, so a period with problems becomes that.
func (b *builder) periodOf(o *objectfile.Object, directive string) object.Period {
	name := o.Text(directive, "")
	if name == "" {
		return nil
	}
	if p := b.calendars.made[name]; p != nil {
		return p
	}
	if b.calendars.source[name] == nil {
		b.noPeriod(o, directive, name)
	}
	return nil
}

func (b *builder) noPeriod(o *objectfile.Object, directive, name string) {
	b.problems.Add(o.At(directive), "there is no timeperiod %q; define it or remove it from %s", name, directive)
}

// periodSet returns the periods as a set holds them.
func (b *builder) periodSet() map[string]object.Period {
	all := make(map[string]object.Period, len(b.calendars.made))
	for name, p := range b.calendars.made {
		all[name] = p
	}
	return all
}
