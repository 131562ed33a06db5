package channel

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"jaque.sh/jaque/appliance/rule/message"
	"jaque.sh/jaque/appliance/rule/veil"
)

// The headers of jaque. An operator's own of these names are not sent.
const (
	HeaderSignature = "X-Jaque-Signature" // "t=SECONDS,v1=HEX", only with a key
	HeaderRepeat    = "X-Jaque-Repeat"    // "true" if the message may have been sent before
	HeaderKey       = "Idempotency-Key"   // the message's ID, the same for each attempt
)

// WebhookOptions say where and how messages are posted.
type WebhookOptions struct {
	URL      string
	Key      string            // signs what is posted; "" = no signature
	Headers  map[string]string // beside those of jaque
	Body     string            // template of the operator, see Body; "" = the Payload as JSON
	Template *message.Template // for subject and text within the payload; nil = jaque's
	Client   *http.Client      // nil = NewClient
}

type webhook struct {
	opts WebhookOptions
	body *Body // nil = the payload as JSON
	what string
	veil veil.Veil
}

// NewWebhook returns the channel to one address.
func NewWebhook(o WebhookOptions) (Channel, error) {
	host, err := checkAddress("webhook: url", o.URL)
	if err != nil {
		return nil, err
	}
	w := &webhook{opts: o, what: "webhook at " + host}
	secrets := append(veil.OfURL(o.URL), o.Key)
	for name, value := range o.Headers {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, fmt.Errorf("webhook: the header %q is none that HTTP can carry; take line feeds and blanks out of it", name)
		}
		secrets = append(secrets, value)
		if _, credentials, ok := strings.Cut(value, " "); ok {
			secrets = append(secrets, credentials) // behind "Bearer" or "Basic"
		}
	}
	w.veil = veil.New(secrets...)
	if o.Body != "" {
		if w.body, err = CompileBody(o.Body); err != nil {
			return nil, failed("webhook: body", w.veil, &Error{Err: err, Permanent: true})
		}
	}
	w.opts.Client = orNew(o.Client)
	return w, nil
}

// Send posts one message.
func (w *webhook) Send(ctx context.Context, m *message.Message) error {
	if err := w.post(ctx, m); err != nil {
		return failed(w.what, w.veil, err)
	}
	return nil
}

func (w *webhook) post(ctx context.Context, m *message.Message) error {
	words, err := message.Render(m, w.opts.Template)
	if err != nil {
		return &Error{Err: err, Permanent: true}
	}
	body, err := w.write(NewPayload(m, words))
	if err != nil {
		return &Error{Err: err, Permanent: true}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.opts.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	w.head(req, m, body)
	a, err := ask(w.opts.Client, req)
	if err != nil {
		return err
	}
	if wrong := a.verdict(); wrong != nil {
		return wrong
	}
	return nil
}

// write returns what is posted. What calls itself JSON is JSON.
func (w *webhook) write(p *Payload) ([]byte, error) {
	if w.body == nil {
		return json.Marshal(p)
	}
	text, err := w.body.Render(p)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(w.contentType(), "application/json") && !json.Valid(text) {
		return nil, errors.New("the template of the body does not make JSON; write values with {{json .subject}}, or set the header Content-Type")
	}
	return text, nil
}

// contentType returns what the operator says of the body, else JSON.
func (w *webhook) contentType() string {
	for name, value := range w.opts.Headers {
		if http.CanonicalHeaderKey(name) == "Content-Type" {
			return strings.ToLower(value)
		}
	}
	return "application/json"
}

// head sets the headers, those of jaque last.
func (w *webhook) head(req *http.Request, m *message.Message, body []byte) {
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", userAgent(m))
	for name, value := range w.opts.Headers {
		if strings.EqualFold(name, "Host") {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	req.Header.Set(HeaderKey, m.ID)
	// In capitals such a key would tell net/http that it may send the request a
	// second time by itself, without the mark that it may be a repetition.
	for _, name := range []string{HeaderKey, "X-Idempotency-Key"} {
		if values := req.Header[name]; values != nil {
			delete(req.Header, name)
			req.Header[strings.ToLower(name)] = values
		}
	}
	req.Header.Set(HeaderRepeat, strconv.FormatBool(m.Repeat))
	req.Header.Del(HeaderSignature)
	if w.opts.Key != "" {
		req.Header.Set(HeaderSignature, Sign(w.opts.Key, time.Now(), body))
	}
}

// Sign returns the value of HeaderSignature for a body that is sent at an instant:
// the seconds since 1970 and, in hexadecimal, the HMAC-SHA256 of those seconds, a
// dot and the body.
func Sign(key string, at time.Time, body []byte) string {
	seconds := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(seconds + "."))
	mac.Write(body)
	return "t=" + seconds + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}
