package probe

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// authority signs certificates for tests.
type authority struct {
	cert  *x509.Certificate
	key   *ecdsa.PrivateKey
	roots *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test Authority"},
		NotBefore: time.Now().AddDate(-2, 0, 0), NotAfter: time.Now().AddDate(5, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{cert: cert, key: key, roots: x509.NewCertPool()}
	a.roots.AddCert(cert)
	return a
}

// serve listens with a certificate for a name, valid from and to so many hours from now.
func (a *authority) serve(t *testing.T, name string, from, to int) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: now.Add(time.Duration(from) * time.Hour), NotAfter: now.Add(time.Duration(to) * time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	conf := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	return serveTCP(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, tls.Server(c, conf)) })
}

func TestTLS(t *testing.T) {
	a := newAuthority(t)
	r := open(t, Options{Roots: a.roots})
	good := a.serve(t, "web.example.com", -24, 24*90)
	soon := a.serve(t, "web.example.com", -24, 24*10)
	verySoon := a.serve(t, "web.example.com", -24, 30)
	expired := a.serve(t, "web.example.com", -24*400, -24*3)
	future := a.serve(t, "web.example.com", 24, 24*90)
	stranger := newAuthority(t).serve(t, "web.example.com", -24, 24*90)
	plain := serveTCP(t, func(c net.Conn) { _, _ = io.WriteString(c, "220 hello\r\n") })
	for _, c := range []struct {
		name  string
		check object.TLSCheck
		state object.State
		parts []string
	}{
		{"a good certificate", object.TLSCheck{Address: good}, object.OK, []string{`OK - certificate "web.example.com" expires in 90 days, on 20`, "|days_left=", ";14:;3: time=0."}},
		{"less than the days to warn", object.TLSCheck{Address: soon}, object.Warning, []string{"expires in 10 days"}},
		{"less than the critical days", object.TLSCheck{Address: verySoon}, object.Critical, []string{"expires in 30 hours"}},
		{"other thresholds", object.TLSCheck{Address: soon, WarnDays: "5:", CritDays: "1:"}, object.OK, []string{";5:;1:"}},
		{"an expired certificate", object.TLSCheck{Address: expired}, object.Critical, []string{"expired on 20", "3 days ago", "days_left=-3.00"}},
		{"an expired certificate of which only expiry counts", object.TLSCheck{Address: expired, Insecure: true}, object.Critical, []string{"expired on"}},
		{"a certificate for later", object.TLSCheck{Address: future}, object.Critical, []string{"is not valid before"}},
		{"a wrong name", object.TLSCheck{Address: good, ServerName: "shop.example.com"}, object.Critical, []string{"it is not for the name shop.example.com"}},
		{"a wrong name of which only expiry counts", object.TLSCheck{Address: good, ServerName: "shop.example.com", Insecure: true}, object.OK, nil},
		{"an unknown authority", object.TLSCheck{Address: stranger}, object.Critical, []string{"is not trusted here"}},
		{"an unknown authority of which only expiry counts", object.TLSCheck{Address: stranger, Insecure: true}, object.OK, nil},
		{"no TLS at all", object.TLSCheck{Address: plain}, object.Critical, []string{"TLS handshake with " + plain}},
		{"nobody listens", object.TLSCheck{Address: closedPort(t)}, object.Critical, []string{"connection refused"}},
		{"a threshold that is none", object.TLSCheck{Address: good, WarnDays: "soon"}, object.Unknown, []string{"threshold of days left"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.check.ServerName == "" {
				c.check.ServerName = "web.example.com"
			}
			got := do(t, r, object.Check{Kind: object.CheckTLS, TLS: &c.check})
			expect(t, got, c.state, c.parts...)
		})
	}
}

func TestTLSEndsAtItsTimeout(t *testing.T) {
	r := open(t, Options{})
	silent := serveTCP(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	got := r.Do(t.Context(), Request{
		Object: testSvc, Check: object.Check{Kind: object.CheckTLS, TLS: &object.TLSCheck{Address: silent}}, Timeout: 150 * time.Millisecond,
	})
	expect(t, got, object.Critical, "TLS handshake", "no answer within 150ms")
}
