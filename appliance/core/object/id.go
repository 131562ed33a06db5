package object

import (
	"fmt"
	"strings"
)

// ID names one object: a host as "web01", a service as "web01!http". The ID is
// the identity of an object on the log; the order of a config never matters.
type ID string

// HostID returns the ID of a host.
func HostID(host string) ID { return ID(host) }

// ServiceID returns the ID of a service on a host.
func ServiceID(host, service string) ID { return ID(host + "!" + service) }

// Host returns the host's name, for a service the name of the host it runs on.
func (id ID) Host() string {
	host, _, _ := strings.Cut(string(id), "!")
	return host
}

// Service returns the service's name, "" for a host.
func (id ID) Service() string {
	_, service, _ := strings.Cut(string(id), "!")
	return service
}

// Kind tells whether the ID names a host or a service.
func (id ID) Kind() Kind {
	if strings.Contains(string(id), "!") {
		return Service
	}
	return Host
}

const hexDigits = "0123456789ABCDEF"

// Token returns the ID as one token of a NATS subject. Letters, digits, "-" and
// a "_" that is not the first byte stand for themselves, every other byte is
// "%XX"; so no object can collide with the reserved token "_system". The
// mapping is reversible, see ParseToken.
func (id ID) Token() string {
	for i := 0; i < len(id); i++ {
		if !plainTokenByte(id[i], i) {
			return escapeToken(string(id))
		}
	}
	return string(id)
}

func escapeToken(id string) string {
	var b strings.Builder
	b.Grow(len(id) + 8)
	for i := 0; i < len(id); i++ {
		c := id[i]
		if plainTokenByte(c, i) {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hexDigits[c>>4])
		b.WriteByte(hexDigits[c&15])
	}
	return b.String()
}

func plainTokenByte(c byte, at int) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-':
		return true
	case c == '_':
		return at > 0
	}
	return false
}

// ParseToken is the inverse of Token. It refuses what Token never writes, so
// that every object has exactly one subject.
func ParseToken(token string) (ID, error) {
	if token == "" {
		return "", fmt.Errorf("parse object token: it is empty")
	}
	var b strings.Builder
	for i := 0; i < len(token); i++ {
		c := token[i]
		if c != '%' {
			b.WriteByte(c)
			continue
		}
		if i+2 >= len(token) {
			return "", fmt.Errorf("parse object token %q: the escape at %d is cut off", token, i)
		}
		hi, lo := strings.IndexByte(hexDigits, token[i+1]), strings.IndexByte(hexDigits, token[i+2])
		if hi < 0 || lo < 0 {
			return "", fmt.Errorf("parse object token %q: %q is not an escape", token, token[i:i+3])
		}
		b.WriteByte(byte(hi<<4 | lo))
		i += 2
	}
	id := ID(b.String())
	if id.Token() != token {
		return "", fmt.Errorf("parse object token %q: not in canonical form, that would be %q", token, id.Token())
	}
	return id, nil
}
