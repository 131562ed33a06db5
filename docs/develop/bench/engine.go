package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// site is what an engine is asked to watch.
type site struct {
	services int
	interval time.Duration
	check    string // plugin, tcp or http
	plugin   string // with check plugin
	port     int    // with check tcp and http
	changed  bool   // one host differs, for a reload
}

const perHost = 10

func (s site) hosts() int                  { return max(1, s.services/perHost) }
func (s site) host(i int) string           { return fmt.Sprintf("h%05d", i) }
func (s site) service(i int) string        { return fmt.Sprintf("s%d", i) }
func (s site) seconds() int                { return int(s.interval / time.Second) }
func (s site) forRate(rate int) site       { s.services = rate * s.seconds(); return s }
func (s site) changedOnce() site           { s.changed = true; return s }
func (s site) every(per float64) site      { s.interval = wholeSeconds(float64(s.services) / per); return s }
func wholeSeconds(f float64) time.Duration { return time.Duration(max(10, int(f))) * time.Second }

// address of the i-th host. A changed site has another address for the first.
func (s site) address(i int) string {
	if s.changed && i == 0 {
		return "127.0.0.99"
	}
	return targetHost(i)
}

// engine is one of those measured. The functions get a folder of their own.
type engine struct {
	name     string
	binary   string // "" = not here
	write    func(dir string, s site) error
	start    func(dir string) []string // argv
	validate func(dir string) []string
	late     func(dir string) (p50, p99, most time.Duration, err error) // nil = it does not say
}

// engines lists who can be measured and was asked for.
func (b *bench) engines() []engine {
	var out []engine
	for _, e := range []engine{jaque(b.jaque), nagios(), icinga()} {
		if slices.Contains(b.only, e.name) {
			out = append(out, e)
		}
	}
	return out
}

// installed returns the path of a program in the usual folders or "".
func installed(names ...string) string {
	for _, n := range names {
		for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", "/usr/local/sbin") {
			p := filepath.Join(dir, n)
			if info, err := os.Stat(p); err == nil && info.Mode()&0o111 != 0 {
				return p
			}
		}
	}
	return ""
}

// running is an engine at work.
type running struct {
	cmd     *exec.Cmd
	dir     string
	started time.Time
	done    chan struct{}
}

// launch starts an engine on the configuration in dir, in a process group of
// its own.
func launch(ctx context.Context, e engine, dir string) (*running, error) {
	argv := e.start(dir)
	log, err := os.OpenFile(filepath.Join(dir, "output"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	r := &running{cmd: exec.CommandContext(ctx, argv[0], argv[1:]...), dir: dir, done: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr = log, log
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.cmd.Env = append(os.Environ(), "ICINGA2_USER=root", "ICINGA2_GROUP=root")
	r.started = time.Now()
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = r.cmd.Wait()
		close(r.done)
	}()
	return r, nil
}

// pid is the engine's first process.
func (r *running) pid() int { return r.cmd.Process.Pid }

// stop asks politely, then ends what is left of the processes it started.
func (r *running) stop() {
	below := tree(r.pid())
	_ = r.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-r.done:
	case <-time.After(20 * time.Second):
		_ = syscall.Kill(-r.pid(), syscall.SIGKILL)
		<-r.done
	}
	for _, s := range below {
		if now, err := readStat(s.pid); err == nil && now.name == s.name {
			_ = syscall.Kill(s.pid, syscall.SIGKILL)
		}
	}
}

// ended reports an engine that stopped by itself, with its last words.
func (r *running) ended() error {
	select {
	case <-r.done:
		b, _ := os.ReadFile(filepath.Join(r.dir, "output"))
		lines := strings.Split(strings.TrimSpace(string(b)), "\n")
		return fmt.Errorf("ended by itself: %s", strings.Join(lines[max(0, len(lines)-5):], "\n"))
	default:
		return nil
	}
}

// sleep waits unless the run is interrupted or the engine ends.
func (r *running) sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-r.done:
		return r.ended()
	case <-time.After(d):
		return nil
	}
}

// until waits for a condition, at most so long.
func (r *running) until(ctx context.Context, limit time.Duration, what string, ok func() bool) error {
	for end := time.Now().Add(limit); !ok(); {
		if time.Now().After(end) {
			return fmt.Errorf("no %s within %v", what, limit)
		}
		if err := r.sleep(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// validated runs the engine's check of its configuration and returns the CPU
// seconds it took.
func validated(ctx context.Context, argv []string) (float64, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "ICINGA2_USER=root", "ICINGA2_GROUP=root")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%v: %w\n%s", argv, err, out[:min(len(out), 2000)])
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), nil
}
