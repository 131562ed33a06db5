package tla

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A value is a boolean, a whole number, a string, a set, a sequence or another
// function. Values never change. One TLA+ value has one form: a function whose
// domain is 1..n is a sequence, sets and domains are sorted and without doubles,
// so that equal values are encoded into equal bytes.
type value any

type (
	set []value  // sorted
	seq []value  // a function of 1..n
	fun struct { // a function of any other domain, such as a record
		keys []value // sorted
		vals []value
	}
)

// rank orders values of different kinds, so that a set may hold them.
func rank(v value) int {
	switch v.(type) {
	case bool:
		return 0
	case int:
		return 1
	case string:
		return 2
	case set:
		return 3
	case seq:
		return 4
	}
	return 5
}

// compare is a total order of values.
func compare(a, b value) int {
	switch x := a.(type) {
	case bool:
		if y, ok := b.(bool); ok {
			return cmp.Compare(toInt(x), toInt(y))
		}
	case int:
		if y, ok := b.(int); ok {
			return cmp.Compare(x, y)
		}
	case string:
		if y, ok := b.(string); ok {
			return cmp.Compare(x, y)
		}
	case set:
		if y, ok := b.(set); ok {
			return slices.CompareFunc(x, y, compare)
		}
	case seq:
		if y, ok := b.(seq); ok {
			return slices.CompareFunc(x, y, compare)
		}
	case *fun:
		if y, ok := b.(*fun); ok {
			if c := slices.CompareFunc(x.keys, y.keys, compare); c != 0 {
				return c
			}
			return slices.CompareFunc(x.vals, y.vals, compare)
		}
	}
	return cmp.Compare(rank(a), rank(b))
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// equal tells whether two values are one.
func equal(a, b value) bool { return compare(a, b) == 0 }

// makeSet sorts the values in place and drops doubles.
func makeSet(vs []value) set {
	slices.SortFunc(vs, compare)
	return set(slices.CompactFunc(vs, equal))
}

// has tells whether v is in the set.
func (s set) has(v value) bool {
	_, ok := slices.BinarySearchFunc(s, v, compare)
	return ok
}

// makeFun builds the function of sorted keys.
func makeFun(keys, vals []value) value {
	for i, k := range keys {
		if n, ok := k.(int); !ok || n != i+1 {
			return &fun{keys, vals}
		}
	}
	return seq(vals)
}

// find returns the place of a key in a function, -1 = not in its domain.
func find(f, key value) int {
	switch f := f.(type) {
	case seq:
		if n, ok := key.(int); ok && n >= 1 && n <= len(f) {
			return n - 1
		}
	case *fun:
		for i, k := range f.keys {
			if equal(k, key) {
				return i
			}
		}
	}
	return -1
}

// at returns the value of a function at a place that find found.
func at(f value, i int) value {
	if s, ok := f.(seq); ok {
		return s[i]
	}
	return f.(*fun).vals[i]
}

// with is the function f changed at one place.
func with(f value, i int, v value) value {
	if s, ok := f.(seq); ok {
		s = slices.Clone(s)
		s[i] = v
		return s
	}
	g := f.(*fun)
	vals := slices.Clone(g.vals)
	vals[i] = v
	return &fun{g.keys, vals}
}

// domain returns the arguments of a function.
func domain(f value) (set, bool) {
	switch f := f.(type) {
	case seq:
		d := make(set, len(f))
		for i := range f {
			d[i] = i + 1
		}
		return d, true
	case *fun:
		return set(f.keys), true
	}
	return nil, false
}

// encode appends the one encoding of a value.
func encode(b []byte, v value) []byte {
	switch v := v.(type) {
	case bool:
		return append(b, 'b', byte(toInt(v)))
	case int:
		return binary.AppendVarint(append(b, 'i'), int64(v))
	case string:
		return append(binary.AppendUvarint(append(b, 's'), uint64(len(v))), v...)
	case set:
		return encodeAll(append(b, 'S'), v)
	case seq:
		return encodeAll(append(b, 'Q'), v)
	case *fun:
		return encodeAll(encodeAll(append(b, 'F'), v.keys), v.vals)
	}
	panic(fmt.Sprintf("encode %T", v))
}

func encodeAll(b []byte, vs []value) []byte {
	b = binary.AppendUvarint(b, uint64(len(vs)))
	for _, v := range vs {
		b = encode(b, v)
	}
	return b
}

// show writes a value as TLC prints it.
func show(v value) string {
	switch v := v.(type) {
	case bool:
		return strings.ToUpper(strconv.FormatBool(v))
	case int:
		return strconv.Itoa(v)
	case string:
		return strconv.Quote(v)
	case set:
		return "{" + showAll(v) + "}"
	case seq:
		return "<<" + showAll(v) + ">>"
	case *fun:
		return showFun(v)
	}
	return fmt.Sprintf("%T", v)
}

func showAll(vs []value) string {
	parts := make([]string, len(vs))
	for i, v := range vs {
		parts[i] = show(v)
	}
	return strings.Join(parts, ", ")
}

func showFun(f *fun) string {
	parts := make([]string, len(f.keys))
	record := true
	for _, k := range f.keys {
		_, ok := k.(string)
		record = record && ok
	}
	for i, k := range f.keys {
		if record {
			parts[i] = fmt.Sprintf("%v |-> %s", k, show(f.vals[i]))
		} else {
			parts[i] = show(k) + " :> " + show(f.vals[i])
		}
	}
	if record {
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return "(" + strings.Join(parts, " @@ ") + ")"
}
