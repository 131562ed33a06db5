package object

import (
	"cmp"
	"maps"
	"slices"
)

// With returns a set of the same generation with further objects, which take the
// place of those with the same ID. Hosts of services among them are among them too,
// and none of them has parents. Neither set changes the other.
func (s *Set) With(more []*Object) *Set {
	own := NewSet(s.Generation, s.Settings, slices.Clone(more))
	out := *s
	out.index = maps.Clone(s.index)
	maps.Copy(out.index, own.index)
	out.Objects, out.Hosts = without(s.Objects, own), without(s.Hosts, own)
	for _, o := range own.Objects {
		if o.Host == nil {
			out.Hosts = append(out.Hosts, o)
		}
	}
	out.Objects = append(out.Objects, own.Objects...)
	byID := func(a, b *Object) int { return cmp.Compare(a.ID, b.ID) }
	slices.SortFunc(out.Objects, byID)
	slices.SortFunc(out.Hosts, byID)
	out.Groups = maps.Clone(s.Groups)
	for name, members := range s.Groups {
		if slices.ContainsFunc(members, own.has) {
			out.Groups[name] = without(members, own)
		}
	}
	for name, members := range own.Groups {
		all := slices.Concat(out.Groups[name], members)
		slices.SortFunc(all, byID)
		out.Groups[name] = all
	}
	return &out
}

func (s *Set) has(o *Object) bool { return s.index[o.ID] != nil }

// without returns the objects of a list that another set does not replace.
func without(list []*Object, own *Set) []*Object {
	return slices.DeleteFunc(slices.Clone(list), own.has)
}
