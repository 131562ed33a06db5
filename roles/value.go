package roles

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A value parser takes the text of a flag and returns what is wrong with it,
// worded so that it can follow "is": "not a duration; write 10s or 1m".

// text accepts any value but the empty one.
func text(into *string) func(string) error {
	return func(v string) error {
		if v == "" {
			return fmt.Errorf("empty")
		}
		*into = v
		return nil
	}
}

// oneOf accepts one of a closed set of words.
func oneOf(into *string, words ...string) func(string) error {
	return func(v string) error {
		if !slices.Contains(words, v) {
			return fmt.Errorf("none of %s%s", strings.Join(words, ", "), didYouMean(v, words))
		}
		*into = v
		return nil
	}
}

// duration accepts a positive Go duration.
func duration(into *time.Duration) func(string) error {
	return func(v string) error {
		d, err := time.ParseDuration(v)
		if err != nil {
			return fmt.Errorf("not a duration; write 10s or 1m")
		}
		// Zero often means "never" elsewhere; here no duration may be left out.
		if d <= 0 {
			return fmt.Errorf("not above zero; write 10s or 1m")
		}
		*into = d
		return nil
	}
}

// count accepts a whole number in a range.
func count(into *int, low, high int) func(string) error {
	return func(v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < low || n > high {
			return fmt.Errorf("not a whole number from %d to %d", low, high)
		}
		*into = n
		return nil
	}
}

// address accepts host:port; an empty host is every address of the machine.
func address(into *string) func(string) error {
	return func(v string) error {
		host, port, err := net.SplitHostPort(v)
		if err != nil {
			return fmt.Errorf("not an address; write host:port, for example 127.0.0.1:8420 or [::1]:8420")
		}
		if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
			return fmt.Errorf("not an address: the port is %q; write a number from 0 to 65535", port)
		}
		if strings.ContainsAny(host, " /@") {
			return fmt.Errorf("not an address: the host is %q", host)
		}
		*into = v
		return nil
	}
}

// server accepts one of the words or the URL of a NATS server.
func server(into *string, words ...string) func(string) error {
	return func(v string) error {
		if slices.Contains(words, v) {
			*into = v
			return nil
		}
		forms := strings.Join(append(slices.Clone(words), "nats://host:port", "tls://host:port"), ", ")
		u, err := url.Parse(v)
		if err != nil || u.Scheme != "nats" && u.Scheme != "tls" {
			return fmt.Errorf("none of %s%s", forms, didYouMean(v, words))
		}
		// url.Parse takes nats://:4222, which would connect to this machine and look
		// like a server without data.
		if u.Hostname() == "" {
			return fmt.Errorf("a URL without a host; write %s://host:port", u.Scheme)
		}
		*into = v
		return nil
	}
}

// external tells whether a server value names one outside this process.
func external(v string) bool { return strings.Contains(v, "://") }

// identifier accepts what can stand as one token of a subject.
func identifier(into *string) func(string) error {
	return func(v string) error {
		if err := checkIdentifier(v); err != nil {
			return err
		}
		*into = v
		return nil
	}
}

func checkIdentifier(v string) error {
	if v == "" {
		return fmt.Errorf("empty")
	}
	if len(v) > 128 {
		return fmt.Errorf("longer than 128 characters")
	}
	for _, r := range v {
		if !plain(r) {
			return fmt.Errorf("not usable as an id because of %q; write letters, digits, - and _", r)
		}
	}
	return nil
}

func plain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
}

// HostID turns a host name into an id: every character that an id may not hold
// becomes "-". It is "jaque" if nothing is left.
func HostID(host string) string {
	id := strings.Map(func(r rune) rune {
		if plain(r) {
			return r
		}
		return '-'
	}, host)
	if len(id) > 128 {
		id = id[:128]
	}
	if strings.Trim(id, "-") == "" {
		return "jaque"
	}
	return id
}

// list accepts words separated by commas. check judges one word.
func list(into *[]string, check func(string) error) func(string) error {
	return func(v string) error {
		var words []string
		for _, word := range strings.Split(v, ",") {
			word = strings.TrimSpace(word)
			if err := check(word); err != nil {
				return fmt.Errorf("not a list: the entry %q is %w", word, err)
			}
			// A word that stands twice is a slip in a long list, and for a zone it would
			// have a worker pull the same queue twice.
			if slices.Contains(words, word) {
				return fmt.Errorf("not a list of different things: %q stands twice", word)
			}
			words = append(words, word)
		}
		*into = words
		return nil
	}
}

// orEmpty makes a parser accept the empty text as "nothing chosen".
func orEmpty(parse func(string) error) func(string) error {
	return func(v string) error {
		if v == "" {
			return nil
		}
		return parse(v)
	}
}

func notEmpty(v string) error {
	if v == "" {
		return fmt.Errorf("empty")
	}
	return nil
}

// yes accepts the forms of a switch.
func yes(into *bool) func(string) error {
	return func(v string) error {
		b, err := strconv.ParseBool(v)
		if err != nil {
			return fmt.Errorf("neither true nor false")
		}
		*into = b
		return nil
	}
}
