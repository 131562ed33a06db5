package channel_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/channel"
)

var update = flag.Bool("update", false, "write the golden files anew")

// posted is what a receiver has got.
type posted struct {
	header http.Header
	body   []byte
}

// receive starts a receiver that keeps what it gets.
func receive(t *testing.T) (address string, got func() posted) {
	t.Helper()
	all := make(chan posted, 10)
	address, _ = serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		all <- posted{r.Header, body}
		say(200, "{}")(w, r)
	})
	return address, func() posted { return <-all }
}

func newWebhook(t *testing.T, o channel.WebhookOptions) channel.Channel {
	t.Helper()
	c, err := channel.NewWebhook(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAWebhookPostsTheDocumentedShape(t *testing.T) {
	address, got := receive(t)
	m := problem()
	m.Repeat = true
	m.Items = append(m.Items, m.Items[0])
	m.Items[1].ID, m.Items[1].Object, m.Items[1].Kind, m.Items[1].Status, m.Items[1].Measure, m.Items[1].Since = "gone host!a b/c", nil, "RECOVERY", nil, nil, 0
	w := newWebhook(t, channel.WebhookOptions{URL: address + "/in", Headers: map[string]string{"x-team": "ops", "idempotency-key": "mine"}})
	if err := w.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	p := got()
	for name, want := range map[string]string{
		"Content-Type": "application/json", "Idempotency-Key": "m-1", "X-Jaque-Repeat": "true", "X-Team": "ops",
		"User-Agent": "jaque/1.2.3", "X-Jaque-Signature": "",
	} {
		if p.header.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, p.header.Get(name), want)
		}
	}
	golden(t, "payload.json", p.body)
}

// golden compares JSON with a file, laid out for people. The words are those of
// package message, which has tests of its own.
func golden(t *testing.T, name string, body []byte) {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	for _, words := range []string{"subject", "text", "short"} {
		if v[words] == "" {
			t.Errorf("no %s", words)
		}
		v[words] = "…"
	}
	got, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(want)) != string(got) {
		t.Errorf("%s is not what was posted; if that is right, write it anew with -update:\n%s", path, got)
	}
}

// TestTheSignatureIsWhatAReceiverComputes does what the guide tells receivers.
func TestTheSignatureIsWhatAReceiverComputes(t *testing.T) {
	address, got := receive(t)
	if err := newWebhook(t, channel.WebhookOptions{URL: address, Key: "k3y of both"}).Send(t.Context(), problem()); err != nil {
		t.Fatal(err)
	}
	p := got()
	at, sum, ok := strings.Cut(p.header.Get("X-Jaque-Signature"), ",")
	at, isTime := strings.CutPrefix(at, "t=")
	sum, isSum := strings.CutPrefix(sum, "v1=")
	if !ok || !isTime || !isSum {
		t.Fatalf("the signature is %q", p.header.Get("X-Jaque-Signature"))
	}
	mac := hmac.New(sha256.New, []byte("k3y of both"))
	mac.Write([]byte(at + "." + string(p.body)))
	if sum != hex.EncodeToString(mac.Sum(nil)) {
		t.Errorf("%s is not the sum over %q and the body", sum, at)
	}
}

func TestWhatTheAnswersOfAWebhookMean(t *testing.T) {
	for _, c := range []struct {
		name      string
		answer    http.HandlerFunc
		ok        bool
		permanent bool
		after     time.Duration
		says      string
	}{
		{"taken", say(204, ""), true, false, 0, ""},
		{"taken with an answer without end", say(200, strings.Repeat("x", 1<<20)), true, false, 0, ""},
		{"too many, and when again", say(429, "slow down", "Retry-After", "7"), false, false, 7 * time.Second, "429 Too Many Requests: slow down"},
		{"too many, for days", say(429, "", "Retry-After", "999999"), false, false, time.Hour, "429"},
		{"too many, until nonsense", say(429, "", "Retry-After", "-3"), false, false, 0, "429"},
		{"until a date that is over", say(503, "", "Retry-After", "Mon, 02 Jan 2006 15:04:05 GMT"), false, false, 0, "503"},
		{"too slow", say(408, ""), false, false, 0, "408"},
		{"too early", say(425, ""), false, false, 0, "425"},
		{"broken", say(500, "<html>oops</html>"), false, false, 0, "500 Internal Server Error"},
		{"a status of its own", say(599, "a\x00b\nc"), false, false, 0, "599: a b c"},
		{"not there", say(404, "no such hook"), false, true, 0, "404 Not Found: no such hook"},
		{"not allowed", say(401, ""), false, true, 0, "401"},
		{"elsewhere", say(302, "", "Location", "/other"), false, false, 0, "redirects are not followed"},
		{"an answer that breaks off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(400)
			panic(http.ErrAbortHandler)
		}, false, false, 0, "webhook at"},
	} {
		t.Run(c.name, func(t *testing.T) {
			address, asked := serve(t, c.answer)
			err := newWebhook(t, channel.WebhookOptions{URL: address + "/secret-path"}).Send(t.Context(), problem())
			checkError(t, err, c.ok, c.permanent, c.after, c.says)
			if asked() != 1 {
				t.Errorf("asked %d times", asked())
			}
		})
	}
}

// checkError compares an error of a channel with what it should mean.
func checkError(t *testing.T, err error, ok, permanent bool, after time.Duration, says string) {
	t.Helper()
	if ok {
		if err != nil {
			t.Error(err)
		}
		return
	}
	var e *channel.Error
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Fatalf("says %v, want %q", err, says)
	}
	if !errors.As(err, &e) {
		e = &channel.Error{}
	}
	if e.Permanent != permanent || e.RetryAfter != after {
		t.Errorf("%v: permanent %v, again after %s; want %v, %s", err, e.Permanent, e.RetryAfter, permanent, after)
	}
}

func TestAWebhookThatHangsIsLeftInTime(t *testing.T) {
	end := make(chan struct{})
	address, _ := serve(t, func(http.ResponseWriter, *http.Request) { <-end })
	t.Cleanup(func() { close(end) })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := newWebhook(t, channel.WebhookOptions{URL: address}).Send(ctx, problem())
	checkError(t, err, false, false, 0, "no answer in time")
}

func TestAWebhookIsNotTalkedToWithoutItsCertificateBeingGood(t *testing.T) {
	s := httptest.NewUnstartedServer(say(200, ""))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	err := newWebhook(t, channel.WebhookOptions{URL: s.URL}).Send(t.Context(), problem())
	checkError(t, err, false, false, 0, "certificate")
	if err := newWebhook(t, channel.WebhookOptions{URL: s.URL, Client: s.Client()}).Send(t.Context(), problem()); err != nil {
		t.Error(err)
	}
}

func TestAWebhookThatCannotBeIsRefused(t *testing.T) {
	for name, o := range map[string]channel.WebhookOptions{
		"no address":                 {URL: ""},
		"another protocol":           {URL: "ftp://example.com/top-secret"},
		"no host":                    {URL: "https:///top-secret"},
		"a header with a line feed":  {URL: "https://example.com", Headers: map[string]string{"X-A": "top-secret\r\nX-B: c"}},
		"a header with a wrong name": {URL: "https://example.com", Headers: map[string]string{"X A": "top-secret"}},
		"a body that is no template": {URL: "https://example.com", Body: "{{"},
	} {
		if _, err := channel.NewWebhook(o); err == nil || strings.Contains(err.Error(), "top-secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
