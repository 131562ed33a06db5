package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// faultNet is a switch with a network namespace for each machine. It is no part of the
// network of the machine that runs the test.
type faultNet struct {
	t    *testing.T
	name string // of all its namespaces, with a suffix each
	n    int
}

// newFaultNet makes the namespaces. They go with the test.
func newFaultNet(t *testing.T, machines int) *faultNet {
	t.Helper()
	n := &faultNet{t: t, name: fmt.Sprintf("jaque-%d", os.Getpid()), n: machines}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Fatal("this test needs the program ip (Debian: iproute2), with which it makes network namespaces: ", err)
	}
	if err := n.try("netns", "add", n.space(0)); err != nil {
		t.Fatalf("this test puts three appliances on a network of their own and may not make network namespaces here; run it as root on Linux: %v", err)
	}
	t.Cleanup(func() {
		for i := range machines + 1 {
			_ = n.try("netns", "del", n.space(i))
		}
	})
	n.ip("-n", n.space(0), "link", "add", "switch", "type", "bridge")
	n.ip("-n", n.space(0), "link", "set", "switch", "up")
	for i := 1; i <= machines; i++ {
		n.ip("netns", "add", n.space(i))
		n.ip("-n", n.space(i), "link", "add", "net", "type", "veth", "peer", "name", port(i), "netns", n.space(0))
		n.ip("-n", n.space(0), "link", "set", port(i), "master", "switch", "up")
		n.ip("-n", n.space(i), "addr", "add", n.address(i)+"/24", "dev", "net")
		n.ip("-n", n.space(i), "link", "set", "net", "up")
		n.ip("-n", n.space(i), "link", "set", "lo", "up")
	}
	return n
}

// space is the namespace of a machine, 0 = of the switch.
func (n *faultNet) space(i int) string { return fmt.Sprintf("%s-%d", n.name, i) }

// address is that of a machine; these addresses are for documentation and lead nowhere.
func (n *faultNet) address(i int) string { return fmt.Sprintf("192.0.2.%d", i) }

func port(i int) string { return fmt.Sprintf("port%d", i) }

func (n *faultNet) try(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

func (n *faultNet) ip(args ...string) {
	n.t.Helper()
	if err := n.try(args...); err != nil {
		n.t.Fatal(err)
	}
}

// unplug takes a machine off the switch: what it sends vanishes, and what is sent to it.
func (n *faultNet) unplug(i int) {
	n.t.Helper()
	n.ip("-n", n.space(0), "link", "set", port(i), "nomaster")
}

func (n *faultNet) plug(i int) {
	n.t.Helper()
	n.ip("-n", n.space(0), "link", "set", port(i), "master", "switch")
}

// deafen makes what one machine sends to another vanish, without an error and in this
// direction only: it goes to a card that nobody has.
func (n *faultNet) deafen(from, to int) {
	n.t.Helper()
	n.ip("-n", n.space(from), "neigh", "replace", n.address(to), "lladdr", "02:00:00:00:00:fe", "dev", "net", "nud", "permanent")
}

func (n *faultNet) hear(from, to int) {
	n.t.Helper()
	n.ip("-n", n.space(from), "neigh", "del", n.address(to), "dev", "net")
}

// within runs fn in the namespace of a machine; the sockets that fn makes belong there.
func (n *faultNet) within(i int, fn func() error) error {
	there, err := os.Open("/run/netns/" + n.space(i))
	if err != nil {
		return err
	}
	defer func() { _ = there.Close() }()
	runtime.LockOSThread()
	here, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer func() { _ = here.Close() }()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return err
	}
	err = fn()
	if back := unix.Setns(int(here.Fd()), unix.CLONE_NEWNET); back != nil {
		return back // the thread stays locked and ends with its goroutine
	}
	runtime.UnlockOSThread()
	return err
}

// dial connects to an address of a machine, from the machine itself: no fault of the
// network is between.
func (n *faultNet) dial(ctx context.Context, i int, address string) (c net.Conn, err error) {
	err = n.within(i, func() error {
		c, err = (&net.Dialer{}).DialContext(ctx, "tcp4", address)
		return err
	})
	return c, err
}

// listen listens at an address of a machine.
func (n *faultNet) listen(i int, address string) (l net.Listener, err error) {
	err = n.within(i, func() error {
		l, err = (&net.ListenConfig{}).Listen(n.t.Context(), "tcp4", address)
		return err
	})
	return l, err
}
