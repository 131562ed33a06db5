package program

import (
	"reflect"
	"strconv"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// The bounds of what stands for many objects or many times.
const (
	maxRules  = 1000
	maxRanges = 100
	maxRange  = 256 // bytes
)

// putRule adds a downtime for many objects or times, or replaces one.
func (d *decider) putRule(r event.DowntimeRule) (fold.Decision, error) {
	if r.ID == "" {
		r.ID = d.env.ID
	}
	old, replaces := d.s.Rules[r.ID]
	if r.Number == 0 {
		r.Number = d.env.Downtime
		if replaces {
			r.Number = old.Number
		}
	}
	if r.Entry <= 0 {
		r.Entry = d.now
		if replaces {
			r.Entry = old.Entry
		}
	}
	if err := d.sensible(&r); err != nil {
		return fold.Decision{}, err
	}
	switch {
	case replaces && reflect.DeepEqual(old, r):
		return fold.Decision{}, nil
	case !replaces && len(d.s.Rules) >= maxRules:
		return fold.Decision{}, refuse("there are %d downtimes for many objects or times already; remove some", len(d.s.Rules))
	}
	return d.said(event.DowntimeScheduled, event.Program{Rule: &r}, r.Author, r.Text,
		"downtime", r.ID, "number", strconv.FormatUint(r.Number, 10)), nil
}

// sensible refuses a downtime that is for nothing, or that could never run. How
// filters, ranges and zones are written is checked by who reads them.
func (d *decider) sensible(r *event.DowntimeRule) error {
	switch {
	case r.Text == "":
		return refuse("the downtime needs a text; write what it is about")
	case max(len(r.Text), len(r.Filter), len(r.ID), len(r.Zone)) > maxText:
		return refuse("a text, filter or name of the downtime has more than %d bytes; write less", maxText)
	case r.Duration < 0:
		return refuse("a flexible downtime cannot last %s; give a positive duration", r.Duration.Sub(0))
	case len(r.Ranges) > maxRanges:
		return refuse("the downtime has %d ranges; write at most %d", len(r.Ranges), maxRanges)
	}
	for _, text := range r.Ranges {
		if len(text) > maxRange {
			return refuse("a range of the downtime has %d bytes; write at most %d", len(text), maxRange)
		}
	}
	if err := d.aimed(r); err != nil {
		return err
	}
	return d.timed(r)
}

// aimed refuses a target that does not exist, and more or less than one.
func (d *decider) aimed(r *event.DowntimeRule) error {
	targets := 0
	for _, given := range []bool{r.Object != "", r.Group != "", r.Filter != ""} {
		if given {
			targets++
		}
	}
	if targets != 1 {
		return refuse("a downtime is for one object, one group or one filter, not for %d of them; give exactly one", targets)
	}
	set := d.env.Set
	switch {
	case r.Object != "" && set.Get(r.Object) == nil:
		return refuse("no object %q in the config; write host or host!service", r.Object)
	case r.WithServices && (r.Object == "" || r.Object.Kind() != object.Host):
		return refuse("only a host has services that a downtime could include; give a host or leave the services out")
	case r.Group != "" && set.Groups[r.Group] == nil:
		return refuse("no group %q with objects in the config; write the name of one", r.Group)
	}
	return nil
}

// timed refuses what is over already or ends before it starts.
func (d *decider) timed(r *event.DowntimeRule) error {
	once := len(r.Ranges) == 0
	switch {
	case once && r.Start == 0:
		return refuse("a downtime that happens once needs a start; give one, or the ranges of each week")
	case (once || r.End != 0) && r.Start >= r.End:
		return refuse("the downtime ends at %s, which is not after its start at %s; give a later end", instant(r.End), instant(r.Start))
	case r.End != 0 && r.End <= d.now:
		return refuse("the downtime is over since %s; give an end to come", instant(r.End))
	}
	return nil
}

func instant(t object.Time) string {
	if t == 0 {
		return "no time"
	}
	return t.Std().Format(time.RFC3339)
}

// removeRule takes a downtime away. One that is over may have been taken away by
// another engine already.
func (d *decider) removeRule(c RemoveRule) (fold.Decision, error) {
	old, known := d.s.Rules[c.ID]
	switch {
	case !known && c.Over:
		return fold.Decision{}, nil
	case !known:
		return fold.Decision{}, refuse("no downtime %q for many objects or times", c.ID)
	}
	kind := event.DowntimeCancelled
	if c.Over {
		kind = event.DowntimeEnded
	}
	return d.said(kind, event.Program{RuleGone: c.ID}, c.Author, old.Text, "downtime", c.ID), nil
}
