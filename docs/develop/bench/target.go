package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync/atomic"
	"time"
)

// targetHosts is over how many loopback addresses the targets are spread, so
// that closed connections do not use up the ports of one pair.
const targetHosts = 32

// targetCounts is what the targets have seen.
type targetCounts struct{ TCP, HTTP int64 }

// targetPorts is where they listen, on every address.
type targetPorts struct{ TCP, HTTP int }

// targetHost is the i-th loopback address.
func targetHost(i int) string { return fmt.Sprintf("127.0.0.%d", i%targetHosts+1) }

// serveMain is the child process that is probed: it accepts and closes TCP
// connections and answers HTTP requests on every target address, and prints its
// counts for each line on its standard input.
func serveMain() int {
	var seen struct{ tcp, http atomic.Int64 }
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		seen.http.Add(1)
		_, _ = io.WriteString(w, "fine\n")
	})
	var ports targetPorts
	for i := range targetHosts {
		t, err1 := net.Listen("tcp", fmt.Sprintf("%s:%d", targetHost(i), ports.TCP))
		h, err2 := net.Listen("tcp", fmt.Sprintf("%s:%d", targetHost(i), ports.HTTP))
		if err1 != nil || err2 != nil {
			fmt.Fprintln(os.Stderr, "target:", err1, err2)
			return 1
		}
		ports = targetPorts{t.Addr().(*net.TCPAddr).Port, h.Addr().(*net.TCPAddr).Port}
		go func() {
			for {
				c, err := t.Accept()
				if err != nil {
					return
				}
				seen.tcp.Add(1)
				go func() { // wait for the other side, so that it is the one to close
					_ = c.SetDeadline(time.Now().Add(10 * time.Second))
					_, _ = io.Copy(io.Discard, c)
					_ = c.Close()
				}()
			}
		}()
		go func() { _ = (&http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}).Serve(h) }()
	}
	out := json.NewEncoder(os.Stdout)
	_ = out.Encode(ports)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		_ = out.Encode(targetCounts{seen.tcp.Load(), seen.http.Load()})
	}
	return 0
}

// targets is the running child.
type targets struct {
	targetPorts
	cmd   *exec.Cmd
	ask   io.WriteCloser
	reply *json.Decoder
}

// startTargets starts the child and waits until it listens.
func startTargets(ctx context.Context) (*targets, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	t := &targets{cmd: exec.CommandContext(ctx, self, "-serve")}
	t.cmd.Stderr = os.Stderr
	if t.ask, err = t.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := t.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := t.cmd.Start(); err != nil {
		return nil, err
	}
	t.reply = json.NewDecoder(out)
	if err := t.reply.Decode(&t.targetPorts); err != nil {
		return nil, fmt.Errorf("start targets: %w", err)
	}
	return t, nil
}

// counts asks what the targets have seen so far.
func (t *targets) counts() (c targetCounts, err error) {
	if _, err = io.WriteString(t.ask, "\n"); err == nil {
		err = t.reply.Decode(&c)
	}
	return c, err
}

// stop ends the child.
func (t *targets) stop() {
	_ = t.ask.Close()
	_ = t.cmd.Wait()
}
