package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// spent is what a loop of n rounds cost.
type spent struct {
	n          int
	self, kids float64 // CPU seconds
	wall       float64 // seconds
}

// per1000 is the cost of 1,000 rounds, alone and with children.
func (s spent) per1000() (self, all float64) {
	k := float64(s.n) / 1000
	return s.self / k, (s.self + s.kids) / k
}

// floorMain is the child process of a Go floor: KIND N TARGET. It prints CPU
// seconds of itself, of its children, and wall seconds.
func floorMain(args []string) int {
	if len(args) != 3 {
		return 2
	}
	n, _ := strconv.Atoi(args[1])
	loops := map[string]func(string) error{"forkexec": forkExec, "osexec": osExec, "tcp": dial, "http": get}
	f, ok := loops[args[0]]
	if !ok {
		return 2
	}
	self, kids, began := rusage(syscall.RUSAGE_SELF), rusage(syscall.RUSAGE_CHILDREN), time.Now()
	for range n {
		if err := f(args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "floor:", err)
			return 1
		}
	}
	fmt.Printf("%f %f %f\n", rusage(syscall.RUSAGE_SELF)-self, rusage(syscall.RUSAGE_CHILDREN)-kids, time.Since(began).Seconds())
	return 0
}

// rusage is user and system seconds.
func rusage(who int) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// forkExec runs a plugin with nothing but the system calls.
func forkExec(plugin string) error {
	var p [2]int
	if err := syscall.Pipe2(p[:], syscall.O_CLOEXEC); err != nil {
		return err
	}
	pid, err := syscall.ForkExec(plugin, []string{plugin, "host", "service"}, &syscall.ProcAttr{
		Files: []uintptr{0, uintptr(p[1]), uintptr(p[1])}, Env: os.Environ(),
	})
	syscall.Close(p[1])
	defer syscall.Close(p[0])
	if err != nil {
		return err
	}
	buf := make([]byte, 4096)
	for {
		if n, err := syscall.Read(p[0], buf); n <= 0 || err != nil {
			break
		}
	}
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &ws, 0, nil); err != nil {
		return err
	}
	if ws.ExitStatus() != 0 {
		return fmt.Errorf("plugin ended with %d", ws.ExitStatus())
	}
	return nil
}

// osExec runs a plugin as most Go programs would.
func osExec(plugin string) error {
	_, err := exec.Command(plugin, "host", "service").Output()
	return err
}

// dial is the least a TCP check can do.
func dial(addr string) error {
	c, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return err
	}
	return c.Close()
}

// get is the least an HTTP check can do: a new connection, a request, the
// answer read to its end.
func get(url string) error {
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Get(url)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	_, err = io.Copy(io.Discard, r.Body)
	return err
}

// goFloor runs this program as a floor in a process of its own.
func goFloor(ctx context.Context, kind string, n int, target string) (spent, error) {
	self, err := os.Executable()
	if err != nil {
		return spent{}, err
	}
	return runFloor(exec.CommandContext(ctx, self, "-floor", kind, strconv.Itoa(n), target), n)
}

// runFloor runs a loop and reads the three figures it prints.
func runFloor(cmd *exec.Cmd, n int) (spent, error) {
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return spent{}, fmt.Errorf("floor %v: %w", cmd.Args, err)
	}
	s := spent{n: n}
	if _, err := fmt.Sscan(string(out), &s.self, &s.kids, &s.wall); err != nil {
		return spent{}, fmt.Errorf("floor %v printed %q: %w", cmd.Args, out, err)
	}
	return s, nil
}

// spawnRate is how many plugins per second two posix_spawn loops start at once.
func spawnRate(ctx context.Context, loop, plugin string, n int) (float64, error) {
	var wg sync.WaitGroup
	var errs [2]error
	began := time.Now()
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = runFloor(exec.CommandContext(ctx, loop, strconv.Itoa(n), plugin), n)
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return 0, err
		}
	}
	return float64(2*n) / time.Since(began).Seconds(), nil
}
