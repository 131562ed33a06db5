package bus

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"jaque.sh/jaque/appliance/throttle"
)

// serverLog hands the server's lines to slog. Its sentences are the message's
// value, not the message, so that our log keeps constant messages.
type serverLog struct {
	log   *slog.Logger
	warns func() // counts warnings and errors of the server
	lines throttle.Lines

	mu    sync.Mutex
	fatal error
	onEnd func(error)
	onErr func(line string)
}

func (l *serverLog) write(level slog.Level, format string, v []any) {
	ctx := context.Background()
	if level >= slog.LevelWarn {
		l.warns()
	}
	if l.log.Enabled(ctx, level) {
		l.log.Log(ctx, level, "log server says", "text", fmt.Sprintf(format, v...))
	}
}

// Noticef logs what the server thinks is worth a notice; to an operator of jaque
// it is detail.
func (l *serverLog) Noticef(format string, v ...any) { l.write(slog.LevelDebug, format, v) }

// Warnf logs a warning.
func (l *serverLog) Warnf(format string, v ...any) {
	line := fmt.Sprintf(format, v...)
	for _, known := range expected {
		if strings.HasPrefix(line, known) {
			l.write(slog.LevelDebug, format, v)
			return
		}
	}
	l.write(slog.LevelWarn, format, v)
}

// expected are warnings about what jaque does on purpose, or says itself.
var expected = []string{
	"Waiting for routing to be established", // see Bus.open
	"JetStream has not established contact with a meta leader",
	"TLS certificate chain and hostname of solicited routes", // see peerTLS
	"JetStream cluster detected stream remapping",            // see adjust
	"JetStream cluster could not replace peer",
	"Catchup for stream",
	"Did not receive all stream info results",
	"Metalayer blocking snapshot",
}

// Errorf logs an error and passes it to whoever judges what it means.
//
// What a client does wrong is no error of ours, and its line holds words of the
// client, which must not pass for those of the server. It may do it often: of what a
// client does on any subject one line a minute is written.
func (l *serverLog) Errorf(format string, v ...any) {
	if l.aboutPeer(format, v) {
		return
	}
	if client, ok := aboutClient(format, v); ok {
		l.warns()
		if left, ok := l.lines.Let(client); ok {
			l.log.Warn("log server says", "text", fmt.Sprintf(format, v...), "left_out", left)
		}
		return
	}
	l.write(slog.LevelError, format, v)
	l.mu.Lock()
	onErr := l.onErr
	l.mu.Unlock()
	if onErr != nil {
		onErr(fmt.Sprintf(format, v...))
	}
}

// aboutPeer writes a line about a connection to another member of a cluster, once a
// minute for each kind, and tells whether it was one. A peer that is away or refused
// is no error of this server's store.
func (l *serverLog) aboutPeer(format string, v []any) bool {
	line := fmt.Sprintf(format, v...)
	if !strings.Contains(line, " - rid:") && !strings.Contains(line, " - lid:") && !strings.Contains(line, "to route") && !strings.Contains(line, "route connection") {
		return false
	}
	says := peerSays
	for _, k := range peerLines {
		if strings.Contains(line, k.has) {
			says = k.says
			break
		}
	}
	l.warns()
	kind := says
	if i := strings.LastIndex(line, "Remote: "); i >= 0 {
		kind += line[i:]
	}
	if left, ok := l.lines.Let("peer " + kind); ok {
		l.log.Warn("a peer of the cluster", "what", says, "text", line, "left_out", left)
	}
	return true
}

const (
	peerSays   = "the log server says of it"
	silentPeer = "it takes connections and does not answer on them in time, or hung up: its process is stopped, starting or too busy, or it cannot reach this one"
)

// peerLines are what the server says of peers, and what that means.
var peerLines = []struct{ has, says string }{
	{removedForGood, "refused: it was removed from the cluster; stop it, move its data folder away, and join again with an empty one"},
	{"remote error: tls: bad certificate", "refused by the other one: this member was removed from the cluster, or one of the two has no certificate of the other's cluster authority"},
	{"handshake error: read tcp", silentPeer}, // it said nothing in time, or hung up
	{"handshake error: write tcp", silentPeer},
	{"handshake error: EOF", silentPeer},
	{"handshake error: context deadline exceeded", silentPeer},
	{"handshake error", "refused: one of the two has no certificate of the other's cluster authority"},
	{"cluster name", "refused: it belongs to a cluster of another name"},
	{"duplicate name", "refused: a member with its name is here already; give each its own -engine-id"},
	{"trying to connect to route", "it cannot be reached, trying again"},
}

// aboutClient tells whether a line begins with the address and number of a client's
// connection, and what it says without the number, the port and the subject.
func aboutClient(format string, v []any) (what string, ok bool) {
	line := format
	if strings.Contains(format, "%") {
		line = fmt.Sprintf(format, v...)
	}
	from, rest, ok := strings.Cut(line, " - ")
	if !ok || !strings.HasPrefix(rest, "cid:") {
		return "", false
	}
	if i := strings.LastIndexByte(from, ':'); i >= 0 {
		from = from[:i]
	}
	_, says, _ := strings.Cut(rest, " - ")
	says, _, _ = strings.Cut(says, ", Subject ")
	return from + " " + says, true
}

// Debugf logs at debug level.
func (l *serverLog) Debugf(format string, v ...any) { l.write(slog.LevelDebug, format, v) }

// Tracef logs at debug level; tracing is never switched on.
func (l *serverLog) Tracef(format string, v ...any) { l.write(slog.LevelDebug, format, v) }

// Fatalf reports that the server cannot go on. It does not end the process:
// whoever waits for the bus sees it end and ends the process in order.
func (l *serverLog) Fatalf(format string, v ...any) {
	l.write(slog.LevelError, format, v)
	l.fail(fmt.Errorf(format, v...))
}

func (l *serverLog) fail(err error) {
	l.mu.Lock()
	if l.fatal == nil {
		l.fatal = err
	}
	onEnd := l.onEnd
	l.mu.Unlock()
	if onEnd != nil {
		onEnd(fmt.Errorf("log server failed: %w", err))
	}
}

func (l *serverLog) failed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fatal
}

// notify names who is told of a failure from now on.
func (l *serverLog) notify(onEnd func(error)) {
	l.mu.Lock()
	l.onEnd = onEnd
	l.mu.Unlock()
}

// complain names who is told of every error line from now on.
func (l *serverLog) complain(onErr func(line string)) {
	l.mu.Lock()
	l.onErr = onErr
	l.mu.Unlock()
}
