package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/access/owner"
)

// ServerName stands in every certificate of the server. Who trusts the authority of
// one installation alone can ask for it whatever address leads there.
const ServerName = "jaque"

// Lives of certificates. That of the server is renewed by the running process.
const (
	authorityLife = 30 * 365 * 24 * time.Hour
	serverLife    = 365 * 24 * time.Hour
	renewBefore   = serverLife / 3
	skew          = time.Hour // clocks of other machines may be behind
)

// Authority signs the certificates of one installation's server. Open it with Open.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	text []byte // certificate in PEM form
}

// Open reads the authority below a data folder and makes it if there is none. Two
// processes that make it at once end up with the same one.
func Open(data string) (*Authority, error) { return OpenIn(data, "tls") }

// OpenIn is Open for an authority in a folder of another name below the data folder.
func OpenIn(data, name string) (*Authority, error) {
	folder := filepath.Join(data, name)
	a, err := read(folder)
	if !errors.Is(err, os.ErrNotExist) {
		return a, err
	}
	if err := create(data, folder); err != nil {
		return nil, fmt.Errorf("make the certificate authority in %s: %w", folder, err)
	}
	return read(folder)
}

// PEM returns the certificate, which is no secret.
func (a *Authority) PEM() []byte { return slices.Clone(a.text) }

const (
	certFile = "ca.crt"
	keyFile  = "ca.key"
)

func read(folder string) (*Authority, error) {
	text, err := os.ReadFile(filepath.Join(folder, certFile))
	if err != nil {
		return nil, fmt.Errorf("read the certificate authority: %w", err)
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(folder, certFile), filepath.Join(folder, keyFile))
	if err != nil {
		return nil, fmt.Errorf("read the certificate authority in %s: %w; restore the folder from a backup, or remove it and give out new credentials", folder, err)
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("read the certificate authority in %s: its key is of another kind than jaque makes", folder)
	}
	return &Authority{cert: pair.Leaf, key: key, text: text}, nil
}

// create makes the folder under another name and renames it, so that nobody sees
// half of it. If another process was first, its folder stays.
func create(data, folder string) error {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(data, ".tls-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh) // nothing is there after the rename
	if err := errors.Join(fill(fresh), owner.Like(fresh, data)); err != nil {
		return err
	}
	for _, file := range []string{keyFile, certFile} {
		if err := owner.Like(filepath.Join(fresh, file), data); err != nil {
			return err
		}
	}
	if err := os.Rename(fresh, folder); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}

func fill(folder string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "jaque log server authority"},
		NotBefore: now.Add(-skew), NotAfter: now.Add(authorityLife),
		IsCA: true, MaxPathLenZero: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return errors.Join(
		store(filepath.Join(folder, keyFile), "PRIVATE KEY", secret, 0o600),
		store(filepath.Join(folder, certFile), "CERTIFICATE", cert, 0o644))
}

// store writes a PEM file that survives a loss of power.
func store(path, title string, data []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	return errors.Join(pem.Encode(f, &pem.Block{Type: title, Bytes: data}), f.Sync(), f.Close())
}

// serial returns a number that no other certificate has.
func serial() *big.Int {
	n := make([]byte, 16)
	_, _ = rand.Read(n) // never fails
	return new(big.Int).SetBytes(n)
}

// Server returns the settings of a server under names and addresses. Its key lives
// in memory only; the certificate is signed anew while the process runs.
func (a *Authority) Server(names []string) (*tls.Config, error) {
	s := &signer{authority: a, names: append([]string{ServerName}, names...), usage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	cert, err := s.certificate()
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*cert},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			cert, err := s.certificate()
			if err != nil {
				return nil, err
			}
			return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{*cert}}, nil
		},
	}, nil
}

// Peer returns the settings of one of several servers of a name that know each other
// by this authority, on both sides of a connection. As those of Server, its key lives in
// memory only, and the certificate is signed anew while the process runs.
func (a *Authority) Peer(name string) (*tls.Config, error) {
	s := &signer{authority: a, names: []string{name}, usage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	if _, err := s.certificate(); err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	return &tls.Config{
		MinVersion: tls.VersionTLS13, RootCAs: roots, ClientCAs: roots, ClientAuth: tls.RequireAndVerifyClientCert,
		GetCertificate:       func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.certificate() },
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return s.certificate() },
	}, nil
}

// Files returns what the authority is made of, by the names of its files, for another
// machine that is to be one of the same. The key is a secret.
func (a *Authority) Files() (map[string][]byte, error) {
	secret, err := x509.MarshalPKCS8PrivateKey(a.key)
	if err != nil {
		return nil, fmt.Errorf("write the key of the certificate authority: %w", err)
	}
	return map[string][]byte{certFile: a.PEM(), keyFile: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})}, nil
}

// Fingerprint is the SHA-256 of the certificate in hexadecimal form.
func (a *Authority) Fingerprint() string {
	sum := sha256.Sum256(a.cert.Raw)
	return hex.EncodeToString(sum[:])
}

// signer holds the certificate in use.
type signer struct {
	authority *Authority
	names     []string
	usage     []x509.ExtKeyUsage

	mu   sync.Mutex
	cert *tls.Certificate
}

func (s *signer) certificate() (*tls.Certificate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.cert != nil && now.Before(s.cert.Leaf.NotAfter.Add(-renewBefore)) {
		return s.cert, nil
	}
	cert, err := s.authority.sign(s.names, s.usage, now)
	if err != nil {
		return nil, fmt.Errorf("make the log server's certificate: %w", err)
	}
	s.cert = cert
	return cert, nil
}

func (a *Authority) sign(names []string, usage []x509.ExtKeyUsage, now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: ServerName},
		NotBefore: now.Add(-skew), NotAfter: now.Add(serverLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: usage,
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else if name != "" {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}

// Names returns under which names a server that listens on an address is reached:
// the machine's name, the address, those of every interface if it listens on all,
// and this machine's own.
func Names(address string) []string {
	names := []string{"localhost", "127.0.0.1", "::1"}
	if host, err := os.Hostname(); err == nil {
		names = append(names, host)
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return names
	}
	if ip := net.ParseIP(host); host != "" && (ip == nil || !ip.IsUnspecified()) {
		return append(names, host)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return names // they can still ask for ServerName
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok {
			names = append(names, n.IP.String())
		}
	}
	return names
}
