package probe

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

const (
	// bodyLimit is how much of a body is read.
	bodyLimit = 1 << 20
	// headerLimit is how long the header of an answer may be.
	headerLimit = 64 << 10
)

// transport makes connections that live for one request: a check tests the
// connection too. It never uses a proxy and never asks for compression.
func (r *Runner) transport(lax bool) *http.Transport {
	return &http.Transport{
		DialContext:       r.dialer.DialContext,
		DisableKeepAlives: true, DisableCompression: true,
		MaxResponseHeaderBytes: headerLimit,
		WriteBufferSize:        1 << 10, ReadBufferSize: 2 << 10,
		TLSClientConfig: &tls.Config{RootCAs: r.opts.Roots, InsecureSkipVerify: lax},
	}
}

// http requests a URL and judges status, body and time.
func (r *Runner) http(ctx context.Context, req *Request, c *object.HTTPCheck) answer {
	l, err := parseLimits("http", c.Warn, c.Crit)
	if err != nil {
		return unknown("%v", err)
	}
	hr, err := newHTTPRequest(ctx, c)
	if err != nil {
		return unknown("%v", err)
	}
	start := time.Now()
	resp, err := r.roundTrip(hr, c)
	if err != nil {
		return failure(ctx, req, hr.Method+" "+c.URL, urlCause(err))
	}
	found, size, err := readBody(resp.Body, c.Contains)
	_ = resp.Body.Close()
	took := time.Since(start)
	if err != nil {
		return failure(ctx, req, "read the body of "+c.URL, err)
	}
	state, text := l.judge(took.Seconds()), ""
	switch {
	case !accepted(c.Status, resp.StatusCode):
		state, text = object.Critical, ", expected "+expectedStatus(c.Status)
	case !found:
		state, text = object.Critical, fmt.Sprintf(", body does not contain %q", c.Contains)
	}
	if to := resp.Header.Get("Location"); to != "" && resp.StatusCode/100 == 3 {
		text += ", redirects to " + to
	}
	t := seconds(took)
	a := answer{state: state, perfdata: perf("time", t, "s", c.Warn, c.Crit) + " " + perf("size", strconv.Itoa(size), "B", "", "")}
	a.output = state.Name(object.Service) + " - " + oneLine(resp.Proto+" "+resp.Status+text) + ", " +
		strconv.Itoa(size) + " bytes in " + t + "s"
	return a
}

func newHTTPRequest(ctx context.Context, c *object.HTTPCheck) (*http.Request, error) {
	method := c.Method
	if method == "" {
		method = http.MethodGet
	}
	var body io.Reader
	if c.Body != "" {
		body = strings.NewReader(c.Body)
	}
	hr, err := http.NewRequestWithContext(ctx, method, c.URL, body)
	if err != nil {
		return nil, fmt.Errorf("http check: %w; correct url and method", urlCause(err))
	}
	if hr.URL.Scheme != "http" && hr.URL.Scheme != "https" || hr.URL.Host == "" {
		return nil, fmt.Errorf("url %q is not of the web; write for example \"https://$HOSTADDRESS$/\"", c.URL)
	}
	hr.Header["User-Agent"] = []string{"jaque"}
	for k, v := range c.Headers {
		if strings.EqualFold(k, "Host") {
			hr.Host = v
			continue
		}
		hr.Header.Set(k, v)
	}
	return hr, nil
}

// roundTrip sends the request and follows as many redirects as the check says.
// Configured headers, which may hold secrets, stay with the configured host.
func (r *Runner) roundTrip(hr *http.Request, c *object.HTTPCheck) (*http.Response, error) {
	tr := r.strict
	if c.Insecure {
		tr = r.lax
	}
	if c.Redirect <= 0 {
		return tr.RoundTrip(hr)
	}
	client := http.Client{Transport: tr, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if len(via) > c.Redirect {
			return http.ErrUseLastResponse
		}
		if next.URL.Host != via[0].URL.Host || next.URL.Scheme != via[0].URL.Scheme {
			for k := range c.Headers {
				next.Header.Del(k)
			}
		}
		return nil
	}}
	return client.Do(hr)
}

// readBody reads up to bodyLimit bytes, tells whether they contain a text and
// how many there were.
func readBody(body io.Reader, contains string) (found bool, size int, err error) {
	limited := io.LimitReader(body, bodyLimit)
	if contains == "" {
		n, err := io.Copy(io.Discard, limited)
		return true, int(n), err
	}
	b, err := io.ReadAll(limited)
	return bytes.Contains(b, []byte(contains)), len(b), err
}

func accepted(want []int, got int) bool {
	if len(want) == 0 {
		return got < 400
	}
	return slices.Contains(want, got)
}

func expectedStatus(want []int) string {
	if len(want) == 0 {
		return "below 400"
	}
	words := make([]string, len(want))
	for i, s := range want {
		words[i] = strconv.Itoa(s)
	}
	return strings.Join(words, " or ")
}

// urlCause takes the wrapping off that repeats the method and the URL.
func urlCause(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	// What a server says before it is asked, the transport has only an internal
	// text for.
	if strings.Contains(err.Error(), "readLoopPeekFail") {
		return errors.New("malformed HTTP response, the server spoke before it was asked")
	}
	return err
}
