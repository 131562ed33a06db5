package client

import (
	"context"
	"slices"
	"strings"
)

// command is one row of the table of commands.
type command struct {
	name    string // as typed, one or two words
	api     string // its name in the API; "" = it only reads
	usage   string // what follows the name
	summary string // one line for the list
	text    string // what the help says below the usage
	options []option
	run     func(ctx context.Context, c *call) error
}

// commands returns the table of commands in the order of the help.
func commands() []command {
	return slices.Concat(problemCommands(), downtimeCommands(), checkCommands(), switchCommands(), explainCommands(), notifyCommands(), workerCommands())
}

func problemCommands() []command {
	comment := option{name: "comment", arg: "TEXT", help: "what others should know"}
	return []command{
		{
			name: "ack", api: "acknowledge", usage: "OBJECT… -comment TEXT",
			summary: "acknowledge a problem, or take that back",
			text: `Takes note of the problem of each object, so that others know and nobody is told
again. A sticky acknowledgement holds until the recovery, another one until the
state changes.

  jaque ack 'web01!http' -comment "looking into it"
  jaque ack web01 -scope with-services -comment "power cut" -expires "tomorrow 06:00"
  jaque ack -remove 'web01!http'
`,
			options: slices.Concat([]option{
				comment,
				{name: "sticky", help: "hold until the recovery (default: true)"},
				{name: "notify", help: "tell the contacts (default: true)"},
				{name: "persistent", help: "keep the comment when the acknowledgement ends"},
				{name: "expires", arg: "TIME", help: "when it ends by itself"},
				{name: "remove", help: "take the acknowledgement back"},
			}, targets(), bulk()),
			run: runAck,
		},
		{
			name: "comment", api: "add-comment", usage: "OBJECT… -comment TEXT",
			summary: "add a comment; comment list, comment delete",
			text: `Adds a remark that everybody sees with the object.

  jaque comment db01 -comment "new disk ordered" -expires +14d
`,
			options: slices.Concat([]option{
				comment,
				{name: "persistent", help: "keep it when the engine is started again (default: true)"},
				{name: "expires", arg: "TIME", help: "when it goes by itself"},
			}, targets(), bulk()),
			run: runComment,
		},
		{
			name: "comment list", usage: "[OBJECT]", summary: "list comments",
			text: "Lists the comments of everything, of one object or of what a filter matches.\n",
			options: []option{
				{name: "filter", arg: "FILTER", help: "only of objects that match"},
				{name: "limit", arg: "N", help: "at most so many"},
			},
			run: listing("comments", "ID", "OBJECT", "TIME", "EXPIRES", "KIND", "AUTHOR", "COMMENT"),
		},
		{
			name: "comment delete", api: "delete-comment", usage: "ID… | -object OBJECT | -filter FILTER",
			summary: "delete comments",
			text: `Deletes comments by the ids that comment list shows, or all comments that
operators made on a target.

  jaque comment delete 4xk2-1
  jaque comment delete -object db01
`,
			options: slices.Concat([]option{objectOption()}, targets(), bulk()),
			run:     func(ctx context.Context, c *call) error { return c.byID(ctx) },
		},
		{
			name: "notify", api: "notify", usage: "OBJECT… -comment TEXT",
			summary: "send a message of your own to the contacts; notify test, notify simulate",
			text: `Tells the contacts of each object something, whatever its state, and shows who
hears of it. Where it is held back, as in a downtime, -forced tells all the same.
`,
			options: slices.Concat([]option{
				comment,
				{name: "broadcast", help: "to all contacts, those of escalations too"},
				{name: "forced", help: "whatever filters and periods say"},
				{name: "increment", help: "count it as a notification of the problem"},
			}, targets(), bulk()),
			run: runNotify,
		},
	}
}

func objectOption() option {
	return option{name: "object", arg: "OBJECT", many: true, help: "all of this object; may be given more than once"}
}

