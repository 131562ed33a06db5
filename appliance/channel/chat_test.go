package channel_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/channel"
)

func newChat(t *testing.T, address string) channel.Channel {
	t.Helper()
	c, err := channel.NewChat(channel.ChatOptions{Address: address})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// overHTTP makes addresses of services that can be reached without TLS.
var overHTTP = map[string]func(host string) string{
	"ntfy":       func(host string) string { return "ntfy://bob:s3cretPass@" + host + "/s3cretTopic?scheme=http" },
	"gotify":     func(host string) string { return "gotify://" + host + "/AzyoeNS.D4iJLVa/?disabletls=yes" },
	"mattermost": func(host string) string { return "mattermost://" + host + "/s3cretTokenxyz/ops?disabletls=yes" },
}

func TestChatServicesGetSubjectAndText(t *testing.T) {
	for name, address := range overHTTP {
		t.Run(name, func(t *testing.T) {
			server, got := receive(t)
			if err := newChat(t, address(strings.TrimPrefix(server, "http://"))).Send(t.Context(), problem()); err != nil {
				t.Fatal(err)
			}
			p := got()
			all := p.header.Get("Title") + " " + string(p.body)
			for _, want := range []string{"CRITICAL: http on web1", "bob", "jaque.example/services/web1/http"} {
				if strings.Count(all, want) != 1 {
					t.Errorf("%q is not once in %s", want, all)
				}
			}
		})
	}
}

func TestAChatThatFailsIsTriedAgainAndNeverShown(t *testing.T) {
	for name, address := range overHTTP {
		t.Run(name, func(t *testing.T) {
			server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
				// It repeats what it was told, as some services do.
				body, _ := io.ReadAll(r.Body)
				say(500, `{"error":"`+r.URL.String()+` `+r.Header.Get("X-Key")+`","body":`+string(body[:min(len(body), 1)])+`}`)(w, r)
			})
			err := newChat(t, address(strings.TrimPrefix(server, "http://"))).Send(t.Context(), problem())
			checkError(t, err, false, false, 0, "chat "+name)
			if strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "D4iJLVa") {
				t.Error(err)
			}
		})
	}
}

func TestAChatThatHangsIsLeftInTimeAndItsLateSuccessCounts(t *testing.T) {
	reached, end := make(chan struct{}, 10), make(chan struct{})
	server, asked := serve(t, func(http.ResponseWriter, *http.Request) {
		reached <- struct{}{}
		<-end
	})
	c := newChat(t, overHTTP["mattermost"](strings.TrimPrefix(server, "http://")))
	ctx, cancel := context.WithCancel(t.Context())
	sent := make(chan error)
	go func() { sent <- c.Send(ctx, problem()) }()
	<-reached
	cancel()
	checkError(t, <-sent, false, false, 0, "no answer in time")

	next, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	checkError(t, c.Send(next, test()), false, false, 0, "still under way")

	close(end)
	if err := c.Send(t.Context(), problem()); err != nil || asked() != 1 {
		t.Errorf("%v; asked %d times, but the first attempt had arrived", err, asked())
	}
	if err := c.Send(t.Context(), problem()); err != nil || asked() != 2 {
		t.Errorf("%v; asked %d times, want a second one", err, asked())
	}
}

func TestAChatThatSignsInDoesSoWithTheFirstMessage(t *testing.T) {
	server, asked := serve(t, say(403, `{"errcode":"M_FORBIDDEN","error":"s3cretPass is wrong"}`))
	c := newChat(t, "matrix://bob:s3cretPass@"+strings.TrimPrefix(server, "http://")+"/?rooms=ops&disableTLS=yes")
	if asked() != 0 {
		t.Error("signs in when it is made")
	}
	err := c.Send(t.Context(), problem())
	checkError(t, err, false, false, 0, "chat matrix")
	if asked() == 0 || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("asked %d times: %v", asked(), err)
	}
}

func TestAnAddressOfAChatThatCannotBeSaysWhy(t *testing.T) {
	for _, c := range []struct{ name, address, want string }{
		{"none", "", "names no service"},
		{"a word", "slack", "names no service"},
		{"a service that nobody knows", "slak://hook:s3cret@webhook", "ntfy"},
		{"a log", "logger://", "only write a log"},
		{"any webhook", "generic+https://example.com/s3cret", "webhook:"},
		{"mail", "smtp://u:s3cret@host/?to=a@b.c", "email:"},
		{"too little", "slack://s3cretToken", "slack cannot use the address"},
		{"no address", "ntfy://[s3cret", "ntfy cannot use the address"},
		{"a token of the wrong length", "gotify://host/As3cret", "it has 7 characters, not 15 with A as the first"},
		{"a priority that is none", "gotify://host/AzyoeNS.D4iJLVa?priority=99", "priority is not from -2 to 10"},
		{"a token of the wrong length", "pushbullet://s3cret", "incorrect size"},
		{"a topic without a server", "ntfy:///topic", "names no host"},
		{"a device without a key", "bark://host/", "bark://:KEY@HOST"},
		{"an alert without a key", "opsgenie://api.opsgenie.com/", "opsgenie://api.opsgenie.com/KEY"},
		{"a severity that is none", "pagerduty://events.pagerduty.com/0123456789abcdef0123456789abcdef?severity=bad", "write critical, error, warning or info"},
		{"an action that is none", "pagerduty://events.pagerduty.com/0123456789abcdef0123456789abcdef?action=bad", "write trigger"},
		{"a host that Zulip has not", "zulip://bot:s3cret@localhost/?stream=ops&topic=a", "example.zulipchat.com"},
		{"a topic that is too long", "zulip://bot:s3cret@a.example.com/?topic=" + strings.Repeat("x", 61), "60 is the most"},
		{"a token with a slash", "discord://s3cret%2Ftoken@1234", "discord://TOKEN@ID"},
		{"letters that Teams has not", "teams://" + strings.ToUpper(uuid) + "@" + uuid + "/" + hash + "/" + uuid + "/V2?host=example.webhook.office.com", "in small letters"},
		{"a hook with one token", "rocketchat://host/s3cret/", "rocketchat://HOST/TOKEN/TOKEN"},
		{"a space without its key", "googlechat://chat.googleapis.com/v1/spaces/a/messages?token=s3cret", "key=KEY"},
		{"a room without a name", "matrix://bob:s3cret@host/?rooms=", "a room has no name"},
		{"rooms without a server", "matrix://bob:s3cret@/?rooms=ops", "names no host"},
	} {
		if err := channel.CheckChat(c.address); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, address := range []string{
		"slack://hook:WNA3PBYV6-F20DUQND3RQ-Webc4MAvoacrpPakR8phF0zi@webhook", "discord://token@id", "pushover://shoutrrr:apiToken@userKey/",
		"pagerduty://events.pagerduty.com/0123456789abcdef0123456789abcdef", "ntfy://ntfy.sh/topic", "opsgenie://api.opsgenie.com/key",
	} {
		if err := channel.CheckChat(address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}
