package channel

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/mail"
	"net/textproto"
	"os"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"jaque.sh/jaque/appliance/rule/message"
	"jaque.sh/jaque/appliance/rule/veil"
)

// talkLimit is how many bytes a mail server may say for one mail: it has nothing
// to tell us that is long.
const talkLimit = 512 << 10

// answerLimit is how many characters of an answer stand in an error.
const answerLimit = 300

// session is one connection to the mail server, for one mail. Every step has a
// deadline of its own and ends with the context.
type session struct {
	email   *Email
	ctx     context.Context
	conn    *meteredConn
	client  *smtp.Client
	stop    func() bool // takes back what the end of the context would do
	secure  bool
	mayHave bool      // the mail is with the server, only the answer is missing
	began   time.Time // of the step that goes on
	secrets []string  // what was said to sign in
}

// meteredConn stops reading from a server that never ends.
type meteredConn struct {
	net.Conn
	left int
}

var errTalk = fmt.Errorf("the server says more than %d KiB; that is no mail server", talkLimit>>10)

func (c *meteredConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTalk
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// dial connects. The session ends with ctx.
func (e *Email) dial(ctx context.Context) (*session, error) {
	s := &session{email: e, ctx: ctx, began: time.Now()}
	within, cancel := context.WithTimeout(ctx, e.o.Step)
	defer cancel()
	conn, err := e.dialer(within, "tcp", e.server())
	if err != nil {
		return nil, s.failed("connect", err)
	}
	s.conn = &meteredConn{conn, talkLimit}
	// The end of the context ends whatever waits for the server.
	s.stop = context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	return s, nil
}

// patience gives the next step its time.
func (s *session) patience(d time.Duration) {
	s.began = time.Now()
	s.conn.SetDeadline(time.Now().Add(d))
	if s.ctx.Err() != nil {
		s.conn.SetDeadline(time.Unix(1, 0))
	}
}

func (s *session) close() {
	s.stop()
	s.conn.Close()
}

// step runs one step of the dialogue and says which one failed.
func (s *session) step(name string, do func() error) error {
	s.patience(s.email.o.Step)
	if err := do(); err != nil {
		return s.failed(name, err)
	}
	return nil
}

// open gets as far as the server takes mail from us: greeting, encryption, sign-in.
func (s *session) open() error {
	o := &s.email.o
	var conn net.Conn = s.conn
	if o.TLS == tlsFull {
		secured := tls.Client(s.conn, s.email.tlsConfig())
		if err := s.step("TLS", func() error { return secured.HandshakeContext(s.ctx) }); err != nil {
			return err
		}
		conn, s.secure = secured, true
	}
	err := s.step("greeting", func() (err error) {
		s.client, err = smtp.NewClient(conn, o.Host)
		return err
	})
	if err == nil {
		err = s.step("EHLO", func() error { return s.client.Hello(s.email.hello) })
	}
	if err == nil && o.TLS == tlsStart {
		err = s.startTLS()
	}
	if err == nil && o.User != "" {
		err = s.signIn()
	}
	return err
}

func (s *session) startTLS() error {
	if offered, _ := s.client.Extension("STARTTLS"); !offered {
		return s.failed("STARTTLS", errors.New(`the server does not offer encryption, so nothing is sent; set -smtp-tls to "tls" if the port expects it from the start, or to "none" to send in the clear`))
	}
	err := s.step("STARTTLS", func() error { return s.client.StartTLS(s.email.tlsConfig()) })
	s.secure = err == nil
	return err
}

// deliver hands the mail over and returns why some of several recipients were
// refused. A recipient who is refused for now keeps the mail from all, so that the
// next try reaches everybody and nobody twice.
func (s *session) deliver(from string, to []*mail.Address, msg *gomail.Msg) (refused []error, err error) {
	if err := s.step("MAIL FROM "+from, func() error { return s.client.Mail("<" + from + ">") }); err != nil {
		return nil, err
	}
	for _, a := range to {
		err := s.step("RCPT TO", func() error {
			err := s.client.Rcpt("<" + a.Address + ">")
			if answer := (*textproto.Error)(nil); errors.As(err, &answer) {
				return aboutRecipient{a.Address, answer} // only then it is about the address
			}
			return err
		})
		var e *Error
		switch {
		case errors.As(err, &e) && e.Permanent:
			refused = append(refused, err)
		case err != nil:
			return nil, err
		}
	}
	if len(refused) == len(to) {
		return nil, &Error{Err: errors.Join(refused...), Permanent: true}
	}
	var w io.WriteCloser
	err = s.step("DATA", func() (err error) {
		w, err = s.client.Data()
		return err
	})
	if err == nil {
		err = s.step("sending the mail", func() error {
			_, err := msg.WriteTo(w)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	if err = s.finish(w); err != nil {
		return nil, err
	}
	// The mail has been taken; how the server says good-bye changes nothing.
	s.patience(min(s.email.o.Step, time.Second))
	_ = s.client.Quit()
	return refused, nil
}

// finish ends the mail and waits for the answer, as long as we may: giving up here
// may mean that the mail arrives twice.
func (s *session) finish(w io.Closer) error {
	s.mayHave = true
	wait := 5 * time.Minute
	if t, ok := s.ctx.Deadline(); ok {
		wait = time.Until(t)
	}
	s.patience(wait)
	if err := w.Close(); err != nil {
		return s.failed("end of the mail", err)
	}
	return nil
}

// aboutRecipient is what a server answers to the address of a recipient.
type aboutRecipient struct {
	address string
	answer  *textproto.Error
}

func (a aboutRecipient) Error() string { return a.address + ": " + a.answer.Error() }
func (a aboutRecipient) Unwrap() error { return a.answer }

// failed says where the dialogue broke off and why, and whether trying again can
// help.
func (s *session) failed(step string, err error) error {
	v := veil.New(s.secrets...)
	why := errors.New(v.Clean(message.Line(err.Error(), answerLimit)))
	var answer *textproto.Error
	var about aboutRecipient
	e := &Error{}
	switch {
	case errors.As(err, &answer):
		if errors.As(err, &about) {
			step += " " + about.address
		}
		why = fmt.Errorf("the server says %s", v.Clean(message.Line(answer.Error(), answerLimit)))
		e.Permanent = refusal(step, answer.Code)
	case s.ctx.Err() != nil:
		why = fmt.Errorf("no time is left after waiting %s: %w", waited(time.Since(s.began)), context.Cause(s.ctx))
	case errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded):
		why = fmt.Errorf("no answer within %s: %w", waited(time.Since(s.began)), context.DeadlineExceeded)
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		why = errors.New("the server closed the connection")
	}
	if s.mayHave && answer == nil {
		e.MayHaveArrived = true
		why = fmt.Errorf("%w; the mail may have arrived", why)
	}
	e.Err = fmt.Errorf("mail server %s: %s: %w", s.email.server(), step, why)
	return e
}

// refusal tells whether an answer is about this mail for good. Greetings, encryption
// and sign-in are not about the mail, nor are answers that ask for them: those an
// operator can repair while the mail waits.
func refusal(step string, code int) bool {
	switch code {
	case 503, 530, 534, 535, 538:
		return false
	}
	for _, about := range []string{"MAIL", "RCPT", "DATA", "end of"} {
		if strings.HasPrefix(step, about) {
			return code >= 500
		}
	}
	return false
}
