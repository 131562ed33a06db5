package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// probeRate is how many checks in process are offered per second.
const probeRate = 500

// command is exec.CommandContext with the error output shown.
func command(ctx context.Context, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	return cmd
}

// rowH measures jaque's TCP and HTTP checks beside bare loops.
func (b *bench) rowH(ctx context.Context, _ []string) error {
	t, err := startTargets(ctx)
	if err != nil {
		return err
	}
	defer t.stop()
	for _, kind := range []string{"tcp", "http"} {
		const n = 10000
		target, port := fmt.Sprintf("%s:%d", targetHost(0), t.TCP), t.TCP
		if kind == "http" {
			target, port = fmt.Sprintf("http://%s:%d/", targetHost(0), t.HTTP), t.HTTP
		}
		floor, err := goFloor(ctx, kind, n, target)
		if err != nil {
			return err
		}
		self, _ := floor.per1000()
		what := fmt.Sprintf("%s check, %d/s offered (floor: bare Go loop)", kind, probeRate)
		b.table.put("H", "H "+kind, what, "CPU s/1000", "floor", self)
		e := jaque(b.jaque)
		if e.binary == "" {
			continue
		}
		if err := b.probed(ctx, e, t, kind, port, what); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", kind, err)
		}
	}
	return ctx.Err()
}

// probed runs jaque against the targets.
func (b *bench) probed(ctx context.Context, e engine, t *targets, kind string, port int, what string) error {
	dir, err := b.folder("h" + kind)
	if err != nil {
		return err
	}
	s := site{interval: 10 * time.Second, check: kind, port: port}.forRate(probeRate)
	if err := e.write(dir, s); err != nil {
		return err
	}
	count := func() int64 {
		c, err := t.counts()
		if err != nil {
			return 0
		}
		return map[string]int64{"tcp": c.TCP, "http": c.HTTP}[kind]
	}
	idle := count()
	r, err := launch(ctx, e, dir)
	if err != nil {
		return err
	}
	defer r.stop()
	if err := r.until(ctx, time.Minute, "check", func() bool { return count() > idle }); err != nil {
		return err
	}
	if err := r.sleep(ctx, s.interval+2*time.Second); err != nil {
		return err
	}
	before, had, began := cpu(r.pid()), count(), time.Now()
	if err := r.sleep(ctx, b.window); err != nil {
		return err
	}
	after, now, took := cpu(r.pid()), count(), time.Since(began).Seconds()
	if now == had {
		return fmt.Errorf("no check in %v", b.window)
	}
	b.table.put("H", "H "+kind, what, "CPU s/1000", "jaque", (after.engine-before.engine)/float64(now-had)*1000)
	b.table.put("H", "", fmt.Sprintf("%s checks done, %d/s offered", kind, probeRate), "1/s", "jaque", float64(now-had)/took).higher = true
	b.table.put("H", "", fmt.Sprintf("memory (PSS) with %d %s checks", s.services, kind), "MiB", "jaque", float64(pss(r.pid()))/(1<<20))
	if _, p99, _, err := e.late(dir); err == nil {
		b.table.put("H", "", fmt.Sprintf("%s check lateness by its own account p99", kind), "ms", "jaque", ms(p99))
	}
	return nil
}
