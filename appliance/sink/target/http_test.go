package target

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/sample"
	"jaque.sh/jaque/appliance/sink"
)

// got is one request as a receiver has it.
type got struct {
	*http.Request
	body string
}

// receive starts a receiver that answers in a way and keeps what it gets.
func receive(t *testing.T, answer http.HandlerFunc) (address string, next func() got) {
	t.Helper()
	all := make(chan got, 10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var from io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			zipped, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			from = zipped
		}
		body, err := io.ReadAll(from)
		if err != nil {
			t.Error(err)
		}
		all <- got{r, string(body)}
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() got {
		select {
		case g := <-all:
			return g
		case <-time.After(10 * time.Second):
			t.Fatal("no request came")
			return got{}
		}
	}
}

func say(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the other side looks at it
	}
}

func newTarget(t *testing.T, kind, input string, settings map[string]string) sink.Target {
	t.Helper()
	made, err := New(Setup{Kind: kind, Input: input, Settings: settings, Version: "1.2", Hostname: "mon"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { made.Target.Close() })
	return made.Target
}

// samples and events are small batches.
func samples() *sink.Batch {
	return &sink.Batch{Samples: []sample.Sample{
		{Name: "m", Value: 1, Time: 1700000000123, Labels: []sample.Label{{Name: "host", Value: "h.1"}}},
		{Name: "m", Value: 2, Time: 1700000000123, Labels: []sample.Label{{Name: "host", Value: "h2"}, {Name: "service", Value: "s"}}},
	}}
}

func events() *sink.Batch {
	b := &sink.Batch{}
	for i, id := range []string{"h.1", "h2!s", ""} {
		e := event.Event{Seq: uint64(i) + 1, ID: "e" + id, Kind: event.CommentAdded, Object: object.ID(id), Time: 1700000000123, Text: "hello"}
		b.Events = append(b.Events, sink.Document{Event: e, JSON: event.AppendJSON(nil, &e)})
	}
	return b
}

func TestRequests(t *testing.T) {
	for _, c := range []struct {
		name, kind, input string
		path              string // behind the address
		settings          map[string]string
		wants             string // path and query
		headers           map[string]string
		body              string // its beginning; "" = not looked at
	}{
		{
			"InfluxDB 1", "influx", Metrics, "",
			map[string]string{"database": "d b", "retention": "week", "user": "u", "password": "p"},
			"/write?db=d+b&precision=ms&rp=week",
			map[string]string{"Authorization": "Basic dTpw", "Content-Encoding": "gzip"},
			"m,host=h.1 value=1 1700000000123\n",
		},
		{
			"InfluxDB 2", "influx", Metrics, "/influx/",
			map[string]string{"bucket": "b", "org": "o", "token": "t", "gzip": "false", "field": "f"},
			"/influx/api/v2/write?bucket=b&org=o&precision=ms",
			map[string]string{"Authorization": "Token t", "Content-Encoding": ""},
			"m,host=h.1 f=1",
		},
		{
			"a path of one's own", "influx", Metrics, "/write",
			map[string]string{"header.X-Scope": "a"},
			"/write?precision=ms",
			map[string]string{"X-Scope": "a", "User-Agent": "jaque/1.2"},
			"",
		},
		{
			"remote write 1.0", "remote_write", Metrics, "/api/v1/write",
			map[string]string{"token": "t"},
			"/api/v1/write",
			map[string]string{"Authorization": "Bearer t", "Content-Encoding": "snappy", "Content-Type": "application/x-protobuf", "X-Prometheus-Remote-Write-Version": "0.1.0"},
			"",
		},
		{
			"remote write 2.0", "remote_write", Metrics, "/w",
			map[string]string{"version": "2"},
			"/w",
			map[string]string{"Content-Type": "application/x-protobuf;proto=io.prometheus.write.v2.Request", "X-Prometheus-Remote-Write-Version": "2.0.0"},
			"",
		},
		{"OpenTSDB", "opentsdb", Metrics, "", nil, "/api/put", map[string]string{"Content-Type": "application/json"}, `[{"metric":"m"`},
		{"a webhook for samples", "webhook", Metrics, "/hook", nil, "/hook", map[string]string{"Content-Type": "application/json"}, `{"samples":[{"name":"m"`},
		{"a webhook for events", "webhook", Events, "/hook?a=b", nil, "/hook?a=b", map[string]string{"Idempotency-Key": "2c1c1f7a"}, `{"events":[{"id":"eh.1"`},
		{
			"Elasticsearch", "elastic", Events, "",
			map[string]string{"index": "j-%Y.%m", "token": "k"},
			"/_bulk",
			map[string]string{"Authorization": "ApiKey k", "Content-Type": "application/x-ndjson"},
			`{"create":{"_index":"j-2023.11","_id":"log-1-eh.1"}}` + "\n" + `{"@timestamp":`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			address, next := receive(t, say(200, `{"errors":false}`, "X-Prometheus-Remote-Write-Samples-Written", "2"))
			settings := map[string]string{"url": address + c.path}
			for k, v := range c.settings {
				settings[k] = v
			}
			b := samples()
			if c.input == Events {
				b = events()
			}
			if n, err := newTarget(t, c.kind, c.input, settings).Write(t.Context(), b); err != nil || n == 0 {
				t.Fatalf("%d bytes, %v", n, err)
			}
			g := next()
			if g.Method != http.MethodPost || g.RequestURI != c.wants {
				t.Errorf("%s %s, want %s", g.Method, g.RequestURI, c.wants)
			}
			for name, want := range c.headers {
				if name == "Idempotency-Key" {
					if len(g.Header.Get(name)) != 32 {
						t.Errorf("key %q", g.Header.Get(name))
					}
					continue
				}
				if got := g.Header.Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			if !strings.HasPrefix(g.body, c.body) {
				t.Errorf("body %q, want %q in front", g.body, c.body)
			}
			if c.kind == "webhook" && !json.Valid([]byte(g.body)) {
				t.Errorf("no JSON: %s", g.body)
			}
		})
	}
}

func TestWhatAnswersMean(t *testing.T) {
	for _, c := range []struct {
		name      string
		answer    http.HandlerFunc
		ok        bool
		permanent bool
		after     time.Duration
		says      string
	}{
		{"taken", say(204, ""), true, false, 0, ""},
		{"the data are wrong", say(400, "unable to\nparse"), false, true, 0, "answers 400 Bad Request: unable to parse"},
		{"they are too large", say(413, ""), false, true, 0, "413"},
		{"a wrong password is for an operator", say(401, "token s3cret is wrong"), false, false, 0, "token (secret) is wrong"},
		{"so is a wrong path", say(404, "<html>"), false, false, 0, "answers 404 Not Found"},
		{"the server is busy", say(429, "", "Retry-After", "7"), false, false, 7 * time.Second, "429"},
		{"it is broken", say(503, ""), false, false, 0, "503"},
		{"it is elsewhere", say(302, "", "Location", "http://other/"), false, false, 0, "redirects are not followed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			address, _ := receive(t, c.answer)
			_, err := newTarget(t, "influx", Metrics, map[string]string{"url": address + "/write", "token": "s3cret"}).Write(t.Context(), samples())
			var e *sink.Error
			switch {
			case c.ok:
				if err != nil {
					t.Error(err)
				}
			case !errors.As(err, &e) || e.Permanent != c.permanent || e.RetryAfter != c.after || !strings.Contains(err.Error(), c.says):
				t.Errorf("got %#v, want %q in it", err, c.says)
			}
		})
	}
}

