package macro

import (
	"strings"

	"jaque.sh/jaque/appliance/core/object"
)

// groupField is a macro that belongs to groups of hosts or of services.
type groupField struct {
	kind object.Kind
	get  func(*expander, *Group) string
}

// groupFields is every macro of host and service groups by name.
var groupFields = makeGroupFields()

func makeGroupFields() map[string]groupField {
	all := map[string]groupField{}
	for name, get := range map[string]func(*expander, *Group) string{
		"NAME":      func(_ *expander, g *Group) string { return g.Name },
		"ALIAS":     func(_ *expander, g *Group) string { return groupAlias(g) },
		"NOTES":     func(e *expander, g *Group) string { return e.nest(e, g.Notes, false) },
		"NOTESURL":  func(e *expander, g *Group) string { return e.nest(e, g.NotesURL, true) },
		"ACTIONURL": func(e *expander, g *Group) string { return e.nest(e, g.Action, true) },
	} {
		all["HOSTGROUP"+name] = groupField{object.Host, get}
		all["SERVICEGROUP"+name] = groupField{object.Service, get}
	}
	all["HOSTGROUPMEMBERS"] = groupField{object.Host, func(_ *expander, g *Group) string {
		return members(g, func(o *object.Object) string { return o.Name })
	}}
	all["HOSTGROUPMEMBERADDRESSES"] = groupField{object.Host, func(_ *expander, g *Group) string {
		return members(g, address)
	}}
	all["SERVICEGROUPMEMBERS"] = groupField{object.Service, func(_ *expander, g *Group) string {
		return members(g, func(o *object.Object) string { return o.HostObject().Name + "," + o.Name })
	}}
	return all
}

func groupAlias(g *Group) string {
	if g.Alias != "" {
		return g.Alias
	}
	return g.Name
}

// members lists something of every member.
func members(g *Group, get func(*object.Object) string) string {
	names := make([]string, len(g.Members))
	for i, o := range g.Members {
		names[i] = get(o)
	}
	return strings.Join(names, ",")
}

// groups answers a macro of a group: the one named, else the first of the
// object that the text is for.
func (e *expander) groups(f groupField, q query) string {
	name := q.first
	if !q.onDemand {
		o := e.src.host()
		if f.kind == object.Service {
			o = e.src.service()
		}
		if o == nil || len(o.Groups) == 0 {
			return ""
		}
		name = o.Groups[0]
	}
	g := e.src.group(f.kind, name)
	// A group that nobody defined is empty; one that the object is in exists at
	// least by its name.
	if g == nil && q.onDemand {
		return ""
	}
	if g == nil {
		g = &Group{Name: name}
	}
	return f.get(e, g)
}
