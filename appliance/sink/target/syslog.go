package target

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/sink"
	"jaque.sh/jaque/appliance/sink/encode"
)

// facilities are the names of RFC 5424's facilities by number; constant.
var facilities = []string{
	"kern", "user", "mail", "daemon", "auth", "syslog", "lpr", "news", "uucp", "cron", "authpriv", "ftp", "ntp", "security", "console", "clock",
	"local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7",
}

// newSyslog makes a target of RFC 5424: tcp:// and tls:// with counted octets, and
// udp:// and unix:// with a message in each packet.
func newSyslog(u *Setup, s *settings) (sink.Target, error) {
	form := encode.Syslog{
		Facility: slices.Index(facilities, s.text("facility", "daemon")),
		Hostname: s.text("hostname", u.Hostname), App: s.text("app", "jaque"), ProcID: strconv.Itoa(os.Getpid()),
	}
	if form.Facility < 0 {
		s.bad("facility", "%q is none; write one of %s", s.all["facility"], strings.Join(facilities, ", "))
	}
	whole := s.oneOf("message", "text", "json") == "json"
	network, address, found := strings.Cut(s.all["address"], "://")
	if found && (network == "udp" || network == "unix") {
		s.need("address", "udp://127.0.0.1:514")
		if address == "" {
			s.bad("address", `it is no place; write "udp://127.0.0.1:514" or "unix:///dev/log"`)
		}
		most := s.whole("max_message", 8192, 480, 65000)
		return &packets{form: form, whole: whole, network: network, address: address, most: most}, nil
	}
	return &syslogStream{stream: newStream(u, s, "tcp://127.0.0.1:601"), form: form, whole: whole}, nil
}

// message appends one event as a message.
func message(dst []byte, form *encode.Syslog, d *sink.Document, whole bool) []byte {
	if whole {
		return form.Message(dst, &d.Event, d.JSON)
	}
	return form.Message(dst, &d.Event, nil)
}

type syslogStream struct {
	*stream
	form     encode.Syslog
	whole    bool
	buf, one []byte
}

// Write sends one batch over a connection of its own.
func (t *syslogStream) Write(ctx context.Context, b *sink.Batch) (int, error) {
	t.buf = t.buf[:0]
	for i := range b.Events {
		t.one = message(t.one[:0], &t.form, &b.Events[i], t.whole)
		t.buf = encode.Frame(t.buf, t.one)
	}
	n, _, err := t.write(ctx, t.buf)
	return n, err
}

func (t *syslogStream) Close() error { return nil }

// packets sends each message by itself. Nobody confirms them: what the network or a
// full receiver loses is lost.
type packets struct {
	form             encode.Syslog
	whole            bool
	network, address string
	most             int // bytes of a message
	conn             net.Conn
	buf              []byte
}

// Write sends one batch. After an error all of it is sent again.
func (t *packets) Write(ctx context.Context, b *sink.Batch) (n int, err error) {
	if t.conn == nil {
		if t.conn, err = t.dial(ctx); err != nil {
			return 0, err
		}
	}
	if end, ok := ctx.Deadline(); ok {
		_ = t.conn.SetDeadline(end) // a socket that is broken says so when it is used
	}
	for i := range b.Events {
		t.buf = message(t.buf[:0], &t.form, &b.Events[i], t.whole)
		if t.network == "unixstream" {
			t.buf = append(t.buf, '\n')
		}
		sent, err := t.conn.Write(t.buf[:min(len(t.buf), t.most)])
		n += sent
		if err != nil {
			return n, errors.Join(fmt.Errorf("send to %s: %w", t.address, err), t.Close())
		}
	}
	return n, nil
}

// dial opens the socket; the one of a machine's own log may take packets or a stream.
func (t *packets) dial(ctx context.Context) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if t.network == "udp" {
		return dialer.DialContext(ctx, "udp", t.address)
	}
	conn, err := dialer.DialContext(ctx, "unixgram", t.address)
	if err == nil {
		return conn, nil
	}
	conn, second := dialer.DialContext(ctx, "unix", t.address)
	if second != nil {
		return nil, err
	}
	t.network = "unixstream"
	return conn, nil
}

func (t *packets) Close() error {
	if t.conn == nil {
		return nil
	}
	err := t.conn.Close()
	t.conn = nil
	return err
}
