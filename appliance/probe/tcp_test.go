package probe

import (
	"bufio"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// serveTCP answers every connection with a function until the test ends.
func serveTCP(t testing.TB, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				handle(c)
			}()
		}
	}()
	return l.Addr().String()
}

// closedPort returns an address on which nobody listens.
func closedPort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func tcp(c object.TCPCheck) object.Check { return object.Check{Kind: object.CheckTCP, TCP: &c} }

func TestTCP(t *testing.T) {
	r := open(t, Options{})
	echo := serveTCP(t, func(c net.Conn) {
		line, _ := bufio.NewReader(c).ReadString('\n')
		_, _ = io.WriteString(c, "you said "+line)
	})
	banner := serveTCP(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "220 mail")
		_, _ = io.WriteString(c, ".example.com\r\n\x1b[31m")
		_, _ = io.Copy(io.Discard, c)
	})
	flood := serveTCP(t, func(c net.Conn) {
		for {
			if _, err := c.Write(make([]byte, 1024)); err != nil {
				return
			}
		}
	})
	_, echoPort, _ := net.SplitHostPort(echo)
	closed := closedPort(t)
	for _, c := range []struct {
		name  string
		check object.TCPCheck
		state object.State
		parts []string
	}{
		{"a port that accepts", object.TCPCheck{Address: echo}, object.OK, []string{"OK - " + echo + " connected in 0.", "|time=0.", "s;;;0"}},
		{"the host's own address", object.TCPCheck{Address: ":" + echoPort}, object.OK, []string{"127.0.0.1:"}},
		{"a line and its answer", object.TCPCheck{Address: echo, Send: "hello", Expect: "said hello\r\n"}, object.OK, []string{"expected answer"}},
		{"another answer than expected", object.TCPCheck{Address: echo, Send: "hello", Expect: "bye"}, object.Critical, []string{`"you said hello\r\n" does not contain "bye"`}},
		{"a banner in two pieces", object.TCPCheck{Address: banner, Expect: "mail.example.com"}, object.OK, nil},
		{"an answer without end", object.TCPCheck{Address: flood, Expect: "x"}, object.Critical, []string{`"x" not in the first 4096 bytes`}},
		{"a port that is closed", object.TCPCheck{Address: closed}, object.Critical, []string{"CRITICAL - connect to " + closed + ": connection refused"}},
		{"slower than the warning threshold", object.TCPCheck{Address: echo, Warn: "0:0"}, object.Warning, []string{"s;0:0;;0"}},
		{"slower than the critical threshold", object.TCPCheck{Address: echo, Warn: "0:0", Crit: "0:0"}, object.Critical, []string{"s;0:0;0:0;0"}},
		{"a threshold that is none", object.TCPCheck{Address: echo, Warn: "fast"}, object.Unknown, []string{"warning threshold of tcp", `"fast"`}},
		{"an address without a port", object.TCPCheck{Address: "web01"}, object.Unknown, []string{`"web01" is not host:port; write for example`}},
		{"a name nobody knows", object.TCPCheck{Address: "nonesuch.invalid:80"}, object.Critical, []string{"nonesuch.invalid"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, do(t, r, tcp(c.check)), c.state, c.parts...)
		})
	}
}

func TestTCPEndsAtItsTimeout(t *testing.T) {
	r := open(t, Options{})
	silent := serveTCP(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	got := r.Do(t.Context(), Request{
		Object: testSvc, Check: tcp(object.TCPCheck{Address: silent, Expect: "x"}), Timeout: 150 * time.Millisecond,
	})
	expect(t, got, object.Critical, "no answer within 150ms")
	if got.Took < 150_000 || got.Took > 5_000_000 {
		t.Errorf("took %d µs", got.Took)
	}
}

func TestHostPort(t *testing.T) {
	bare := &object.Object{ID: "bare", Name: "bare", Rule: &object.Rule{}}
	for _, c := range []struct {
		of            *object.Object
		address, port string
		want, problem string
	}{
		{testSvc, "192.0.2.1:80", "", "192.0.2.1:80", ""},
		{testSvc, ":80", "", "127.0.0.1:80", ""},
		{testSvc, "[2001:db8::1]:80", "", "[2001:db8::1]:80", ""},
		{testSvc, "192.0.2.1", "53", "192.0.2.1:53", ""},
		{testSvc, "2001:db8::1", "53", "[2001:db8::1]:53", ""},
		{testSvc, "[2001:db8::1]", "53", "[2001:db8::1]:53", ""},
		{testSvc, "", "53", "127.0.0.1:53", ""},
		{testSvc, "192.0.2.1:", "", "", "has no port"},
		{testSvc, "192.0.2.1", "", "", "is not host:port"},
		{bare, ":80", "", "", "set the host's address"},
	} {
		got, err := hostPort(&Request{Object: c.of}, c.address, c.port)
		if got != c.want || (err != nil) != (c.problem != "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s, port %s: got %s, %v, want %s, %s", strconv.Quote(c.address), c.port, got, err, c.want, c.problem)
		}
	}
}
