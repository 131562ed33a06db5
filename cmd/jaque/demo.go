package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"jaque.sh/jaque/appliance/demo"
	"jaque.sh/jaque/appliance/listen"
	"jaque.sh/jaque/appliance/probe"
	assets "jaque.sh/jaque/assets/demo"
	"jaque.sh/jaque/roles"
)

// demoFolder is where the demo lives without -dir.
const demoFolder = "jaque-demo"

// runDemo runs role all on a folder of its own, which it fills if it is empty.
// It takes every flag of role all, and -dir.
func runDemo(args []string, stdout, stderr io.Writer) error {
	dir, rest := takeDir(args)
	defaults := []string{"-target", "all", "-config", dir, "-data", filepath.Join(dir, "data")}
	if _, set := os.LookupEnv("JAQUE_LOG_LEVEL"); !set {
		defaults = append(defaults, "-log-level", "warn")
	}
	s, err := roles.Parse(append(defaults, rest...), environment())
	switch {
	case err != nil:
		return err
	case s.Help:
		fmt.Fprint(stdout, roles.Help(s.Role))
		return nil
	case s.Config != dir || s.Role.Name != roles.All:
		return &roles.UsageError{Problems: []string{"the demo is role all with a config of its own; choose its folder with -dir"}}
	}
	lock, err := demo.Lock(dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	logger := newLogger(s, stderr)
	server, err := listen.Open(context.Background(), s.Listen, "-listen", logger)
	if err != nil {
		return err
	}
	fresh, err := demo.Prepare(dir, server.Addr(), assets.Files(), demo.Plugins(probe.UsualFolders()))
	if err != nil {
		return err
	}
	return start(s, roles.Process{Stdout: stdout, Listener: server, Started: func(address string) {
		fmt.Fprintln(stdout, demo.Greeting(os.Args[0], dir, address, fresh))
	}}, stderr)
}

// takeDir takes -dir out of the arguments, the last one counts.
func takeDir(args []string) (dir string, rest []string) {
	dir = demoFolder
	for i := 0; i < len(args); i++ {
		name, value, attached := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(args[i], "-"), "-"), "=")
		switch {
		case name != "dir" || !strings.HasPrefix(args[i], "-"):
			rest = append(rest, args[i])
		case attached:
			dir = value
		case i+1 < len(args):
			i++
			dir = args[i]
		}
	}
	return dir, rest
}
