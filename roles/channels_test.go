package roles

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/channel"
	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/probe"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/message"
)

// people is a config in which contacts are reached in every way; SERVER stands for
// the address of a server.
const people = `
hosts: web: services: http: check: plugin: ["true"]
contacts: {
	ann: {
		alias:    "Ann"
		email:    "ann@example.com"
		telegram: "123456789"
		webhook: {url: "SERVER/hook", key: "signing-key", headers: "X-Team": "ops"}
		chat: ["mattermost://PEER/token/one?disabletls=yes", "mattermost://PEER/token/two?disabletls=yes"]
		command: plugin: ["SCRIPT", "$NOTIFICATIONTYPE$ $HOSTNAME$ $CONTACTALIAS$ $SERVICEOUTPUT$ $USER1$"]
		groups: ["ops"]
	}
	bob: email: "bob@example.com"
}
policies: [{notify: ["ann", "bob"]}]
delivery: {
	telegram_api: "SERVER"
	templates: telegram: text: "Hello {{.Contact}}: {{.Headline}}"
	canary: {url: "SERVER/ping", every: "1m"}
}
settings: macros: USER1: "one"
`

// newPeople makes the channels of a config whose SERVER is s and whose SCRIPT
// writes its arguments to a file.
func newPeople(t *testing.T, n Notify, s *httptest.Server) (c *channels, cfg *config.Config, out string) {
	t.Helper()
	dir := t.TempDir()
	out = filepath.Join(dir, "out")
	script := filepath.Join(dir, "notify")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$@\" >> '"+out+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("SERVER", s.URL, "PEER", strings.TrimPrefix(s.URL, "http://"), "SCRIPT", script).Replace(people)
	path := filepath.Join(dir, "jaque.cue")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, problems := config.Load(path, config.Options{AllZonesLocal: true})
	if len(problems) > 0 {
		t.Fatal(problems.String())
	}
	r, err := probe.New(probe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	c = newChannels(Settings{Notify: n}, r, projection.New(cfg.Set), slog.New(slog.DiscardHandler))
	c.use(cfg)
	return c, cfg, out
}

// listenTo starts a server that takes everything and remembers "path body".
func listenTo(t *testing.T) (*httptest.Server, chan string) {
	t.Helper()
	got := make(chan string, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- r.URL.Path + " " + r.Header.Get("X-Team") + r.Header.Get("X-Jaque-Signature") + " " + string(body)
		_, _ = io.WriteString(w, `{"ok":true}`) // the client reads it or has gone
	}))
	t.Cleanup(s.Close)
	return s, got
}

func newsAbout(cfg *config.Config, contact, channel string) *message.Message {
	return &message.Message{
		ID: "m", Thread: "t", Contact: cfg.Set.Contacts[contact], Channel: channel, Now: 1_000_000,
		Items: []message.Item{{
			ID: "web!http", Object: cfg.Set.Get("web!http"), Kind: "PROBLEM", Number: 1, Time: 1_000_000,
			Status: &event.Status{State: object.Critical, Checked: true}, Measure: &event.Measure{Output: "it burns"},
		}},
	}
}

func TestEveryWayOfAContactLeadsThere(t *testing.T) {
	s, got := listenTo(t)
	c, cfg, out := newPeople(t, Notify{TelegramToken: "12:token"}, s)
	for _, w := range []struct{ contact, channel, want string }{
		{"ann", "telegram", "/bot12:token/sendMessage"},
		{"ann", "telegram", "Hello ann: "},
		{"ann", "webhook", "/hook opst="},
		{"ann", "chat", `"channel": "one"`},
		{"ann", "chat:2", `"channel": "two"`},
		{config.CanaryContact, config.ChannelCanary, "/ping"},
	} {
		ch, err := c.Resolve(w.contact, w.channel)
		if err == nil {
			err = ch.Send(t.Context(), newsAbout(cfg, w.contact, w.channel))
		}
		if err != nil {
			t.Errorf("%s of %s: %v", w.channel, w.contact, err)
			continue
		}
		if text := <-got; !strings.Contains(text, w.want) && !strings.Contains(strings.ReplaceAll(text, `":"`, `": "`), w.want) {
			t.Errorf("%s of %s got %s, want %s", w.channel, w.contact, text, w.want)
		}
		if again, err := c.Resolve(w.contact, w.channel); err != nil || again != ch {
			t.Errorf("%s of %s is made twice: %v", w.channel, w.contact, err)
		}
	}
	ch, err := c.Resolve("ann", "command")
	if err != nil {
		t.Fatal(err)
	}
	m := newsAbout(cfg, "ann", "command")
	m.Items = append(m.Items, m.Items[0])
	m.Items[1].ID, m.Items[1].Object = "old!disk", nil
	if err := ch.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out)
	if want := "PROBLEM web Ann it burns one\nPROBLEM old Ann it burns one\n"; err != nil || string(text) != want {
		t.Errorf("%v, got %q, want %q", err, text, want)
	}
}

