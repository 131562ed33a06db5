package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// Thresholds over the days left when the check names none.
const (
	defaultWarnDays = "14:"
	defaultCritDays = "3:"
)

// tls looks at a server's certificates. Expiry is judged even where the chain
// is not trusted, so that the more useful text wins.
func (r *Runner) tls(ctx context.Context, req *Request, c *object.TLSCheck) answer {
	warn, crit := c.WarnDays, c.CritDays
	if warn == "" {
		warn = defaultWarnDays
	}
	if crit == "" {
		crit = defaultCritDays
	}
	l, err := parseLimits("days left", warn, crit)
	if err != nil {
		return unknown("%v", err)
	}
	address, err := hostPort(req, c.Address, "443")
	if err != nil {
		return unknown("%v", err)
	}
	name := c.ServerName
	if name == "" {
		name, _, _ = net.SplitHostPort(address)
	}
	start := time.Now()
	raw, err := r.dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return failure(ctx, req, "connect to "+address, err)
	}
	conn := tls.Client(raw, &tls.Config{ServerName: name, InsecureSkipVerify: true}) // verified below
	defer func() { _ = raw.Close() }()
	if err := conn.HandshakeContext(ctx); err != nil {
		return failure(ctx, req, "TLS handshake with "+address, err)
	}
	took := time.Since(start)
	chain := conn.ConnectionState().PeerCertificates
	if len(chain) == 0 {
		return say(object.Critical, "%s shows no certificate", address)
	}
	a := certificate(chain, name, r.opts.Roots, c.Insecure, &l, time.Now())
	a.perfdata += " " + perf("time", seconds(took), "s", "", "")
	return a
}

// certificate judges a chain of certificates, the server's own first.
func certificate(chain []*x509.Certificate, name string, roots *x509.CertPool, expiryOnly bool, l *limits, now time.Time) answer {
	first := chain[0]
	for _, c := range chain[1:] {
		if c.NotAfter.Before(first.NotAfter) {
			first = c
		}
	}
	left := first.NotAfter.Sub(now)
	days := left.Hours() / 24
	state, text := l.judge(days), ""
	switch {
	case left <= 0:
		state = object.Critical
		text = fmt.Sprintf("certificate %s expired on %s, %s ago", subject(first), first.NotAfter.UTC().Format(time.DateTime), span(-left))
	case now.Before(chain[0].NotBefore):
		state = object.Critical
		text = fmt.Sprintf("certificate %s is not valid before %s", subject(chain[0]), chain[0].NotBefore.UTC().Format(time.DateTime))
	default:
		text = fmt.Sprintf("certificate %s expires in %s, on %s", subject(first), span(left), first.NotAfter.UTC().Format(time.DateTime))
	}
	if !expiryOnly {
		if why := distrust(chain, name, roots, now); why != "" {
			state, text = object.Critical, text+"; "+why
		}
	}
	a := say(state, "%s", text)
	a.perfdata = "days_left=" + strconv.FormatFloat(days, 'f', 2, 64) + ";" + l.warn + ";" + l.crit
	return a
}

// distrust says why a client would refuse the chain, "" if it would not.
// Expiry is left out, it has been told.
func distrust(chain []*x509.Certificate, name string, roots *x509.CertPool, now time.Time) string {
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	when := now
	if now.After(chain[0].NotAfter) || now.Before(chain[0].NotBefore) {
		when = chain[0].NotAfter.Add(-time.Second)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: when})
	if err == nil {
		err = chain[0].VerifyHostname(name)
	}
	var unknownAuthority x509.UnknownAuthorityError
	var hostname x509.HostnameError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &unknownAuthority):
		return "issuer " + chain[len(chain)-1].Issuer.String() + " is not trusted here"
	case errors.As(err, &hostname):
		return "it is not for the name " + name
	}
	return "chain refused: " + err.Error()
}

func subject(c *x509.Certificate) string {
	if c.Subject.CommonName != "" {
		return strconv.Quote(c.Subject.CommonName)
	}
	if len(c.DNSNames) > 0 {
		return strconv.Quote(c.DNSNames[0])
	}
	return c.SerialNumber.String()
}

// span names a length of time in the unit people think in.
func span(d time.Duration) string {
	if d < 48*time.Hour {
		return fmt.Sprintf("%.0f hours", d.Hours())
	}
	return fmt.Sprintf("%.0f days", d.Hours()/24)
}
