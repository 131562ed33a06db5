package channel

import (
	"fmt"
	"strconv"
	"strings"

	gomail "github.com/wneessen/go-mail"

	"jaque.sh/jaque/appliance/rule/message"
)

// headerLimit is how many characters of a name stand in a header.
const headerLimit = 200

// compose builds the mail: a text part and, if there is one, an HTML part for who
// prefers that. What varies in headers is one clean line, and go-mail encodes it.
func (e *Email) compose(m *message.Message, r *message.Rendered) (*gomail.Msg, error) {
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent(), gomail.WithEncoding(gomail.EncodingQP))
	msg.FromMailAddress(e.from)
	msg.ToMailAddress(e.to...)
	msg.Subject(r.Subject)
	msg.SetDateWithValue(m.Now.Std())
	if m.Zone != nil {
		msg.SetDateWithValue(m.Now.Std().In(m.Zone))
	}
	e.identify(msg, m)
	set := func(name, value string) {
		if value = message.Line(value, headerLimit); value != "" {
			msg.SetGenHeader(gomail.Header(name), value)
		}
	}
	set("User-Agent", strings.TrimSpace("jaque "+m.Version))
	// So that nobody's holiday answers, and lists do not either.
	set("Auto-Submitted", "auto-generated")
	set("X-Auto-Response-Suppress", "All")
	set("X-Jaque-Requests", strconv.Itoa(len(m.Items)))
	if m.Repeat {
		set("X-Jaque-Repeat", "possible")
	}
	if m.Test {
		set("X-Jaque-Kind", "TEST")
	}
	if len(m.Items) > 0 {
		it := &m.Items[0]
		set("X-Jaque-Object", string(it.ID))
		set("X-Jaque-Kind", it.Kind)
		if it.Status != nil {
			set("X-Jaque-State", it.Status.State.Name(it.ID.Kind()))
		}
		set("X-Jaque-Root", string(m.Root))
	}
	if urgent(m) {
		msg.SetImportance(gomail.ImportanceHigh)
	}
	msg.SetBodyString(gomail.TypeTextPlain, r.Text)
	if r.HTML != "" {
		msg.AddAlternativeString(gomail.TypeTextHTML, r.HTML)
	}
	if !msg.HasSendError() && len(msg.GetToString()) == 0 {
		return nil, fmt.Errorf("no recipient is left of %q", e.o.To)
	}
	return msg, nil
}

// identify names the mail and the incident that it belongs to. The incident has no
// mail of its own; programs that thread take a common ancestor that they never got.
func (e *Email) identify(msg *gomail.Msg, m *message.Message) {
	domain := e.from.Address[strings.LastIndexByte(e.from.Address, '@')+1:]
	id := func(name string) string {
		return "<" + strings.Map(func(r rune) rune {
			if r > ' ' && r < 0x7f && !strings.ContainsRune(`<>()[]\,;:@"`, r) {
				return r
			}
			return '-'
		}, name) + "@" + domain + ">"
	}
	if m.ID != "" {
		msg.SetGenHeader(gomail.HeaderMessageID, id(m.ID))
	}
	if m.Thread != "" {
		msg.SetGenHeader(gomail.HeaderInReplyTo, id(m.Thread))
		msg.SetGenHeader(gomail.HeaderReferences, id(m.Thread))
	}
}

// urgent tells whether the mail holds a problem that is as bad as they get.
func urgent(m *message.Message) bool {
	for i := range m.Items {
		it := &m.Items[i]
		if it.Kind == "PROBLEM" && it.Status != nil {
			switch it.Status.State.Name(it.ID.Kind()) {
			case "CRITICAL", "DOWN":
				return true
			}
		}
	}
	return false
}
