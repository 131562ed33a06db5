package channel_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/channel"
	"jaque.sh/jaque/appliance/rule/message"
)

// gossip is a server that says whatever it was told to whoever asks, with the
// status of the moment, behind some padding.
func gossip(status, padding *int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what is not read is not repeated
		user, password, _ := r.BasicAuth()
		text := fmt.Sprintf("%s %s %q %s %s %v %s", r.URL, r.RequestURI, r.URL.Path, user, password, r.Header, body)
		text = strings.Repeat("x", *padding) + text
		w.WriteHeader(*status)
		_, _ = io.WriteString(w, text[:min(len(text), 50_000)])
	}
}

var chatTemplate = sync.OnceValues(func() (*message.Template, error) { return channel.ChatTemplate("chat") })

// chatAt makes a chat with a template that all share.
func chatAt(address string) (channel.Channel, error) {
	t, err := chatTemplate()
	if err != nil {
		return nil, err
	}
	return channel.NewChat(channel.ChatOptions{Address: address, Template: t})
}

// makers make each channel with secrets in every place that can hold one.
var makers = map[string]func(host string, secret func() string) (channel.Channel, error){
	"webhook": func(host string, secret func() string) (channel.Channel, error) {
		u := url.URL{
			Scheme: "http", Host: host, User: url.UserPassword(secret(), secret()), Path: "/" + secret() + "/" + secret(),
			RawQuery: url.Values{"key": {secret()}}.Encode(),
		}
		return channel.NewWebhook(channel.WebhookOptions{
			URL: u.String(), Key: secret(), Headers: map[string]string{"Authorization": "Bearer " + secret(), "X-Key": secret()},
		})
	},
	"telegram": func(host string, secret func() string) (channel.Channel, error) {
		token := "12345678:" + secret()
		t, err := chatTemplate()
		if err != nil {
			return nil, err
		}
		return channel.NewTelegram(channel.TelegramOptions{API: "http://" + host + "/" + url.PathEscape(secret()), Token: token, Chat: secret(), Template: t})
	},
	"canary": func(host string, secret func() string) (channel.Channel, error) {
		return channel.NewPing("http://"+host+"/"+url.PathEscape(secret()), nil)
	},
	"ntfy": func(host string, secret func() string) (channel.Channel, error) {
		return chatAt("ntfy://" + url.UserPassword(secret(), secret()).String() + "@" + host + "/" + url.PathEscape(secret()) + "?scheme=http")
	},
	"mattermost": func(host string, secret func() string) (channel.Channel, error) {
		return chatAt("mattermost://" + host + "/" + url.PathEscape(secret()) + "/" + url.PathEscape(secret()) + "?disabletls=yes")
	},
	"slack": func(_ string, secret func() string) (channel.Channel, error) {
		return chatAt("slack://hook:" + url.PathEscape(secret()) + "@webhook")
	},
	"discord": func(_ string, secret func() string) (channel.Channel, error) {
		return chatAt("discord://" + url.PathEscape(secret()))
	},
}

// TestNoErrorHoldsASecret makes channels of random secrets and lets them fail in
// every way: while they are made, at a server that repeats what it hears, at one
// that is not there and at one that does not answer.
func TestNoErrorHoldsASecret(t *testing.T) {
	for name, make := range makers {
		t.Run(name, func(t *testing.T) {
			status, padding, failures := 500, 0, 0
			s := httptest.NewServer(gossip(&status, &padding))
			t.Cleanup(s.Close)
			rapid.Check(t, func(t *rapid.T) {
				var secrets []string
				secret := func() string {
					text := rapid.StringOfN(rapid.SampledFrom([]rune("aB3-_ %+\"é<&/:.~=")), 8, 20, -1).Draw(t, "secret") + "Zq9"
					secrets = append(secrets, text)
					return text
				}
				host := rapid.SampledFrom([]string{strings.TrimPrefix(s.URL, "http://"), "127.0.0.1:1"}).Draw(t, "host")
				status = rapid.SampledFrom([]int{301, 400, 401, 403, 429, 500}).Draw(t, "status")
				padding = rapid.IntRange(0, 200).Draw(t, "padding")
				c, err := make(host, secret)
				if err == nil && name != "slack" && name != "discord" { // those would ask the real ones
					ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
					defer cancel()
					if err = c.Send(ctx, problem()); err == nil {
						t.Fatal("it was taken")
					}
				}
				if err == nil {
					return
				}
				failures++
				for _, s := range secrets {
					for _, form := range []string{s, url.PathEscape(s), url.QueryEscape(s), base64.StdEncoding.EncodeToString([]byte(s))} {
						if strings.Contains(err.Error(), form) {
							t.Fatalf("%q is in the error:\n%v", form, err)
						}
						// A text that is cut may end within a secret.
						if end, _, cut := strings.Cut(err.Error(), "…"); cut && len(form) > 8 && strings.HasSuffix(end, form[:8]) {
							t.Fatalf("the beginning of %q is in the error:\n%v", form, err)
						}
					}
				}
			})
			t.Logf("%d failures", failures)
		})
	}
}
