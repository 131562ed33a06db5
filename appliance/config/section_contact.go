package config

import (
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"jaque.sh/jaque/appliance/channel"
	"jaque.sh/jaque/appliance/core/object"
)

// person is a declared contact with its place.
type person struct {
	Contact
	at  *path
	pos Position
}

// contact reads #Contact.
func (d *decoder) contact(at *path, f field) *person {
	s := d.open(at, f.node)
	d.name(at, f.pos, f.name)
	c := Contact{Name: d.strings.get(f.name), Alias: s.prose("alias"), Email: s.mail("email"), Telegram: s.telegram()}
	c.Webhook, c.Chat, c.Command = s.webhook(), s.chat(), s.handler("command")
	c.Groups, c.Vars = d.strings.list(refNames(s.refs("groups"))), s.vars(object.Host)
	if c.Command != nil {
		d.commandOf(&c)
	}
	all := s.wish(object.Host, object.Service)
	for _, k := range []object.Kind{object.Host, object.Service} {
		name, to := "services", &c.Services
		if k == object.Host {
			name, to = "hosts", &c.Hosts
		}
		own := d.open(at.field(name), s.take(name))
		*to = all.over(own.wish(k)).of(k)
		own.done()
	}
	unknown := s.done()
	ways := []string{"email", "telegram", "webhook", "chat", "command"}
	if s.n != nil && unknown == 0 && !slices.ContainsFunc(ways, s.has) {
		d.bad(at, f.pos, "can be told nothing; give email, telegram, webhook, chat or command")
	}
	return &person{c, at, f.pos}
}

// wish is what may be said about what a contact hears of. A nil pointer means "as
// below".
type wish struct {
	on     *bool
	states *States
	tell   *object.NoteOptions
	period *string
}

// wish reads the fields of #Wish about some kinds of object.
func (s *section) wish(kinds ...object.Kind) wish {
	var w wish
	optional(s, "notifications", &w.on, func() bool { return s.flag("notifications", true) })
	optional(s, "states", &w.states, func() States { return s.problemStates(kinds...) })
	optional(s, "tell", &w.tell, func() object.NoteOptions { return s.news() })
	optional(s, "period", &w.period, func() string { return s.tellingHours() })
	return w
}

// over returns w with everything that u says put over it.
func (w wish) over(u wish) wish {
	put(&w.on, u.on)
	put(&w.states, u.states)
	put(&w.tell, u.tell)
	put(&w.period, u.period)
	return w
}

// of returns what is wished for a kind. Who names states of the other kind alone
// hears nothing of this one.
func (w wish) of(k object.Kind) Wish {
	out := Wish{Off: !or(w.on, true), Tell: or(w.tell, object.NoteAll), Period: or(w.period, "")}
	if w.states != nil && !w.states.None() {
		out.Off = out.Off || w.states.Of(k) == 0
		out.Tell &^= newsProblem &^ object.NoteOptions(w.states.Of(k))
	}
	return out
}

// newsProblem is the news of problems in every state.
const newsProblem = object.NoteOptions(1<<object.Warning | 1<<object.Critical | 1<<object.Unknown)

// news reads the kinds of what is told; everything if the field is absent.
func (s *section) news() object.NoteOptions {
	n := s.take("tell")
	if n == nil {
		return object.NoteAll
	}
	s.asked = s.asked[:len(s.asked)-1]
	words := map[string]object.NoteOptions{
		"problem": newsProblem, "recovery": object.NoteRecovery, "flapping": object.NoteFlapping, "downtime": object.NoteDowntime,
	}
	var told object.NoteOptions
	before := len(s.d.problems)
	s.list("tell", func(at *path, n *node) {
		text, ok := s.d.text(at, n)
		if !ok {
			return
		}
		bits, known := words[text]
		switch {
		case text == "acknowledgement":
			s.d.bad(at, n.pos, "who hears of a problem is told of its acknowledgement; leave it out here")
		case !known:
			s.d.bad(at, n.pos, "%s is not known; write one of problem, recovery, flapping, downtime%s", quote(text), didYouMean(text, slices.Values(sortedKeys(words))))
		}
		told |= bits
	})
	if told == 0 && len(s.d.problems) == before {
		s.d.bad(s.at.field("tell"), n.pos, `says nothing; write for example ["problem", "recovery"] or leave tell out`)
	}
	return told
}

// problemStates reads the states of problems of some kinds of object.
func (s *section) problemStates(kinds ...object.Kind) States {
	n := s.take("states")
	if n == nil {
		return States{}
	}
	s.asked = s.asked[:len(s.asked)-1]
	var named States
	var words []string
	for _, k := range kinds {
		words = append(words, stateNames(k)[1:]...)
	}
	before := len(s.d.problems)
	s.list("states", func(at *path, n *node) {
		text, ok := s.d.text(at, n)
		if !ok {
			return
		}
		word := strings.ToUpper(text)
		if !slices.Contains(words, word) {
			s.d.bad(at, n.pos, "%s is no state of a problem; write one of %s%s", quote(text), strings.Join(words, ", "), didYouMean(text, slices.Values(words)))
			return
		}
		if st, err := object.ParseState(object.Host, word); err == nil {
			named.Hosts |= 1 << st
		} else if st, err := object.ParseState(object.Service, word); err == nil {
			named.Services |= 1 << st
		}
	})
	if named.None() && len(s.d.problems) == before {
		s.d.bad(s.at.field("states"), n.pos, "names no state; write one of %s or leave states out", strings.Join(words, ", "))
	}
	return named
}

