package roles

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/probe"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/remote"
	"jaque.sh/jaque/appliance/rule/expand"
	"jaque.sh/jaque/appliance/rule/macro"
	"jaque.sh/jaque/roles/engine"
)

// checks executes the engine's checks, in this process or by workers, and its event
// handlers in this process, with their macros replaced from the running config and
// the present states.
type checks struct {
	prober  remote.Prober
	runner  *probe.Runner
	proj    *projection.Projection
	started object.Time
	config  atomic.Pointer[generation]
}

// generation is a config with what checks need of it, made once.
type generation struct {
	*config.Config
	macros map[string]string // settings.macros by name
}

func newChecks(by remote.Prober, r *probe.Runner, p *projection.Projection, c *config.Config) *checks {
	x := &checks{prober: by, runner: r, proj: p, started: object.At(time.Now())}
	x.use(c)
	return x
}

// use switches to another generation.
func (x *checks) use(c *config.Config) { x.config.Store(newGeneration(c)) }

func newGeneration(c *config.Config) *generation {
	g := &generation{Config: c, macros: make(map[string]string, len(c.Macros))}
	for name, value := range c.Macros {
		g.macros[name] = value.Reveal()
	}
	return g
}

// shellSigns are taken out of what plugins and operators wrote before it stands
// in a line for the shell: everything by which a text could become a command.
// Nagios' illegal_macro_output_chars are among them.
const shellSigns = "`~$&|'\"<>;()*?[]{}!#\\"

// Run executes one check.
func (x *checks) Run(ctx context.Context, j engine.Job) fold.Result {
	c := x.config.Load()
	src := x.source(c, j.Object)
	var how macro.Options
	if j.Object.Rule.Check.Shell != "" {
		how = macro.Options{Clean: true, Illegal: shellSigns}
	}
	check := expand.Check(&j.Object.Rule.Check, func(s string) string { return macro.Expand(s, src, how) })
	return x.prober.Do(ctx, probe.Request{
		Object: j.Object, Check: check, Timeout: j.Timeout, Due: j.Due, Settings: &c.Set.Settings,
	})
}

// source is what the macros of an object are answered from.
func (x *checks) source(c *generation, o *object.Object) *macro.Source {
	return &macro.Source{
		Object: o, Find: c.Set.Get, Objects: c.Set.Objects, State: x.proj.State, Now: object.At(time.Now()), Started: x.started,
		User: func(n int) string { return c.macros[fmt.Sprintf("USER%d", n)] }, Static: c.macros,
		HostGroup:    func(name string) *macro.Group { return group(c.Set, name, object.Host) },
		ServiceGroup: func(name string) *macro.Group { return group(c.Set, name, object.Service) },
		FindContact:  func(name string) *macro.Contact { return contact(c.Set, name) },
		ContactGroup: func(name string) *macro.ContactGroup { return contactGroup(c.Set, name) },
		Period:       func(name string) object.Period { return c.Set.Periods[name] },
		Declared:     declared, Location: time.Local,
	}
}

// contact returns a contact as macros know it, nil if there is none.
func contact(set *object.Set, name string) *macro.Contact {
	c := set.Contacts[name]
	if c == nil {
		return nil
	}
	out := &macro.Contact{Name: c.Name, Alias: c.Alias, Email: c.Email, Vars: c.Vars}
	for group, members := range set.ContactGroups {
		if slices.Contains(members, name) {
			out.Groups = append(out.Groups, group)
		}
	}
	slices.Sort(out.Groups)
	return out
}

// contactGroup returns a group of contacts, nil if there is none.
func contactGroup(set *object.Set, name string) *macro.ContactGroup {
	members, ok := set.ContactGroups[name]
	if !ok {
		return nil
	}
	return &macro.ContactGroup{Name: name, Members: members}
}

// group returns the members of one kind, nil if the group has none.
func group(set *object.Set, name string, k object.Kind) *macro.Group {
	var members []*object.Object
	for _, o := range set.Groups[name] {
		if o.Kind() == k {
			members = append(members, o)
		}
	}
	if members == nil {
		return nil
	}
	return &macro.Group{Name: name, Members: members}
}

// declared answers the directives of Nagios that a config of jaque has in other
// words.
func declared(o *object.Object, directive string) string {
	switch directive {
	case "check_command":
		return string(o.Rule.Check.Kind)
	case "display_name":
		return o.Alias
	}
	return ""
}
