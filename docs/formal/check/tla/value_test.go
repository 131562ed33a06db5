package tla

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// anyValue draws values of little depth, so that equal ones are drawn often.
func anyValue(depth int) *rapid.Generator[value] {
	return rapid.Custom(func(t *rapid.T) value {
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		if depth == 0 {
			kind %= 3
		}
		switch kind {
		case 0:
			return rapid.Bool().Draw(t, "bool")
		case 1:
			return rapid.IntRange(0, 2).Draw(t, "int")
		case 2:
			return rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "string")
		}
		parts := rapid.SliceOfN(anyValue(depth-1), 0, 3).Draw(t, "parts")
		switch kind {
		case 3:
			return makeSet(parts)
		case 4:
			return seq(parts)
		}
		keys := makeSet(slices.Clone(parts))
		return makeFun(keys, parts[:len(keys)])
	})
}

func TestValuesAreEqualWhenTheirEncodingsAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyValue(2).Draw(t, "a"), anyValue(2).Draw(t, "b")
		if equal(a, b) != bytes.Equal(encode(nil, a), encode(nil, b)) {
			t.Fatalf("%s and %s", show(a), show(b))
		}
		if compare(a, b) != -compare(b, a) {
			t.Fatalf("the order of %s and %s depends on the side", show(a), show(b))
		}
	})
}

func TestSetsHaveTheirMembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vs := rapid.SliceOfN(anyValue(1), 0, 6).Draw(t, "values")
		s := makeSet(slices.Clone(vs))
		for _, v := range vs {
			if !s.has(v) {
				t.Fatalf("%s is not in %s", show(v), show(s))
			}
		}
		for i := 1; i < len(s); i++ {
			if compare(s[i-1], s[i]) >= 0 {
				t.Fatalf("%s has doubles or is not sorted", show(s))
			}
		}
	})
}

func TestAFunctionChangesInOnePlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := makeSet(rapid.SliceOfN(anyValue(0), 1, 4).Draw(t, "keys"))
		vals := rapid.SliceOfN(anyValue(1), len(keys), len(keys)).Draw(t, "vals")
		f, v := makeFun(keys, vals), anyValue(1).Draw(t, "value")
		i := rapid.IntRange(0, len(keys)-1).Draw(t, "place")
		g := with(f, find(f, keys[i]), v)
		for j, k := range keys {
			want := vals[j]
			if j == i {
				want = v
			}
			if got := at(g, find(g, k)); !equal(got, want) {
				t.Fatalf("at %s: %s, want %s", show(k), show(got), show(want))
			}
			if !equal(at(f, find(f, k)), vals[j]) {
				t.Fatal("the function itself was changed")
			}
		}
	})
}
