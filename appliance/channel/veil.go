package channel

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// hidden stands in an error where a secret stood.
const hidden = "(secret)"

// shortest is how long a secret must be, in bytes, to be looked for: a shorter one
// would take apart every other text and protects nothing.
const shortest = 4

// veil takes secrets out of texts, in all the ways in which libraries write them.
type veil struct {
	replace *strings.Replacer
	all     []string // what is looked for, the longest first
}

func newVeil(secrets ...string) veil {
	var all []string
	for _, s := range secrets {
		for _, form := range forms(s) {
			if len(form) >= shortest {
				all = append(all, form)
			}
		}
	}
	// The longest first, so that of a secret within another nothing is left over.
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	all = slices.Compact(all)
	pairs := make([]string, 0, 2*len(all))
	for _, s := range all {
		pairs = append(pairs, s, hidden)
	}
	return veil{strings.NewReplacer(pairs...), all}
}

// forms returns how a text may come back: as it is, escaped for a URL, quoted, and
// as a header encodes it.
func forms(s string) []string {
	quoted := strconv.Quote(s)
	ascii := strconv.QuoteToASCII(s)
	return []string{
		s, url.QueryEscape(s), url.PathEscape(s), (&url.URL{Path: s}).EscapedPath(), url.UserPassword(s, "").String(),
		quoted[1 : len(quoted)-1], ascii[1 : len(ascii)-1], base64.StdEncoding.EncodeToString([]byte(s)),
	}
}

// clean returns a text without the secrets, on one line.
func (v veil) clean(text string) string {
	if v.replace == nil {
		return text
	}
	pieces := strings.Split(text, cutOff)
	for i, piece := range pieces {
		pieces[i] = v.replace.Replace(piece)
		if i < len(pieces)-1 {
			pieces[i] = v.cleanEnd(pieces[i])
		}
	}
	return strings.Join(strings.Fields(strings.Join(pieces, cutOff)), " ")
}

// cutOff is what stands where a text was cut.
const cutOff = "…"

// cleanEnd returns a text that was cut without the beginning of a secret at its end.
func (v veil) cleanEnd(text string) string {
	longest := 0
	for _, s := range v.all {
		for n := min(len(s)-1, len(text)); n >= shortest && n > longest; n-- {
			if strings.HasSuffix(text, s[:n]) {
				longest = n
			}
		}
	}
	if longest == 0 {
		return text
	}
	return text[:len(text)-longest] + hidden
}

// ofURL returns what of an address is secret: everything but scheme, host and the
// names of its parameters.
func ofURL(address string) []string {
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
