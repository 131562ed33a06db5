package config

import (
	"net/url"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/rule/message"
)

// channelKinds are the kinds of channel that have rates; all but the last have
// templates, because a command is told by its macros.
var channelKinds = []string{ChannelEmail, ChannelTelegram, ChannelWebhook, ChannelChat, ChannelCommand}

// usualRates are the rates of a config that says nothing of them: what the providers
// bear, and what a person can read.
func usualRates() map[string]Rate {
	return map[string]Rate{
		ChannelEmail: {60, time.Minute}, ChannelTelegram: {20, time.Minute},
		ChannelChat: {20, time.Minute}, ChannelWebhook: {300, time.Minute},
	}
}

// usualDeadline is how long a message is tried.
const usualDeadline = 24 * time.Hour

// delivery is the declared section with its places.
type delivery struct {
	Delivery
	canaryAt  *path
	canaryPos Position
	contact   []ref
}

// delivery reads #Delivery.
func (d *decoder) delivery(at *path, n *node) delivery {
	s := d.open(at, n)
	out := delivery{Delivery: Delivery{Rates: usualRates(), Templates: map[string]Template{}}}
	out.URL = strings.TrimRight(s.link("url", "https://monitoring.example.com"), "/")
	out.Deadline = s.pause("deadline", usualDeadline, false, time.Minute)
	rates := d.open(at.field("rates"), s.take("rates"))
	templates := d.open(at.field("templates"), s.take("templates"))
	for _, kind := range channelKinds {
		if r := rates.take(kind); r != nil {
			out.rate(d.open(rates.at.field(kind), r), kind)
		}
		if kind == ChannelCommand {
			continue
		}
		if t := templates.take(kind); t != nil {
			out.Templates[kind] = d.open(templates.at.field(kind), t).templates(kind)
		}
	}
	rates.done()
	templates.done()
	out.TelegramAPI = strings.TrimRight(s.web("telegram_api", "https://api.telegram.org"), "/")
	if c := s.take("canary"); c != nil {
		out.canary(d.open(at.field("canary"), c))
		out.canaryAt, out.canaryPos = at.field("canary"), c.pos
	}
	s.done()
	return out
}

// rate reads #Rate.
func (out *delivery) rate(s *section, kind string) {
	s.need("messages", "60")
	r := Rate{s.whole("messages", 0, 0, 1_000_000), s.pause("per", time.Minute, false, time.Second)}
	s.done()
	delete(out.Rates, kind)
	if r.Messages > 0 {
		out.Rates[kind] = r
	}
}

// templates reads #Template. Each part is tried alone, so that it is known which one
// is wrong.
func (s *section) templates(kind string) Template {
	t := Template{s.template("subject"), s.template("text"), s.template("html")}
	if s.done() == 0 && s.n != nil && t == (Template{}) && len(s.n.fields) == 0 {
		s.d.bad(s.at, s.n.pos, `says nothing; write subject, text or html, or leave it out`)
	}
	for _, part := range []struct {
		name string
		only Template
	}{{"subject", Template{Subject: t.Subject}}, {"text", Template{Text: t.Text}}, {"html", Template{HTML: t.HTML}}} {
		if part.only == (Template{}) {
			continue
		}
		if _, err := message.Compile(kind, part.only.Subject, part.only.Text, part.only.HTML); err != nil {
			s.d.bad(s.at.field(part.name), s.n.get(part.name).pos, "%s", strings.TrimPrefix(err.Error(), "template "+part.name+" of channel "+kind+": "))
		}
	}
	return t
}

// canary reads #Canary.
func (out *delivery) canary(s *section) {
	c := &out.Canary
	c.Every = s.pause("every", time.Minute, false, time.Second)
	if u := s.take("url"); u != nil {
		c.URL = s.d.address(s.at.field("url"), u)
	}
	c.Contact, out.contact = s.ref("contact")
	if s.done() == 0 && s.n != nil && !s.has("url") && !s.has("contact") {
		s.d.bad(s.at, s.n.pos, `tells nobody outside; write url: "https://example.com/ping/ID" or contact: "ops"`)
	}
}

// link reads a URL to which paths are added and that people are shown.
func (s *section) link(name, example string) string {
	text := s.web(name, example)
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "":
	case u.User != nil:
		// The text itself is not shown: it holds a password.
		s.d.bad(s.at.field(name), s.n.get(name).pos, `holds a user name, which would stand in every message; write %s`, quote(u.Scheme+"://"+u.Host+u.Path))
		return ""
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		s.d.bad(s.at.field(name), s.n.get(name).pos, `%s ends with a query, and links go on behind it; write %s`, quote(text), quote(u.Scheme+"://"+u.Host+u.Path))
	}
	return text
}

// web reads a URL that is no secret.
func (s *section) web(name, example string) string {
	text := s.text(name)
	if text != "" && !isURL(text) {
		s.d.bad(s.at.field(name), s.n.get(name).pos, `%s is not a URL of the web; write %s`, quote(text), quote(example))
	}
	return text
}
