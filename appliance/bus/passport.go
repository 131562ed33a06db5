package bus

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"time"
)

// passport is what a member shows of its folder whenever it connects with another one. It
// travels behind the member's certificate, in a certificate of its own that nobody trusts:
// the member proves by the first one who it is, and that it sent the other. So it is there
// before the two servers exchange a word, whatever authority the members use, and a
// release that does not know of it takes it for one more certificate in between.
type passport struct {
	Member string `json:"member"`
	folderNote
}

// passportID marks the part of the certificate that holds the passport.
var passportID = asn1.ObjectIdentifier{2, 25, 1407293645}

// passport returns that of this member at present; f.mu is held. Removals that are not
// decided are no business of others.
func (f *folders) passport() passport {
	p := passport{f.name, f.note}
	p.Known = maps.Clone(f.note.Known)
	for name, ids := range p.Known {
		p.Known[name] = slices.Clone(ids)
	}
	p.Gone = slices.DeleteFunc(slices.Clone(f.note.Gone), func(g goneFolder) bool { return g.Pending })
	return p
}

// show puts the passport behind a certificate.
func (f *folders) show(c *tls.Certificate, err error) (*tls.Certificate, error) {
	if err != nil || len(c.Certificate) == 0 {
		return c, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shown == nil {
		p := f.passport()
		if f.shown, err = p.certificate(); err != nil {
			return nil, fmt.Errorf("show peers which data folder this is: %w", err)
		}
	}
	with := *c
	with.Certificate = append(slices.Clone(c.Certificate), f.shown)
	return &with, nil
}

// certificate returns the passport in the form in which it travels.
func (p *passport) certificate() ([]byte, error) {
	text, err := json.Marshal(p)
	if err == nil {
		text, err = asn1.Marshal(text)
	}
	if err != nil {
		return nil, err
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "jaque data folder"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0),
		ExtraExtensions: []pkix.Extension{{Id: passportID, Value: text}},
	}
	return x509.CreateCertificate(rand.Reader, template, template, public, private)
}

// passportIn finds the passport in what a peer sent, nil if there is none.
func passportIn(chain []*x509.Certificate) *passport {
	for _, c := range chain[1:] {
		for _, e := range c.Extensions {
			if !e.Id.Equal(passportID) {
				continue
			}
			var text []byte
			p := &passport{}
			if _, err := asn1.Unmarshal(e.Value, &text); err == nil && json.Unmarshal(text, p) == nil && p.Member != "" {
				return p
			}
		}
	}
	return nil
}

// showing returns settings that show the passport on both sides of a connection.
func (f *folders) showing(c *tls.Config) *tls.Config {
	c = c.Clone()
	server, client, files := c.GetCertificate, c.GetClientCertificate, c.Certificates
	file := func() *tls.Certificate {
		if len(files) == 0 {
			return &tls.Certificate{} // none: the other side says what that means
		}
		return &files[0]
	}
	c.Certificates = nil
	c.GetCertificate = func(h *tls.ClientHelloInfo) (*tls.Certificate, error) {
		if server == nil {
			return f.show(file(), nil)
		}
		return f.show(server(h))
	}
	c.GetClientCertificate = func(r *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		if client == nil {
			return f.show(file(), nil)
		}
		return f.show(client(r))
	}
	return c
}