func runAck(ctx context.Context, c *call) error {
	if c.is("remove") {
		for _, name := range []string{"sticky", "notify", "persistent", "expires", "comment"} {
			if c.has(name) {
				return usagef("-remove takes an acknowledgement back; -%s does not go with it", name)
			}
		}
		c.cmd.api = "remove-acknowledgement"
		if err := c.target(); err != nil {
			return err
		}
		return c.send(ctx)
	}
	c.switches("sticky", "notify", "persistent")
	if err := c.time("expires", "expires"); err != nil {
		return err
	}
	return c.commented(ctx)
}

func runComment(ctx context.Context, c *call) error {
	c.switches("persistent")
	if err := c.time("expires", "expires"); err != nil {
		return err
	}
	return c.commented(ctx)
}

// commented sends a command that needs a target and a comment.
func (c *call) commented(ctx context.Context) error {
	if err := c.target(); err != nil {
		return err
	}
	if strings.TrimSpace(c.text("comment")) == "" {
		return usagef("-comment is missing; say what others should know")
	}
	return c.send(ctx)
}

// switches hands on the switches that are given.
func (c *call) switches(names ...string) {
	for _, name := range names {
		if c.has(name) {
			c.body[name] = c.is(name)
		}
	}
}

// time hands on a time that is given.
func (c *call) time(name, field string) error {
	if !c.has(name) {
		return nil
	}
	t, err := readTime(c.text(name), c.Now())
	if err != nil {
		return usagef("-%s: %v", name, err)
	}
	c.body[field] = stamp(t)
	return nil
}

// target takes the words as objects, or the options that name a target.
func (c *call) target() error { return c.targetOf(c.words) }

func (c *call) targetOf(objects []string) error {
	ways := 0
	for _, given := range []bool{len(objects) > 0, c.has("filter"), c.has("group")} {
		if given {
			ways++
		}
	}
	switch {
	case ways == 0:
		return usagef(`no target; name objects, as in web01 or 'web01!http', or write -filter or -group`)
	case ways > 1:
		return usagef("objects, -filter and -group do not go together; name one kind of target")
	case slices.Contains(objects, ""):
		return usagef("an object's name is empty; write host or host!service")
	case c.has("filter") && strings.TrimSpace(c.text("filter")) == "":
		return usagef(`-filter is empty; write "*" if everything is meant`)
	case c.has("kind") && len(objects) > 0:
		return usagef("-kind narrows -filter and -group; objects are named whole")
	case c.has("kind") && c.text("kind") != "host" && c.text("kind") != "service":
		return usagef("-kind: %q is neither host nor service", c.text("kind"))
	case c.has("scope") && !slices.Contains(scopes(), c.text("scope")):
		return usagef("-scope: %q is none of %s%s", c.text("scope"), strings.Join(scopes(), ", "), meant(c.text("scope"), scopes()))
	}
	switch len(objects) {
	case 0:
	case 1:
		c.body["object"] = objects[0]
	default:
		c.body["objects"] = objects
	}
	return nil
}

// byID sends a command for what ids name, one after the other, or for what a
// target has.
func (c *call) byID(ctx context.Context) error {
	objects := c.given["object"]
	if len(c.words) == 0 {
		if err := c.targetOf(objects); err != nil {
			return usagef("name ids, or a target with -object, -filter or -group")
		}
		return c.send(ctx)
	}
	if len(objects) > 0 || c.has("filter") || c.has("group") {
		return usagef("ids and a target do not go together; name one of them")
	}
	var worst error
	var answers *array
	if c.text("o") == "json" && len(c.words) > 1 {
		answers = &array{to: c.Stdout}
	}
	for _, id := range c.words {
		one := *c
		one.body = map[string]any{"id": id}
		if answers != nil {
			one.Stdout = answers
		}
		if err := one.send(ctx); err != nil {
			worst = err
			if len(c.words) > 1 && err.Error() != "" {
				c.complain(id, err)
			}
		}
	}
	if answers != nil {
		if err := answers.end(); err != nil {
			return err
		}
	}
	if len(c.words) > 1 && worst != nil {
		return &fault{status(worst), ""}
	}
	return worst
}
