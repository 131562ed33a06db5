package channel

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/wneessen/go-mail/smtp"

	"jaque.sh/jaque/appliance/rule/message"
)

// signIn signs in by the best of the ways that the server offers.
func (s *session) signIn() error {
	const step = "AUTH"
	o := &s.email.o
	if o.Password == nil {
		return s.failed(step, errors.New("no password is known; set -smtp-password-file"))
	}
	password, err := o.Password()
	if err != nil {
		return s.failed(step, fmt.Errorf("read the password: %w", err))
	}
	_, offered := s.client.Extension("AUTH")
	way, auth, err := s.choose(strings.Fields(strings.ToUpper(offered)), password)
	if err != nil {
		return s.failed(step, err)
	}
	s.secrets = append(s.secrets, password)
	return s.step(step+" "+way+" as "+message.Line(o.User, headerLimit), func() error { return s.client.Auth(&overheard{auth, s}) })
}

// overheard signs in and remembers what was said, so that an answer which repeats it
// shows nothing: with some ways that is the password itself.
type overheard struct {
	smtp.Auth
	session *session
}

// Start begins to sign in.
func (o *overheard) Start(server *smtp.ServerInfo) (string, []byte, error) {
	way, said, err := o.Auth.Start(server)
	o.keep(said)
	return way, said, err
}

// Next answers what the server asks.
func (o *overheard) Next(asked []byte, more bool) ([]byte, error) {
	said, err := o.Auth.Next(asked, more)
	o.keep(said)
	return said, err
}

// keep remembers what was said but for the name of the user, which is no secret.
func (o *overheard) keep(said []byte) {
	if user := o.session.email.o.User; len(said) > 0 && string(said) != user {
		o.session.secrets = append(o.session.secrets, string(said))
	}
}

// choose prefers ways that do not show the password, and refuses to show it on the
// open network.
func (s *session) choose(offered []string, password string) (string, smtp.Auth, error) {
	o := &s.email.o
	shows := s.secure || s.loopback()
	ways := []struct {
		name  string
		shows bool
		auth  smtp.Auth
	}{
		{"SCRAM-SHA-256", false, smtp.ScramSHA256Auth(o.User, password)},
		{"SCRAM-SHA-1", false, smtp.ScramSHA1Auth(o.User, password)},
		{"CRAM-MD5", false, smtp.CRAMMD5Auth(o.User, password)},
		{"PLAIN", true, smtp.PlainAuth("", o.User, password, o.Host, shows)},
		{"LOGIN", true, smtp.LoginAuth(o.User, password, o.Host, shows)},
	}
	if s.secure {
		// Servers that keep passwords hashed offer CRAM-MD5 and cannot do it; on an
		// encrypted connection PLAIN shows nothing to others.
		ways = append(ways[:2], ways[3], ways[4], ways[2])
	}
	hidden := false
	for _, w := range ways {
		if !slices.Contains(offered, w.name) {
			continue
		}
		if w.shows && !shows {
			hidden = true
			continue
		}
		return w.name, w.auth, nil
	}
	switch {
	case hidden:
		return "", nil, errors.New("the server only takes a password that everybody on the way can read; set -smtp-tls to starttls or tls")
	case len(offered) == 0:
		return "", nil, errors.New("the server offers no sign-in; leave out -smtp-user, or use the port for submissions")
	}
	return "", nil, fmt.Errorf("the server offers %s, none of which is known here", message.Line(strings.Join(offered, " "), headerLimit))
}

// loopback tells whether nobody else is on the way to the server.
func (s *session) loopback() bool {
	a, ok := s.conn.RemoteAddr().(*net.TCPAddr)
	return ok && a.IP.IsLoopback()
}
