package client

import (
	"context"
	"slices"
	"strings"
)

// What can be switched, of objects and of the whole program.
func objectSwitches() []string {
	return []string{"active_checks", "passive_checks", "notifications", "flap_detection", "event_handler", "perfdata", "obsess"}
}

func programSwitches() []string {
	return append(objectSwitches(), "host_checks", "service_checks", "passive_host_checks", "passive_service_checks",
		"event_handlers", "host_freshness", "service_freshness", "obsess_hosts", "obsess_services")
}

func settings() []string {
	return []string{"interval", "retry", "attempts", "check_period", "notification_period", "event_handler_period"}
}

func switchCommands() []command {
	return []command{
		switchCommand("enable", "switch something on"),
		switchCommand("disable", "switch something off"),
		{
			name: "set", api: "set", usage: "SETTING=VALUE OBJECT…",
			summary: "set a value against the configuration",
			text: `Sets a value of each object until it is set back; SETTING= alone makes it what
the configuration says again.

  jaque set interval=30s 'web01!http'
  jaque set check_period=workhours -group db
  jaque set var.OWNER=ada web01
  jaque set interval= 'web01!http'

Settings: ` + strings.Join(settings(), ", ") + ` and var.NAME.
`,
			options: slices.Concat(targets(), bulk()),
			run:     runSet,
		},
	}
}

func switchCommand(name, summary string) command {
	return command{
		name: name, api: name, usage: "WHAT[,WHAT…] OBJECT… | -program | -contact NAME", summary: summary,
		text: `Switches against the configuration, until it is switched back.

  jaque ` + name + ` notifications web01 -scope with-services
  jaque ` + name + ` active_checks,event_handler -filter 'label.role=db'
  jaque ` + name + ` service_checks -program
  jaque ` + name + ` notifications -contact ada -kind host

` + wrap("WHAT is "+strings.Join(objectSwitches(), ", ")+". With -program also "+
			strings.Join(programSwitches()[len(objectSwitches()):], ", ")+"."),
		options: slices.Concat([]option{
			{name: "program", help: "for the whole program instead of objects"},
			{name: "contact", arg: "NAME", help: "notifications of a contact instead of objects"},
		}, targets(), bulk()),
		run: runSwitch,
	}
}

func runSwitch(ctx context.Context, c *call) error {
	if len(c.words) == 0 {
		return usagef("say what, as in jaque %s notifications web01", c.cmd.name)
	}
	known := objectSwitches()
	if c.is("program") {
		known = programSwitches()
	}
	what := strings.Split(c.words[0], ",")
	for _, w := range what {
		if !slices.Contains(known, w) {
			return usagef("%q cannot be switched%s; write some of %s", w, meant(w, known), strings.Join(known, ", "))
		}
	}
	c.body["what"] = what
	objects := c.words[1:]
	named := len(objects) > 0 || c.has("filter") || c.has("group")
	switch {
	case c.is("program") && (named || c.has("contact")), c.has("contact") && named:
		return usagef("objects, -program and -contact do not go together; name one")
	case c.is("program"):
		c.body["program"] = true
	case c.has("contact"):
		c.body["contact"] = c.text("contact")
	default:
		if err := c.targetOf(objects); err != nil {
			return err
		}
	}
	return c.send(ctx)
}

func runSet(ctx context.Context, c *call) error {
	if len(c.words) == 0 || !strings.Contains(c.words[0], "=") {
		return usagef("say what to set, as in jaque set interval=30s 'web01!http'")
	}
	name, value, _ := strings.Cut(c.words[0], "=")
	if !slices.Contains(settings(), name) && (!strings.HasPrefix(name, "var.") || name == "var.") {
		return usagef("%q cannot be set%s; write one of %s, var.NAME", name, meant(name, settings()), strings.Join(settings(), ", "))
	}
	c.body["setting"], c.body["value"] = name, value
	if err := c.targetOf(c.words[1:]); err != nil {
		return err
	}
	return c.send(ctx)
}
