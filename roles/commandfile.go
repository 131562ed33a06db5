package roles

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"jaque.sh/jaque/appliance/commandfile"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	nagios "jaque.sh/jaque/appliance/rule/external"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/appliance/service"
	"jaque.sh/jaque/roles/engine"
)

// The reasons for which the command file refuses a command, beside those of
// packages commandfile, external and fold.
const (
	noFile  commandfile.Reason = "file"   // PROCESS_FILE: the file cannot be used
	failing commandfile.Reason = "failed" // something went wrong
)

// commandReasons lists every reason, so that each has its metric from the start.
func commandReasons() []commandfile.Reason {
	all := []commandfile.Reason{noFile, failing}
	for _, r := range []nagios.Reason{
		nagios.Malformed, nagios.Unknown, nagios.Custom, nagios.Argument, nagios.Target, nagios.Unsupported,
	} {
		all = append(all, commandfile.Reason(r))
	}
	for _, r := range []fold.Reason{
		fold.BadState, fold.BadCommand, fold.PassiveOff, fold.Behind, fold.NoProblem, fold.TooMany, fold.Late, fold.Duplicate,
	} {
		all = append(all, commandfile.Reason(r))
	}
	return all
}

// atOnce is how many submitted results are handed to the engine together.
const atOnce = 500

// busyFirst and busyMax bound the pause before commands are handed in again that
// the engine had no room for.
const (
	busyFirst = 10 * time.Millisecond
	busyMax   = time.Second
)

// commands carries out lines of external commands. Submitted results that follow
// each other go together; any other command waits for those before it and is
// waited for, so that each sees what the ones before it did.
type commands struct {
	do     func(context.Context, []operate.Action) (operate.Report, error)
	world  func() *operate.World
	reload func()
	tally  *commandfile.Tally
	log    *slog.Logger

	waiting []wanted // results that are not handed in yet
	left    [][]byte // lines that were not begun before the time was over
}

// wanted is one command with its actions.
type wanted struct {
	line    []byte // as it is shown if it is refused
	raw     []byte
	name    string
	actions []operate.Action
}

// source is where lines come from.
type source struct {
	file string // the one that PROCESS_FILE named; "" = the pipe
	read int    // lines of the file so far
}

// handle carries out lines of the pipe; it is a commandfile.Handler.
func (c *commands) handle(ctx context.Context, lines [][]byte) (left [][]byte) {
	c.lines(ctx, lines, &source{})
	left, c.left = c.left, nil
	return left
}

func (c *commands) lines(ctx context.Context, lines [][]byte, from *source) {
	for _, line := range lines {
		from.read++
		if ctx.Err() != nil || len(c.left) > 0 {
			c.flush(ctx)
			c.left = append(c.left, bytes.Clone(line))
			continue
		}
		c.line(ctx, line, from)
	}
	c.flush(ctx)
}

// line reads one line and carries it out, or keeps it with other results.
func (c *commands) line(ctx context.Context, line []byte, from *source) {
	w := c.world()
	cmd, err := nagios.Parse(string(line), w.Now)
	if err != nil {
		c.refuse(line, from, err)
		return
	}
	if cmd.Special.Kind != nagios.NotSpecial {
		c.flush(ctx)
		c.special(ctx, &cmd, line, from)
		return
	}
	actions, err := nagios.Translate(w, cmd)
	if err != nil && len(c.waiting) == 0 {
		c.refuse(line, from, err)
		return
	}
	if isResult(actions) {
		c.waiting = append(c.waiting, wanted{from.show(line), bytes.Clone(line), cmd.Name, actions})
		if len(c.waiting) >= atOnce {
			c.flush(ctx)
		}
		c.accepted(ctx, &cmd)
		return
	}
	if len(c.waiting) > 0 { // it is read again against what those before it did
		c.flush(ctx)
		if actions, err = nagios.Translate(c.world(), cmd); err != nil {
			c.refuse(line, from, err)
			return
		}
	}
	c.accepted(ctx, &cmd)
	c.carryOut(ctx, []wanted{{from.show(line), bytes.Clone(line), cmd.Name, actions}})
}

// isResult tells whether actions are nothing but a submitted result.
func isResult(actions []operate.Action) bool {
	if len(actions) != 1 {
		return false
	}
	_, ok := actions[0].Command.(fold.Result)
	return ok
}

