package sample

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/perfdata"
	"jaque.sh/jaque/appliance/rule/threshold"
)

// Mapping says how perfdata becomes samples. Its texts are templates, see
// ParseTemplate.
type Mapping struct {
	Name   string            // of the series; must hold something
	Labels map[string]string // names of labels and their templates; an empty value is no label
	Copy   []string          // labels of the object that are taken over under their names
	// Scale brings values, thresholds and limits to base units: seconds, bytes,
	// bits and so on, see BaseUnit. Without it the unit is the one of the plugin.
	Scale bool
	// Thresholds adds a series for each bound that the plugin wrote: the name with
	// "_warn", "_crit" (upper bounds), "_warn_low", "_crit_low" (lower ones), "_min"
	// and "_max" behind it. A lower bound of 0 that goes with an upper one is what
	// every plain threshold means, and no series.
	Thresholds bool
	Charset    Charset
}

// Mapper maps events. It may be used by one goroutine at a time.
type Mapper struct {
	m      Mapping
	name   *Template
	labels []labelRule
	buf    []byte
	out    []Sample        // of the present event
	seen   map[string]bool // series of out, once they are many
}

// few is up to how many series are compared one by one.
const few = 32

type labelRule struct {
	name     string
	template *Template
}

// NewMapper compiles a mapping.
func NewMapper(m Mapping) (*Mapper, error) {
	name, err := ParseTemplate(m.Name)
	if err != nil {
		return nil, fmt.Errorf("name: %w", err)
	}
	if len(name.parts) == 0 {
		return nil, errors.New(`name: it is empty; write a template such as "jaque.{host}.{check}.{metric}"`)
	}
	for _, p := range name.parts {
		if !m.Charset.literal(p.text) {
			return nil, fmt.Errorf("name: %q holds what the target does not take in a name; write letters, digits and _", p.text)
		}
	}
	r := &Mapper{m: m, name: name}
	rules := map[string]string{}
	for _, key := range m.Copy {
		rules[key] = "{label." + key + "}"
	}
	maps.Copy(rules, m.Labels)
	for _, key := range slices.Sorted(maps.Keys(rules)) {
		t, err := ParseTemplate(rules[key])
		if err != nil {
			return nil, fmt.Errorf("label %s: %w", key, err)
		}
		cleaned := m.Charset.labelName(key)
		if slices.ContainsFunc(r.labels, func(l labelRule) bool { return l.name == cleaned }) || cleaned == "" {
			return nil, fmt.Errorf("label %q: as the target takes it, it is %q like another one; write another name", key, cleaned)
		}
		r.labels = append(r.labels, labelRule{cleaned, t})
	}
	slices.SortFunc(r.labels, func(a, b labelRule) int { return strings.Compare(a.name, b.name) })
	return r, nil
}

// Map appends the samples of a check result to dst and those of its values that
// became none to left. Other events have none. o is the object as the config has
// it, nil if it has gone. The event is not kept.
func (r *Mapper) Map(dst []Sample, left []Left, e *event.Event, o *object.Object) ([]Sample, []Left) {
	if e.Measure == nil || e.Measure.Perfdata == "" || !e.Has(event.CheckResult) {
		return dst, left
	}
	at := e.Measure.LastCheck
	if at == 0 {
		at = e.Time
	}
	metrics, bad := perfdata.Parse(e.Measure.Perfdata)
	for _, word := range bad {
		left = append(left, Left{LeftUnreadable, word})
	}
	r.out, r.seen = r.out[:0], nil
	for i := range metrics {
		left = r.metric(left, e, o, at, &metrics[i])
	}
	dst = append(dst, r.out...)
	clear(r.out)
	return dst, left
}

