package channel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/probe"
	"jaque.sh/jaque/appliance/rule/macro"
	"jaque.sh/jaque/appliance/rule/message"
	"jaque.sh/jaque/appliance/rule/veil"
)

// CommandTimeout is how long a notification command may run where nothing else is
// said: the notification_timeout of Nagios.
const CommandTimeout = 30 * time.Second

// CommandOptions say what is run to notify.
type CommandOptions struct {
	Handler *object.Handler
	Timeout time.Duration // of one run; 0 = CommandTimeout
	// Run executes a command, as probe.Runner.Command does.
	Run func(context.Context, *probe.Command) probe.Ran
	// Source answers the macros of an item, but for those of the notification
	// itself. For a test message the item is about no object.
	Source func(*message.Message, *message.Item) *macro.Source
	// ShellSigns are taken out of what plugins and operators wrote before it stands
	// in a line for the shell.
	ShellSigns string
	// Secrets must not stand in errors, whatever the command prints.
	Secrets []string
	// Done remembers what was run of a message that failed half-way; nil = a memory
	// of its own.
	Done *Done
}

type command struct {
	opts CommandOptions
	what string
	veil veil.Veil
}

// NewCommand returns the channel that runs a notification command of Nagios: once
// for each item, with its macros replaced and, if the handler wants it, in the
// environment.
func NewCommand(o CommandOptions) (Channel, error) {
	if o.Handler == nil || o.Handler.Shell == "" && len(o.Handler.Plugin) == 0 {
		return nil, errors.New("notification command: there is nothing to run; write command: plugin: [\"/path/of/script\"]")
	}
	if o.Timeout <= 0 {
		o.Timeout = CommandTimeout
	}
	if o.Done == nil {
		o.Done = NewDone()
	}
	what := "notification command"
	if o.Handler.Name != "" {
		what += " " + o.Handler.Name
	}
	return &command{o, what, veil.New(o.Secrets...)}, nil
}

// Send runs the command for each item in turn, the oldest first. After a failure it still runs it for
// the others, and the next attempt runs it only for those that have failed.
func (c *command) Send(ctx context.Context, m *message.Message) error {
	if len(m.Items) == 0 {
		if err := c.run(ctx, m, testItem(m)); err != nil {
			return err
		}
		return nil
	}
	var first *Error
	keys := make([]string, 0, len(m.Items))
	bad := 0
	for i, it := range inOrder(m.Items) {
		key := c.key(m, it)
		keys = append(keys, key)
		if c.opts.Done.has(key) {
			continue
		}
		if err := c.run(ctx, m, it); err != nil {
			bad++
			if first == nil {
				first = err
			}
			first.MayHaveArrived = first.MayHaveArrived || err.MayHaveArrived
			if ctx.Err() != nil {
				return c.sum(first, bad+len(m.Items)-i-1, len(m.Items))
			}
			continue
		}
		c.opts.Done.add(key)
	}
	if first == nil {
		c.opts.Done.forget(keys)
		return nil
	}
	return c.sum(first, bad, len(m.Items))
}

// inOrder returns the items as they happened: what a script is called with last is how
// things stand.
func inOrder(items []message.Item) []*message.Item {
	all := make([]*message.Item, len(items))
	for i := range items {
		all[i] = &items[i]
	}
	slices.SortStableFunc(all, func(a, b *message.Item) int { return cmp.Compare(a.Time, b.Time) })
	return all
}

// sum says how many items have failed beside the first.
func (c *command) sum(first *Error, bad, all int) error {
	if all > 1 {
		first.Err = fmt.Errorf("%w (%d of %d failed)", first.Err, bad, all)
	}
	return first
}

// run runs the command for one item. What was killed may have told somebody before.
func (c *command) run(ctx context.Context, m *message.Message, it *message.Item) *Error {
	ran := c.opts.Run(ctx, c.fill(m, it))
	if ran.OK() {
		return nil
	}
	what := c.what
	if it.ID != "" {
		what += " for " + string(it.ID)
	}
	late := ran.NotRun && ctx.Err() != nil
	problem := ran.Problem
	switch {
	case late && errors.Is(ctx.Err(), context.DeadlineExceeded):
		problem = "killed after " + waited(ran.Took) + ", when the time for the whole message was over"
	case problem == "":
		problem = "exit code " + strconv.Itoa(ran.Exit)
	}
	if ran.Output != "" {
		problem += ": " + oneLine([]byte(ran.Output), 200)
	}
	return &Error{Err: errors.New(c.veil.Clean(what + ": " + problem)), MayHaveArrived: late || ran.Exit < 0 && !ran.NotRun}
}

// fill replaces the macros of the command. A line for the shell gets only clean
// texts; words stay words whatever stands in them.
func (c *command) fill(m *message.Message, it *message.Item) *probe.Command {
	how := macro.Options{Clean: true}
	if c.opts.Handler.Shell != "" {
		how.Illegal = c.opts.ShellSigns
	}
	src := notificationMacros(c.opts.Source(m, it), m, it, how.Illegal)
	cmd := &probe.Command{
		Shell: macro.Expand(c.opts.Handler.Shell, src, how), Timeout: c.opts.Timeout,
		Env: []string{"JAQUE_MESSAGE_ID=" + m.ID, "JAQUE_REPEAT=" + strconv.FormatBool(m.Repeat), "JAQUE_TEST=" + strconv.FormatBool(m.Test)},
	}
	for _, word := range c.opts.Handler.Plugin {
		cmd.Plugin = append(cmd.Plugin, macro.Expand(word, src, how))
	}
	if c.opts.Handler.Environ {
		cmd.Env = append(cmd.Env, macro.Environ(src, how)...)
	}
	return cmd
}

// key names an item in the memory of what was run: the notification, not the
// message, because the next attempt may carry others with it.
func (c *command) key(m *message.Message, it *message.Item) string {
	return strings.Join([]string{
		contactName(m), m.Channel, c.opts.Handler.Name, string(it.ID), it.Kind,
		strconv.Itoa(int(it.Number)), strconv.FormatInt(int64(it.Time), 10),
	}, "\x00")
}

// Done remembers which items commands have been run for while others of the same
// message have failed. Any goroutine may use it.
type Done struct {
	mu  sync.Mutex // guards what follows
	is  map[string]bool
	old []string // in the order in which they came; bounds the memory
}

// maxDone is how many items are remembered. What is forgotten is run again.
const maxDone = 20_000

// NewDone returns an empty memory.
func NewDone() *Done { return &Done{is: map[string]bool{}} }

func (d *Done) has(key string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.is[key]
}

func (d *Done) add(key string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.is[key] = true
	d.old = append(d.old, key)
	if len(d.old) > maxDone {
		half := len(d.old) / 2
		for _, old := range d.old[:half] {
			delete(d.is, old)
		}
		d.old = append([]string(nil), d.old[half:]...)
	}
}

// forget drops what a message was made of that has gone out.
func (d *Done) forget(keys []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, key := range keys {
		delete(d.is, key)
	}
	if len(d.is) == 0 {
		d.old = nil
	}
}
