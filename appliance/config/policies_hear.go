package config

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

const (
	// reachDays is how far ahead the times of policies are compared: once around all
	// that comes every year.
	reachDays = 400
	// maxWindows bounds what is compared of one period. About one with more windows
	// nothing is said.
	maxWindows = 4000
)

// states returns the states of a kind in which a policy has its say. OK stands for
// everything that is no problem, which passes by states.
func (p *policy) states(k object.Kind) object.StateMask {
	states := p.States.Of(k)
	if p.States.None() {
		states = everyState(k)
	}
	return states | 1<<object.OK
}

// everyState returns all states of a kind.
func everyState(k object.Kind) object.StateMask {
	if k == object.Host {
		return 1<<object.OK | 1<<object.Down | 1<<object.Unreachable
	}
	return 1<<object.OK | object.StateMask(newsProblem)
}

// hide notes which of the policies before p, that hold at every time, leave it nothing
// to say about objects of a kind: one alone, if there is one, else those that do it
// together.
func (p *policy) hide(k object.Kind, before []*policy) {
	if p.behind == nil {
		p.behind = map[*policy]bool{}
	}
	open := p.states(k)
	if i := slices.IndexFunc(before, func(q *policy) bool { return q.Period == "" && open&^q.states(k) == 0 }); i >= 0 {
		p.behind[before[i]] = true
		return
	}
	for _, q := range before {
		if q.Period == "" && q.states(k)&open != 0 {
			p.behind[q] = true
			open &^= q.states(k)
		}
	}
}

// span is a stretch of time; its end is no part of it.
type span struct{ from, to object.Time }

// hear finds out which policies may ever have their say about the objects of a kind
// about which these are asked in this order.
func (l *loader) hear(k object.Kind, list []int) {
	var taken [object.Unknown + 1][]span // of the time ahead, by state
	var before []*policy
	for _, i := range list {
		p := l.policies[i]
		times, known := l.times(p.Period)
		hidden := known && len(times) > 0
		for s := range taken {
			if !p.states(k).Has(object.State(s)) {
				continue
			}
			hidden = hidden && holdAll(times, taken[s])
			if known {
				taken[s] = join(taken[s], times)
			}
		}
		if hidden {
			l.hideFor(k, p, before)
		} else {
			p.heard = true
		}
		before = append(before, p)
	}
}

// hideFor notes which of the policies before p leave it nothing to say at the times
// that are near: one alone, if there is one, else all that have a part in it.
func (l *loader) hideFor(k object.Kind, p *policy, before []*policy) {
	if p.before == nil {
		p.before = map[*policy]bool{}
	}
	own, _ := l.times(p.Period)
	for _, q := range before {
		if times, known := l.times(q.Period); known && p.states(k)&^q.states(k) == 0 && holdAll(own, times) {
			p.before[q] = true
			return
		}
	}
	for _, q := range before {
		if times, known := l.times(q.Period); known && p.states(k)&q.states(k) != 0 && meet(own, times) {
			p.before[q] = true
		}
	}
}

// meet tells whether spans of two lists overlap; both are in order.
func meet(a, b []span) bool {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].to <= b[0].from:
			a = a[1:]
		case b[0].to <= a[0].from:
			b = b[1:]
		default:
			return true
		}
	}
	return false
}

// times returns when a period holds within reachDays, in order; "" is always. It
// tells whether that is known: not of a period that could not be read, or that has too
// many windows.
func (l *loader) times(name string) ([]span, bool) {
	if all, ok := l.ahead[name]; ok {
		return all, all != nil
	}
	now := object.At(l.opts.Now())
	end := now.Add(reachDays * 24 * time.Hour)
	var all []span
	switch p := l.compiled[name]; {
	case name == "":
		all = []span{{now, end}}
	case p != nil:
		all = windows(p, now, end)
	}
	if l.ahead == nil {
		l.ahead = map[string][]span{}
	}
	l.ahead[name] = all
	return all, all != nil
}

// windows returns when a period holds between two times, nil if that is too often to
// be compared.
func windows(p object.Period, from, to object.Time) []span {
	all := []span{}
	for at := from; at < to; {
		inside, until := p.Window(at)
		if until == 0 || until > to {
			until = to
		}
		if inside {
			all = append(all, span{at, until})
		}
		if len(all) > maxWindows {
			return nil
		}
		at = until
	}
	return all
}

// join returns two lists of spans, each in order, as one without overlaps.
func join(a, b []span) []span {
	if len(b) == 0 {
		return a
	}
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(x, y span) int { return cmp.Compare(x.from, y.from) })
	out := all[:1]
	for _, s := range all[1:] {
		last := &out[len(out)-1]
		if s.from <= last.to {
			last.to = max(last.to, s.to)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// holdAll tells whether every span of a list lies in one of another, which is joined.
func holdAll(part, whole []span) bool {
	for _, s := range part {
		for len(whole) > 0 && whole[0].to < s.to {
			whole = whole[1:]
		}
		if len(whole) == 0 || whole[0].from > s.from {
			return false
		}
	}
	return true
}

// never tells whether a period does not hold at any time from now on.
func (l *loader) never(name string) bool {
	p := l.compiled[name]
	if p == nil {
		return false
	}
	inside, until := p.Window(object.At(l.opts.Now()))
	return !inside && until == 0
}

// pastPeriods tells of periods that never hold any more and by which somebody is told.
func (l *loader) pastPeriods() {
	for _, r := range l.telling {
		if l.never(r.name) {
			l.warning(r.at, r.pos, "the period %s never holds from now on, so nobody is told by it; correct its ranges or leave it out here", quote(r.name))
		}
	}
}

// hiddenWarning tells of a policy that never has its say. It tells whether it does not.
func (l *loader) hiddenWarning(p *policy) bool {
	switch {
	case p.heard:
		return false
	case len(p.before) == 0 && len(p.behind) == 1:
		l.warning(p.at, p.pos, "never has its say: %s stands before it and is for the same objects, in each of its states and at every time; move this one up or remove it", l.shown(p.behind))
	case len(p.before) == 0:
		l.warning(p.at, p.pos, "never has its say: %s stand before it and are together for the same objects, in each of its states and at every time; move this one up or remove it", l.shown(p.behind))
	default:
		maps.Copy(p.before, p.behind)
		l.warning(p.at, p.pos, "does not have its say within the next %d days: what stands before it (%s) is for the same objects, in each of its states and at each of its times; move this one up or remove it", reachDays, l.shown(p.before))
	}
	return true
}

// maxShown bounds the policies that a warning names.
const maxShown = 4

// shown names policies for people, in their order.
func (l *loader) shown(some map[*policy]bool) string {
	var names []string
	for _, p := range l.policies {
		if some[p] {
			names = append(names, p.show())
		}
	}
	if len(names) > maxShown {
		names = append(names[:maxShown-1], strconv.Itoa(len(names)-maxShown+1)+" more")
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}
