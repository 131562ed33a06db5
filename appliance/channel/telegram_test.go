package channel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"jaque.sh/jaque/appliance/channel"
	"jaque.sh/jaque/appliance/rule/message"
)

const botToken = "123456:AAF-secret_Token"

func newTelegram(t testing.TB, api string) channel.Channel {
	t.Helper()
	words, err := chatTemplate()
	if err != nil {
		t.Fatal(err)
	}
	c, err := channel.NewTelegram(channel.TelegramOptions{API: api + "/", Token: botToken, Chat: "-1009876543210", Template: words})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// telegramCall is what sendMessage was given.
type telegramCall struct {
	Chat    string `json:"chat_id"`
	Text    string `json:"text"`
	Mode    string `json:"parse_mode"`
	Preview struct {
		Disabled bool `json:"is_disabled"`
	} `json:"link_preview_options"`
}

// telegram plays the API: it refuses what the real one would not read, and answers
// the rest in turn.
func telegram(t *testing.T, answers ...http.HandlerFunc) (api string, calls func() []telegramCall) {
	t.Helper()
	got := make(chan telegramCall, 100)
	api, asked := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var c telegramCall
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &c) != nil {
			t.Errorf("%v: %s", err, body)
		}
		if r.URL.Path != "/bot"+botToken+"/sendMessage" || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("asked %s %s, %s", r.Method, r.URL.Path, r.Header.Get("Content-Type"))
		}
		got <- c
		if n := len(got); n <= len(answers) {
			answers[n-1](w, r)
			return
		}
		if _, err := shown(&c); err != nil {
			say(400, `{"ok":false,"description":"Bad Request: `+err.Error()+`"}`)(w, r)
			return
		}
		say(200, `{"ok":true,"result":{"message_id":1}}`)(w, r)
	})
	return api, func() (all []telegramCall) {
		for range asked() {
			all = append(all, <-got)
		}
		return all
	}
}

var telegramTag = regexp.MustCompile(`</?b>`)

// shown returns what a reader sees of a message, as Telegram reads it.
func shown(c *telegramCall) (string, error) {
	text := c.Text
	if c.Mode == "HTML" {
		if strings.Count(text, "<b>") != strings.Count(text, "</b>") {
			return "", fmt.Errorf("can't parse entities: unclosed")
		}
		bare := telegramTag.ReplaceAllString(text, "")
		if strings.ContainsAny(bare, "<>") {
			return "", fmt.Errorf("can't parse entities: unsupported start tag")
		}
		text = html.UnescapeString(bare)
	}
	switch n := len(utf16.Encode([]rune(text))); {
	case n > 4096:
		return "", fmt.Errorf("message is too long")
	case strings.TrimSpace(text) == "":
		return "", fmt.Errorf("message text is empty")
	}
	return text, nil
}

