package probe

import (
	"context"
	"fmt"
	"strings"
	"syscall"

	"jaque.sh/jaque/appliance/probe/spawn"
	"jaque.sh/jaque/appliance/rule/output"
)

// pluginEnv is the whole environment of plugins: nothing of ours gets in, so
// that no secret does and a check gives the same on every machine.
func pluginEnv(configured []string) []string {
	env := []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"LC_ALL=C", "LANG=C", "HOME=/", "SHELL=/bin/sh",
	}
	for _, kv := range configured {
		name, _, _ := strings.Cut(kv, "=")
		kept := env[:0]
		for _, have := range env {
			if !strings.HasPrefix(have, name+"=") {
				kept = append(kept, have)
			}
		}
		env = append(kept, kv)
	}
	return env
}

// plugin runs an external program and reads what it printed.
func (r *Runner) plugin(ctx context.Context, req *Request) answer {
	c := &req.Check
	run := spawn.Request{Env: req.Env, Timeout: req.Timeout}
	switch {
	case c.Shell != "":
		run.Path, run.Args = "/bin/sh", []string{"/bin/sh", "-c", c.Shell}
	case len(c.Plugin) == 0 || c.Plugin[0] == "":
		return unknown("the check names no plugin; write it as the first word, for example plugin: [\"check_load\"]")
	default:
		path, err := r.plugins.find(c.Plugin[0])
		if err != nil {
			r.metrics.spawnErrors.Inc()
			return unknown("%v", err)
		}
		run.Path = path
		run.Args = append([]string{path}, c.Plugin[1:]...)
	}
	for _, arg := range run.Args {
		if strings.IndexByte(arg, 0) >= 0 {
			return unknown("an argument of the plugin holds a zero byte; remove it from the config or the macro")
		}
	}
	res, err := r.starter.Run(ctx, &run)
	if err != nil {
		return unknown("plugin killed or not started: jaque is stopping").as(cancelled)
	}
	if res.Errno != 0 {
		r.metrics.spawnErrors.Inc()
		if len(c.Plugin) > 0 {
			r.plugins.forget(c.Plugin[0])
		}
		return unknown("%s", startFailure(run.Path, res.Errno))
	}
	return judge(req, &res)
}

// judge reads a finished plugin's output and exit code.
func judge(req *Request, res *spawn.Result) answer {
	if res.Killed {
		return unknown("plugin killed: the check was stopped").as(cancelled)
	}
	run := output.Run{
		Kind: req.Object.Kind(), ID: req.Object.ID, Stdout: res.Out, Stderr: res.Err,
		Exit: res.Status.ExitStatus(), Took: res.Took,
		Timeout: req.Settings.TimeoutState, Aggressive: req.Settings.AggressiveHostChecking,
	}
	a := answer{judged: true, start: res.Start, took: res.Took, cut: res.OutCut || res.ErrCut}
	switch {
	case res.TimedOut:
		run.Ended, a.outcome, a.killed = output.TimedOut, timedOut, true
	case res.Status.Signaled():
		run.Ended, a.outcome = output.Killed, failed
	}
	got := output.Judge(&run)
	a.state, a.output, a.long, a.perfdata = got.State, got.Output, got.Long, got.Perfdata
	switch {
	case run.Ended == output.Killed:
		a.long = note(a.long, "(killed by signal %d: %s)", res.Status.Signal(), res.Status.Signal())
	case a.cut && run.Ended == output.Exited:
		a.long = note(a.long, "(output cut at %d KiB)", spawn.Limit>>10)
	}
	return a
}

// note adds a line of ours to a plugin's long output.
func note(long, format string, args ...any) string {
	line := fmt.Sprintf(format, args...)
	if long == "" {
		return line
	}
	return long + "\n" + line
}

// startFailure says why a program could not be started and what to do.
func startFailure(path string, n syscall.Errno) string {
	switch n {
	case syscall.ENOENT:
		if unusable(path) == "" {
			return fmt.Sprintf("plugin %s cannot start: the interpreter in its first line is missing; install it", path)
		}
		return fmt.Sprintf("plugin %s %s", path, missing)
	case syscall.EACCES:
		return fmt.Sprintf("plugin %s may not be executed: check its mode, its owner and the folder's mount options", path)
	case syscall.ENOEXEC:
		return fmt.Sprintf("plugin %s is no program for this machine; a script needs a first line such as #!/bin/sh", path)
	case syscall.E2BIG:
		return fmt.Sprintf("plugin %s cannot start: its arguments and environment are too long; shorten them", path)
	case syscall.EAGAIN, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM:
		return fmt.Sprintf("plugin %s cannot start: %s; raise the limits of this machine or run fewer checks at once", path, n.Error())
	}
	return fmt.Sprintf("plugin %s cannot start: %s", path, n.Error())
}