func (c *commands) accepted(ctx context.Context, cmd *nagios.Command) {
	if c.log.Enabled(ctx, slog.LevelDebug) {
		c.log.Debug("EXTERNAL COMMAND", "command", cmd.String(), "time", cmd.Time.Std())
	}
}

// flush hands in the results that wait.
func (c *commands) flush(ctx context.Context) {
	if len(c.waiting) > 0 {
		c.carryOut(ctx, c.waiting)
		clear(c.waiting)
		c.waiting = c.waiting[:0]
	}
}

// carryOut hands commands to the engine until it has taken each, and counts what
// became of them.
func (c *commands) carryOut(ctx context.Context, all []wanted) {
	var actions []operate.Action
	for i := range all {
		actions = append(actions, signed(all[i].actions)...)
	}
	errs := c.insist(ctx, actions)
	done := 0
	for i := range all {
		n := len(all[i].actions)
		if notBegun(errs[:n]) { // the time is over, or the engine has ended
			c.left = append(c.left, all[i].raw)
			errs = errs[n:]
			continue
		}
		if words, err := refusedOf(errs[:n]); err != nil {
			c.tally.Refuse(reasonOf(err), all[i].line, fmt.Errorf("%s: %s", all[i].name, words))
		} else {
			done++
		}
		errs = errs[n:]
	}
	c.tally.Accept(done)
}

// notBegun tells whether nothing was done about any of the actions of a command.
func notBegun(errs []error) bool {
	for _, err := range errs {
		if !isNotBegun(err) {
			return false
		}
	}
	return len(errs) > 0
}

// isNotBegun tells whether nothing was done about an action, here or at the engine that
// owns the object: it may be handed in again.
func isNotBegun(err error) bool {
	return errors.Is(err, engine.ErrBusy) || errors.Is(err, engine.ErrNotBegun) || errors.Is(err, engine.ErrStopping) ||
		errors.Is(err, engine.ErrNotForwarded) || errors.Is(err, engine.ErrNotOwned)
}

// settling is how long the end of the time for a stop waits for what was begun.
const settling = 3 * time.Second