func TestAWayThatIsGoneIsNotTriedAndOneThatCanBeRepairedIs(t *testing.T) {
	s, _ := listenTo(t)
	c, cfg, _ := newPeople(t, Notify{}, s)
	for _, w := range []struct {
		contact, channel string
		permanent        bool
		says             string
	}{
		{"carol", "email", true, "no contact carol"},
		{"bob", "telegram", true, "contact bob has no channel telegram"},
		{"ann", "chat:3", true, "no channel chat:3"},
		{"ann", "chat:1", true, "no channel chat:1"},
		{"ann", "pigeon", true, "no channel pigeon"},
		{"ann", "command:sms", true, "no notification command sms"},
		{"bob", "canary", true, "canary"},
		{"bob", "email", false, "give -smtp-host"},
		{"ann", "telegram", false, "give -telegram-token"},
	} {
		_, err := c.Resolve(w.contact, w.channel)
		if err == nil || !strings.Contains(err.Error(), w.says) {
			t.Errorf("%s of %s: %v, want %q", w.channel, w.contact, err, w.says)
			continue
		}
		var e *channel.Error
		if permanent := errors.As(err, &e) && e.Permanent; permanent != w.permanent {
			t.Errorf("%s of %s: permanent %v: %v", w.channel, w.contact, permanent, err)
		}
	}
	// Another generation has other ways.
	delete(cfg.Contacts, "bob")
	cfg.Set.Contacts["bob"] = &object.Contact{Name: "bob", Notify: &object.ContactNotification{
		Services: object.Reach{Commands: []*object.Handler{{Name: "sms", Plugin: []string{"true"}}}},
	}}
	c.use(cfg)
	if _, err := c.Resolve("bob", "command:sms"); err != nil {
		t.Error(err)
	}
	if _, err := c.Resolve("bob", "email"); err == nil || !strings.Contains(err.Error(), "no channel email") {
		t.Error(err)
	}
}

func TestThePasswordOfTheMailServerIsReadWhenItIsNeeded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "password")
	if _, err := readPassword(path); err == nil || !strings.Contains(err.Error(), "-smtp-password-file") {
		t.Error(err)
	}
	for text, want := range map[string]string{"pass word\n": "pass word", "p\r\n": "p", " p": " p"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := readPassword(path); err != nil || got != want {
			t.Errorf("%q gives %q, %v", text, got, err)
		}
	}
	if err := os.WriteFile(path, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readPassword(path); err == nil || !strings.Contains(err.Error(), "is empty") {
		t.Error(err)
	}
	s, _ := listenTo(t)
	c, _, _ := newPeople(t, Notify{SMTPHost: "127.0.0.1", SMTPPort: 25, SMTPTLS: "starttls", SMTPUser: "u", SMTPFrom: "jaque@example.com", SMTPPasswordFile: "/nowhere"}, s)
	if _, err := c.Resolve("ann", "email"); err != nil {
		t.Error("a password that is not there yet is no reason to refuse the channel:", err)
	}
}

func TestACommandHidesTheMacrosThatAreNoPaths(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "jaque.cue")
	text := `hosts: web: {}
settings: macros: {USER1: "/usr/lib/plugins", USER2: "env:TOKEN", USER3: "clear", USER4: "file:key"}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, problems := config.Load(path, config.Options{
		AllZonesLocal: true,
		LookupEnv:     func(string) (string, bool) { return "of the environment", true },
		ReadSecret:    func(string) ([]byte, error) { return []byte("/like/a/path"), nil },
	})
	if len(problems) > 0 {
		t.Fatal(problems.String())
	}
	got := hiddenMacros(cfg)
	slices.Sort(got)
	if want := []string{"/like/a/path", "clear", "of the environment"}; !slices.Equal(got, want) {
		t.Errorf("hides %q, want %q", got, want)
	}
}

// A notifier says whom its config does not know, until it has another one.
func TestANotifierNamesWhomItsConfigDoesNotHave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := &object.Set{Contacts: map[string]*object.Contact{"alice": {Name: "alice"}}}
		c := newChannels(Settings{}, &probe.Runner{}, projection.New(set), quiet())
		c.notifier = "n1"
		next := &config.Config{Set: set, Delivery: config.Delivery{}}
		c.use(next)
		_, err := c.Resolve("bob", "email")
		if err == nil || !strings.HasSuffix(err.Error(), "as the config of notifier n1 stands; reload it there") {
			t.Errorf("got %v", err)
		}
		if got := strings.Join(c.trouble(), ""); !strings.HasPrefix(got, "notifier n1 cannot deliver to bob: ") {
			t.Errorf("the trouble is %q", got)
		}
		for _, name := range []string{"dave", "carol", "erin"} {
			_, _ = c.Resolve(name, "email")
		}
		if got := strings.Join(c.trouble(), ""); !strings.HasPrefix(got, "notifier n1 cannot deliver to 4 contacts (bob, carol, dave, …): ") {
			t.Errorf("the trouble is %q", got)
		}
		time.Sleep(missedFor)
		if got := c.trouble(); len(got) > 0 {
			t.Errorf("nobody asks any more: %v", got)
		}
		_, _ = c.Resolve("bob", "email")
		c.use(next)
		if got := c.trouble(); len(got) > 0 {
			t.Errorf("with another config: %v", got)
		}
	})
}
