package roles

import (
	"context"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/probe"
	"jaque.sh/jaque/appliance/rule/macro"
	"jaque.sh/jaque/roles/engine"
)

// Handle runs one event handler in this process. Its macros tell the state of the
// event that it runs for, whatever has become of the object since.
func (x *checks) Handle(ctx context.Context, j engine.HandlerJob) engine.HandlerResult {
	c := x.config.Load()
	src := x.source(c, j.Object)
	present := src.State
	src.State = func(id object.ID) *fold.State {
		if id == j.Object.ID {
			return j.State
		}
		return present(id)
	}
	ran := x.runner.Command(ctx, handlerCommand(&j, src))
	return engine.HandlerResult{
		Exit: ran.Exit, TimedOut: ran.TimedOut, NotRun: ran.NotRun, Problem: ran.Problem, Output: ran.Output, Took: ran.Took,
	}
}

// handlerCommand replaces the macros of an event handler. A line for the shell is
// cleaned as that of a check; words stay words whatever stands in them.
func handlerCommand(j *engine.HandlerJob, src *macro.Source) *probe.Command {
	how := macro.Options{Clean: true}
	if j.Handler.Shell != "" {
		how.Illegal = shellSigns
	}
	cmd := &probe.Command{Shell: macro.Expand(j.Handler.Shell, src, how), Timeout: j.Timeout}
	for _, word := range j.Handler.Plugin {
		cmd.Plugin = append(cmd.Plugin, macro.Expand(word, src, how))
	}
	if j.Handler.Environ {
		cmd.Env = macro.Environ(src, how)
	}
	return cmd
}
