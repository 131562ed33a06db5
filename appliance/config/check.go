package config

import (
	"fmt"
	"io"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// The exit codes of Check.
const (
	exitDone    = 0
	exitInvalid = 2
)

// Check loads a config for a person: a summary on stdout when it is valid,
// everything that is wrong on stderr when it is not. Warnings go to stderr in
// both cases. It returns the exit code: 0 valid, 2 not valid.
func Check(path string, opts Options, stdout, stderr io.Writer) int {
	start := time.Now()
	c, problems := Load(path, opts)
	if len(problems) > 0 {
		fmt.Fprint(stderr, problems.String())
		return exitInvalid
	}
	for _, w := range c.Warnings {
		fmt.Fprintf(stderr, "%s (warning)\n", w)
	}
	fmt.Fprintf(stdout, "%s: %s, loaded in %s\n", path, c.Summary(), time.Since(start).Round(time.Millisecond))
	if hint := c.Hint(); hint != "" {
		fmt.Fprintln(stdout, hint)
	}
	return exitDone
}

// Hint says which hosts nobody checks, "" if every host is checked or told about.
// That is allowed: results may be submitted, or its services be all that matters.
func (c *Config) Hint() string {
	silent := 0
	for _, h := range c.Set.Hosts {
		if h.Rule.Check.Kind == object.CheckNone {
			silent++
		}
	}
	switch {
	case silent == 0:
		return ""
	case silent == 1:
		return "1 host has no check of its own and stays PENDING; give it check: icmp: {}, or write defaults: host_check: icmp: {}"
	}
	return fmt.Sprintf("%d hosts have no check of their own and stay PENDING; give them check: icmp: {}, or write defaults: host_check: icmp: {}", silent)
}

// Summary counts what a config declares: "2 hosts, 5 services, 3 rules".
func (c *Config) Summary() string {
	hosts, services := 0, 0
	for _, o := range c.Set.Objects {
		switch {
		case o.Rule.Name == canaryRuleName, o.Rule.Name == zoneRuleName:
		case o.Kind() == object.Service:
			services++
		default:
			hosts++
		}
	}
	return fmt.Sprintf("%s, %s, %s", counted(hosts, "host"), counted(services, "service"), counted(c.Rules, "rule"))
}