// metric adds the samples of one value.
func (r *Mapper) metric(left []Left, e *event.Event, o *object.Object, at object.Time, m *perfdata.Metric) []Left {
	base := rawUnit(m.UOM)
	if r.m.Scale {
		base = BaseUnit(m.UOM)
	}
	value := base.Scale(m.Value)
	switch {
	case m.Unknown:
		return append(left, Left{LeftUnknown, m.Label})
	case math.IsNaN(value) || math.IsInf(value, 0):
		return append(left, Left{LeftUnreadable, m.Label})
	}
	src := source{id: e.Object, object: o, metric: m.Label, unit: base.Name}
	name := r.nameOf(&src)
	if name == "" {
		return append(left, Left{LeftNameless, m.Label})
	}
	s := Sample{Name: name, Labels: r.labelsOf(&src), Value: value, Time: at, Unit: base.Name, Counter: base.Counter}
	if !r.add(s) {
		return append(left, Left{LeftRepeated, m.Label})
	}
	if r.m.Thresholds {
		r.bounds(s, m, base)
	}
	return left
}

// nameOf returns the name of a series, "" if the values in it have nothing that the
// target takes.
func (r *Mapper) nameOf(src *source) string {
	r.buf = r.name.append(r.buf[:0], src, r.m.Charset.clean)
	name := r.buf
	if strings.Trim(string(name), "_") == "" {
		return ""
	}
	switch r.m.Charset {
	case Prometheus:
		if name[0] >= '0' && name[0] <= '9' {
			return "_" + string(name)
		}
	case Path:
		// A value that is empty must not make an empty node.
		return strings.Trim(strings.ReplaceAll(string(name), "..", "._."), ".")
	}
	return string(name)
}

func (r *Mapper) labelsOf(src *source) []Label {
	if len(r.labels) == 0 {
		return nil
	}
	labels := make([]Label, 0, len(r.labels))
	for i := range r.labels {
		rule := &r.labels[i]
		var value string
		if parts := rule.template.parts; len(parts) == 1 && parts[0].name != "" {
			value = src.value(parts[0]) // as it is, without a copy
		} else {
			value = string(rule.template.append(nil, src, func(dst []byte, v string) []byte { return append(dst, v...) }))
		}
		if value = r.m.Charset.labelValue(value); value != "" {
			labels = append(labels, Label{rule.name, value})
		}
	}
	return labels
}

// add adds a sample unless its series has one of the same result.
func (r *Mapper) add(s Sample) bool {
	if len(r.out) < few {
		for i := range r.out {
			if r.out[i].Compare(&s) == 0 {
				return false
			}
		}
		r.out = append(r.out, s)
		return true
	}
	if r.seen == nil {
		r.seen = make(map[string]bool, 2*few)
		for i := range r.out {
			r.seen[string(r.out[i].key(nil))] = true
		}
	}
	r.buf = s.key(r.buf[:0])
	if r.seen[string(r.buf)] {
		return false
	}
	r.seen[string(r.buf)] = true
	r.out = append(r.out, s)
	return true
}

// key appends a text that no other series has: no text in it holds a zero byte.
func (s *Sample) key(dst []byte) []byte {
	dst = append(dst, s.Name...)
	for _, l := range s.Labels {
		dst = append(append(append(append(dst, 0), l.Name...), 0), l.Value...)
	}
	return dst
}

// bounds adds a series for each bound. They never grow, whatever their value does.
func (r *Mapper) bounds(s Sample, m *perfdata.Metric, base Base) {
	name := s.Name
	s.Counter = false
	put := func(suffix string, v float64) {
		if v = base.Scale(v); !math.IsInf(v, 0) {
			s.Name, s.Value = name+suffix, v
			r.add(s)
		}
	}
	span := func(suffix string, w *threshold.Range) {
		if w == nil {
			return
		}
		put(suffix, w.End)
		if w.Start != 0 || math.IsInf(w.End, 1) {
			put(suffix+"_low", w.Start)
		}
	}
	span("_warn", m.Warn)
	span("_crit", m.Crit)
	if m.Min != nil {
		put("_min", *m.Min)
	}
	if m.Max != nil {
		put("_max", *m.Max)
	}
}
