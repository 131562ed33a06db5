package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// faultMember is an appliance on a machine of its own. Like a service manager it starts
// anew what ends by itself.
type faultMember struct {
	t      *testing.T
	net    *faultNet
	n      int // from 1
	data   string
	log    string     // file
	clock  string     // file with what its wall clock is off by
	disk   *faultDisk // nil = that of the test
	more   []string   // arguments
	client *http.Client

	mu      sync.Mutex
	cmd     *exec.Cmd
	done    chan struct{} // the present process has ended
	wanted  bool          // it is to run
	pids    []int         // of all its processes, in order
	crashes []string      // how it has ended by itself
}

const faultAPI = "127.0.0.1:8080"

func (m *faultMember) id() string { return fmt.Sprintf("m%d", m.n) }

// program is a command of the program on the member's machine.
func (m *faultMember) program(args ...string) *exec.Cmd {
	c := command(m.t, args...)
	c.Args = append([]string{"ip", "netns", "exec", m.net.space(m.n), c.Path}, args...)
	c.Path, _ = exec.LookPath("ip")
	c.Env = append(c.Env, movedClock+"="+m.clock)
	return c
}

// say runs a command to its end and returns what it has written.
func (m *faultMember) say(args ...string) (string, error) {
	var out, errs bytes.Buffer
	c := m.program(args...)
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("jaque %s: %w: %s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSpace(out.String()), nil
}

// start starts the process and keeps it running until stop or kill.
func (m *faultMember) start() {
	m.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wanted = true
	m.launch()
}

// launch starts a process; m.mu is held.
func (m *faultMember) launch() {
	log, err := os.OpenFile(m.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		m.t.Error(err)
		return
	}
	c := m.program(append([]string{"-data", m.data, "-listen", faultAPI, "-log-format", "json"}, m.more...)...)
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		m.t.Errorf("start %s: %v", m.id(), err)
		return
	}
	done := make(chan struct{})
	m.cmd, m.done, m.pids = c, done, append(m.pids, c.Process.Pid)
	go func() {
		_ = c.Wait()
		_ = log.Close()
		close(done)
		m.ended(c)
	}()
}

// ended starts a process that has ended by itself anew, a second later.
func (m *faultMember) ended(c *exec.Cmd) {
	m.mu.Lock()
	again := m.wanted && m.cmd == c
	if again {
		m.crashes = append(m.crashes, fmt.Sprintf("%s %s%s: %s", time.Now().Format("15:04:05.000"), c.ProcessState, m.lingered(time.Now()), m.lastWords()))
	}
	m.mu.Unlock()
	if !again {
		return
	}
	select {
	case <-m.t.Context().Done():
		return
	case <-time.After(time.Second):
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.wanted && m.cmd == c {
		m.launch()
	}
}

// text is what the member has logged.
func (m *faultMember) text() string {
	data, _ := os.ReadFile(m.log)
	return string(data)
}

// tail is the end of it.
func (m *faultMember) tail() string {
	text := m.text()
	return text[max(0, len(text)-4000):]
}

// lingered says how long the process went on after it had noticed that it must end.
func (m *faultMember) lingered(ended time.Time) string {
	data, _ := os.ReadFile(m.data + ".log")
	lines := strings.Split(string(data[max(0, len(data)-20_000):]), "\n")
	for _, line := range slices.Backward(lines) {
		var said struct {
			Time time.Time
			Msg  string
		}
		if json.Unmarshal([]byte(line), &said) == nil && said.Msg == "service ended by itself, stopping the process" {
			return fmt.Sprintf(", %s after it noticed", ended.Sub(said.Time).Round(time.Millisecond))
		}
	}
	return ""
}

// lastWords is what the process has written at its end.
func (m *faultMember) lastWords() string {
	lines := strings.Split(strings.TrimSpace(m.tail()), "\n")
	for _, line := range lines {
		if strings.HasPrefix(line, "panic:") || strings.HasPrefix(line, "fatal error:") {
			return line
		}
	}
	return lines[len(lines)-1]
}

// end sends a signal after which the process is to end, and waits until it has. A process
// that does not end within patience is killed.
func (m *faultMember) end(sig syscall.Signal, patience time.Duration) error {
	m.mu.Lock()
	m.wanted = false
	c, done := m.cmd, m.done
	m.mu.Unlock()
	_ = c.Process.Signal(syscall.SIGCONT)
	_ = c.Process.Signal(sig)
	select {
	case <-done:
		return nil
	case <-time.After(patience):
		_ = c.Process.Kill()
		<-done
		return fmt.Errorf("%s did not end within %s of %s", m.id(), patience, sig)
	}
}

// signal sends a signal to the process, if it runs.
func (m *faultMember) signal(sig syscall.Signal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_ = m.cmd.Process.Signal(sig)
}

// ran tells whether a process id was one of this member's.
func (m *faultMember) ran(pid int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.pids {
		if p == pid {
			return true
		}
	}
	return false
}

// ask sends a request to the member's API and returns its answer.
func (m *faultMember) ask(ctx context.Context, method, path, body string) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+faultAPI+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := m.client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), err
}

// holds tells whether a page holds a text now.
func (m *faultMember) holds(path, text string) bool {
	ctx, cancel := context.WithTimeout(m.t.Context(), 5*time.Second)
	defer cancel()
	_, page, err := m.ask(ctx, http.MethodGet, path, "")
	return err == nil && strings.Contains(page, text)
}

// errNotSent says that the request has not reached the process.
var errNotSent = errors.New("not sent")

// newFaultMember is a member that is not founded yet.
func newFaultMember(t *testing.T, n *faultNet, i int, dir string, args ...string) *faultMember {
	m := &faultMember{t: t, net: n, n: i, data: filepath.Join(dir, fmt.Sprintf("m%d", i)), more: args}
	m.log, m.clock = m.data+".log", m.data+".clock"
	m.setClock(0)
	m.client = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			c, err := n.dial(ctx, i, address)
			if err != nil {
				err = fmt.Errorf("%w: %w", errNotSent, err)
			}
			return c, err
		},
		DisableKeepAlives: true, // a request that was not sent is known not to be
	}}
	t.Cleanup(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.wanted = false; m.cmd != nil {
			_ = m.cmd.Process.Kill()
		}
	})
	return m
}
