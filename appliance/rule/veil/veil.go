package veil

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Hidden stands in an error where a secret stood.
const Hidden = "(secret)"

// shortest is how long a secret must be, in bytes, to be looked for: a shorter one
// would take apart every other text and protects nothing.
const shortest = 4

// long is how long a secret must be, in bytes, to be looked for in other shapes than
// those in which it was sent: a short one may be a word of every other answer.
const long = 12

// Veil takes secrets out of texts, in all the ways in which libraries write them and
// servers repeat them.
type Veil struct {
	exact []string // short ones, as they are
	lower []string // long ones, in lower case: they are found in any
	long  []string // long ones as they are, of which the beginnings and the ends count
}

// New returns a veil over secrets.
func New(secrets ...string) Veil {
	var v Veil
	for _, s := range secrets {
		strong := len(s) >= long
		for _, form := range forms(s) {
			switch {
			case strong:
				v.lower = append(v.lower, lowered(form))
			case len(form) >= shortest:
				v.exact = append(v.exact, form)
			}
		}
		if !strong {
			continue
		}
		for _, form := range append(encoded(s), strings.ToUpper(s), strings.ToLower(s)) {
			v.lower = append(v.lower, lowered(form))
		}
		// What several secrets are put together from begins as other addresses do.
		if !strings.Contains(s, "://") && s[0] != '/' {
			v.long = append(v.long, s)
		}
	}
	for _, all := range []*[]string{&v.exact, &v.lower, &v.long} {
		slices.Sort(*all)
		*all = slices.Compact(*all)
	}
	return v
}

// forms returns how a text may come back: as it is, escaped for a URL, for HTML and for
// JSON, quoted, with single blanks, and as a header encodes it.
func forms(s string) []string {
	quoted := strconv.Quote(s)
	ascii := strconv.QuoteToASCII(s)
	all := []string{
		s, url.QueryEscape(s), url.PathEscape(s), (&url.URL{Path: s}).EscapedPath(), url.UserPassword(s, "").String(),
		quoted[1 : len(quoted)-1], ascii[1 : len(ascii)-1], base64.StdEncoding.EncodeToString([]byte(s)),
		html.EscapeString(s), strings.Join(strings.Fields(s), " "),
	}
	if text, err := json.Marshal(s); err == nil { // signs of HTML are escaped in it
		all = append(all, string(text[1:len(text)-1]))
	}
	for _, escaped := range all[1:5] {
		all = append(all, smallHex(escaped))
	}
	return all
}

// smallHex writes the percent escapes of a text with small letters, as some do.
func smallHex(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], strings.ToLower(s[i+1:i+3]))
		}
	}
	return string(b)
}

// encoded returns how a long text comes back in base64, alone and within another text:
// without the signs to which what stands around it contributes.
func encoded(s string) []string {
	all := []string{base64.StdEncoding.EncodeToString([]byte(s)), base64.URLEncoding.EncodeToString([]byte(s))}
	for before, cut := range []int{0, 2, 3} {
		padded := append(make([]byte, before), s...)
		for _, as := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := as.EncodeToString(padded)
			if len(padded)%3 != 0 {
				if before == 0 {
					all = append(all, text)
				}
				text = text[:len(text)-1]
			}
			all = append(all, text[cut:])
		}
	}
	return all
}

