package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"jaque.sh/jaque/roles"
)

const witnessHelp = `Usage: jaque witness [-data FOLDER] [-listen HOST:PORT] [-log-level LEVEL] [-log-format text|json]

Runs the log server of a cluster alone: one more vote and one more copy of everything,
without a config and without an engine. It lets two appliances go on when one of them
dies, from a small third machine.

Make the folder the witness's first: jaque cluster token -witness at a member, then here
jaque cluster join TOKEN -cluster-listen HOST:PORT -data FOLDER.

  -data FOLDER       the data folder (default: as for the process)
  -listen HOST:PORT  /metrics, /healthz and /readyz (default ` + roles.DefaultListen + `)
  -log-level LEVEL   debug, info, warn or error (default info)
  -log-format FORM   text or json (default text)

Each has its JAQUE_ variable, as for the process. Exit status as of a role: 0 after
SIGTERM or SIGINT, 1 if it failed, 2 for wrong usage.
`

// witness runs a cluster's vote without an engine.
func witness(args []string, stdout, stderr io.Writer) error {
	env := environment()
	s := roles.Settings{Listen: roles.DefaultListen, Data: roles.DefaultData(env), LogLevel: "info", LogFormat: "text", Host: roles.HostID(env.Host)}
	set := flag.NewFlagSet("witness", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	for name, f := range map[string]struct {
		variable string
		value    *string
	}{
		"data": {"JAQUE_DATA", &s.Data}, "listen": {"JAQUE_LISTEN", &s.Listen},
		"log-level": {"JAQUE_LOG_LEVEL", &s.LogLevel}, "log-format": {"JAQUE_LOG_FORMAT", &s.LogFormat},
	} {
		if value, ok := env.Lookup(f.variable); ok {
			*f.value = value
		}
		set.StringVar(f.value, name, *f.value, "")
	}
	err := set.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, witnessHelp)
		return nil
	}
	if err == nil {
		err = checkWitness(&s, set.Args())
	}
	if err != nil {
		return &roles.UsageError{Problems: []string{fmt.Sprintf("witness: %v (\"jaque help witness\" tells more)", err)}}
	}
	return supervise(s, roles.Process{Stdout: stdout}, stderr, roles.RunWitness)
}

func checkWitness(s *roles.Settings, rest []string) error {
	levels := map[string]bool{"debug": true, "info": true, "warn": true, "error": true}
	switch {
	case len(rest) > 0:
		return fmt.Errorf("%q is too much; a witness has no config", rest[0])
	case s.Data == "":
		return errors.New("there is no home folder; name the data folder with -data")
	case !levels[s.LogLevel]:
		return fmt.Errorf("-log-level %q: write debug, info, warn or error", s.LogLevel)
	case s.LogFormat != "text" && s.LogFormat != "json":
		return fmt.Errorf("-log-format %q: write text or json", s.LogFormat)
	}
	return nil
}
