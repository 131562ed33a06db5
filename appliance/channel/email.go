package channel

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/mail"
	"os"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/rule/message"
)

// EmailOptions say how mails to one contact go out.
type EmailOptions struct {
	Host string
	Port int
	// User signs in at the server; "" = nobody does. Password is asked for each
	// mail, so that a new one is taken without a restart.
	User     string
	Password func() (string, error)
	TLS      string         // starttls (an unencrypted server is refused), tls or none
	Roots    *x509.CertPool // who may sign the server's certificate; nil = the system's

	From string // "jaque <jaque@example.org>"
	To   string // the contact's address, or several with commas between them

	Template *message.Template // nil = jaque's texts
	Logger   *slog.Logger
	// Step is how long one answer of the server may take; 0 = 30 s. The answer to
	// the mail itself may take until the context ends.
	Step time.Duration
}

// The ways to encrypt.
const (
	tlsStart = "starttls"
	tlsFull  = "tls"
	tlsNone  = "none"
)

// defaultStep is how long one answer may take.
const defaultStep = 30 * time.Second

// Email sends mails to one contact, each over a connection of its own.
type Email struct {
	o      EmailOptions
	from   *mail.Address
	to     []*mail.Address
	hello  string // our own name
	dialer func(ctx context.Context, network, address string) (net.Conn, error)
}

// NewEmail checks what can be checked without the server.
func NewEmail(o EmailOptions) (*Email, error) {
	if o.Host == "" {
		return nil, errors.New("email: no mail server; set -smtp-host")
	}
	if o.TLS == "" {
		o.TLS = tlsStart
	}
	if o.TLS != tlsStart && o.TLS != tlsFull && o.TLS != tlsNone {
		return nil, fmt.Errorf("email: %q is no way to encrypt; write %s, %s or %s", o.TLS, tlsStart, tlsFull, tlsNone)
	}
	if o.Port == 0 {
		o.Port = map[string]int{tlsStart: 587, tlsFull: 465, tlsNone: 25}[o.TLS]
	}
	if o.Step <= 0 {
		o.Step = defaultStep
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	from, err := mail.ParseAddress(o.From)
	if err != nil {
		return nil, fmt.Errorf("email: %q is no address to send from; write one as in \"jaque <jaque@example.org>\" with -smtp-from", o.From)
	}
	to, err := mail.ParseAddressList(o.To)
	if err != nil {
		return nil, fmt.Errorf("email: %q is no address to send to; write one as in \"alice@example.org\"", o.To)
	}
	return &Email{o, from, to, helloName(), (&net.Dialer{}).DialContext}, nil
}

// helloName is how we introduce ourselves.
func helloName() string {
	name, err := os.Hostname()
	if err != nil || name == "" || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-.") != "" {
		return "localhost"
	}
	return name
}

func (e *Email) server() string { return net.JoinHostPort(e.o.Host, strconv.Itoa(e.o.Port)) }

// Send renders a message and hands it to the mail server. Its errors name the
// server, the step and what the server has said. Refusals of the sender, of every
// recipient and of the mail are permanent; a wrong password or certificate is not,
// because an operator can repair it while the message waits.
func (e *Email) Send(ctx context.Context, m *message.Message) error {
	r, err := message.Render(m, e.o.Template)
	if err != nil {
		return &Error{Err: fmt.Errorf("email: %w", err), Permanent: true}
	}
	if r.Trouble != "" {
		e.o.Logger.Warn("the template for mail failed, jaque's own text goes out", "contact", contactName(m), "error", r.Trouble)
	}
	msg, err := e.compose(m, &r)
	if err != nil {
		return &Error{Err: fmt.Errorf("email: %w", err), Permanent: true}
	}
	s, err := e.dial(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.open(); err != nil {
		return err
	}
	refused, err := s.deliver(e.from.Address, e.to, msg)
	if err != nil {
		return err
	}
	for _, r := range refused {
		e.o.Logger.Warn("the mail server refuses a recipient, the others have got the mail", "server", e.server(), "error", r)
	}
	return nil
}

// contactName returns whose message it is.
func contactName(m *message.Message) string {
	if m.Contact == nil {
		return ""
	}
	return m.Contact.Name
}

func (e *Email) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: e.o.Host, RootCAs: e.o.Roots, MinVersion: tls.VersionTLS12}
}
