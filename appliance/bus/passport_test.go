package bus

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"
)

// certOf returns the certificate of a member.
func certOf(t *testing.T, ca *peerAuthority, name string) *x509.Certificate {
	t.Helper()
	c, err := x509.ParseCertificate(ca.member(t, name).Certificates[0].Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Both sides of a connection see the folder of the other one, whether their certificates
// are given as such or made when they are asked for, and one that shows nothing, or knows
// nothing of it, takes no offence.
func TestBothSidesSeeEachOthersFolder(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "ca")
	given := ca.member(t, "a")
	made := ca.member(t, "c")
	cert := made.Certificates[0]
	made.Certificates = nil
	made.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &cert, nil }
	made.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &cert, nil }
	a, c := meeting(t)
	if _, err := c.leaving("b", false); err != nil {
		t.Fatal(err)
	}
	c.left("b")
	side := func(own *tls.Config, f *folders, saw **passport) *tls.Config {
		if f != nil {
			own = f.showing(own)
		}
		return peerTLS(own, func(chain []*x509.Certificate) error {
			*saw = passportIn(chain)
			return nil
		})
	}
	for _, x := range []struct {
		name           string
		server, client *tls.Config
		at, by         *folders
	}{
		{"given and made", given, made, a, c},
		{"made and given", made, given, c, a},
		{"an earlier release connects", given, made, a, nil},
		{"an earlier release is connected to", given, made, nil, c},
	} {
		var serverSaw, clientSaw *passport
		server, client := side(x.server, x.at, &serverSaw), side(x.client, x.by, &clientSaw)
		n, m := net.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- tls.Server(n, server).Handshake() }()
		if err := errors.Join(tls.Client(m, client).Handshake(), <-ended); err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
		for _, saw := range []struct {
			p *passport
			f *folders
		}{{serverSaw, x.by}, {clientSaw, x.at}} {
			switch {
			case saw.f == nil && saw.p == nil:
			case saw.f == nil || saw.p == nil || saw.p.Member != saw.f.name || saw.p.Self != saw.f.note.Self || len(saw.p.Gone) != len(saw.f.note.Gone):
				t.Errorf("%s: %+v was seen of %+v", x.name, saw.p, saw.f)
			}
		}
	}
}

// What a member shows changes with what it knows.
func TestAPassportIsMadeAnewWhenSomethingChanges(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "ca")
	a, c := meeting(t)
	own := ca.member(t, "a").Certificates[0]
	gone := func() int {
		shown, err := a.show(&own, nil)
		if err != nil || len(shown.Certificate) != len(own.Certificate)+1 {
			t.Fatalf("%+v, %v", shown, err)
		}
		last, err := x509.ParseCertificate(shown.Certificate[len(shown.Certificate)-1])
		if err != nil {
			t.Fatal(err)
		}
		return len(passportIn([]*x509.Certificate{nil, last}).Gone)
	}
	if n := gone(); n != 0 {
		t.Errorf("%d folders are gone at first", n)
	}
	if err := a.meets(t, c); err != nil {
		t.Fatal(err)
	}
	if _, err := a.leaving("c", false); err != nil {
		t.Fatal(err)
	}
	a.left("c")
	if n := gone(); n != 1 {
		t.Errorf("%d folders are gone after a removal", n)
	}
}

// A passport with as much as a member ever keeps still fits into a handshake.
func TestTheLargestPassportFitsIntoAHandshake(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "ca")
	a, c := meeting(t)
	for i := range mostGone {
		a.note.Gone = append(a.note.Gone, goneFolder{Member: fmt.Sprintf("%064d", i), Folder: earlierFolder + a.note.Self, At: time.Now().UTC().Truncate(time.Second)})
	}
	accept := func([]*x509.Certificate) error { return nil }
	var saw *passport
	look := func(chain []*x509.Certificate) error {
		saw = passportIn(chain)
		return nil
	}
	for _, x := range []struct{ server, client *tls.Config }{
		{peerTLS(a.showing(ca.member(t, "a")), accept), peerTLS(c.showing(ca.member(t, "c")), look)},
		{peerTLS(c.showing(ca.member(t, "c")), look), peerTLS(a.showing(ca.member(t, "a")), accept)},
	} {
		saw = nil
		n, m := net.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- tls.Server(n, x.server).Handshake() }()
		if err := errors.Join(tls.Client(m, x.client).Handshake(), <-ended); err != nil || saw == nil || len(saw.Gone) != mostGone {
			t.Errorf("%v, and %+v was seen", err, saw)
		}
	}
}
