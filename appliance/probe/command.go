package probe

import (
	"context"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/probe/spawn"
)

// Command is a program that runs for its effect, such as an event handler.
type Command struct {
	Plugin  []string // argv; the first word is looked up as for a check
	Shell   string   // instead of Plugin: a line for /bin/sh -c
	Env     []string // KEY=value pairs on top of the plugins' environment
	Timeout time.Duration
}

// Ran is what became of a command.
type Ran struct {
	Exit     int    // exit code; -1 if it did not end by itself
	TimedOut bool   // killed because its time was over
	NotRun   bool   // not started, or killed because jaque stops
	Problem  string // why it could not be started or was killed; "" = it ended by itself
	Output   string // what it printed first, one line; of standard error if there is nothing else
	Start    time.Time
	Took     time.Duration
}

// OK tells whether the command did what it should.
func (r *Ran) OK() bool { return r.Problem == "" && r.Exit == 0 }

// Command runs a command and returns what became of it. Its caller bounds how
// many run at once. It returns at the timeout at the latest, give or take what
// the kernel needs to kill a program, or soon after ctx ends.
func (r *Runner) Command(ctx context.Context, c *Command) Ran {
	run := spawn.Request{Env: c.Env, Timeout: c.Timeout}
	if run.Timeout <= 0 {
		run.Timeout = defaultTimeout
	}
	start := time.Now()
	res, why := r.start(ctx, &object.Check{Plugin: c.Plugin, Shell: c.Shell}, &run)
	if why.text != "" {
		return Ran{Exit: -1, NotRun: true, Problem: why.text, Start: start, Took: time.Since(start)}
	}
	ran := Ran{
		Exit: res.Status.ExitStatus(), TimedOut: res.TimedOut, NotRun: res.Killed,
		Output: firstLine(res.Out), Start: res.Start, Took: res.Took,
	}
	if ran.Output == "" {
		ran.Output = firstLine(res.Err)
	}
	switch {
	case res.TimedOut:
		ran.Exit, ran.Problem = -1, "killed after "+run.Timeout.String()+"; raise its timeout or make it faster"
	case res.Killed:
		ran.Exit, ran.Problem = -1, "killed: jaque is stopping"
	case res.Status.Signaled():
		ran.Exit, ran.Problem = -1, "killed by signal "+strconv.Itoa(int(res.Status.Signal()))
	}
	return ran
}

// refusal says why a program did not run.
type refusal struct {
	text    string
	stopped bool
}

// start runs the program that a plugin check names.
func (r *Runner) start(ctx context.Context, c *object.Check, run *spawn.Request) (spawn.Result, refusal) {
	if err := r.command(c, run); err != nil {
		return spawn.Result{}, refusal{text: err.Error()}
	}
	for _, words := range [][]string{run.Args, run.Env} {
		for _, word := range words {
			if strings.IndexByte(word, 0) >= 0 {
				return spawn.Result{}, refusal{text: "an argument holds a zero byte; remove it from the config or the macro"}
			}
		}
	}
	res, err := r.starter.Run(ctx, run)
	if err == nil && res.Errno != 0 && c.Shell != "" && run.Path != shell {
		// What happens then is the shell's to say, as for every other line.
		throughShell(run, c.Shell)
		res, err = r.starter.Run(ctx, run)
	}
	switch {
	case err != nil:
		return res, refusal{"not started: jaque is stopping", true}
	case res.Errno != 0:
		r.metrics.spawnErrors.Inc()
		if len(c.Plugin) > 0 {
			r.plugins.forget(c.Plugin[0])
		}
		return res, refusal{text: startFailure(run.Path, res.Errno)}
	}
	return res, refusal{}
}

// maxFirstLine bounds what is kept of a command's output, in bytes.
const maxFirstLine = 1 << 10

// firstLine returns the first line of an output that is not empty, as valid text
// without control characters.
func firstLine(out []byte) string {
	for line := range strings.Lines(string(out)) {
		line = strings.Map(func(r rune) rune {
			if r < 32 || r == 127 {
				return ' '
			}
			return r
		}, strings.ToValidUTF8(line[:min(len(line), maxFirstLine)], "\uFFFD"))
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
