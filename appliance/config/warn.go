package config

import (
	"fmt"
	"maps"
)

// warning tells of something that is valid and probably not meant.
func (l *loader) warning(at *path, pos Position, format string, args ...any) {
	l.out.Warnings = append(l.out.Warnings, Problem{pos, at.String(), fmt.Sprintf(format, args...)})
}

// selectionWarnings tells of rules that select no host or whose check no host uses.
func (l *loader) selectionWarnings(rules []*selection) {
	for _, r := range rules {
		switch {
		case r.count == 0:
			l.warning(r.at, r.pos, "selects no host%s", l.missingLabel(r))
		case r.shadowed == r.count:
			l.warning(r.at, r.pos, "every host it selects has a check of its own for %s; the rule's check is never used", quote(r.name))
		}
	}
}

// missingLabel explains an empty selection by a label or value no host has.
func (l *loader) missingLabel(r *selection) string {
	for _, m := range r.on {
		labels, values := map[string]bool{}, map[string]bool{}
		for _, h := range l.hosts {
			for k := range h.labels {
				labels[k] = true
			}
			if v, ok := h.labels[m.label]; ok {
				values[v] = true
			}
		}
		if !labels[m.label] {
			return "; no host has the label " + quote(m.label) + didYouMean(m.label, maps.Keys(labels))
		}
		found := false
		for _, v := range m.values {
			found = found || values[v]
		}
		if !found && len(m.values) > 0 {
			return "; no host has " + m.label + ": " + quote(m.values[0]) + didYouMean(m.values[0], maps.Keys(values))
		}
	}
	return "; loosen on, hosts or groups, or remove the rule"
}

// warn tells of zones that a process which runs everything itself passes over:
// once per zone, where it is first used.
func (l *loader) warn() {
	if !l.opts.AllZonesLocal {
		return
	}
	const text = "zone %s is run by this process, as every zone is under -target all"
	seen := map[string]bool{"": true, "default": true}
	first := func(zone string, at *path, pos Position) {
		if !seen[zone] {
			seen[zone] = true
			l.warning(at.field("zone"), pos, text, quote(zone))
		}
	}
	first(l.zone, (*path)(nil).field("defaults"), l.src.root.get("defaults").get("zone").where())
	for _, h := range l.hosts {
		first(h.zone, h.at, h.pos)
		for i := range h.services {
			first(h.services[i].zone, h.services[i].at, h.services[i].pos)
		}
	}
	for _, r := range l.rules {
		first(r.zone, r.at, r.pos)
	}
}

// where returns the place of a value that may be absent.
func (n *node) where() Position {
	if n == nil {
		return Position{}
	}
	return n.pos
}
