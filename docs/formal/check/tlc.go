package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"jaque.sh/jaque/docs/formal/check/tla"
)

// A search runs one configuration of a module.
type search func(ctx context.Context, r row, moduleText string) (outcome, error)

// errNoJar tells what to do without TLC.
var errNoJar = errors.New(`TLC_JAR is not set, so TLC cannot run.
Get tla2tools.jar from the TLA+ project, and a Java runtime of version 11 or later, then:
    TLC_JAR=/path/to/tla2tools.jar make tla
Without it, the smaller configurations run with the search that comes along:
    make tla ARGS=-builtin`)

// tlc is TLC as the environment describes it.
type tlc struct {
	jar     string // TLC_JAR
	java    string // TLC_JAVA, default java
	workers string // TLC_WORKERS, a number or auto, default 1
	heap    string // TLC_HEAP as Java's -Xmx takes it, default 4g
}

// newTLC reads the environment.
func newTLC(env func(string) string) (tlc, error) {
	or := func(name, instead string) string {
		if v := env(name); v != "" {
			return v
		}
		return instead
	}
	t := tlc{env("TLC_JAR"), or("TLC_JAVA", "java"), or("TLC_WORKERS", "1"), or("TLC_HEAP", "4g")}
	if t.jar == "" {
		return tlc{}, errNoJar
	}
	jar, err := filepath.Abs(t.jar)
	if err == nil {
		_, err = os.Stat(jar)
	}
	if err != nil {
		return tlc{}, fmt.Errorf("TLC_JAR: %w", err)
	}
	t.jar = jar
	return t, nil
}

// args are the arguments of Java for one configuration, in its own folder.
func (t tlc) args(r row) []string {
	return []string{
		"-XX:+UseParallelGC", "-Xmx" + t.heap, "-cp", t.jar, "tlc2.TLC",
		"-workers", t.workers, "-deadlock", "-metadir", "states", "-config", r.name + ".cfg", r.module + ".tla",
	}
}

// run is a search: TLC runs in a folder of its own, since it leaves files beside
// the module.
func (t tlc) run(ctx context.Context, r row, moduleText string) (outcome, error) {
	dir, err := os.MkdirTemp("", "tlc-")
	if err != nil {
		return outcome{}, err
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{r.name + ".cfg": r.text, r.module + ".tla": moduleText} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return outcome{}, err
		}
	}
	cmd := exec.CommandContext(ctx, t.java, t.args(r)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return outcome{}, context.Cause(ctx)
	}
	// TLC ends with a status of its own for every kind of violation, so its words
	// are read first.
	o, bad := parseOutput(string(out))
	if bad != nil && err != nil && len(out) == 0 {
		return outcome{}, fmt.Errorf("run TLC: %w", err)
	}
	return o, bad
}

// builtin is the search of package tla.
func builtin(ctx context.Context, r row, moduleText string) (outcome, error) {
	res, err := tla.Check(ctx, r.module+".tla", moduleText, r.name+".cfg", r.text)
	if err != nil {
		return outcome{}, err
	}
	return outcome{
		verdict:  verdict{res.Violated, res.Steps},
		distinct: res.Distinct, depth: res.Depth,
	}, nil
}
