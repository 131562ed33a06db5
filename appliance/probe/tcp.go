package probe

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// expectLimit is how much of an answer is searched for the expected text.
const expectLimit = 4 << 10

// tcp opens a connection and, if asked to, sends a line and expects an answer.
func (r *Runner) tcp(ctx context.Context, req *Request, c *object.TCPCheck) answer {
	l, err := parseLimits("tcp", c.Warn, c.Crit)
	if err != nil {
		return unknown("%v", err)
	}
	address, err := hostPort(req, c.Address, "")
	if err != nil {
		return unknown("%v", err)
	}
	start := time.Now()
	conn, err := r.dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return failure(ctx, req, "connect to "+address, err)
	}
	took := time.Since(start)
	defer func() { _ = conn.Close() }()
	if c.Send != "" || c.Expect != "" {
		if a, ok := converse(ctx, req, conn, c, address); !ok {
			return a
		}
	}
	text := " connected in "
	if c.Expect != "" {
		text = " gave the expected answer, connected in "
	}
	t := seconds(took)
	a := answer{state: l.judge(took.Seconds()), perfdata: perf("time", t, "s", c.Warn, c.Crit)}
	a.output = a.state.Name(object.Service) + " - " + address + text + t + "s"
	return a
}

// converse sends and expects; ok is false when the answer is a problem.
func converse(ctx context.Context, req *Request, conn net.Conn, c *object.TCPCheck, address string) (answer, bool) {
	// Ends of ctx, early ones too, break the blocking calls below.
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	if c.Send != "" {
		line := c.Send
		if !strings.HasSuffix(line, "\n") {
			line += "\r\n"
		}
		if _, err := io.WriteString(conn, line); err != nil {
			return failure(ctx, req, "send to "+address, err), false
		}
	}
	if c.Expect == "" {
		return answer{}, true
	}
	want := []byte(c.Expect)
	buf := make([]byte, 0, expectLimit)
	for !bytes.Contains(buf, want) {
		if len(buf) == cap(buf) {
			return say(object.Critical, "%s: %q not in the first %d bytes of the answer", address, c.Expect, expectLimit), false
		}
		n, err := conn.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		switch {
		case err == nil || bytes.Contains(buf, want):
		case errors.Is(err, io.EOF):
			return say(object.Critical, "%s: answer %q does not contain %q", address, brief(buf), c.Expect), false
		default:
			a := failure(ctx, req, "wait for "+address+" to say "+c.Expect, err)
			if len(buf) > 0 {
				a.long = "received so far: " + oneLine(brief(buf))
			}
			return a, false
		}
	}
	return answer{}, true
}

// brief cuts foreign bytes to what fits a line.
func brief(b []byte) string {
	const most = 120
	if len(b) > most {
		return string(b[:most]) + "…"
	}
	return string(b)
}

// hostPort completes an address: an empty host is the object's own address, a
// missing port is the default one.
func hostPort(req *Request, address, port string) (string, error) {
	host, p, err := net.SplitHostPort(address)
	if err != nil {
		if port == "" || strings.Count(address, ":") == 1 {
			return "", errors.New("address " + strconv.Quote(address) + " is not host:port; write for example \"192.0.2.10:22\" or \":22\"")
		}
		host, p = strings.Trim(address, "[]"), port
	}
	if host == "" {
		host = req.Object.HostObject().Address
	}
	if host == "" {
		return "", errors.New("address " + strconv.Quote(address) + " has no host and the host no address; set the host's address")
	}
	if p == "" {
		return "", errors.New("address " + strconv.Quote(address) + " has no port; write for example \"192.0.2.10:22\"")
	}
	return net.JoinHostPort(host, p), nil
}
