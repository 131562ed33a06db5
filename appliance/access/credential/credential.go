package credential

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nkeys"

	"jaque.sh/jaque/appliance/core/object"
)

// Credentials are what a process knows of itself towards a NATS server.
type Credentials struct {
	// Role, ID and Zones say what the file was made for; "" in a file of other
	// tools that does not say it.
	Role  string
	ID    string
	Zones []string // of a worker
	// Server is the name in the server's certificate; "" = that of its address.
	Server string
	// Authorities are certificates in PEM form; empty = those of the system.
	Authorities []byte
	// JWT is what an operator of the server signed; "" if the server knows the key.
	JWT string

	key nkeys.KeyPair
}

// New makes credentials with a key of their own.
func New(role, id string, zones []string) (*Credentials, error) {
	key, err := nkeys.CreateUser()
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return &Credentials{Role: role, ID: id, Zones: zones, key: key}, nil
}

// Key returns the public key, which is the name that a server knows it by.
func (c *Credentials) Key() (string, error) { return c.key.PublicKey() }

// Seed returns the secret, for the client's option of a JWT.
func (c *Credentials) Seed() (string, error) {
	seed, err := c.key.Seed()
	return string(seed), err
}

// Sign signs what a server asks.
func (c *Credentials) Sign(nonce []byte) ([]byte, error) { return c.key.Sign(nonce) }

// Inbox is the prefix of the subjects on which answers arrive, "" if the file does
// not say for whom it is.
func (c *Credentials) Inbox() string {
	if c.Role == "" || c.ID == "" {
		return ""
	}
	return Inbox(c.Role, c.ID)
}

// Inbox returns the prefix of those that receive answers under an id.
func Inbox(role, id string) string { return "_INBOX." + role + "." + object.ID(id).Token() }

// Trust names the authorities of the server's certificate, in PEM form, and the name
// in it, "" = that of its address.
func (c *Credentials) Trust(authorities []byte, server string) error {
	found := false
	for rest := authorities; ; found = true {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil || block.Type != titleCA {
			return fmt.Errorf("a part %q of it is no certificate", block.Type)
		}
		c.Authorities = append(c.Authorities, pem.EncodeToMemory(block)...)
	}
	if !found {
		return errors.New("it holds no certificate in PEM form")
	}
	c.Server = server
	return nil
}

// Pool returns the authorities, nil for those of the system.
func (c *Credentials) Pool() *x509.CertPool {
	if len(c.Authorities) == 0 {
		return nil
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(c.Authorities) // parse has read them
	return pool
}

// Titles of the parts of a file.
const (
	titleSeed = "USER NKEY SEED"
	titleJWT  = "NATS USER JWT"
	titleCA   = "CERTIFICATE"
)

// encode writes the text of a file. Comment lines carry what the parts do not say.
func (c *Credentials) encode() ([]byte, error) {
	seed, err := c.key.Seed()
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	var b bytes.Buffer
	b.WriteString("# Credentials of a jaque process towards its NATS server. Whoever has this file may\n# do what it is for: keep it secret, \"jaque credentials revoke\" ends it.\n")
	for _, f := range []struct{ name, value string }{
		{"role", c.Role}, {"id", c.ID}, {"zones", strings.Join(c.Zones, ",")}, {"server", c.Server},
	} {
		if f.value != "" {
			fmt.Fprintf(&b, "# %s: %s\n", f.name, f.value)
		}
	}
	fmt.Fprintf(&b, "-----BEGIN %s-----\n%s\n------END %s------\n", titleSeed, seed, titleSeed)
	b.Write(c.Authorities)
	return b.Bytes(), nil
}

// parse reads the text of a file. Errors never quote it: it is secret.
func parse(text []byte) (*Credentials, error) {
	c := &Credentials{}
	var title, seed string
	var body []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch begins, ends, name := boundary(line); {
		case title == "" && begins:
			title, body = name, nil
		case title != "" && ends:
			if err := c.part(title, body, &seed); err != nil {
				return nil, err
			}
			title = ""
		case title != "":
			body = append(body, line)
		case strings.HasPrefix(line, "#"):
			c.comment(strings.TrimSpace(line[1:]))
		case strings.HasPrefix(line, "SU"):
			seed = line // a seed alone, as nk and nsc print it
		}
	}
	if title != "" {
		return nil, fmt.Errorf("the part %.40q has no end", title)
	}
	if seed == "" {
		return nil, errors.New("it holds no seed of a user, which begins with SU")
	}
	var err error
	if c.key, err = nkeys.FromSeed([]byte(seed)); err != nil {
		return nil, fmt.Errorf("its seed is damaged: %w", err)
	}
	if public, err := c.key.PublicKey(); err != nil || !nkeys.IsValidPublicUserKey(public) {
		return nil, errors.New("its seed is not that of a user")
	}
	return c, nil
}

// boundary tells whether a line begins or ends a part, and which. NATS' tools write
// five dashes in front and six at the end.
func boundary(line string) (begins, ends bool, name string) {
	if !strings.HasPrefix(line, "---") || !strings.HasSuffix(line, "---") {
		return false, false, ""
	}
	name = strings.Trim(line, "-")
	if rest, ok := strings.CutPrefix(name, "BEGIN "); ok {
		return true, false, rest
	}
	rest, ok := strings.CutPrefix(name, "END ")
	return false, ok, rest
}

func (c *Credentials) part(title string, body []string, seed *string) error {
	switch title {
	case titleSeed:
		*seed = strings.Join(body, "")
	case titleJWT:
		c.JWT = strings.Join(body, "")
	case titleCA:
		block, _ := pem.Decode([]byte("-----BEGIN CERTIFICATE-----\n" + strings.Join(body, "\n") + "\n-----END CERTIFICATE-----\n"))
		if block == nil {
			return errors.New("its certificate is damaged")
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return fmt.Errorf("its certificate is damaged: %w", err)
		}
		c.Authorities = append(c.Authorities, pem.EncodeToMemory(block)...)
	}
	return nil
}

// comment takes "name: value"; any other comment says nothing to us.
func (c *Credentials) comment(line string) {
	name, value, ok := strings.Cut(line, ":")
	if value = strings.TrimSpace(value); !ok || value == "" {
		return
	}
	switch name {
	case "role":
		c.Role = value
	case "id":
		c.ID = value
	case "zones":
		c.Zones = strings.Split(value, ",")
	case "server":
		c.Server = value
	}
}
