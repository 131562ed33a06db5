package roles

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/channel"
	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/probe"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/macro"
	"jaque.sh/jaque/appliance/rule/message"
)

// channels makes the ways to contacts from the flags of the process and the running
// config. Any goroutine may use it.
type channels struct {
	notify Notify
	run    func(context.Context, *probe.Command) probe.Ran
	macros checks // answers the macros of notification commands
	client *http.Client
	done   *channel.Done
	log    *slog.Logger
	// notifier is the name of a process that may run by an older config than who asks:
	// what is missing may come with a reload. "" = there is one config.
	notifier string

	mu        sync.Mutex // guards what follows
	config    *generation
	made      map[way]channel.Channel // of this generation
	templates map[string]*message.Template
	missing   map[way]time.Time // what this generation does not have, and when it was last looked for
}

// way is one channel of one contact.
type way struct{ contact, channel string }

func newChannels(s Settings, r *probe.Runner, p *projection.Projection, log *slog.Logger) *channels {
	return &channels{
		notify: s.Notify, run: r.Command, macros: checks{proj: p, started: object.At(time.Now())},
		client: channel.NewClient(nil), done: channel.NewDone(), log: log,
	}
}

// use switches to another generation of the config. What is under way ends by the
// one with which it began.
func (c *channels) use(cfg *config.Config) {
	g := newGeneration(cfg)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.config, c.made, c.templates, c.missing = g, map[way]channel.Channel{}, map[string]*message.Template{}, map[way]time.Time{}
}

// Resolve returns the way to a contact over a channel. That the config has it no
// more is permanent; what an operator can repair is not.
func (c *channels) Resolve(contact, name string) (channel.Channel, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := way{contact, name}
	if ch := c.made[w]; ch != nil {
		return ch, nil
	}
	ch, err := c.make(w)
	var e *channel.Error
	if c.notifier != "" && errors.As(err, &e) && e.Permanent {
		c.missing[w] = time.Now()
		return nil, fmt.Errorf("%w, as the config of notifier %s stands; reload it there", e.Err, c.notifier)
	}
	if err != nil {
		return nil, err
	}
	c.made[w] = ch
	return ch, nil
}

// make makes the channel of a way.
func (c *channels) make(w way) (channel.Channel, error) {
	kind, rest, _ := strings.Cut(w.channel, ":")
	if kind == config.ChannelCanary {
		return c.canary(w)
	}
	if c.config.Set.Contacts[w.contact] == nil {
		return nil, gone("the config has no contact %s any more", w.contact)
	}
	// An imported contact has commands alone and no entry of its own.
	p := c.config.Contacts[w.contact]
	switch {
	case strings.HasPrefix(w.channel, object.CommandChannel):
		return c.reach(w, rest)
	case !slices.Contains(p.Channels(), w.channel):
		return nil, gone("contact %s has no channel %s any more", w.contact, w.channel)
	}
	switch kind {
	case config.ChannelEmail:
		return c.email(p.Email)
	case config.ChannelTelegram:
		return channel.NewTelegram(channel.TelegramOptions{
			API: c.config.Delivery.TelegramAPI, Token: c.notify.TelegramToken, Chat: p.Telegram.Reveal(),
			Template: c.template(kind), Client: c.client,
		})
	case config.ChannelWebhook:
		return c.webhook(p.Webhook)
	case config.ChannelChat:
		return channel.NewChat(channel.ChatOptions{Address: p.Chat[chatIndex(rest)].Reveal(), Template: c.template(kind)})
	case config.ChannelCommand:
		return c.command(p.Command)
	}
	return nil, gone("this jaque knows no channel %s; use a newer one", w.channel)
}

// missedFor is how long what a config does not have counts as missing after it was last
// looked for: longer than attempts are apart.
const missedFor = 30 * time.Minute

// trouble says whom the config of a notifier does not know although it is to deliver
// to them.
func (c *channels) trouble() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var contacts []string
	for w, looked := range c.missing {
		if time.Since(looked) < missedFor {
			contacts = append(contacts, w.contact)
		}
	}
	slices.Sort(contacts)
	contacts = slices.Compact(contacts)
	if len(contacts) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("notifier %s cannot deliver to %s: its config does not have them, or not their channels; give it the config of the engine and reload it",
		c.notifier, someOf(contacts))}
}

// someOf names the first few.
func someOf(names []string) string {
	const few = 3
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%d contacts (%s, …)", len(names), strings.Join(names[:few], ", "))
}

// gone is an error that no later attempt can repair.
func gone(format string, args ...any) error {
	return &channel.Error{Err: fmt.Errorf(format, args...), Permanent: true}
}

// chatIndex is the position of the address that the channel "chat:N" means.
func chatIndex(rest string) int {
	n, err := strconv.Atoi(rest)
	if err != nil {
		return 0
	}
	return n - 1
}

