package channel_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// parts of an address of Teams.
const (
	uuid = "11111111-4444-4444-8444-cccccccccccc"
	hash = "aaaabbbbccccddddeeeeffff00001111"
)

// everyService makes addresses of the services. Those whose servers have fixed names
// are reached by way of the transport that their library uses.
var everyService = map[string]func(host string) string{
	"ntfy":       overHTTP["ntfy"],
	"gotify":     overHTTP["gotify"],
	"mattermost": overHTTP["mattermost"],
	"bark":       func(host string) string { return "bark://:devicekey@" + host + "/?scheme=http" },
	"signal":     func(host string) string { return "signal://" + host + "/+15550001111/+15550002222?disabletls=yes" },
	"matrix":     func(host string) string { return "matrix://:token@" + host + "/?rooms=ops&disableTLS=yes" },
	"discord":    func(string) string { return "discord://token@1234" },
	"googlechat": func(string) string {
		return "googlechat://chat.googleapis.com/v1/spaces/FOO/messages?key=akey&token=atoken"
	},
	"ifttt":      func(string) string { return "ifttt://hookid/?events=alarm" },
	"join":       func(string) string { return "join://:apikey@join/?devices=phone" },
	"lark":       func(string) string { return "lark://open.larksuite.com/token" },
	"opsgenie":   func(string) string { return "opsgenie://api.opsgenie.com/key" },
	"pagerduty":  func(string) string { return "pagerduty://events.pagerduty.com/0123456789abcdef0123456789abcdef" },
	"pushover":   func(string) string { return "pushover://shoutrrr:apiToken@userKey/" },
	"rocketchat": func(string) string { return "rocketchat://chat.example.com/tokenA/tokenB/ops" },
	"slack":      func(string) string { return "slack://hook:WNA3PBYV6-F20DUQND3RQ-Webc4MAvoacrpPakR8phF0zi@webhook" },
	"slack bot": func(string) string {
		return "slack://xoxb:123456789012-1234567890123-4mt0t4l1YL3g1T5L4cK70k3N@C001CH4NN3L"
	},
	"teams": func(string) string {
		return "teams://" + uuid + "@" + uuid + "/" + hash + "/" + uuid + "/V2extra?host=example.webhook.office.com"
	},
	"wecom": func(string) string { return "wecom://693axxx6-7aoc-4bc4-97a0-0ec2sifa5aaa" },
	"zulip": func(string) string { return "zulip://bot:key@example.zulipchat.com/?stream=ops&topic=alarms" },
}

// everywhere leads every request of a library to one server. It serves what each
// service wants to hear and keeps what it is told.
func everywhere(t *testing.T) (host string, told func() string) {
	t.Helper()
	var mu sync.Mutex
	var all strings.Builder
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		text := string(body)
		if r.Header.Get("Content-Type") == "application/x-www-form-urlencoded" {
			text, _ = url.QueryUnescape(text)
		}
		query, _ := url.QueryUnescape(r.URL.RawQuery)
		mu.Lock()
		defer mu.Unlock()
		all.WriteString(r.Header.Get("Title") + "\n" + query + "\n" + text + "\n")
		answer := `{"ok":true,"code":200,"room_id":"!ops"}`
		switch {
		case r.Host == "hooks.slack.com":
			answer = "ok"
		case r.Host == "open.larksuite.com":
			answer = `{"code":0}`
		}
		_, _ = io.WriteString(w, answer) // the library reads it or has gone
	})
	plain, secured := httptest.NewServer(h), httptest.NewTLSServer(h)
	t.Cleanup(plain.Close)
	t.Cleanup(secured.Close)
	own := http.DefaultTransport.(*http.Transport)
	led := own.Clone()
	led.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	led.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.HasSuffix(address, ":443") {
			address = secured.Listener.Addr().String()
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	http.DefaultTransport = led
	t.Cleanup(func() { http.DefaultTransport = own; led.CloseIdleConnections() })
	return strings.TrimPrefix(plain.URL, "http://"), func() string {
		mu.Lock()
		defer mu.Unlock()
		defer all.Reset()
		return all.String()
	}
}

// TestEachMessageOverAChatIsTheOneThatItIs sends three messages over each service: all
// of subject and text of each must arrive, and nothing of the one before.
func TestEachMessageOverAChatIsTheOneThatItIs(t *testing.T) {
	host, told := everywhere(t)
	for name, address := range everyService {
		t.Run(name, func(t *testing.T) {
			c := newChat(t, address(host))
			for i, state := range []string{"CRITICAL", "WARNING", "OK"} {
				m := problem()
				m.ID, m.Items[0].Measure.Output = "m-"+state, "the output of "+state
				m.Items[0].Status.State = map[string]object.State{"CRITICAL": object.Critical, "WARNING": object.Warning, "OK": object.OK}[state]
				if err := c.Send(t.Context(), m); err != nil {
					t.Fatal(err)
				}
				got := told()
				for _, want := range []string{state + ": http on web1", "the output of " + state} {
					if !strings.Contains(got, want) {
						t.Errorf("message %d: %q is not in\n%s", i+1, want, got)
					}
				}
				for _, other := range []string{"CRITICAL", "WARNING", "OK"} {
					if other != state && strings.Contains(got, other+": http on web1") {
						t.Errorf("message %d has the title of another:\n%s", i+1, got)
					}
				}
			}
		})
	}
	t.Logf("cases: %d", len(everyService))
}

func TestAServiceThatSignsInDoesSoAgainAfterAFailure(t *testing.T) {
	var calls []string
	var refuse bool
	server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		calls = append(calls, r.Method+" "+r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:])
		if refuse && !strings.HasSuffix(r.URL.Path, "/login") {
			say(401, `{"errcode":"M_UNKNOWN_TOKEN","error":"gone"}`)(w, r)
			return
		}
		say(200, `{"flows":[{"type":"m.login.password"}],"access_token":"one","room_id":"!ops:example.com"}`)(w, r)
	})
	c := newChat(t, "matrix://bob:password@"+strings.TrimPrefix(server, "http://")+"/?rooms=ops&disableTLS=yes")
	logins := func() int { return strings.Count(strings.Join(calls, "\n"), "POST login") }
	for range 2 {
		if err := c.Send(t.Context(), problem()); err != nil {
			t.Fatal(err)
		}
	}
	if logins() != 1 {
		t.Errorf("signed in %d times for two messages: %q", logins(), calls)
	}
	refuse = true
	checkError(t, c.Send(t.Context(), problem()), false, false, 0, "chat matrix")
	refuse = false
	if err := c.Send(t.Context(), problem()); err != nil || logins() != 2 {
		t.Errorf("%v, signed in %d times: %q", err, logins(), calls)
	}
}

func TestAChatKeepsNoConnections(t *testing.T) {
	var open atomic.Int32
	s := httptest.NewUnstartedServer(say(200, "{}"))
	s.Config.ConnState = func(_ net.Conn, is http.ConnState) {
		switch is {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		}
	}
	s.Start()
	defer s.Close()
	for name, address := range overHTTP {
		c := newChat(t, address(s.Listener.Addr().String()))
		for range 20 {
			if err := c.Send(t.Context(), problem()); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		// The server hears of it a little later.
		for wait := time.Now(); open.Load() > 1 && time.Since(wait) < 5*time.Second; {
			runtime.Gosched()
		}
		if n := open.Load(); n > 1 {
			t.Errorf("%s: %d connections are open after 20 messages", name, n)
		}
	}
}
