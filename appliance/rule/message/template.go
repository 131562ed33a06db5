package message

import (
	"errors"
	"fmt"
	html "html/template"
	"strings"
	text "text/template"
	"unicode/utf8"
)

// Template is how a message of one kind of channel is put in words. Any goroutine
// may use it; nil is jaque's own.
type Template struct {
	kind          string
	subject, text *text.Template // nil = jaque's
	html          *html.Template // nil = jaque's
	own           bool           // nothing of it is an operator's
}

// Default returns jaque's own texts.
func Default() *Template { return &Template{own: true} }

// Compile makes a template of what an operator wrote for a kind of channel, the
// empty ones are jaque's. It renders samples of every kind of message, so that what
// is wrong with a template is known when the config is read. A template without
// html makes mails that are text alone: the reader would see jaque's HTML instead of
// the operator's text.
func Compile(kind, subject, body, page string) (*Template, error) {
	t := &Template{kind: kind}
	var err error
	if subject != "" {
		if t.subject, err = parseText("subject", subject); err != nil {
			return nil, t.wrong("subject", err)
		}
	}
	if body != "" {
		if t.text, err = parseText("text", body); err != nil {
			return nil, t.wrong("text", err)
		}
	}
	if page != "" {
		if t.html, err = parseHTML("html", page); err != nil {
			return nil, t.wrong("html", err)
		}
	}
	for i, s := range samples(kind) {
		_, err := t.render(s.data())
		if i > 0 && errors.Is(err, errEmpty) {
			continue // it has nothing to say of a test, or of what has no page
		}
		if err != nil {
			return nil, fmt.Errorf("%w (tried with a message of the kind %s)", err, s.name())
		}
	}
	return t, nil
}

func (t *Template) wrong(part string, err error) error {
	if text, ok := strings.CutPrefix(err.Error(), "template: "); ok {
		err = errors.New(text)
	}
	return fmt.Errorf("template %s of channel %s: %w", part, t.kind, err)
}

var errEmpty = errors.New("it says nothing; write what is to be read, or leave it out for jaque's text")

// render puts a message in words; what fails is named.
func (t *Template) render(d *Data) (r Rendered, err error) {
	if t == nil {
		t = Default()
	}
	r.Subject = d.Subject
	if t.subject != nil {
		if r.Subject, err = runText(t.subject, d); err != nil {
			return r, t.wrong("subject", err)
		}
		r.Subject = line(r.Subject, subjectLimit)
		d.Subject = or(r.Subject, d.Subject)
		r.Subject = d.Subject
	}
	if t.text == nil {
		r.Text, r.Short = tidy(d.plain()), d.short()
	} else if err = t.ownText(&r, d); err != nil {
		return r, err
	}
	switch {
	case t.html != nil:
		r.HTML, err = runHTML(t.html, d)
	case t.text == nil:
		r.HTML, err = d.page()
	}
	if err != nil {
		return r, t.wrong("html", err)
	}
	r.HTML = tidy(r.HTML)
	return r, nil
}

// ownText runs the operator's template for the text. Whatever it says, the marks
// of a message that may be a repetition or is a test stand above it.
func (t *Template) ownText(r *Rendered, d *Data) error {
	body, err := runText(t.text, d)
	if err != nil {
		return t.wrong("text", err)
	}
	if body = strings.TrimSpace(tidy(body)); body == "" {
		return t.wrong("text", errEmpty)
	}
	var marks strings.Builder
	for _, m := range d.marks() {
		marks.WriteString("!! " + m + "\n\n")
	}
	r.Text = marks.String() + body + "\n"
	r.Short = clip(marks.String()+body, ownShortLimit)
	if t.kind == "email" {
		r.Short = d.short()
	}
	if !utf8.ValidString(r.Short) {
		r.Short = strings.ToValidUTF8(r.Short, "?")
	}
	return nil
}
