package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/listen/listentest"
)

// outside is another program that serves on an address of its own.
type outside struct {
	t       *testing.T
	program string
	args    []string
	env     []string
	ask     string // path that answers once it serves; "" = the port is looked at
	address string
	running *exec.Cmd
	said    *bytes.Buffer
}

// newOutside returns nil if the program is not installed.
func newOutside(t *testing.T, program, ask string) *outside {
	t.Helper()
	if _, err := os.Stat(program); err != nil {
		t.Logf("no %s here: what is said about it is not tried", program)
		return nil
	}
	return &outside{t: t, program: program, ask: ask, address: listentest.Address(t)}
}

// start runs the program and waits until it serves.
func (o *outside) start() {
	o.t.Helper()
	o.said = &bytes.Buffer{}
	o.running = exec.Command(o.program, o.args...)
	o.running.Env = append(os.Environ(), o.env...)
	o.running.Stdout, o.running.Stderr = o.said, o.said
	o.running.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := o.running.Start(); err != nil {
		o.t.Fatal(err)
	}
	o.t.Cleanup(o.stop)
	o.eventually("it serves", func() bool {
		if o.ask != "" {
			return o.get(o.ask, nil) != nil
		}
		conn, err := net.Dial("tcp", o.address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

// stop ends the program as its administrator would.
func (o *outside) stop() {
	if o.running == nil {
		return
	}
	_ = o.running.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	_ = o.running.Wait()
	o.running = nil
}

// ending stops the program and returns what it said.
func (o *outside) ending() string {
	o.stop()
	return o.said.String()
}

func (o *outside) eventually(what string, holds func() bool) {
	o.t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			o.t.Fatalf("%s: waited in vain until %s:\n%s", o.program, what, o.ending())
		}
	}
}

// get asks over HTTP; nil = there is no good answer.
func (o *outside) get(path string, query url.Values) []byte {
	res, err := (&http.Client{Timeout: 10 * time.Second}).Get("http://" + o.address + path + "?" + query.Encode())
	if err != nil {
		return nil
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode/100 != 2 {
		return nil
	}
	return append([]byte{}, body...)
}
