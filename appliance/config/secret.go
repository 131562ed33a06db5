package config

import (
	"fmt"
	"strings"
)

// Secret is a text that must not be shown. Printing, logging and encoding it
// give a placeholder; Reveal gives the text.
type Secret struct {
	text     string
	referred bool // it stood outside of the config
}

// String returns a placeholder, "" for an empty secret.
func (s Secret) String() string {
	if s.text == "" {
		return ""
	}
	return "(secret)"
}

// GoString is String, so that %#v shows nothing either.
func (s Secret) GoString() string { return s.String() }

// MarshalText is String, so that JSON shows nothing either.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Reveal returns the text itself.
func (s Secret) Reveal() string { return s.text }

// Referred tells whether the config only refers to the text, with "file:" or "env:".
func (s Secret) Referred() bool { return s.referred }

// secrets resolves references through the hooks of Options.
type secrets struct {
	readFile  func(name string) ([]byte, error)
	lookupEnv func(name string) (string, bool)
}

// resolve returns what "file:PATH" and "env:NAME" refer to and every other text
// as it is. A file's last line feed is not part of the secret.
func (s secrets) resolve(text string) (Secret, error) {
	if name, ok := strings.CutPrefix(text, "file:"); ok {
		content, err := s.readFile(name)
		if err != nil {
			return Secret{}, fmt.Errorf("cannot read the secret in %s: %s", quote(name), plainError(err))
		}
		secret := strings.TrimRight(string(content), "\r\n")
		if secret == "" {
			return Secret{}, fmt.Errorf("the file %s is empty; write the secret into it", quote(name))
		}
		return Secret{secret, true}, nil
	}
	if name, ok := strings.CutPrefix(text, "env:"); ok {
		secret, ok := s.lookupEnv(name)
		if !ok || secret == "" {
			return Secret{}, fmt.Errorf("the environment variable %s is not set; set it where jaque is started", quote(name))
		}
		return Secret{secret, true}, nil
	}
	return Secret{text: strings.Clone(text)}, nil
}

// secret reads a text that may be a reference.
func (s *section) secret(name string) Secret {
	n := s.take(name)
	if n == nil {
		return Secret{}
	}
	return s.d.secret(s.at.field(name), n)
}

// secret follows the reference in a value, if it is one.
func (d *decoder) secret(at *path, n *node) Secret {
	text, ok := d.text(at, n)
	if !ok {
		return Secret{}
	}
	if text == "" {
		d.bad(at, n.pos, `empty; write a text, "file:PATH" or "env:NAME"`)
		return Secret{}
	}
	v, err := d.secrets.resolve(text)
	if err != nil {
		d.bad(at, n.pos, "%s", err)
	}
	return v
}