// lowered returns a text with the letters of ASCII in lower case. Every byte stays at
// its place.
func lowered(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// Clean returns a text without the secrets, on one line.
func (v *Veil) Clean(text string) string {
	pieces := strings.Split(text, cutOff)
	for i, piece := range pieces {
		pieces[i] = v.cover(piece, i < len(pieces)-1)
	}
	return strings.Join(strings.Fields(strings.Join(pieces, cutOff)), " ")
}

// cutOff is what stands where a text was cut.
const cutOff = "…"

// cover returns a text without the secrets; of one that was cut also without the
// beginning of a secret at its end.
func (v *Veil) cover(text string, cut bool) string {
	secret, low := make([]bool, len(text)), lowered(text)
	mark := func(from, to int) {
		for i := from; i < to; i++ {
			secret[i] = true
		}
	}
	for _, s := range v.exact {
		each(text, s, func(at int) { mark(at, at+len(s)) })
	}
	for _, s := range v.lower {
		each(low, s, func(at int) { mark(at, at+len(s)) })
	}
	for _, s := range v.long {
		ends(low, s, mark)
	}
	if cut {
		mark(len(text)-max(begun(text, v.exact), begun(low, v.lower)), len(text))
	}
	var b strings.Builder
	for i := range len(text) {
		switch {
		case !secret[i]:
			b.WriteByte(text[i])
		case i == 0 || !secret[i-1]:
			b.WriteString(Hidden)
		}
	}
	return strings.ToValidUTF8(b.String(), "")
}

// each calls fn with every place of a part in a text.
func each(text, part string, fn func(at int)) {
	for from := 0; ; {
		i := strings.Index(text[from:], part)
		if i < 0 || part == "" {
			return
		}
		fn(from + i)
		from += i + 1
	}
}

// begun returns how many bytes at the end of a text are the beginning of a secret.
func begun(text string, secrets []string) (longest int) {
	for _, s := range secrets {
		for n := min(len(s)-1, len(text)); n >= shortest && n > longest; n-- {
			if strings.HasSuffix(text, s[:n]) {
				longest = n
			}
		}
	}
	return longest
}

// telling is how many bytes at the beginning or the end of a long secret give it away.
const telling = 8

// ends marks the beginnings and the ends of a secret in a text that is in lower case.
// A short one that could be a word is left alone.
func ends(text, secret string, mark func(from, to int)) {
	s := lowered(secret)
	each(text, s[:telling], func(at int) {
		n := telling
		for n < len(s) && at+n < len(text) && text[at+n] == s[n] {
			n++
		}
		if tells(secret, secret[:n]) {
			mark(at, at+n)
		}
	})
	each(text, s[len(s)-telling:], func(at int) {
		n, end := telling, at+telling
		for n < len(s) && end-n > 0 && text[end-n-1] == s[len(s)-n-1] {
			n++
		}
		if tells(secret, secret[len(s)-n:]) {
			mark(end-n, end)
		}
	})
}

// tells tells whether a part of a secret gives it away: not if it could be a word.
func tells(secret, part string) bool {
	return !wordlike(part) || len(part) >= long && !wordlike(secret) || len(part) >= 2*telling
}

// wordlike tells whether a text has neither a digit nor a capital within a word.
func wordlike(s string) bool {
	small := false
	for _, c := range s {
		if unicode.IsDigit(c) || small && unicode.IsUpper(c) {
			return false
		}
		small = unicode.IsLower(c)
	}
	return true
}

// OfURL returns what of an address is secret: everything but scheme, host and the
// names of its parameters.
func OfURL(address string) []string {
	secrets := []string{address}
	u, err := url.Parse(address)
	if err != nil {
		return secrets
	}
	secrets = append(secrets, u.Redacted(), u.RequestURI(), u.Opaque, u.Fragment, u.Path, u.EscapedPath(), u.RawQuery)
	if u.User != nil {
		password, _ := u.User.Password()
		name := u.User.Username()
		secrets = append(secrets, u.User.String(), name, password, name+":"+password)
	}
	secrets = append(secrets, strings.Split(u.Path, "/")...)
	for _, values := range u.Query() {
		secrets = append(secrets, values...)
	}
	return secrets
}

// Servers returns a list of addresses, separated by commas, without the names, tokens
// and passwords in front of their hosts. They need not be well-formed.
func Servers(list string) string {
	parts := strings.Split(list, ",")
	for i, part := range parts {
		at := strings.LastIndexByte(part, '@')
		if at < 0 {
			continue
		}
		scheme, _, ok := strings.Cut(part[:at], "://")
		if ok {
			scheme += "://"
		} else {
			scheme = ""
		}
		parts[i] = scheme + Hidden + part[at:]
	}
	return strings.Join(parts, ",")
}
