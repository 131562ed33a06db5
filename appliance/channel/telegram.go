package channel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"jaque.sh/jaque/appliance/rule/message"
	"jaque.sh/jaque/appliance/rule/veil"
)

// TelegramAPI is the address of Telegram's own servers.
const TelegramAPI = "https://api.telegram.org"

// telegramLimit is how long a message may be, in UTF-16 units after its entities
// are resolved.
const telegramLimit = 4096

// TelegramOptions say how a contact is reached over Telegram.
type TelegramOptions struct {
	API      string            // base address; "" = TelegramAPI
	Token    string            // of the bot
	Chat     string            // id of a person, group or channel, or "@channel"
	Template *message.Template // nil = ChatTemplate
	Client   *http.Client      // nil = NewClient
}

type telegram struct {
	opts TelegramOptions
	url  string
	veil veil.Veil
}

// NewTelegram returns the channel to one chat.
func NewTelegram(o TelegramOptions) (Channel, error) {
	if o.API == "" {
		o.API = TelegramAPI
	}
	if _, err := checkAddress("delivery.telegram_api", o.API); err != nil {
		return nil, err
	}
	if o.Token == "" {
		return nil, errors.New("telegram: no bot is set: give -telegram-token")
	}
	if strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("/?#%\\", r) }) {
		return nil, errors.New("telegram: -telegram-token is no token of a bot; write it as BotFather has shown it")
	}
	if o.Chat == "" {
		return nil, errors.New("telegram: the contact has no chat; write telegram: with the chat's id")
	}
	var err error
	if o.Template, err = orChat(o.Template, "telegram"); err != nil {
		return nil, err
	}
	o.Client = orNew(o.Client)
	secrets := append(veil.OfURL(o.API), o.Token, o.Chat)
	if _, secret, ok := strings.Cut(o.Token, ":"); ok {
		secrets = append(secrets, secret)
	}
	return &telegram{o, strings.TrimRight(o.API, "/") + "/bot" + o.Token + "/sendMessage", veil.New(secrets...)}, nil
}

// Send sends one message. What Telegram cannot read as HTML it gets as it is, and
// a group that has become another one is followed.
func (t *telegram) Send(ctx context.Context, m *message.Message) error {
	words, err := message.Render(m, t.opts.Template)
	if err != nil {
		return failed("telegram", t.veil, &Error{Err: err, Permanent: true})
	}
	subject, text := chatWords(words)
	out := telegramMessage{Chat: t.opts.Chat, Text: telegramHTML(subject, text), Mode: "HTML"}
	out.Preview.Disabled = true
	for range 3 {
		said, err := t.post(ctx, m, &out)
		switch {
		case err == nil:
			return nil
		case said != nil && said.Parameters.Migrate != 0:
			out.Chat = strconv.FormatInt(said.Parameters.Migrate, 10)
		case said != nil && out.Mode != "" && strings.Contains(said.Description, "can't parse entities"):
			out.Mode, out.Text = "", telegramPlain(subject, text)
		default:
			return failed("telegram", t.veil, err)
		}
	}
	return failed("telegram", t.veil, errors.New("the chat moves from one id to another"))
}

// telegramMessage is what sendMessage takes.
type telegramMessage struct {
	Chat    string `json:"chat_id"`
	Text    string `json:"text"`
	Mode    string `json:"parse_mode,omitempty"`
	Preview struct {
		Disabled bool `json:"is_disabled"`
	} `json:"link_preview_options"`
}

// telegramAnswer is what the API says.
type telegramAnswer struct {
	OK          bool   `json:"ok"`
	Description string `json:"description"`
	Parameters  struct {
		RetryAfter int64 `json:"retry_after"`
		Migrate    int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

// post makes one call. It returns what Telegram said if it said something.
func (t *telegram) post(ctx context.Context, m *message.Message, out *telegramMessage) (*telegramAnswer, error) {
	body, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the address of the API and the token make no address; check delivery.telegram_api")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", userAgent(m))
	a, err := ask(t.opts.Client, req)
	if err != nil {
		return nil, err
	}
	said := &telegramAnswer{}
	if json.Unmarshal(a.body, said) != nil {
		said = nil
	}
	return said, telegramVerdict(a, said)
}

// telegramVerdict returns nil if the message was taken.
func telegramVerdict(a *answer, said *telegramAnswer) error {
	wrong := a.verdict()
	switch {
	case wrong == nil && said != nil && said.OK:
		return nil
	case wrong == nil:
		return &Error{Err: errors.New("answered 200 OK, but not as Telegram does; check delivery.telegram_api"), MayHaveArrived: true}
	case a.status == http.StatusUnauthorized || a.status == http.StatusNotFound:
		// That is about the bot and no fault of the message: it waits for a repair.
		return &Error{Err: fmt.Errorf("answered %d: Telegram does not know the bot; check -telegram-token", a.status)}
	case said == nil || said.Description == "":
		return wrong
	}
	wrong.Err = fmt.Errorf("answered %d: %s", a.status, oneLine([]byte(said.Description), 200))
	if seconds := said.Parameters.RetryAfter; seconds > 0 {
		wrong.RetryAfter = time.Duration(min(seconds, int64(maxRetryAfter/time.Second))) * time.Second
	}
	return wrong
}

// escapeTelegram escapes what means something in Telegram's HTML.
func escapeTelegram(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// telegramPlain returns a message as text, cut to what Telegram takes.
func telegramPlain(subject, text string) string {
	return cut(strings.Trim(subject+"\n\n"+text, "\n"), telegramLimit, units, leftOut)
}

// telegramHTML returns the same with the subject in bold.
func telegramHTML(subject, text string) string {
	whole := escapeTelegram(telegramPlain(subject, text))
	if subject == "" {
		return whole
	}
	first, rest, more := strings.Cut(whole, "\n")
	if !more {
		return "<b>" + first + "</b>"
	}
	return "<b>" + first + "</b>\n" + rest
}

// units counts UTF-16 units, as Telegram does.
func units(s string) int { return len(utf16.Encode([]rune(s))) }
