package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"jaque.sh/jaque/appliance/access/credential"
	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/roles"
)

// logServer says where the log is that a command works on: in a data folder, whose
// process runs or not, or on a server.
type logServer struct {
	command              string
	data, url, creds, ca string
}

// flags adds those that name the place.
func (l *logServer) flags(set *flag.FlagSet) {
	set.SetOutput(io.Discard)
	set.StringVar(&l.data, "data", "", "")
	set.StringVar(&l.url, "eventlog", "", "")
	set.StringVar(&l.creds, "nats-creds", "", "")
	set.StringVar(&l.ca, "nats-tls-ca", "", "")
}

// usage is the error of a command that is written wrongly.
func (l *logServer) usage(format string, args ...any) error {
	return &roles.UsageError{Problems: []string{fmt.Sprintf("%s: %s (\"jaque help %s\" tells more)", l.command, fmt.Sprintf(format, args...), strings.Fields(l.command)[0])}}
}

// settle takes from the environment what the flags do not say.
func (l *logServer) settle() error {
	env := environment()
	for _, f := range []struct {
		value *string
		name  string
		taken bool
	}{
		{&l.data, "JAQUE_DATA", l.url == ""},
		{&l.url, "JAQUE_EVENTLOG", l.data == ""},
		{&l.creds, "JAQUE_NATS_CREDS", l.data == ""},
		{&l.ca, "JAQUE_NATS_TLS_CA", l.data == ""},
	} {
		if value, ok := env.Lookup(f.name); ok && *f.value == "" && f.taken {
			*f.value = value
		}
	}
	switch l.url {
	case "memory":
		return l.usage("-eventlog memory keeps nothing; there is nothing to read")
	case "embedded":
		l.url = ""
	}
	switch {
	case l.url != "" && l.data != "":
		return l.usage("-data is a folder on this machine and -eventlog a server; write one of them")
	case l.url == "" && (l.creds != "" || l.ca != ""):
		return l.usage("-nats-creds and -nats-tls-ca belong to a server; name it with -eventlog")
	case l.url == "" && l.data == "":
		if l.data = roles.DefaultData(env); l.data == "" {
			return l.usage("there is no home folder; name the data folder with -data, or a server with -eventlog")
		}
	}
	return nil
}

// String names the place for people.
func (l *logServer) String() string {
	if l.url != "" {
		return "the log server"
	}
	return l.data
}

// connect opens a connection to the server, or to that of the process that serves the
// data folder; without one the error wraps bus.ErrNoDoor.
func (l *logServer) connect(ctx context.Context, stderr io.Writer) (*bus.Bus, error) {
	o := bus.Options{Logger: quiet(stderr), ClientName: "jaque " + l.command, Bare: true}
	if l.url == "" {
		o.Through = l.data
		return bus.Open(ctx, o)
	}
	o.URL = l.url
	if l.ca != "" {
		pem, err := os.ReadFile(l.ca)
		if err != nil {
			return nil, fmt.Errorf("read the authorities of -nats-tls-ca: %w", err)
		}
		o.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
		if !o.TLS.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read the authorities of -nats-tls-ca: %s holds no certificate in PEM form", l.ca)
		}
	}
	if l.creds != "" {
		c, err := credential.Read(l.creds, o.Logger)
		if err != nil {
			return nil, err
		}
		o.Credentials, o.Inbox = c, c.Inbox()
	}
	return bus.Open(ctx, o)
}

// quiet is the logger of a command: what goes wrong is told.
func quiet(stderr io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// untilInterrupted ends with SIGINT and SIGTERM, so that nothing half done is left.
func untilInterrupted() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

// interrupted says in words that the user ended the command.
func interrupted(ctx context.Context, what string, err error) error {
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: interrupted, nothing was left behind", what)
	}
	return err
}

// ticker calls tell at most every few seconds.
func ticker(tell func()) func() {
	const pause = 3 * time.Second
	next := time.Now().Add(pause)
	return func() {
		if now := time.Now(); now.After(next) {
			next = now.Add(pause)
			tell()
		}
	}
}

// sizeText writes a size for people.
func sizeText(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