func (c *channels) email(to string) (channel.Channel, error) {
	n := &c.notify
	if n.SMTPHost == "" {
		return nil, errors.New("email: no mail server is set: give -smtp-host, and -smtp-from with the address of the sender")
	}
	o := channel.EmailOptions{
		Host: n.SMTPHost, Port: n.SMTPPort, User: n.SMTPUser, TLS: n.SMTPTLS, From: n.SMTPFrom, To: to,
		Template: c.template(config.ChannelEmail), Logger: c.log,
	}
	if n.SMTPPasswordFile != "" {
		o.Password = func() (string, error) { return readPassword(n.SMTPPasswordFile) }
	}
	return channel.NewEmail(o)
}

// readPassword reads the password of the mail server. The line feed that editors
// put at the end of a file is not part of it.
func readPassword(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("-smtp-password-file: %w", err)
	}
	password := strings.TrimRight(string(text), "\r\n")
	if password == "" {
		return "", fmt.Errorf("-smtp-password-file: %s is empty; write the password into it", path)
	}
	return password, nil
}

func (c *channels) webhook(w *config.Webhook) (channel.Channel, error) {
	o := channel.WebhookOptions{
		URL: w.URL.Reveal(), Key: w.Key.Reveal(), Body: w.Body, Headers: make(map[string]string, len(w.Headers)),
		Template: c.template(config.ChannelWebhook), Client: c.client,
	}
	for name, value := range w.Headers {
		o.Headers[name] = value.Reveal()
	}
	return channel.NewWebhook(o)
}

// canary returns the way of the dead man's switch.
func (c *channels) canary(w way) (channel.Channel, error) {
	url := c.config.Delivery.Canary.URL.Reveal()
	if w.contact != config.CanaryContact || url == "" {
		return nil, gone("the config has no address for the canary any more")
	}
	return channel.NewPing(url, c.client)
}

// reach returns the way of a command that the contact has for hosts or services.
func (c *channels) reach(w way, name string) (channel.Channel, error) {
	if n := c.config.Set.Contacts[w.contact].Notify; n != nil {
		for _, h := range slices.Concat(n.Hosts.Commands, n.Services.Commands) {
			if h.Name == name {
				return c.command(h)
			}
		}
	}
	return nil, gone("contact %s has no notification command %s any more", w.contact, name)
}

func (c *channels) command(h *object.Handler) (channel.Channel, error) {
	g := c.config
	return channel.NewCommand(channel.CommandOptions{
		Handler: h, Run: c.run, ShellSigns: shellSigns, Done: c.done, Secrets: hiddenMacros(g.Config),
		Source: func(m *message.Message, it *message.Item) *macro.Source {
			src := c.macros.source(g, it.Object)
			if it.Object == nil && it.ID != "" {
				src.Object = stub(it.ID)
			}
			if m.Contact != nil {
				src.Contact = contact(g.Set, m.Contact.Name)
			}
			src.Static = maps.Clone(g.macros)
			return src
		},
	})
}

// hiddenMacros returns the macros that must not come back in the error of a command:
// all but the paths that stand in the config itself, such as the directory of the
// plugins.
func hiddenMacros(c *config.Config) []string {
	var hidden []string
	for _, value := range c.Macros {
		if text := value.Reveal(); value.Referred() || !strings.HasPrefix(text, "/") {
			hidden = append(hidden, text)
		}
	}
	return hidden
}

// stub stands for an object that the config has no more, so that its name at least
// can be told.
func stub(id object.ID) *object.Object {
	host := &object.Object{ID: object.HostID(id.Host()), Name: id.Host(), Rule: &object.Rule{}}
	if id.Kind() == object.Host {
		return host
	}
	return &object.Object{ID: id, Name: id.Service(), Host: host, Rule: &object.Rule{}}
}

// template returns the texts for a kind of channel: the operator's, jaque's own
// where there are none, nil if those need no template. An operator's that does not
// compile was refused with the config; should one come here all the same, people
// are told in jaque's words rather than not at all.
func (c *channels) template(kind string) *message.Template {
	t, known := c.templates[kind]
	if known {
		return t
	}
	own := c.config.Delivery.Templates[kind]
	var err error
	if own != (config.Template{}) {
		if t, err = message.Compile(kind, own.Subject, own.Text, own.HTML); err != nil {
			c.log.Error("a template is not used", "channel", kind, "error", err)
			t = nil
		}
	}
	if t == nil && (kind == config.ChannelTelegram || kind == config.ChannelChat) {
		if t, err = channel.ChatTemplate(kind); err != nil {
			c.log.Error("jaque's own template is not used", "channel", kind, "error", err)
		}
	}
	c.templates[kind] = t
	return t
}
