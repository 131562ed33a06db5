package roles

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"slices"
)

// idle returns a sentence for each setting that this release accepts and does
// not act on yet, so that nothing is ignored in silence.
func (s Settings) idle() []string {
	var out []string
	for _, f := range []struct {
		flag  string
		given bool
	}{
		{"livestatus-socket", s.LivestatusSocket != ""},
		{"livestatus-listen", s.LivestatusListen != ""},
	} {
		if f.given {
			out = append(out, "-"+f.flag+" has no effect in this release")
		}
	}
	if n := s.NATS; (n.ClusterName != "" || n.ClusterListen != "" || len(n.ClusterPeers) > 0) && !s.embeds() {
		out = append(out, "-cluster-name, -cluster-listen and -cluster-peers have no effect: this process embeds no server")
	}
	return out
}

// embeds tells whether a server runs in this process.
func (s Settings) embeds() bool {
	return slices.Contains([]string{s.EventLog, s.Queue, s.Coordination}, "embedded")
}

// tlsConfig returns how connections to a NATS server are secured, nil for the
// system's defaults.
func (n NATS) tlsConfig() (*tls.Config, error) {
	if n.TLSCA == "" && n.TLSCert == "" {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if n.TLSCA != "" {
		pem, err := os.ReadFile(n.TLSCA)
		if err != nil {
			return nil, fmt.Errorf("read the authorities of -nats-tls-ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("read the authorities of -nats-tls-ca: %s holds no certificate in PEM form", n.TLSCA)
		}
	}
	if n.TLSCert != "" {
		pair, err := tls.LoadX509KeyPair(n.TLSCert, n.TLSKey)
		if err != nil {
			return nil, fmt.Errorf("read -nats-tls-cert and -nats-tls-key: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
