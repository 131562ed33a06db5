package macro

import "strings"

// contactFields is every macro of contacts by name, but the numbered ones.
var contactFields = map[string]func(*Contact) string{
	"CONTACTNAME":       func(c *Contact) string { return c.Name },
	"CONTACTALIAS":      func(c *Contact) string { return c.alias() },
	"CONTACTEMAIL":      func(c *Contact) string { return c.Email },
	"CONTACTPAGER":      func(c *Contact) string { return c.Pager },
	"CONTACTGROUPNAMES": func(c *Contact) string { return strings.Join(c.Groups, ",") },
}

// contactGroupFields is every macro of contact groups by name.
var contactGroupFields = map[string]func(*ContactGroup) string{
	"CONTACTGROUPNAME":    func(g *ContactGroup) string { return g.Name },
	"CONTACTGROUPALIAS":   func(g *ContactGroup) string { return g.alias() },
	"CONTACTGROUPMEMBERS": func(g *ContactGroup) string { return strings.Join(g.Members, ",") },
}

func (c *Contact) alias() string {
	if c.Alias != "" {
		return c.Alias
	}
	return c.Name
}

func (g *ContactGroup) alias() string {
	if g.Alias != "" {
		return g.Alias
	}
	return g.Name
}

// contacts answers a macro of a contact: the one that is notified, one that is
// named, or all of a group.
func (e *expander) contacts(q query, get func(*Contact) string) string {
	if !q.onDemand {
		return of(e.src.Contact, get)
	}
	if !q.two {
		return of(e.src.contact(q.first), get)
	}
	g := e.src.contactGroup(q.first)
	if g == nil {
		return ""
	}
	var values []string
	for _, name := range g.Members {
		if c := e.src.contact(name); c != nil {
			values = append(values, get(c))
		}
	}
	return strings.Join(values, q.second)
}

// of returns a value of a contact, "" if there is none.
func of(c *Contact, get func(*Contact) string) string {
	if c == nil {
		return ""
	}
	return get(c)
}

// contactGroups answers a macro of a contact group: the one named, else the
// first of the contact that is notified.
func (e *expander) contactGroups(q query, get func(*ContactGroup) string) string {
	name := q.first
	if !q.onDemand {
		if e.src.Contact == nil || len(e.src.Contact.Groups) == 0 {
			return ""
		}
		name = e.src.Contact.Groups[0]
	}
	if g := e.src.contactGroup(name); g != nil {
		return get(g)
	}
	return ""
}
