package client

import (
	"context"
	"fmt"
	"slices"
	"time"
)

func downtimeCommands() []command {
	return []command{
		{
			name: "downtime", api: "schedule-downtime", usage: "OBJECT… -for DURATION -comment TEXT",
			summary: "schedule a downtime; downtime list, downtime cancel",
			text: `Problems in a downtime are expected: they are shown, and nobody is told.

  jaque downtime web01 -scope with-services -for 2h -comment "new kernel"
  jaque downtime -group db -start "tomorrow 22:00" -end "06:00" -comment "move"
  jaque downtime web01 -flexible 30m -for 4h -comment "reboot some time"
  jaque downtime -filter 'label.role=db' -every "sunday 02:00-04:00" -timezone Europe/Berlin -comment "backup"

A downtime for a group, a filter or a host with its services also holds for
objects that are added later. A filter that asks for what changes by itself, such as
problem or state=DOWN, means those that match now and cannot recur. Before a
recurring one is scheduled its next ten times are shown, with what the change of
the clocks does to them.

TIME is 15:04 (the next such time), "today 15:04", "tomorrow 06:00",
"sunday 02:00", +30m, now, "2027-01-31 15:04" or RFC 3339; without an offset it is
on the clock of -timezone, else of this machine. An -end without a day is the first
such time after -start. DURATION is 30m, 2h, 1h30m, 1d or 1w.
`,
			options: slices.Concat([]option{
				{name: "comment", arg: "TEXT", help: "why"},
				{name: "start", arg: "TIME", help: "when it begins (default: now); recurring: not before"},
				{name: "end", arg: "TIME", help: "when it ends; recurring: begins no more from then"},
				{name: "for", arg: "DURATION", help: "how long it lasts, instead of -end"},
				{name: "flexible", arg: "DURATION", help: "begin with the first problem between -start and -end, and last so long"},
				{name: "trigger", arg: "ID", help: "begin with the downtime of this id"},
				{name: "every", arg: "SPAN", many: true, help: `recur, as in "sunday 02:00-04:00" or "day 1 22:00-24:00"; may be given more than once`},
				{name: "timezone", arg: "ZONE", help: "whose clock -every, -start and -end mean, as in Europe/Berlin"},
			}, targets(), bulk()),
			run: runDowntime,
		},
		{
			name: "downtime list", usage: "[OBJECT]", summary: "list downtimes",
			text: `Lists the downtimes of everything, of one object or of what a filter matches: first
the rules, which are downtimes for many objects or many times, with whom they are
for, how many objects have one now and when it is their next time; then each
object's own, with the rule it was made from. Times are those of this machine's clock.
`,
			options: []option{
				{name: "filter", arg: "FILTER", help: "only of objects that match"},
				{name: "limit", arg: "N", help: "at most so many"},
			},
			run: listing("downtimes", "ID", "OBJECT", "START", "END", "KIND", "STATE", "RULE", "AUTHOR", "COMMENT"),
		},
		{
			name: "downtime cancel", api: "cancel-downtime", usage: "ID… | -object OBJECT | -filter FILTER",
			summary: "cancel downtimes",
			text: `Cancels downtimes by the ids that downtime list shows, or those of a target; with
-start or -comment only those that fit.

  jaque downtime cancel 4xk2-1
  jaque downtime cancel -object web01 -scope with-services
  jaque downtime cancel -filter "*"

The id of a rule ends it with all it made. The id of one of its times ends that
time only, and the answer says that the rule goes on. With a target the rules that
are for nothing beyond it end too: for "*" all of them, for a group those for
the group and its objects, for hosts with-services those for the hosts and their
services, for a filter those with the same filter.
`,
			options: slices.Concat([]option{
				objectOption(),
				{name: "start", arg: "TIME", help: "only those that were scheduled to begin then"},
				{name: "comment", arg: "TEXT", help: "only those with exactly this comment"},
			}, targets(), bulk()),
			run: func(ctx context.Context, c *call) error {
				if err := c.time("start", "start"); err != nil {
					return err
				}
				return c.byID(ctx)
			},
		},
	}
}

func runDowntime(ctx context.Context, c *call) error {
	now := c.Now()
	if c.has("timezone") {
		zone, err := time.LoadLocation(c.text("timezone"))
		if err != nil || c.text("timezone") == "" {
			return usagef("-timezone: %q is no time zone; write one such as Europe/Berlin or UTC", c.text("timezone"))
		}
		now = now.In(zone)
	}
	c.body["trigger"] = c.text("trigger")
	if !c.has("trigger") {
		delete(c.body, "trigger")
	}
	var err error
	if c.has("every") {
		err = c.recurring(now)
	} else {
		err = c.once(now)
	}
	if err != nil {
		return err
	}
	return c.commented(ctx)
}

// once reads when a single downtime begins and ends.
func (c *call) once(now time.Time) error {
	start := now
	var err error
	if c.has("start") {
		if start, err = readTime(c.text("start"), now); err != nil {
			return usagef("-start: %v", err)
		}
		c.body["start"] = stamp(start)
	}
	var end time.Time
	switch {
	case c.has("for") && c.has("end"):
		return usagef("-for and -end are both given; write one")
	case c.has("for"):
		length, err := readDuration(c.text("for"))
		if err != nil {
			return usagef("-for: %v", err)
		}
		end = start.Add(length)
		c.body["duration"] = seconds(length)
	case c.has("end"):
		if end, err = readTime(c.text("end"), start); err != nil {
			return usagef("-end: %v", err)
		}
		c.body["end"] = stamp(end)
	default:
		return usagef("no end; say how long with -for 2h, or until when with -end")
	}
	switch {
	case !end.After(start):
		return usagef("it would end at %s, before it starts at %s; write a later -end", show(end), show(start))
	case !end.After(now):
		return usagef("it would end at %s, which is over; write a later -end", show(end))
	}
	c.note = fmt.Sprintf("from %s until %s", show(start), show(end))
	if !c.has("flexible") {
		return nil
	}
	length, err := readDuration(c.text("flexible"))
	if err != nil {
		return usagef("-flexible: %v", err)
	}
	c.body["flexible"] = seconds(length)
	return nil
}

// recurring reads a downtime of many times.
func (c *call) recurring(now time.Time) error {
	for _, name := range []string{"for", "flexible", "trigger"} {
		if c.has(name) {
			return usagef("-every says how long each time lasts; -%s does not go with it", name)
		}
	}
	c.body["ranges"] = c.given["every"]
	if !c.has("timezone") {
		return usagef("-every needs -timezone: whose clock is meant, as in Europe/Berlin or UTC")
	}
	c.body["timezone"] = c.text("timezone")
	start := now
	for _, name := range []string{"start", "end"} {
		if !c.has(name) {
			continue
		}
		t, err := readTime(c.text(name), start)
		if err != nil {
			return usagef("-%s: %v", name, err)
		}
		if name == "end" && !t.After(start) {
			return usagef("-end: %s is before -start, %s", show(t), show(start))
		}
		c.body[name], start = stamp(t), t
	}
	return nil
}

// show is a time in an error.
func show(t time.Time) string { return t.Format("2006-01-02 15:04:05 -07:00") }

// seconds is how a length is sent.
func seconds(d time.Duration) float64 { return d.Seconds() }