func TestAServerThatIsGoneIsATemporaryError(t *testing.T) {
	s := httptest.NewServer(say(200, ""))
	s.Close()
	_, err := newTarget(t, "webhook", Metrics, map[string]string{"url": s.URL + "/secret-path", "user": "u", "password": "pass-word"}).Write(t.Context(), samples())
	var e *sink.Error
	if err == nil || errors.As(err, &e) || strings.Contains(err.Error(), "secret-path") {
		t.Errorf("got %v", err)
	}
}

func TestOnlyTheItemsThatABulkAnswerNamesAreTriedAgain(t *testing.T) {
	address, _ := receive(t, say(200, `{"errors":true,"items":[{"create":{"status":409}},{"create":{"status":400,"error":{"type":"t","reason":"r"}}},{"create":{"status":429,"error":{"type":"busy"}}}]}`))
	_, err := newTarget(t, "elastic", Events, map[string]string{"url": address}).Write(t.Context(), events())
	var e *sink.Error
	if !errors.As(err, &e) || !e.Partial || !slices.Equal(e.Again, []int{2}) || len(e.Refused) != 1 || e.Refused[0] != (sink.Refusal{Index: 1, Reason: "t: r"}) {
		t.Errorf("got %#v", err)
	}
}

func TestAReceiverOfRemoteWrite2SaysHowMuchItHasWritten(t *testing.T) {
	for _, c := range []struct {
		written   string
		permanent bool
		says      string
	}{{"2", false, ""}, {"1", true, "1 of 2"}, {"", false, `write version: "1"`}} {
		address, _ := receive(t, say(204, "", "X-Prometheus-Remote-Write-Samples-Written", c.written))
		_, err := newTarget(t, "remote_write", Metrics, map[string]string{"url": address + "/w", "version": "2.0"}).Write(t.Context(), samples())
		var e *sink.Error
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) || errors.As(err, &e) != c.permanent {
			t.Errorf("%q written: %v", c.written, err)
		}
	}
}

