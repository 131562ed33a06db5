package config

import (
	"errors"
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/oncall"
)

// schedule is a declared on-call schedule with the places of what it holds.
type schedule struct {
	Schedule
	at        *path
	pos       Position
	node      *node
	zone      *time.Location
	zones     []*time.Location // of the layers, nil = that of the schedule
	layers    []place
	overrides []place
	contacts  []ref
	flawed    bool // something about it was reported
}

// place is an item of a list.
type place struct {
	at   *path
	node *node
}

// schedule reads #Schedule. What it means is found out by rotas.
func (d *decoder) schedule(at *path, f field) *schedule {
	before := len(d.problems)
	s := d.open(at, f.node)
	d.name(at, f.pos, f.name)
	c := &schedule{at: at, pos: f.pos, node: f.node}
	c.Name, c.Alias = d.strings.get(f.name), s.prose("alias")
	c.Timezone, c.zone = s.zoneOf(time.Local)
	s.list("layers", func(at *path, n *node) { c.layer(d.open(at, n)) })
	s.list("overrides", func(at *path, n *node) { c.override(d.open(at, n)) })
	s.done()
	c.flawed = len(d.problems) > before
	return c
}

// layer reads #Layer.
func (c *schedule) layer(s *section) {
	l := Layer{Name: s.text("name"), Start: s.text("start"), Handover: s.text("handover"), Every: s.text("every"), Period: s.hours("period")}
	if l.Name == "" {
		l.Name = fmt.Sprintf("%d", len(c.Layers)+1)
	}
	var zone *time.Location
	l.Timezone, zone = s.zoneOf(nil)
	contacts := s.refs("contacts")
	l.Contacts, l.Days = refNames(contacts), s.texts("days")
	s.done()
	c.contacts = append(c.contacts, contacts...)
	c.Layers, c.zones, c.layers = append(c.Layers, l), append(c.zones, zone), append(c.layers, place{s.at, s.n})
}

// override reads #Override.
func (c *schedule) override(s *section) {
	o := Override{From: s.text("from"), To: s.text("to"), Reason: s.prose("reason"), Nobody: s.flag("nobody", false)}
	name, contact := s.ref("contact")
	o.Contact = name
	s.done()
	c.contacts = append(c.contacts, contact...)
	c.Overrides, c.overrides = append(c.Overrides, o), append(c.overrides, place{s.at, s.n})
}

// spec returns the schedule in the words of package oncall.
func (c *schedule) spec(periods map[string]object.Period) oncall.Spec {
	spec := oncall.Spec{Name: c.Name, Zone: c.zone}
	for i, l := range c.Layers {
		spec.Layers = append(spec.Layers, oncall.LayerSpec{
			Name: l.Name, Contacts: l.Contacts, Start: l.Start, Handover: l.Handover, Days: l.Days, Every: l.Every,
			Only: periods[l.Period], Zone: c.zones[i],
		})
	}
	for _, o := range c.Overrides {
		spec.Overrides = append(spec.Overrides, oncall.OverrideSpec(o))
	}
	return spec
}

// rotas makes what every declared schedule means.
func (l *loader) rotas() {
	for _, c := range l.schedules {
		for _, r := range c.contacts {
			if _, ok := l.out.Contacts[r.name]; !ok {
				l.unknown(r, "contact", keys(l.out.Contacts))
			}
		}
		if c.flawed {
			continue
		}
		made, err := oncall.Parse(c.spec(l.compiled))
		var bad oncall.Problems
		if errors.As(err, &bad) {
			for _, one := range bad {
				at, pos := c.place(one)
				l.bad(at, pos, "%s", one.Text)
			}
			continue
		}
		l.out.OnCall[c.Name] = made
	}
}

// place finds where something is wrong with a schedule: at the field if it is there,
// else at what it should stand in.
func (c *schedule) place(p oncall.Problem) (*path, Position) {
	in := place{c.at, c.node}
	switch {
	case p.Layer >= 0:
		in = c.layers[p.Layer]
	case p.Override >= 0:
		in = c.overrides[p.Override]
	}
	field := p.Field
	if field == "only" {
		field = "period"
	}
	at, pos := in.at, in.node.or(c.pos)
	if in.node == c.node {
		pos = c.pos
	}
	if field != "" {
		at, pos = at.field(field), in.node.get(field).or(pos)
	}
	return at, pos
}

// gapDays is how far ahead it is looked for times without anybody on call.
const gapDays = 30

// gaps tells of times in the near future in which nobody is on call, unless an
// override says so.
func (l *loader) gaps(c *schedule) {
	made := l.out.OnCall[c.Name]
	if made == nil {
		return
	}
	now := object.At(l.opts.Now())
	var first *oncall.Shift
	var all time.Duration
	for _, gap := range made.Gaps(now, now.Add(gapDays*24*time.Hour)) {
		if gap.Source.Kind == oncall.Override {
			continue
		}
		if first == nil {
			first = &gap
		}
		all += gap.To.Sub(gap.From)
	}
	if first == nil {
		return
	}
	show := func(t object.Time) string { return t.Std().In(c.zone).Format("2006-01-02 15:04") }
	l.warning(c.at, c.pos, "nobody is on call from %s to %s, and for %s of the next %d days in all; add a layer above the others for the rest of the time, or an override with nobody: true",
		show(first.From), show(first.To), brief(all.Round(time.Minute)), gapDays)
}
