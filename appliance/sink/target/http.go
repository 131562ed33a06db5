package target

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"jaque.sh/jaque/appliance/rule/veil"
	"jaque.sh/jaque/appliance/sink"
)

// maxAnswer bounds what is read of an answer, in bytes; that to a bulk request says
// something of every item.
const maxAnswer = 16 << 20

// poster makes the requests of one target.
type poster struct {
	client  *http.Client
	address *url.URL
	header  http.Header
	secrets veil.Veil // takes what must not be shown out of texts
	zip     bool
	gzip    *gzip.Writer
}

// newPoster reads what all targets over HTTP share: url, user and password or token,
// and headers. scheme is what stands in front of the token.
func newPoster(u *Setup, s *settings, example, scheme string, zip bool) *poster {
	p := &poster{header: http.Header{}, zip: s.flag("gzip", zip), gzip: gzip.NewWriter(io.Discard)}
	text := s.need("url", example)
	address, err := url.Parse(text)
	if text != "" && (err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https") {
		s.bad("url", "it is no address of HTTP; write %q", example)
	}
	if p.address = address; err != nil {
		p.address = &url.URL{}
	}
	p.header.Set("User-Agent", "jaque/"+u.Version)
	user, password, token := s.text("user", ""), s.text("password", ""), s.text("token", "")
	hide := append(secretsIn(p.address), password, token)
	switch {
	case token != "" && user != "":
		s.bad("token", "user and token are given; keep one of them")
	case token != "":
		p.header.Set("Authorization", scheme+" "+token)
	case user != "":
		p.header.Set("Authorization", basic(user, password))
		hide = append(hide, user+":"+password)
	}
	for name, value := range s.group("header") {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			s.bad("header."+name, "HTTP cannot carry it; take line feeds and blanks out")
			continue
		}
		hide = append(hide, value)
		p.header.Set(name, value)
	}
	p.secrets = veil.New(hide...)
	p.client = newClient(u)
	return p
}

func basic(user, password string) string {
	r := http.Request{Header: http.Header{}}
	r.SetBasicAuth(user, password)
	return r.Header.Get("Authorization")
}

// longPart is from how many bytes on a part of a path, or of a query, is taken for a
// secret: what names the address of a hook is longer, words of an interface are shorter.
const longPart = 20

// secretsIn returns what of an address must not be shown: the password, parameters
// whose names say that they are secret, and what is too long for a word.
func secretsIn(address *url.URL) (secrets []string) {
	if in := address.User; in != nil {
		password, _ := in.Password()
		secrets = append(secrets, password, in.Username()+":"+password)
	}
	for name, values := range address.Query() {
		name = strings.ToLower(name)
		if name == "p" || slices.ContainsFunc([]string{"pass", "token", "key", "secret", "auth", "sig", "code"}, func(s string) bool { return strings.Contains(name, s) }) {
			secrets = append(secrets, values...)
		}
		for _, value := range values {
			if len(value) >= longPart {
				secrets = append(secrets, value)
			}
		}
	}
	for part := range strings.SplitSeq(address.Path, "/") {
		if len(part) >= longPart {
			secrets = append(secrets, part)
		}
	}
	return secrets
}

// newClient returns a client that never follows a redirect: measurements go where
// the config says.
func newClient(u *Setup) *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
			TLSClientConfig:     &tls.Config{RootCAs: u.Roots, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout: 10 * time.Second, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// close lets the idle connections go.
func (p *poster) close() error {
	p.client.CloseIdleConnections()
	return nil
}

// answer is what a server said.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// post makes one request and returns the answer of a server that has taken it, else
// what its answer means, and how many bytes went out.
func (p *poster) post(ctx context.Context, to *url.URL, body []byte, headers ...string) (*answer, int, error) {
	// A connection that was given up may still read the body of its request when the
	// next one is written: each has memory of its own.
	if p.zip {
		var packed bytes.Buffer
		p.gzip.Reset(&packed)
		if _, err := p.gzip.Write(body); err != nil {
			return nil, 0, err
		}
		if err := p.gzip.Close(); err != nil {
			return nil, 0, err
		}
		body, headers = packed.Bytes(), append(headers, "Content-Encoding", "gzip")
	} else {
		body = bytes.Clone(body)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, 0, p.failed(ctx, err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	for name, values := range p.header {
		req.Header[name] = values
	}
	if host := p.header.Get("Host"); host != "" {
		req.Host = host
	}
	res, err := p.client.Do(req)
	if err != nil {
		return nil, 0, p.failed(ctx, err)
	}
	defer func() { _ = res.Body.Close() }() // what it says is not of interest
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	a := &answer{res.StatusCode, res.Header, text}
	if e := p.verdict(a); e != nil {
		return nil, len(body), e
	}
	if err != nil {
		return nil, len(body), p.failed(ctx, err)
	}
	return a, len(body), nil
}

// failed says why there is no answer, without the address, which may hold secrets.
func (p *poster) failed(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = errors.New("no answer in time")
	}
	var whole *url.Error
	if errors.As(err, &whole) {
		err = whole.Err
	}
	return fmt.Errorf("%s: %s", p.address.Host, p.secrets.Clean(err.Error()))
}

// verdict returns what a status means for a batch, nil = taken. Only what blames the
// data is permanent: a wrong password or path is for an operator to put right.
func (p *poster) verdict(a *answer) *sink.Error {
	if a.status/100 == 2 {
		return nil
	}
	text := strings.TrimSpace(strconv.Itoa(a.status) + " " + http.StatusText(a.status))
	if a.status/100 == 3 {
		return &sink.Error{Err: fmt.Errorf("%s answers %s, and redirects are not followed; write the address behind it into the config", p.address.Host, text)}
	}
	e := &sink.Error{Err: fmt.Errorf("%s answers %s%s", p.address.Host, text, p.excerpt(a.body)), RetryAfter: retryAfter(a.header.Get("Retry-After"))}
	switch a.status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		e.Permanent = true
	}
	return e
}

// excerpt returns the beginning of what a server says, on one line.
func (p *poster) excerpt(body []byte) string {
	const most = 300
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
		return "" // a page, which says less than the status
	}
	text := strings.ToValidUTF8(string(body[:min(len(body), most)]), "\uFFFD")
	if len(body) > most {
		text += "…" // also the beginning of a secret in front of it is one
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	text = p.secrets.Clean(text)
	if text == "" {
		return ""
	}
	return ": " + text
}

// retryAfter reads the header of this name: seconds, or a date.
func retryAfter(value string) time.Duration {
	if n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
