package bus

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
)

// dial are the options of the connection inside the process. When the server listens
// for others it asks this one too who it is.
func (e *embedded) dial() []nats.Option {
	opts := []nats.Option{nats.InProcessServer(e.server)}
	if k := e.inside(); k != nil {
		opts = append(opts, signedBy(k))
	}
	return opts
}

// identity are the options with which this process says who it is to an external
// server and makes sure which server that is.
func (b *Bus) identity() ([]nats.Option, error) {
	var opts []nats.Option
	if b.opts.Inbox != "" {
		opts = append(opts, nats.CustomInboxPrefix(b.opts.Inbox))
	}
	secure := b.opts.TLS
	if c := b.opts.Credentials; c != nil {
		key, err := c.Key()
		if err != nil {
			return nil, fmt.Errorf("read the credentials of -nats-creds: %w", err)
		}
		if c.JWT == "" {
			opts = append(opts, nats.Nkey(key, c.Sign))
		} else {
			opts = append(opts, nats.UserJWT(func() (string, error) { return c.JWT, nil }, c.Sign))
		}
		if pool := c.Pool(); pool != nil && (secure == nil || secure.RootCAs == nil) {
			if secure == nil {
				secure = &tls.Config{MinVersion: tls.VersionTLS12}
			}
			secure = secure.Clone()
			secure.RootCAs, secure.ServerName = pool, c.Server
		}
	}
	if secure != nil {
		opts = append(opts, nats.Secure(secure)) // a server without TLS is refused
	}
	return opts, nil
}

// adviceToConnect says what to do about a server that does not let us in.
func (b *Bus) adviceToConnect(err error) string {
	if advice := b.adviceOfRefusal(err); advice != "" {
		return advice
	}
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	switch {
	case errors.Is(err, nats.ErrNkeysNotSupported):
		return "; the server asks nobody who he is, which the credentials of -nats-creds need: is it the server they were made for?"
	case errors.Is(err, nats.ErrSecureConnWanted):
		return "; the server has no TLS, and -nats-tls-ca or the credentials of -nats-creds ask for it: is it the server they were made for?"
	case errors.As(err, &authority):
		return "; name the authority of the server's certificate with -nats-tls-ca, or the credentials that belong to this server with -nats-creds"
	case errors.As(err, &name):
		return "; write an address that is in the server's certificate"
	}
	return "; is it running, and is the address right?"
}

// adviceOfRefusal says what to do about a server that does not know this process, ""
// if that is not what is wrong.
func (b *Bus) adviceOfRefusal(err error) string {
	switch {
	case errors.Is(err, nats.ErrAuthorization) && b.opts.Credentials == nil:
		return "; the server lets nobody in without credentials: name a file of \"jaque credentials\" with -nats-creds"
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthRevoked), errors.Is(err, nats.ErrAuthExpired):
		return "; the server does not know the credentials of -nats-creds: they were made for another server or revoked, make new ones with \"jaque credentials\""
	}
	return ""
}
