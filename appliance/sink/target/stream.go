package target

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// stream writes batches to a receiver that never answers. Each batch has a
// connection of its own: after the last byte jaque ends its direction and waits for
// the other side to end hers, which it does when it has read all. A receiver that
// dies before has the system refuse what it has not read, which is an error.
// Without that a batch that only filled buffers would count as taken.
type stream struct {
	network string // tcp, tls
	address string
	tls     *tls.Config
	confirm bool
}

// newStream reads the address, "host:port", "tcp://host:port" or "tls://host:port",
// and whether the end of a connection is waited for.
func newStream(u *Setup, s *settings, example string) *stream {
	text := s.need("address", example)
	network, address, found := strings.Cut(text, "://")
	if !found {
		network, address = "tcp", text
	}
	host, port, err := net.SplitHostPort(address)
	if text != "" && (err != nil || host == "" || port == "" || network != "tcp" && network != "tls") {
		s.bad("address", "%q is none; write %q", text, example)
	}
	return &stream{network, address, &tls.Config{RootCAs: u.Roots, ServerName: host, MinVersion: tls.VersionTLS12}, s.flag("confirm", true)}
}

func (t *stream) dial(ctx context.Context) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if t.network == "tls" {
		return (&tls.Dialer{NetDialer: dialer, Config: t.tls}).DialContext(ctx, "tcp", t.address)
	}
	return dialer.DialContext(ctx, "tcp", t.address)
}

// write hands data over and returns what the other side said, if it did.
func (t *stream) write(ctx context.Context, data []byte) (n int, said string, err error) {
	conn, err := t.dial(ctx)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = conn.Close() }() // has been confirmed, or is an error already
	if end, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(end) // a connection that is broken says so when it is used
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	type heard struct {
		text string
		err  error
	}
	end := make(chan heard, 1)
	go func() {
		const most = 4096
		text, err := io.ReadAll(io.LimitReader(conn, most))
		if err == nil && len(text) == most {
			_, err = io.Copy(io.Discard, conn) // so that the other side is never held up
		}
		end <- heard{string(text), err}
	}()
	if n, err = conn.Write(data); err != nil {
		return n, "", t.explain(err)
	}
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		if err := half.CloseWrite(); err != nil {
			return n, "", t.explain(err)
		}
	}
	if !t.confirm {
		return n, "", nil
	}
	h := <-end
	return n, h.text, t.explain(h.err)
}

// explain says what an error of a connection means for a batch.
func (t *stream) explain(err error) error {
	var timeout net.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%s has not read the batch and ended the connection in time; if it never does, write confirm: false", t.address)
	}
	return fmt.Errorf("%s ended the connection before it had read the batch: %w", t.address, err)
}