// mail reads a mail address without a name beside it.
func (s *section) mail(name string) string {
	text := s.text(name)
	if text == "" {
		return ""
	}
	example := "ops@example.com"
	a, err := mail.ParseAddress(text)
	if err == nil {
		if a.Address == text {
			return text
		}
		example = a.Address
	}
	if strings.HasPrefix(text, "file:") || strings.HasPrefix(text, "env:") {
		s.d.bad(s.at.field(name), s.n.get(name).pos, "%s: a mail address is no secret and stands here itself; write %s", quote(text), quote(example))
		return text
	}
	s.d.bad(s.at.field(name), s.n.get(name).pos, "%s is not a mail address; write %s", quote(text), quote(example))
	return text
}

// telegramChat is the id of a chat, or the public name of a channel or group.
var telegramChat = regexp.MustCompile(`^(-?[1-9][0-9]{0,18}|@[A-Za-z][A-Za-z0-9_]{3,31})$`)

// telegram reads the id of a chat. It is not shown, because it is a secret.
func (s *section) telegram() Secret {
	v := s.secret("telegram")
	if v.Reveal() != "" && !telegramChat.MatchString(v.Reveal()) {
		s.d.bad(s.at.field("telegram"), s.n.get("telegram").pos, `not the id of a chat, which is a number as in "12345678" or "-100123456789", nor the name of a channel, as in "@ops_alarms"; the token of the bot is -telegram-token`)
	}
	return v
}

// webhook reads an address, or #Webhook; nil if there is none.
func (s *section) webhook() *Webhook {
	n := s.take("webhook")
	if n == nil {
		return nil
	}
	at := s.at.field("webhook")
	if n.kind != kindMap {
		return &Webhook{URL: s.d.address(at, n)}
	}
	f := s.d.open(at, n)
	w := &Webhook{Key: f.secret("key"), Body: f.template("body")}
	if _, err := channel.CompileBody(w.Body); w.Body != "" && err != nil {
		s.d.bad(at.field("body"), f.n.get("body").pos, "%s", err)
	}
	if u := f.take("url"); u != nil {
		w.URL = s.d.address(at.field("url"), u)
	}
	f.need("url", `"https://example.com/hook"`)
	f.each("headers", func(at *path, h field) {
		if strings.ContainsFunc(h.name, notInHeader) || h.name == "" {
			s.d.bad(at, h.pos, `%s is not the name of a header; write one such as "Authorization"`, quote(h.name))
		}
		v := s.d.secret(at, h.node)
		if strings.ContainsAny(v.Reveal(), "\r\n") {
			s.d.bad(at, h.node.pos, "the value of a header stands on one line; remove the line feeds")
		}
		if w.Headers == nil {
			w.Headers = map[string]Secret{}
		}
		w.Headers[s.d.strings.get(h.name)] = v
	})
	f.done()
	return w
}

// notInHeader tells whether a character cannot stand in the name of a header.
func notInHeader(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

// address reads a URL that may be a secret; it is not shown, because such URLs hold
// tokens.
func (d *decoder) address(at *path, n *node) Secret {
	v := d.secret(at, n)
	if v.Reveal() != "" && !isURL(v.Reveal()) {
		d.bad(at, n.pos, `not a URL of the web, which has no blanks; write "https://example.com/hook" or a reference to one`)
	}
	return v
}

// isURL tells whether a text is a URL of http or https with a host and without blanks.
func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && !strings.ContainsFunc(text, unicode.IsSpace) && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// chat reads one address of a chat service or a list of them.
func (s *section) chat() []Secret {
	var all []Secret
	read := func(at *path, n *node) {
		v := s.d.secret(at, n)
		if v.Reveal() == "" {
			return
		}
		// What stands there may be a token, so it is not shown.
		if err := channel.CheckChat(v.Reveal()); err != nil {
			text := strings.TrimPrefix(err.Error(), "chat: ")
			if form := channel.ChatForm(v.Reveal()); form != "" && !strings.Contains(text, "write ") {
				text += `; write it as in "` + form + `"`
			}
			s.d.bad(at, n.pos, "%s", text)
		}
		all = append(all, v)
	}
	n := s.take("chat")
	switch {
	case n == nil:
	case n.kind == kindList:
		s.list("chat", read)
		s.asked = s.asked[:len(s.asked)-1]
		if len(n.items) == 0 {
			s.d.bad(s.at.field("chat"), n.pos, "no addresses; write one or leave chat out")
		}
	default:
		read(s.at.field("chat"), n)
	}
	return all
}

// template reads a text for people that is a template, or the file that holds it.
func (s *section) template(name string) string {
	text := s.text(name)
	file, ok := strings.CutPrefix(text, "file:")
	if !ok {
		return text
	}
	content, err := s.d.secrets.readFile(file)
	switch {
	case err != nil:
		s.d.bad(s.at.field(name), s.n.get(name).pos, "cannot read the template in %s: %s", quote(file), plainError(err))
	case strings.TrimSpace(string(content)) == "":
		s.d.bad(s.at.field(name), s.n.get(name).pos, "the file %s is empty; write the template into it", quote(file))
		return ""
	}
	return string(content)
}
