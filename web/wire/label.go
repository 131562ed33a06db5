package wire

import (
	"cmp"
	"slices"

	"jaque.sh/jaque/appliance/core/object"
)

// label is one label as it is written, for merging by its key.
type label struct {
	key  string
	text string // "key":"value"
}

// labels remembers what rules and hosts say, because the items of a list share
// both and making a map of labels for each would cost more than all the rest.
type labels struct {
	rules map[*object.Rule][]label
	host  *object.Object // whose labels are in own
	own   []label
	buf   []byte
}

// of returns a set of labels as it is written, sorted by key.
func (l *labels) of(set map[string]string) []label {
	out := make([]label, 0, len(set))
	for k, v := range set {
		l.buf = append(AppendString(l.buf[:0], k), ':')
		l.buf = AppendString(l.buf, v)
		out = append(out, label{key: k, text: string(l.buf)})
	}
	slices.SortFunc(out, func(a, b label) int { return cmp.Compare(a.key, b.key) })
	return out
}

func (l *labels) rule(r *object.Rule) []label {
	out, known := l.rules[r]
	if !known {
		if l.rules == nil {
			l.rules = map[*object.Rule][]label{}
		}
		out = l.of(r.Labels)
		l.rules[r] = out
	}
	return out
}

// append appends every label an object answers to as a JSON object with sorted
// keys: the same as AllLabels has.
func (l *labels) append(b []byte, o *object.Object) []byte {
	host := o.HostObject()
	if l.host != host {
		l.host, l.own = host, l.of(host.AllLabels())
	}
	switch {
	case o == host:
		return appendMerged(b, nil, l.own)
	case len(o.Labels) > 0: // rare: services read them from their rule
		return appendMerged(b, nil, l.of(o.AllLabels()))
	}
	return appendMerged(b, l.rule(o.Rule), l.own)
}

// appendMerged appends two sorted lists; of a key in both, over counts.
func appendMerged(b []byte, over, under []label) []byte {
	b = append(b, '{')
	for n := 0; len(over)+len(under) > 0; n++ {
		if n > 0 {
			b = append(b, ',')
		}
		if len(over) > 0 && (len(under) == 0 || over[0].key <= under[0].key) {
			if len(under) > 0 && over[0].key == under[0].key {
				under = under[1:]
			}
			b, over = append(b, over[0].text...), over[1:]
			continue
		}
		b, under = append(b, under[0].text...), under[1:]
	}
	return append(b, '}')
}
