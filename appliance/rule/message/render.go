package message

import (
	"errors"
	"slices"
	"strings"
)

// shortLimit and ownShortLimit bound Short, subjectLimit the subject, in
// characters.
const (
	shortLimit    = 300
	ownShortLimit = 4000
	subjectLimit  = 150
)

// Render says a message in the words of a template; nil = jaque's. A template that
// fails costs nobody a message: jaque's text goes out with the reason in it, see
// Rendered.Trouble. An error means that there is nothing to say.
func Render(m *Message, t *Template) (Rendered, error) {
	if len(m.Items) == 0 && !m.Test {
		return Rendered{}, errors.New("message without items: nothing has happened")
	}
	d := m.data()
	r, err := t.render(d)
	if err == nil {
		return r, nil
	}
	trouble := line(err.Error(), nameLimit)
	d.trouble = "Your template for " + t.kind + " failed, so this is jaque's own text: " + trouble
	r, err = Default().render(d)
	r.Trouble = trouble
	return r, err
}

// data gathers what templates see.
func (m *Message) data() *Data {
	d := &Data{
		Root: line(string(m.Root), nameLimit), Repeat: m.Repeat, Test: m.Test, ID: line(m.ID, nameLimit), Thread: line(m.Thread, nameLimit),
		Channel: line(m.Channel, nameLimit), Dashboard: m.base(), Version: line(m.Version, nameLimit), Now: m.at(m.Now),
	}
	if m.Contact != nil {
		d.Contact = line(m.Contact.Name, nameLimit)
	}
	if len(m.Items) == 0 {
		d.test()
		return d
	}
	all := m.entries()
	d.Count, d.Counts = len(all), counts(all)
	if all[0].id == m.Root && len(all) > 1 {
		d.Counts = counts(all[1:])
	}
	d.Items = all[:min(len(all), offered)]
	d.More = d.Count - len(d.Items)
	d.Entry = all[0]
	var hosts, services int
	for i := range all {
		switch {
		case all[i].id == m.Root:
		case all[i].IsHost():
			hosts++
		default:
			services++
		}
	}
	d.Behind = behind(hosts, services)
	d.Subject, d.Headline = d.headline()
	d.Tone = d.Entry.Tone
	if m.Test {
		d.Subject = "[TEST] " + d.Subject
	}
	d.Subject, d.Headline = line(d.Subject, subjectLimit), line(d.Headline, 2*subjectLimit)
	return d
}

// test fills in a message that only shows that the way is open.
func (d *Data) test() {
	d.Kind, d.Tone = "TEST", "calm"
	d.Subject = "[TEST] jaque reaches " + or(d.Contact, "you") + " over " + or(d.Channel, "this channel")
	d.Headline = "This is a test: jaque reaches " + or(d.Contact, "you") + " over " + or(d.Channel, "this channel")
	d.Says = d.Headline
	d.Time = d.Now
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// marks are what a reader must know before anything else.
func (d *Data) marks() []string {
	var marks []string
	if d.Repeat {
		marks = append(marks, "You may have got this before: jaque was restarted while it was sent.")
	}
	if d.Test && len(d.Items) > 0 {
		marks = append(marks, "This is a test: nothing of it has happened.")
	}
	if d.trouble != "" {
		marks = append(marks, d.trouble)
	}
	return marks
}

// others is everybody else who was told of any of it.
func (d *Data) others() []string {
	var all []string
	for i := range d.Items {
		all = append(all, d.Items[i].Others...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.DeleteFunc(all, func(name string) bool { return name == d.Contact })
}

// told says who else knows and why this contact does, in sentences.
func (d *Data) told() []string {
	var all []string
	switch o := d.others(); len(o) {
	case 0:
	case 1:
		all = append(all, o[0]+" was told too.")
	default:
		all = append(all, list(o, 8)+" were told too.")
	}
	if why := d.why(); why != "" {
		all = append(all, why)
	}
	return all
}

// said is what stands below the headline: somebody's own words, or what the reader
// has to know about the message itself.
func (d *Data) said() string {
	switch {
	case d.Count == 0:
		return "Nothing has happened. Had it, the message would have come the same way."
	case d.Kind == custom:
		return d.Text
	case d.Brief:
		return "The problem came and went before this message was sent."
	}
	return ""
}

// why says in a sentence why the contact is told, "" if nothing is known.
func (d *Data) why() string {
	if d.Test && len(d.Items) == 0 {
		return "Somebody asked for a test message to you."
	}
	e := &d.Entry
	// The gate speaks of the contact, the mail to it.
	why := strings.ReplaceAll(e.Why, "the contact", "you")
	var also []string
	if e.Policy != "" && !strings.Contains(why, e.Policy) {
		also = append(also, "the policy "+e.Policy)
	}
	for _, s := range e.Steps {
		if !strings.Contains(why, s) {
			also = append(also, "the step "+s)
		}
	}
	switch {
	case why == "" && also == nil:
		return ""
	case why == "":
		return "You get this by " + list(also, 3) + "."
	case also == nil:
		return "You get this because " + why + "."
	}
	return "You get this because " + why + " (" + strings.ReplaceAll(list(also, 3), "the ", "") + ")."
}