// insist does actions and returns the error of each. What the engine had no room
// for is handed in again until ctx ends. What was begun by then is waited for a
// little longer, so that its outcome is known.
func (c *commands) insist(ctx context.Context, actions []operate.Action) []error {
	hard, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(settling, cancel) })()
	errs := make([]error, len(actions))
	open := make([]int, len(actions)) // indices of what is to be done
	for i := range open {
		open[i] = i
	}
	for pause := busyFirst; len(open) > 0; pause = min(2*pause, busyMax) {
		some := make([]operate.Action, len(open))
		for i, at := range open {
			some[i] = actions[at]
		}
		report, err := c.do(hard, some)
		again := open[:0]
		for i, at := range open {
			errs[at] = err
			if err == nil {
				errs[at] = report.Results[i].Err
			}
			if isNotBegun(errs[at]) {
				again = append(again, at)
			}
		}
		open = again
		if len(open) == 0 || ctx.Err() != nil || errors.Is(errs[open[0]], engine.ErrStopping) {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return errs
}

// refusedOf returns the first error among those of one command, and how it is
// told: with how many of its objects have one.
func refusedOf(errs []error) (words string, first error) {
	failed := 0
	for _, err := range errs {
		if err != nil {
			failed++
			if first == nil {
				first = err
			}
		}
	}
	if first == nil {
		return "", nil
	}
	words = first.Error()
	if judged := (*fold.Refusal)(nil); errors.As(first, &judged) {
		words = judged.Text
	}
	if len(errs) > 1 {
		words = fmt.Sprintf("%d of %d objects: %s", failed, len(errs), words)
	}
	return words, first
}

// special does what a command asks of the program itself.
func (c *commands) special(ctx context.Context, cmd *nagios.Command, line []byte, from *source) {
	c.accepted(ctx, cmd)
	switch s := cmd.Special; s.Kind {
	case nagios.Reload:
		c.reload()
	case nagios.WriteLog:
		c.log.Info("external log", "text", s.Text)
	case nagios.ProcessFile:
		if err := c.file(ctx, s, from); err != nil {
			c.tally.Refuse(noFile, from.show(line), err)
			return
		}
	}
	c.tally.Accept(1)
}

// file carries out the commands of a file. Files that name files could go round
// in a circle.
func (c *commands) file(ctx context.Context, s nagios.Special, from *source) error {
	if from.file != "" {
		return fmt.Errorf("PROCESS_FILE: %s: a file of commands cannot name another one; write its commands into the first", s.Path)
	}
	inner := &source{file: s.Path}
	err := commandfile.ReadFile(ctx, s.Path, c.tally, func(ctx context.Context, lines [][]byte) [][]byte {
		c.lines(ctx, lines, inner)
		return nil // they are kept with those of the pipe
	})
	if err == nil && s.Delete {
		err = os.Remove(s.Path)
	}
	return err
}

// refuse counts and logs a line that is no command or names nothing.
func (c *commands) refuse(line []byte, from *source, err error) {
	why := reasonOf(err)
	var r *nagios.Refusal
	if from.file != "" && errors.As(err, &r) && r.Command == "" {
		// The file may be one that whoever named it must not read.
		err = errors.New("the line is no command")
	}
	c.tally.Refuse(why, from.show(line), err)
}

// show is a line as the log may hold it: of a file only where it stands.
func (s *source) show(line []byte) []byte {
	if s.file == "" {
		return line
	}
	return fmt.Appendf(nil, "%s, command %d", s.file, s.read)
}

// reasonOf returns the reason of a refusal.
func reasonOf(err error) commandfile.Reason {
	var refused *nagios.Refusal
	var judged *fold.Refusal
	switch {
	case errors.As(err, &refused):
		return commandfile.Reason(refused.Reason)
	case errors.As(err, &judged):
		return commandfile.Reason(judged.Reason)
	case errors.Is(err, engine.ErrNotFound):
		return commandfile.Reason(nagios.Target)
	case isNotBegun(err):
		return commandfile.Stopping
	case errors.Is(err, engine.ErrUnconfirmed), errors.Is(err, context.Canceled):
		return commandfile.Unconfirmed
	case errors.Is(err, engine.ErrRefused):
		return commandfile.Reason(fold.BadCommand)
	}
	return failing
}

// openCommandFile opens the pipe of -command-file before the log, so that writers
// find it early; they wait until the engine is ready.
func (a *appliance) openCommandFile(context.Context) error {
	if a.s.CommandFile == "" {
		return nil
	}
	tally := commandfile.NewTally(a.p.Logger, a.reg, commandReasons()...)
	byAddress := &addresses{}
	c := &commands{tally: tally, log: a.p.Logger}
	c.world = func() *operate.World {
		set := a.proj.Set()
		return &operate.World{
			Set: set, State: a.proj.State, Program: a.proj.Program(), Now: object.At(time.Now()),
			Extras: a.proj.Extras(), Address: byAddress.in(set),
		}
	}
	c.do = func(ctx context.Context, actions []operate.Action) (operate.Report, error) {
		return a.engine.Do(ctx, actions)
	}
	c.reload = func() { a.reloader.ask() }
	pipe, err := commandfile.Open(commandfile.Options{
		Path: a.s.CommandFile, Handle: c.handle, Tally: tally, Logger: a.p.Logger, Registerer: a.reg,
	})
	if err != nil {
		return err
	}
	a.undo = append(a.undo, pipe.Close)
	a.commands = pipe
	return nil
}

// readCommandFile adds what reads the pipe. It stops before the engine, which
// carries out what it finds last.
func (a *appliance) readCommandFile(context.Context) error {
	if a.commands != nil {
		a.add(service.Service{Name: "command-file", Needs: []string{"engine", "reload"}, Run: a.commands.Run, StopTimeout: 20 * time.Second})
	}
	return nil
}

// addresses finds hosts by their address, with an index for each set of objects.
type addresses struct {
	of    *object.Set
	hosts map[string]*object.Object
}

// in returns what finds the first host by name with an address in a set.
func (a *addresses) in(set *object.Set) func(string) *object.Object {
	return func(address string) *object.Object {
		if a.of != set {
			a.of, a.hosts = set, make(map[string]*object.Object, len(set.Hosts))
			for _, h := range slices.Backward(set.Hosts) { // so that the first by name stays
				a.hosts[h.Address] = h
			}
			delete(a.hosts, "")
		}
		return a.hosts[address]
	}
}
