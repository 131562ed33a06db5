package main

import (
	"context"
	"fmt"
	"syscall"
	"time"
)

// settle is how long after the first check memory is read.
const settle = 10 * time.Second

// watched is how long after a reload starts are watched.
const watched = 8 * time.Second

// sizeRate is the rate of checks while memory and reloads are measured: light,
// so that the size of the site is what is seen.
const sizeRate = 200

// rowCD measures memory, validation, start, restart and reload at every size.
func (b *bench) rowCD(ctx context.Context, rows []string) error {
	for _, n := range b.sizes {
		err := b.each(ctx, fmt.Sprintf("cd%d", n), func(e engine, dir string) error {
			return b.sized(ctx, e, dir, n, rows)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sized measures one engine with one number of services.
func (b *bench) sized(ctx context.Context, e engine, dir string, n int, rows []string) error {
	rec, err := newRecords(ctx, dir)
	if err != nil {
		return err
	}
	s := site{services: n, check: "plugin", plugin: rec.plugin}.every(sizeRate)
	if err := e.write(dir, s); err != nil {
		return err
	}
	put := func(row, key, what, unit string, v float64) {
		if wanted(rows, []string{map[string]string{"C": "c", "D": "d"}[row]}) {
			b.table.put(row, fmt.Sprintf("%s %s, %d", row, key, n), fmt.Sprintf("%s, %d services", what, n), unit, e.name, v)
		}
	}
	if wanted(rows, []string{"d"}) {
		took, err := validated(ctx, e.validate(dir))
		if err != nil {
			return err
		}
		put("D", "validate", "validate the configuration", "CPU s", took)
	}
	r, first, err := b.started(ctx, e, dir, rec)
	if err != nil {
		return err
	}
	defer func() { r.stop() }()
	put("D", "first check", "start to first check", "s", first)
	if err := r.sleep(ctx, settle); err != nil {
		return err
	}
	put("C", "memory", "memory (PSS)", "MiB", float64(pss(r.pid()))/(1<<20))
	if !wanted(rows, []string{"d"}) {
		return nil
	}
	calm, busy, err := b.reloaded(ctx, e, dir, s, r, rec)
	if err != nil {
		return err
	}
	put("D", "reload silence", "longest time without a start in a reload of one host", "ms", ms(busy.silent))
	put("D", "", "the same without a reload", "ms", ms(calm.silent))
	put("D", "", "CPU of the reload", "CPU s", max(0, busy.cpu-calm.cpu))
	r.stop()
	if r, first, err = b.started(ctx, e, dir, rec); err != nil {
		return err
	}
	put("D", "restarted", "restart with its state to first check", "s", first)
	return nil
}

// started launches an engine and returns the seconds to its first check.
func (b *bench) started(ctx context.Context, e engine, dir string, rec records) (*running, float64, error) {
	skip := rec.count()
	r, err := launch(ctx, e, dir)
	if err != nil {
		return nil, 0, err
	}
	if err := r.until(ctx, 2*time.Minute, "check", func() bool { return rec.count() > skip }); err != nil {
		r.stop()
		return nil, 0, err
	}
	starts, err := rec.since(skip)
	if err != nil {
		r.stop()
		return nil, 0, err
	}
	return r, starts[0].at.Sub(r.started).Seconds(), nil
}

// span is what was seen in a stretch of time.
type span struct {
	silent time.Duration
	cpu    float64
}

// reloaded watches a calm stretch, then one with a reload of one changed host.
func (b *bench) reloaded(ctx context.Context, e engine, dir string, s site, r *running, rec records) (calm, busy span, err error) {
	watch := func(do func() error) (span, error) {
		skip, before, began := rec.count(), cpu(r.pid()).all, time.Now()
		if err := do(); err != nil {
			return span{}, err
		}
		if err := r.sleep(ctx, watched); err != nil {
			return span{}, err
		}
		ended := time.Now()
		starts, err := rec.since(skip)
		return span{silence(starts, began, ended), cpu(r.pid()).all - before}, err
	}
	if calm, err = watch(func() error { return nil }); err != nil {
		return calm, busy, err
	}
	if err := e.write(dir, s.changedOnce()); err != nil {
		return calm, busy, err
	}
	busy, err = watch(func() error { return syscall.Kill(r.pid(), syscall.SIGHUP) })
	return calm, busy, err
}
