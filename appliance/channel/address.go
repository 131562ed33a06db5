package channel

import (
	"errors"
	"net/url"
	"strings"
)

// checkAddress returns the host of an address over HTTP. Its error does not show
// the address, which may be a secret.
func checkAddress(what, address string) (host string, err error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return "", errors.New(what + ` is no address; write one such as "https://hooks.example.com/path"`)
	case u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New(what + ` must begin with "https://" or "http://"`)
	case u.Hostname() == "":
		return "", errors.New(what + ` names no host; write one such as "https://hooks.example.com/path"`)
	}
	return u.Host, nil
}

// cut drops lines from the end of a text until its size is within a limit and says
// how many it has dropped. One line that is too long alone is cut within.
func cut(text string, limit int, size func(string) int, left func(n int) string) string {
	if size(text) <= limit {
		return text
	}
	lines := strings.Split(text, "\n")
	for keep := len(lines) - 1; keep > 0; keep-- {
		short := strings.Join(lines[:keep], "\n") + "\n" + left(len(lines)-keep)
		if size(short) <= limit {
			return short
		}
	}
	var more string
	if len(lines) > 1 {
		more = "\n" + left(len(lines)-1)
	}
	first := []rune(lines[0])
	for n := len(first) - 1; n > 0; n -= 1 + n/32 {
		if short := string(first[:n]) + "…" + more; size(short) <= limit {
			return short
		}
	}
	return ""
}
