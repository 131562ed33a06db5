package channel

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"jaque.sh/jaque/appliance/rule/veil"
)

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 64 << 10

// maxRetryAfter bounds the wish of the other side to be left alone.
const maxRetryAfter = time.Hour

// NewClient returns the client that the channels over HTTP share. It trusts roots,
// nil = those of the system, gives up on a server that does not answer within half
// a minute, and never follows a redirect: a message goes where the config says.
func NewClient(roots *x509.CertPool) *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
			TLSClientConfig:     &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 30 * time.Second,
			MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: maxAnswer,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// answer is what a server said.
type answer struct {
	status int
	header http.Header
	body   []byte // its beginning
}

// ask makes one request. Its error holds no address.
func ask(client *http.Client, req *http.Request) (*answer, error) {
	// Once there is a connection the request goes out over it, and what becomes of it
	// only the answer can tell.
	var connected atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	res, err := client.Do(req.WithContext(httptrace.WithClientTrace(req.Context(), trace)))
	if err != nil {
		return nil, &Error{Err: withoutURL(req.Context(), err), MayHaveArrived: connected.Load()}
	}
	defer func() { _ = res.Body.Close() }() // what it says is not of interest
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil && res.StatusCode/100 != 2 {
		return nil, &Error{Err: withoutURL(req.Context(), err), MayHaveArrived: unheard(res.StatusCode)}
	}
	// A server that has said 2xx has taken the message, whatever becomes of the rest.
	return &answer{res.StatusCode, res.Header, body}, nil
}

// unheard tells whether a status says that somebody in between has handed the
// request on and got no answer.
func unheard(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusGatewayTimeout
}

// withoutURL takes the address out of the errors of net/http and says shortly what
// a deadline means.
func withoutURL(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return errors.New("no answer in time")
	}
	var whole *url.Error
	if errors.As(err, &whole) {
		return whole.Err
	}
	return err
}

// waited says how long something took, as people say it.
func waited(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// verdict returns what the answer means for the message: nil = taken.
func (a *answer) verdict() *Error {
	if a.status/100 == 2 {
		return nil
	}
	text := strings.TrimSpace(strconv.Itoa(a.status) + " " + http.StatusText(a.status))
	e := &Error{Err: fmt.Errorf("answered %s%s", text, a.excerpt()), MayHaveArrived: unheard(a.status)}
	switch {
	case a.status/100 == 3:
		e.Err = fmt.Errorf("answered %s, and redirects are not followed: write the address behind it into the config", text)
	case a.status == http.StatusRequestTimeout, a.status == http.StatusTooEarly, a.status == http.StatusTooManyRequests:
		e.RetryAfter = retryAfter(a.header.Get("Retry-After"))
	case a.status/100 == 4:
		e.Permanent = true
	default:
		e.RetryAfter = retryAfter(a.header.Get("Retry-After"))
	}
	return e
}

// excerpt returns what the server says about it, shortly.
func (a *answer) excerpt() string {
	body := a.body
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		return "" // a page, which says less than the status
	}
	if text := oneLine(body, 200); text != "" {
		return ": " + text
	}
	return ""
}

// oneLine returns the beginning of a text as one line that can be shown.
func oneLine(text []byte, limit int) string {
	s := strings.ToValidUTF8(string(text[:min(len(text), 4*limit)]), "\uFFFD")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r == 127 }), " ")
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}

// retryAfter reads the header of this name: seconds, or a date.
func retryAfter(value string) time.Duration {
	if seconds, err := strconv.ParseUint(strings.TrimSpace(value), 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, min(time.Until(at), maxRetryAfter))
	}
	return 0
}

// failed names the channel in an error and takes the secrets out of it. What kind
// of error it is stays.
func failed(what string, v veil.Veil, err error) error {
	out := &Error{}
	if is := (*Error)(nil); errors.As(err, &is) {
		out.Permanent, out.RetryAfter, out.MayHaveArrived = is.Permanent, is.RetryAfter, is.MayHaveArrived
	}
	out.Err = errors.New(what + ": " + v.Clean(err.Error()))
	return out
}
