package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// outcome is how an execution went, as a metric label.
type outcome string

const (
	fine      outcome = "ok"
	problem   outcome = "problem"   // the check found one
	timedOut  outcome = "timeout"   // it took too long
	failed    outcome = "error"     // it could not be carried out
	cancelled outcome = "cancelled" // we stopped it
)

var outcomes = [...]outcome{fine, problem, timedOut, failed, cancelled}

// answer is what a probe says. The state is a service's, unless judged says
// that it is already that of the object's kind.
type answer struct {
	state    object.State
	judged   bool
	outcome  outcome // "" = by the state
	output   string
	long     string
	perfdata string
	start    time.Time // zero = when it was asked to run
	took     time.Duration
	killed   bool // a program was killed at its timeout
	cut      bool // output was cut
}

func (a answer) as(o outcome) answer {
	a.outcome = o
	return a
}

// say makes an answer with the state's name in front, as plugins print it.
func say(s object.State, format string, args ...any) answer {
	return answer{state: s, output: s.Name(object.Service) + " - " + oneLine(fmt.Sprintf(format, args...))}
}

// unknown makes the answer of a check that could not be carried out.
func unknown(format string, args ...any) answer {
	return say(object.Unknown, format, args...).as(failed)
}

// oneLine keeps foreign text (banners, error texts) from breaking the line.
func oneLine(s string) string {
	if !strings.ContainsFunc(s, isControl) {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if isControl(r) {
			return ' '
		}
		return r
	}, s), "\uFFFD")
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// failure makes the answer of a check whose target did not do what it should.
// What names the step: "connect to 192.0.2.1:80".
func failure(ctx context.Context, req *Request, what string, err error) answer {
	switch {
	case ctx.Err() == context.Canceled:
		return unknown("%s: check stopped, jaque is stopping", what).as(cancelled)
	case ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded):
		return say(req.Settings.TimeoutState, "%s: no answer within %s", what, req.Timeout).as(timedOut)
	case local(err):
		return unknown("%s: %s on this machine; raise its limits or run fewer checks at once", what, reason(err))
	}
	return say(object.Critical, "%s: %s", what, reason(err))
}

// local tells whether the cause is on our side and says nothing of the target.
func local(err error) bool {
	for _, n := range [...]syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL} {
		if errors.Is(err, n) {
			return true
		}
	}
	return false
}

// reason returns the innermost cause in few words.
func reason(err error) string {
	var name *net.DNSError
	if errors.As(err, &name) {
		if name.IsNotFound {
			return fmt.Sprintf("name %s not found", name.Name)
		}
		return fmt.Sprintf("name %s not resolved: %s", name.Name, name.Err)
	}
	var sys syscall.Errno
	if errors.As(err, &sys) {
		return sys.Error()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "connection closed by the server"
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err.Error()
	}
	return err.Error()
}

// seconds formats a duration for texts and performance data.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 6, 64) }

// perf formats one item of performance data that cannot be negative.
func perf(label, value, unit, warn, crit string) string {
	return label + "=" + value + unit + ";" + warn + ";" + crit + ";0"
}
