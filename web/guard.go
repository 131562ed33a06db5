package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// cookie is the name of the cookie of a browser that signed in.
const cookie = "jaque_session"

// ownName refuses requests to a loopback listener by a name that is not its own:
// a page of another site may have made that name point here to read what only
// this machine may see. Programs that name nothing and sockets are no browsers.
// With public reads there is nothing to keep.
func (s *site) ownName(r *http.Request) error {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if s.Public || r.Host == "" || !ok || !loopback(addr.String()) || loopbackName(r.Host) {
		return nil
	}
	name := hostname(r.Host)
	for _, own := range s.Hosts {
		if own = hostname(own); own != "" && strings.EqualFold(own, name) {
			return nil
		}
	}
	return faultf(http.StatusMisdirectedRequest,
		"nothing is called %q here; use localhost, or add the name to http: hosts in the configuration", name)
}

// mayRead refuses reads that nobody has allowed: on an address that is not
// loopback without a token or an explicit permission.
func (s *site) mayRead(r *http.Request) error {
	if s.Public || s.Token != "" || localListener(r) {
		return nil
	}
	return faultf(http.StatusForbidden,
		"this address is not loopback and no token is set; set -api-token, or allow public reads in the configuration")
}

// mayWrite tells whether the request may change anything. Browsers may come
// with their cookie, programs with the token.
func (s *site) mayWrite(r *http.Request) error {
	if err := s.origin.Check(r); err != nil {
		return faultf(http.StatusForbidden, "the request comes from another site; send it from this dashboard or without Origin")
	}
	if s.Token == "" {
		if local(r) {
			return nil
		}
		return faultf(http.StatusForbidden, "without a token only programs on this machine may write; set -api-token")
	}
	if given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok && same(given, s.Token) {
		return nil
	}
	if s.signedIn(r) {
		return nil
	}
	return faultf(http.StatusUnauthorized, "writing needs the token; send it as \"Authorization: Bearer …\" or sign in")
}

func (s *site) signedIn(r *http.Request) bool {
	c, err := r.Cookie(cookie)
	return s.Token != "" && err == nil && same(c.Value, s.session())
}

// session is the cookie's value: proof of the token that does not contain it.
func (s *site) session() string {
	m := hmac.New(sha256.New, []byte(s.Token))
	m.Write([]byte("jaque dashboard session"))
	return hex.EncodeToString(m.Sum(nil))
}

// same compares in a time that says nothing about where texts differ, nor
// about their length.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// local tells whether the request was made on this machine, to it and by its
// loopback name. A proxy makes every client look local, so what it adds to a
// request counts as from elsewhere; so does any other name, because a page
// could have made that name point here.
func local(r *http.Request) bool {
	for _, h := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if r.Header.Get(h) != "" {
			return false
		}
	}
	return localListener(r) && loopback(r.RemoteAddr) && loopbackName(r.Host)
}

func localListener(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && (addr.Network() == "unix" || loopback(addr.String()))
}

func loopback(hostport string) bool {
	a, err := netip.ParseAddrPort(hostport)
	return err == nil && a.Addr().Unmap().IsLoopback()
}

func loopbackName(host string) bool {
	host = hostname(host)
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

// hostname returns the name or address in a Host header, without the port.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}
