package roles

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/probe"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/expand"
	"jaque.sh/jaque/appliance/rule/macro"
	"jaque.sh/jaque/roles/engine"
)

// checks executes the engine's checks in this process, with their macros
// replaced from the running config and the present states.
type checks struct {
	runner  *probe.Runner
	proj    *projection.Projection
	started object.Time
	config  atomic.Pointer[config.Config]
}

func newChecks(r *probe.Runner, p *projection.Projection, c *config.Config) *checks {
	x := &checks{runner: r, proj: p, started: object.At(time.Now())}
	x.use(c)
	return x
}

// use switches to another generation.
func (x *checks) use(c *config.Config) { x.config.Store(c) }

// Run executes one check.
func (x *checks) Run(ctx context.Context, j engine.Job) fold.Result {
	c := x.config.Load()
	src := x.source(c, j.Object)
	check := expand.Check(&j.Object.Rule.Check, func(s string) string { return macro.Expand(s, src, macro.Options{}) })
	return x.runner.Do(ctx, probe.Request{
		Object: j.Object, Check: check, Timeout: j.Timeout, Due: j.Due, Settings: &c.Set.Settings,
	})
}

// source is what the macros of an object are answered from.
func (x *checks) source(c *config.Config, o *object.Object) *macro.Source {
	return &macro.Source{
		Object: o, Find: c.Set.Get, Objects: c.Set.Objects, State: x.proj.State, Now: object.At(time.Now()), Started: x.started,
		User:         func(n int) string { return c.Macros[fmt.Sprintf("USER%d", n)].Reveal() },
		HostGroup:    func(name string) *macro.Group { return group(c.Set, name, object.Host) },
		ServiceGroup: func(name string) *macro.Group { return group(c.Set, name, object.Service) },
		Declared:     declared, Location: time.Local,
	}
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
