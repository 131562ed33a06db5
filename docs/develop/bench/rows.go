package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// rowOrder is what can be measured, in the order it is. A part runs when one of
// its names is asked for.
var rowOrder = []struct {
	names []string
	what  string
	run   func(b *bench, ctx context.Context, rows []string) error
}{
	{[]string{"a"}, "A plugin checks", (*bench).rowA},
	{[]string{"c", "d"}, "C memory, D start and reload", (*bench).rowCD},
	{[]string{"h"}, "H checks in process", (*bench).rowH},
}

// wanted tells whether one of names was asked for.
func wanted(rows, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(rows, n) })
}

// folder makes a scratch folder for one run.
func (b *bench) folder(name string) (string, error) {
	dir := filepath.Join(b.dir, name)
	return dir, os.MkdirAll(dir, 0o755)
}

// each runs f for every engine that is here. One that fails is reported and
// leaves its cells empty; the others go on.
func (b *bench) each(ctx context.Context, what string, f func(e engine, dir string) error) error {
	for _, e := range b.engines() {
		if e.binary == "" {
			fmt.Fprintf(os.Stderr, "bench: %s is not installed: not measured\n", e.name)
			continue
		}
		dir, err := b.folder(what + "-" + e.name)
		if err != nil {
			return err
		}
		if err := f(e, dir); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s %s: %v\n", what, e.name, err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// rowA measures plugin checks at every offered rate, between two floors.
func (b *bench) rowA(ctx context.Context, _ []string) error {
	for i, rate := range b.rates {
		if err := b.spawnFloors(ctx, rate, i == len(b.rates)-1); err != nil {
			return err
		}
		err := b.each(ctx, fmt.Sprintf("a%d", rate), func(e engine, dir string) error {
			return b.plugins(ctx, e, dir, rate)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// aWhat is the text of a figure of row A.
func aWhat(what string, rate int) string { return fmt.Sprintf("%s, %d/s offered", what, rate) }

// spawnFloors measures what starting the plugin costs without any engine.
func (b *bench) spawnFloors(ctx context.Context, rate int, rates bool) error {
	dir, err := b.folder(fmt.Sprintf("floor%d", rate))
	if err != nil {
		return err
	}
	rec, err := newRecords(ctx, dir)
	if err != nil {
		return err
	}
	loop, err := compile(ctx, dir, "spawn", spawnSource)
	if err != nil {
		return err
	}
	const n = 2000
	c, err := runFloor(command(ctx, loop, fmt.Sprint(n), rec.plugin), n)
	if err != nil {
		return err
	}
	forked, err := goFloor(ctx, "forkexec", n, rec.plugin)
	if err != nil {
		return err
	}
	through, err := goFloor(ctx, "osexec", n, rec.plugin)
	if err != nil {
		return err
	}
	if got := rec.count(); got != 3*n {
		return fmt.Errorf("the floors ran %d plugins, %d left a record", 3*n, got)
	}
	cSelf, cAll := c.per1000()
	goSelf, _ := forked.per1000()
	execSelf, _ := through.per1000()
	b.table.put("A", "A engine + plugin", aWhat("engine + plugin (floor: posix_spawn)", rate), "CPU s/1000", "floor", cAll)
	b.table.put("A", "A engine alone", aWhat("engine alone (floor: Go ForkExec)", rate), "CPU s/1000", "floor", goSelf)
	if !rates {
		return nil
	}
	b.table.put("A", "", "floor alone: C posix_spawn loop", "CPU s/1000", "floor", cSelf)
	b.table.put("A", "", "floor alone: Go os/exec loop", "CPU s/1000", "floor", execSelf)
	most, err := spawnRate(ctx, loop, rec.plugin, n)
	b.table.put("A", "A sustained", aWhat("checks done (floor: two posix_spawn loops)", rate), "1/s", "floor", most).higher = true
	return err
}

// plugins runs one engine at one rate and enters its figures.
func (b *bench) plugins(ctx context.Context, e engine, dir string, rate int) error {
	rec, err := newRecords(ctx, dir)
	if err != nil {
		return err
	}
	s := site{interval: 10 * time.Second, check: "plugin", plugin: rec.plugin}.forRate(rate)
	if err := e.write(dir, s); err != nil {
		return err
	}
	r, err := launch(ctx, e, dir)
	if err != nil {
		return err
	}
	defer r.stop()
	if err := r.until(ctx, time.Minute, "check", func() bool { return rec.count() > 0 }); err != nil {
		return err
	}
	if err := r.sleep(ctx, s.interval+2*time.Second); err != nil {
		return err
	}
	before, skip, began := cpu(r.pid()), rec.count(), time.Now()
	if err := r.sleep(ctx, b.window); err != nil {
		return err
	}
	after, took := cpu(r.pid()), time.Since(began).Seconds()
	starts, err := rec.since(skip)
	if err != nil || len(starts) == 0 {
		return fmt.Errorf("no check in %v: %w", b.window, err)
	}
	k := float64(len(starts)) / 1000
	put := func(key, what, unit string, v float64) *figure {
		return b.table.put("A", "A "+key, aWhat(what, rate), unit, e.name, v)
	}
	put("engine + plugin", "engine + plugin (floor: posix_spawn)", "CPU s/1000", (after.all-before.all)/k)
	put("engine alone", "engine alone (floor: Go ForkExec)", "CPU s/1000", (after.engine-before.engine)/k)
	done := "checks done"
	if rate == b.rates[len(b.rates)-1] {
		done = "checks done (floor: two posix_spawn loops)"
	}
	put("sustained", done, "1/s", float64(len(starts))/took).higher = true
	put("", "cores used, with plugins", "cores", (after.all-before.all)/took)
	return b.timing(e, dir, rate, periods(starts, s.interval), s.interval)
}

// timing enters how punctual an engine was: seen from outside, and what it says
// of itself.
func (b *bench) timing(e engine, dir string, rate int, errors []time.Duration, interval time.Duration) error {
	for i, d := range errors {
		errors[i] = max(d, -d)
	}
	if len(errors) == 0 {
		return fmt.Errorf("no service was checked twice; -window must be longer than %v", interval)
	}
	percent := 100 * float64(mean(errors)) / float64(interval)
	b.table.put("A", "A mean period error", aWhat("mean period error", rate), "%", e.name, percent)
	b.table.put("A", "", aWhat("period error p99", rate), "ms", e.name, ms(quantile(errors, 0.99)))
	if e.late == nil {
		return nil
	}
	p50, p99, most, err := e.late(dir)
	if err != nil {
		return err
	}
	b.table.put("A", "", aWhat("lateness by its own account p50", rate), "ms", e.name, ms(p50))
	b.table.put("A", "A lateness p99", aWhat("lateness by its own account p99", rate), "ms", e.name, ms(p99))
	b.table.put("A", "", aWhat("lateness by its own account max", rate), "ms", e.name, ms(most))
	return nil
}

// ms is a duration in milliseconds.
func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
