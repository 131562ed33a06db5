package main

import (
	"io"
	"slices"
	"time"

	"jaque.sh/jaque/roles"
)

// simulates tells whether the command line is that of "jaque notify simulate", which
// needs no running jaque.
func simulates(args []string) bool {
	return len(args) > 1 && slices.Equal(args[:2], []string{"notify", "simulate"})
}

// simulate says who would be told of a problem, by a config alone.
func simulate(args []string, stdout, stderr io.Writer) error {
	return roles.Simulate(args, roles.Simulation{Stdout: stdout, Stderr: stderr, Now: time.Now()})
}