// What a server repeats of a request must not be shown, whatever it makes of it.
func TestAnAnswerThatRepeatsASecretDoesNotShowIt(t *testing.T) {
	const basic, password, token = "dXNlcjpVUkxTRUNSRVQ=", "URLSECRET", "tok-9fQ2xLm7Rz8Wk3Vb"
	for _, c := range []struct {
		name     string
		settings map[string]string
		body     string
	}{
		{"the header of a user and a password", map[string]string{"user": "user", "password": password}, "bad Authorization: Basic " + basic},
		{"in small letters", map[string]string{"user": "user", "password": password}, "bad authorization: basic " + strings.ToLower(basic)},
		{"without padding", map[string]string{"user": "user", "password": password}, "bad " + strings.TrimRight(basic, "=")},
		{"the password as it is", map[string]string{"user": "user", "password": password}, "bad user:" + password},
		{"a token in capitals", map[string]string{"token": token}, "bad " + strings.ToUpper(token)},
		{"a header in base64", map[string]string{"header.X-Key": token}, "bad " + base64.StdEncoding.EncodeToString([]byte(token))},
		{"a secret at which the answer is cut", map[string]string{"token": token}, strings.Repeat("x", 290) + token + strings.Repeat("y", 100)},
		{"a user in the address", map[string]string{"in": "user:" + password + "@"}, "bad Basic " + basic},
		{"a parameter of the address", map[string]string{"query": "?api_token=" + token}, "bad /?api_token=" + token},
	} {
		t.Run(c.name, func(t *testing.T) {
			address, _ := receive(t, say(401, c.body))
			settings := map[string]string{"url": strings.Replace(address, "://", "://"+c.settings["in"], 1) + "/" + c.settings["query"]}
			for name, value := range c.settings {
				if name != "in" && name != "query" {
					settings[name] = value
				}
			}
			_, err := newTarget(t, "webhook", Events, settings).Write(t.Context(), events())
			if err == nil || !strings.Contains(err.Error(), "(secret)") {
				t.Fatalf("got %v", err)
			}
			for _, s := range []string{basic[:10], password, token[:8], base64.StdEncoding.EncodeToString([]byte(token))[:10]} {
				if strings.Contains(strings.ToLower(err.Error()), strings.ToLower(s)) {
					t.Errorf("%s is shown: %v", s, err)
				}
			}
		})
	}
}
