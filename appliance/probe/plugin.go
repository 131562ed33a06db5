package probe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/probe/spawn"
	"jaque.sh/jaque/appliance/rule/macro"
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

// shell runs the lines that need one.
const shell = "/bin/sh"

// plugin runs an external program and reads what it printed.
func (r *Runner) plugin(ctx context.Context, req *Request) answer {
	run := spawn.Request{Env: req.Env, Timeout: req.Timeout}
	res, why := r.start(ctx, &req.Check, &run)
	switch {
	case why.stopped:
		return unknown("plugin killed or not started: jaque is stopping").as(cancelled)
	case why.text != "":
		return unknown("%s", why.text)
	}
	return judge(req, &res)
}

// command fills in the program to start for a check and its arguments.
func (r *Runner) command(c *object.Check, run *spawn.Request) error {
	if c.Shell != "" {
		if argv := withoutShell(c.Shell); argv != nil {
			run.Path, run.Args = argv[0], argv
			return nil
		}
		throughShell(run, c.Shell)
		return nil
	}
	if len(c.Plugin) == 0 || c.Plugin[0] == "" {
		return errors.New("the check names no plugin; write it as the first word, for example plugin: [\"check_load\"]")
	}
	path, err := r.plugins.find(c.Plugin[0])
	if err != nil {
		r.metrics.spawnErrors.Inc()
		return err
	}
	run.Path = path
	run.Args = append([]string{path}, c.Plugin[1:]...)
	return nil
}

func throughShell(run *spawn.Request, line string) {
	run.Path, run.Args = shell, []string{shell, "-c", line}
}

// withoutShell returns the words of a line to which a shell would add nothing
// but its own start: a program's absolute path and plain or quoted arguments.
// Otherwise it returns nil.
func withoutShell(line string) []string {
	argv, needsShell, err := macro.SplitCommand(line)
	if err != nil || needsShell || argv[0] == "" || argv[0][0] != '/' {
		return nil
	}
	return argv
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
