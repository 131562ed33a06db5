package channel_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/channel"
	"jaque.sh/jaque/appliance/core/object"
)

// overHTTPOrChat makes channels to a server that is reached over HTTP.
var overHTTPOrChat = map[string]func(host string) (channel.Channel, error){
	"webhook": func(host string) (channel.Channel, error) {
		return channel.NewWebhook(channel.WebhookOptions{URL: "http://" + host})
	},
	"telegram": func(host string) (channel.Channel, error) {
		return channel.NewTelegram(channel.TelegramOptions{API: "http://" + host, Token: "1:token", Chat: "2"})
	},
	"canary":     func(host string) (channel.Channel, error) { return channel.NewPing("http://"+host, nil) },
	"ntfy":       func(host string) (channel.Channel, error) { return chatAt(overHTTP["ntfy"](host)) },
	"gotify":     func(host string) (channel.Channel, error) { return chatAt(overHTTP["gotify"](host)) },
	"mattermost": func(host string) (channel.Channel, error) { return chatAt(overHTTP["mattermost"](host)) },
	"bark":       func(host string) (channel.Channel, error) { return chatAt("bark://:key@" + host + "/?scheme=http") },
	"signal": func(host string) (channel.Channel, error) {
		return chatAt("signal://" + host + "/+15550001111/+15550002222?disabletls=yes")
	},
}

// drop reads what it is asked and says nothing.
func drop(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	panic(http.ErrAbortHandler)
}

func TestAnErrorSaysWhetherTheMessageMayHaveArrived(t *testing.T) {
	hang := make(chan struct{})
	plain := func(h http.HandlerFunc) *httptest.Server { return httptest.NewServer(h) }
	for what, c := range map[string]struct {
		start func(http.HandlerFunc) *httptest.Server
		h     http.HandlerFunc
		want  bool
	}{
		"the connection is dropped": {plain, drop, true},
		"nobody answers in time":    {plain, func(http.ResponseWriter, *http.Request) { <-hang }, true},
		"a proxy got no answer":     {plain, say(504, ""), true},
		"it is refused":             {plain, say(403, "{}"), false},
		"the server is broken":      {plain, say(500, "{}"), false},
		"too many":                  {plain, say(429, "{}"), false},
		"nobody is there": {func(h http.HandlerFunc) *httptest.Server {
			s := httptest.NewServer(h)
			s.Close()
			return s
		}, nil, false},
	} {
		t.Run(what, func(t *testing.T) {
			s := c.start(c.h)
			defer s.Close()
			for name, make := range overHTTPOrChat {
				ch, err := make(strings.TrimPrefix(s.URL, "http://"))
				if err != nil {
					t.Fatal(err)
				}
				within := 5 * time.Second
				if what == "nobody answers in time" {
					within = 100 * time.Millisecond
				}
				ctx, cancel := context.WithTimeout(t.Context(), within)
				err = ch.Send(ctx, problem())
				cancel()
				var e *channel.Error
				if !errors.As(err, &e) {
					t.Errorf("%s: %v is no *Error", name, err)
				} else if e.MayHaveArrived != c.want {
					t.Errorf("%s: may have arrived is %v: %v", name, e.MayHaveArrived, e)
				}
			}
			if what == "nobody answers in time" {
				close(hang)
			}
		})
	}
}

// TestAWebhookIsNotSentAgainBehindItsBack answers once and then drops a connection
// that is kept: net/http would send what it takes for repeatable again by itself.
func TestAWebhookIsNotSentAgainBehindItsBack(t *testing.T) {
	for _, header := range []string{"X-Team", "X-Idempotency-Key", "idempotency-key"} {
		var lose atomic.Bool
		address, asked := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if got := r.Header.Get("Idempotency-Key"); got != "m-1" {
				t.Errorf("the key is %q", got)
			}
			if lose.Load() {
				drop(w, r)
			}
		})
		w := newWebhook(t, channel.WebhookOptions{URL: address, Headers: map[string]string{header: "mine"}})
		if err := w.Send(t.Context(), problem()); err != nil {
			t.Fatal(err)
		}
		lose.Store(true)
		err := w.Send(t.Context(), problem())
		var e *channel.Error
		if !errors.As(err, &e) || !e.MayHaveArrived || asked() != 2 {
			t.Errorf("%s: %v, asked %d times", header, err, asked())
		}
	}
}

func TestDiscordIsNotAskedAgainByTheLibrary(t *testing.T) {
	_, told := everywhere(t)
	transport, asked := http.DefaultTransport, 0
	http.DefaultTransport = roundTrip(func(r *http.Request) (*http.Response, error) {
		asked++
		return nil, &net.OpError{Op: "read", Err: os.NewSyscallError("read", errors.New("connection reset by peer"))}
	})
	defer func() { http.DefaultTransport = transport }()
	err := newChat(t, everyService["discord"]("")).Send(t.Context(), problem())
	var e *channel.Error
	if !errors.As(err, &e) || !e.MayHaveArrived || asked != 1 {
		t.Errorf("%v, asked %d times, told %s", err, asked, told())
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestACommandThatWasKilledMayHaveTold(t *testing.T) {
	for _, c := range []struct {
		name, lines string
		timeout     time.Duration // of the command
		within      time.Duration // of the message
		want        bool
		says        string
	}{
		{"it hangs", "sleep 300 & wait", 100 * time.Millisecond, time.Minute, true, "killed after 100ms"},
		{"the time for the message is over", "sleep 300 & wait", time.Minute, 200 * time.Millisecond, true, "when the time for the whole message was over"},
		{"somebody kills it", "kill -9 $$", time.Minute, time.Minute, true, "signal 9"},
		{"it fails", "echo no route; exit 3", time.Minute, time.Minute, false, "exit code 3: no route"},
	} {
		path, _ := script(t, c.lines)
		ctx, cancel := context.WithTimeout(t.Context(), c.within)
		err := newCommand(t, &object.Handler{Plugin: []string{path}}, c.timeout).Send(ctx, several(2))
		cancel()
		var e *channel.Error
		if !errors.As(err, &e) || e.MayHaveArrived != c.want || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %+v", c.name, err)
		}
	}
	err := newCommand(t, &object.Handler{Plugin: []string{"/nowhere/notify"}}, 0).Send(t.Context(), problem())
	var e *channel.Error
	if !errors.As(err, &e) || e.MayHaveArrived {
		t.Errorf("what cannot start: %+v", err)
	}
}