func TestTelegramShowsWhatThePluginSaidAsItIs(t *testing.T) {
	api, calls := telegram(t)
	if err := newTelegram(t, api).Send(t.Context(), problem()); err != nil {
		t.Fatal(err)
	}
	c := calls()[0]
	text, err := shown(&c)
	if err != nil || c.Mode != "HTML" || !c.Preview.Disabled || c.Chat != "-1009876543210" || !strings.HasPrefix(c.Text, "<b>CRITICAL") {
		t.Errorf("%v: %+v", err, c)
	}
	for _, want := range []string{`"x" <b> & 'y' $(id) \ end`, "2026-03-01 07:00", "bob", "https://jaque.example/services/web1/http"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestTelegramGetsATestThatSaysSo(t *testing.T) {
	api, calls := telegram(t)
	if err := newTelegram(t, api).Send(t.Context(), test()); err != nil {
		t.Fatal(err)
	}
	if c := calls()[0]; !strings.Contains(c.Text, "TEST") {
		t.Errorf("%+v", c)
	}
}

func TestALongTextIsCutAtALineAndSaysWhatIsMissing(t *testing.T) {
	own, err := message.Compile("telegram", "", "{{range .Items}}{{range .Long}}{{.}}\n{{end}}{{end}}x", "")
	if err != nil {
		t.Fatal(err)
	}
	api, calls := telegram(t)
	c, err := channel.NewTelegram(channel.TelegramOptions{API: api, Token: botToken, Chat: "12345", Template: own})
	if err != nil {
		t.Fatal(err)
	}
	m := problem()
	m.Items[0].Measure.Long = strings.Repeat(strings.Repeat("\U0001F525&", 150)+"\n", 10) // 450 units a line
	if err := c.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	call := calls()[0]
	text, err := shown(&call)
	if err != nil || !strings.Contains(text, "more lines are left out") {
		t.Errorf("%v: %q", err, text)
	}
	lines := strings.Split(text, "\n")
	if last := lines[len(lines)-2]; !strings.HasSuffix(last, "\U0001F525&") {
		t.Errorf("cut within a line: %q", last)
	}
}

func TestWhatTelegramsAnswersMean(t *testing.T) {
	for _, c := range []struct {
		name      string
		answers   []http.HandlerFunc
		ok        bool
		permanent bool
		after     time.Duration
		says      string
		calls     int
	}{
		{"taken", nil, true, false, 0, "", 1},
		{"the chat is not there", []http.HandlerFunc{say(400, `{"ok":false,"description":"Bad Request: chat not found"}`)}, false, true, 0, "400: Bad Request: chat not found", 1},
		{"the person has blocked the bot", []http.HandlerFunc{say(403, `{"ok":false,"description":"Forbidden: bot was blocked by the user"}`)}, false, true, 0, "blocked", 1},
		{"too many", []http.HandlerFunc{say(429, `{"ok":false,"description":"Too Many Requests: retry after 12","parameters":{"retry_after":12}}`)}, false, false, 12 * time.Second, "429", 1},
		{"too many, for ever", []http.HandlerFunc{say(429, `{"ok":false,"description":"x","parameters":{"retry_after":9223372036854775807}}`)}, false, false, time.Hour, "429", 1},
		{"broken", []http.HandlerFunc{say(502, `<html>Bad Gateway</html>`)}, false, false, 0, "502 Bad Gateway", 1},
		{"the token is wrong", []http.HandlerFunc{say(401, `{"ok":false,"description":"Unauthorized"}`)}, false, false, 0, "check -telegram-token", 1},
		{"the token is none", []http.HandlerFunc{say(404, `{"ok":false,"description":"Not Found"}`)}, false, false, 0, "check -telegram-token", 1},
		{"no JSON", []http.HandlerFunc{say(200, `welcome to the portal`)}, false, false, 0, "not as Telegram does", 1},
		{"taken, it says, but not", []http.HandlerFunc{say(200, `{"ok":false}`)}, false, false, 0, "not as Telegram does", 1},
		{"HTML that it cannot read", []http.HandlerFunc{say(400, `{"ok":false,"description":"Bad Request: can't parse entities: x"}`)}, true, false, 0, "", 2},
		{"HTML that it cannot read, nor text", []http.HandlerFunc{
			say(400, `{"ok":false,"description":"Bad Request: can't parse entities: x"}`), say(400, `{"ok":false,"description":"Bad Request: can't parse entities: x"}`),
		}, false, true, 0, "can't parse", 2},
		{"a group that has moved", []http.HandlerFunc{say(400, `{"ok":false,"description":"Bad Request: group chat was upgraded","parameters":{"migrate_to_chat_id":-1005}}`)}, true, false, 0, "", 2},
		{"a group that moves in circles", []http.HandlerFunc{
			say(400, `{"parameters":{"migrate_to_chat_id":-1}}`), say(400, `{"parameters":{"migrate_to_chat_id":-2}}`), say(400, `{"parameters":{"migrate_to_chat_id":-1}}`),
		}, false, false, 0, "moves", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			api, calls := telegram(t, c.answers...)
			checkError(t, newTelegram(t, api).Send(t.Context(), problem()), c.ok, c.permanent, c.after, c.says)
			if n := len(calls()); n != c.calls {
				t.Errorf("asked %d times, want %d", n, c.calls)
			}
		})
	}
}

func TestTelegramThatHangsIsLeftInTime(t *testing.T) {
	end := make(chan struct{})
	api, _ := serve(t, func(http.ResponseWriter, *http.Request) { <-end })
	t.Cleanup(func() { close(end) })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	checkError(t, newTelegram(t, api).Send(ctx, problem()), false, false, 0, "no answer in time")
}

func TestATelegramThatCannotBeSaysWhatToWrite(t *testing.T) {
	for _, c := range []struct {
		name string
		o    channel.TelegramOptions
		want string
	}{
		{"no bot", channel.TelegramOptions{Chat: "1"}, "give -telegram-token"},
		{"a token with a slash", channel.TelegramOptions{Chat: "1", Token: "12:top/secret"}, "BotFather"},
		{"a token with a line feed", channel.TelegramOptions{Chat: "1", Token: "12:top\nsecret"}, "BotFather"},
		{"no chat", channel.TelegramOptions{Token: botToken}, "telegram:"},
		{"no address", channel.TelegramOptions{Token: botToken, Chat: "1", API: "api.telegram.org"}, "https://"},
	} {
		if _, err := channel.NewTelegram(c.o); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// FuzzTelegramReadsEverything: whatever a plugin says, the message is taken at the
// first attempt and shows the beginning of it.
func FuzzTelegramReadsEverything(f *testing.F) {
	for _, s := range []string{"", "<b>", "a & b &lt; &amp;", "</b></i>", "\x00\xff", "\u202e<script>", strings.Repeat("\U0001F525", 5000), strings.Repeat("<\n", 3000)} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, output, name string) {
		m := problem()
		m.Items[0].Measure.Output, m.Items[0].Measure.Long, m.Items[0].Author, m.Items[0].Text = output, output, name, output
		m.Items[0].Steps, m.Items[0].Others = []string{name}, []string{name, output}
		api, calls := telegram(t)
		if err := newTelegram(t, api).Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		if n := len(calls()); n != 1 {
			t.Errorf("asked %d times", n)
		}
	})
}
