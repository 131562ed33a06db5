package macro

import (
	"maps"
	"slices"
)

// Known tells whether a name, written without its dollars, is that of a macro,
// whatever its value: HOSTADDRESS, HOSTADDRESS:web, USER1, _HOSTPORT.
func Known(name string) bool { return known(name) }

// Names lists the standard macros without those that are numbered or custom,
// sorted.
func Names() []string {
	all := map[string]bool{}
	maps.Copy(all, otherNames)
	collect(all, objectFields)
	collect(all, groupFields)
	collect(all, contactFields)
	collect(all, contactGroupFields)
	collect(all, dateFields)
	collect(all, periodFields)
	collect(all, totals)
	return slices.Sorted(maps.Keys(all))
}

// collect adds the names of a table.
func collect[V any](all map[string]bool, table map[string]V) {
	for name := range table {
		all[name] = true
	}
}

// Used lists what stands between dollars in a text, in its order: what Expand
// takes for the names of macros.
func Used(text string) []string {
	var names []string
	scan(text, func(string) {}, func(name string) { names = append(names, name) })
	return names
}
