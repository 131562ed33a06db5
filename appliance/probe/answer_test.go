package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/object"
)

func TestForeignTextStaysOnOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"plain":             "plain",
		"two\r\nlines\tand": "two  lines and",
		"\x1b[31mred\x7f":   " [31mred ",
		"bad \xff byte":     "bad \uFFFD byte",
		"bad \xff\n line":   "bad \uFFFD  line",
		"größer ≥ 5":        "größer ≥ 5",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestOneLineIsAlwaysTextOnOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		got := oneLine(in)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, isControl) {
			t.Fatalf("got %q", got)
		}
		if again := oneLine(got); again != got {
			t.Fatalf("a second time gives %q", again)
		}
	})
}

func TestReasonsAreTheInnermostCause(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"a name that is not known", &net.OpError{Op: "dial", Err: &net.DNSError{Name: "h", IsNotFound: true}}, "name h not found"},
		{"a name that is not resolved", &net.DNSError{Name: "h", Err: "server misbehaving"}, "name h not resolved: server misbehaving"},
		{"a system call", &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, "connection refused"},
		{"an end", fmt.Errorf("read it: %w", io.ErrUnexpectedEOF), "connection closed by the server"},
		{"an operation without a number", &net.OpError{Op: "dial", Err: errors.New("no suitable address")}, "no suitable address"},
		{"anything else", errors.New("odd"), "odd"},
	} {
		if got := reason(c.err); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestFailuresTellWhoseFaultItWas(t *testing.T) {
	live := t.Context()
	stopped, cancel := context.WithCancel(live)
	cancel()
	late, end := context.WithDeadline(live, time.Unix(1, 0))
	defer end()
	req := &Request{Object: testSvc, Timeout: 3 * time.Second, Settings: &object.Settings{TimeoutState: object.Warning}}
	for _, c := range []struct {
		name    string
		ctx     context.Context
		err     error
		state   object.State
		outcome outcome
		text    string
	}{
		{"the target refuses", live, syscall.ECONNREFUSED, object.Critical, "", "CRITICAL - ask: connection refused"},
		{"we have no sockets left", live, syscall.EMFILE, object.Unknown, failed, "UNKNOWN - ask: too many open files on this machine; raise its limits or run fewer checks at once"},
		{"the time is over", late, io.EOF, object.Warning, timedOut, "WARNING - ask: no answer within 3s"},
		{"a deadline of the connection is over", live, os.ErrDeadlineExceeded, object.Warning, timedOut, "WARNING - ask: no answer within 3s"},
		{"jaque is stopping", stopped, io.EOF, object.Unknown, cancelled, "UNKNOWN - ask: check stopped, jaque is stopping"},
	} {
		if a := failure(c.ctx, req, "ask", c.err); a.state != c.state || a.outcome != c.outcome || a.output != c.text {
			t.Errorf("%s: got %+v", c.name, a)
		}
	}
}

func TestServiceStatesOfHosts(t *testing.T) {
	plain, aggressive := object.Settings{}, object.Settings{AggressiveHostChecking: true}
	for _, c := range []struct {
		in       object.State
		settings *object.Settings
		want     object.State
	}{
		{object.OK, &plain, object.Up},
		{object.Warning, &plain, object.Up},
		{object.Warning, &aggressive, object.Down},
		{object.Critical, &plain, object.Down},
		{object.Unknown, &plain, object.Down},
	} {
		if got := stateFor(&Request{Object: testHost, Settings: c.settings}, c.in); got != c.want {
			t.Errorf("%v: got %v, want %v", c.in, got, c.want)
		}
		if got := stateFor(&Request{Object: testSvc, Settings: c.settings}, c.in); got != c.in {
			t.Errorf("a service's %v became %v", c.in, got)
		}
	}
}

func TestAddressesAreCompleted(t *testing.T) {
	bare := &object.Object{ID: "bare", Name: "bare", Rule: &object.Rule{}}
	for _, c := range []struct {
		name, address, port string
		object              *object.Object
		want, problem       string
	}{
		{"whole", "192.0.2.1:22", "", testSvc, "192.0.2.1:22", ""},
		{"the object's own address", ":22", "", testSvc, "127.0.0.1:22", ""},
		{"the default port", "192.0.2.1", "443", testSvc, "192.0.2.1:443", ""},
		{"nothing but a default port", "", "443", testSvc, "127.0.0.1:443", ""},
		{"version 6 with the default port", "2001:db8::1", "443", testSvc, "[2001:db8::1]:443", ""},
		{"version 6 in brackets", "[2001:db8::1]", "443", testSvc, "[2001:db8::1]:443", ""},
		{"no port", "192.0.2.1", "", testSvc, "", `is not host:port; write for example "192.0.2.10:22"`},
		{"an empty port", "192.0.2.1:", "", testSvc, "", "has no port"},
		{"no address anywhere", ":22", "", bare, "", "set the host's address"},
	} {
		got, err := hostPort(&Request{Object: c.object}, c.address, c.port)
		if got != c.want || (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: got %q, %v", c.name, got, err)
		}
	}
}

func TestFilesThatCannotBePlugins(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "check_it")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := unusable(filepath.Join(file, "below")); got != "cannot be looked at: not a directory" {
		t.Errorf("got %q", got)
	}
	_, err := newFinder([]string{folder}).find("check_it")
	if err == nil || !strings.Contains(err.Error(), file+" is not executable") {
		t.Errorf("got %v", err)
	}
}

func TestBriefKeepsTheBeginning(t *testing.T) {
	if got := brief([]byte("short")); got != "short" {
		t.Errorf("got %q", got)
	}
	if got := brief([]byte(strings.Repeat("x", 200))); got != strings.Repeat("x", 120)+"…" {
		t.Errorf("got %q", got)
	}
}

func TestNotesJoinTheLongOutput(t *testing.T) {
	if got := note("", "(%d)", 1); got != "(1)" {
		t.Errorf("got %q", got)
	}
	if got := note("a", "(%d)", 1); got != "a\n(1)" {
		t.Errorf("got %q", got)
	}
}
