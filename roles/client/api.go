package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// largest is how many bytes of an answer are read.
const largest = 256 << 20

// api is the HTTP API of a running jaque.
type api struct {
	base   string
	token  string
	client *http.Client
}

// connect finds out from options and environment whom to ask.
func (c *call) connect() error {
	form := c.text("o")
	if form != "" && form != "table" && form != "json" {
		return usagef("-o: %q is no form of an answer; write table or json", form)
	}
	timeout := 30 * time.Second
	if c.has("timeout") {
		var err error
		if timeout, err = readDuration(c.text("timeout")); err != nil {
			return usagef("-timeout: %v", err)
		}
	}
	base := first(c.text("url"), c.env("JAQUE_URL"), c.URL)
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" {
		return usagef("-url: %q is no address of jaque; write http://host:port", base)
	}
	token, err := c.secret()
	if err != nil {
		return err
	}
	c.api = &api{base: strings.TrimSuffix(base, "/"), token: token, client: &http.Client{Timeout: timeout, Transport: c.Transport}}
	return nil
}

func (c *call) env(name string) string {
	v, _ := c.Lookup(name)
	return v
}

// secret returns the token: of the command line before that of the environment.
func (c *call) secret() (string, error) {
	if c.has("token") && c.has("token-file") {
		return "", usagef("-token and -token-file are both given; write one")
	}
	file, from := c.text("token-file"), "-token-file"
	if file == "" && !c.has("token") && c.env("JAQUE_API_TOKEN") == "" {
		file, from = c.env("JAQUE_API_TOKEN_FILE"), "JAQUE_API_TOKEN_FILE"
	}
	if file == "" {
		return first(c.text("token"), c.env("JAQUE_API_TOKEN")), nil
	}
	data, err := c.ReadFile(file)
	if err != nil {
		return "", usagef("%s: %v", from, err)
	}
	return strings.TrimSpace(string(data)), nil
}

// first returns the first text that is not empty.
func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// answer is what the API said.
type answer struct {
	status int
	body   []byte
}

// ask sends a request. The error says that there was no answer.
func (a *api) ask(ctx context.Context, method, path string, body any) (answer, error) {
	var r io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return answer{}, fmt.Errorf("write the command: %w", err)
		}
		r = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, a.base+"/api/v1"+path, r)
	if err != nil {
		return answer{}, usagef("-url: %v", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	res, err := a.client.Do(req)
	if err != nil {
		return answer{}, a.silence(err)
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(res.Body, largest))
	if err != nil {
		return answer{}, a.silence(err)
	}
	return answer{res.StatusCode, data}, nil
}

// silence is the error for no answer.
func (a *api) silence(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
		if wrapped.Timeout() {
			return fmt.Errorf("no answer from %s within %s; it may still be done, look before you send it again", a.base, a.client.Timeout)
		}
	}
	return fmt.Errorf("no answer from %s: %w; is jaque running there? name another address with -url or JAQUE_URL", a.base, err)
}

// problem turns an answer that is no success into an error.
func (c *call) problem(a answer) error {
	var p problem
	if text := strings.TrimSpace(string(a.body)); a.status == http.StatusServiceUnavailable && strings.HasPrefix(text, "not ready: ") {
		return fmt.Errorf("jaque at %s is %s", c.api.base, printable(text)) // it serves nothing yet, nothing was done
	}
	if json.Unmarshal(a.body, &p) != nil || p.Detail == "" {
		return fmt.Errorf("%s answered with status %d and nothing that jaque says; is it jaque that answers there?", c.api.base, a.status)
	}
	f := &fault{Failed, printable(p.Detail)}
	// The place is one in the body, which nobody wrote here.
	if at := strings.LastIndex(f.text, " (at line "); at > 0 && p.Field != "" && strings.HasSuffix(f.text, ")") {
		f.text = f.text[:at]
	}
	switch {
	case a.status == http.StatusNotFound && (p.Field == "value" || p.Field == "trigger"):
		f.status = Usage // the target is there, what the command names beside it is not
	case a.status == http.StatusNotFound:
		f.status = Nobody
	case a.status == http.StatusBadRequest && p.Column > 0:
		f.status = Usage
		f.text += fmt.Sprintf("\n  %s\n  %s^", c.text("filter"), strings.Repeat(" ", p.Column-1))
	case a.status == http.StatusBadRequest && (p.Field != "" || len(p.Known) > 0):
		f.status = Usage
	case a.status == http.StatusUnauthorized || a.status == http.StatusForbidden:
		f.text += "\ngive the token with -token-file, or in JAQUE_API_TOKEN"
	}
	return f
}
