package message

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// columns is how wide the text is.
const columns = 76

// page76 collects the lines of a text.
type page76 struct{ strings.Builder }

// para writes words in lines, each with an indent; a word that is longer than a
// line stays whole, because most of those are addresses.
func (p *page76) para(indent, text string) {
	width := 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case width == 0:
			p.WriteString(indent)
			width = utf8.RuneCountInString(indent)
		case width+1+n > columns:
			p.WriteString("\n" + indent)
			width = utf8.RuneCountInString(indent)
		default:
			p.WriteByte(' ')
			width++
		}
		p.WriteString(word)
		width += n
	}
	p.WriteByte('\n')
}

func (p *page76) gap() { p.WriteByte('\n') }

// fact writes a name and what it is; nothing if that is empty.
func (p *page76) fact(name, text string) {
	if text == "" {
		return
	}
	const indent = "              "
	var q page76
	q.para(indent, text)
	p.WriteString((name + indent)[:len(indent)] + strings.TrimPrefix(q.String(), indent))
}

// plain is jaque's own text.
func (d *Data) plain() string {
	var p page76
	for _, m := range d.marks() {
		p.para("", "!! "+m)
		p.gap()
	}
	p.para("", d.Headline)
	p.gap()
	if d.Count > 1 {
		p.group(d)
	} else {
		p.single(d)
	}
	p.foot(d)
	return p.String()
}

// single writes about one object.
func (p *page76) single(d *Data) {
	e := &d.Entry
	if said := d.said(); said != "" {
		p.para("  ", said)
		p.gap()
	}
	if e.Output != "" {
		p.para("  ", e.Output)
		p.gap()
	}
	for _, f := range d.facts() {
		p.fact(f.Name, f.Text)
	}
	if len(e.Long) == 0 {
		return
	}
	p.gap()
	p.para("", "More of what the check said:")
	for _, l := range e.Long {
		p.WriteString("  " + l + "\n")
	}
	if e.Omitted > 0 {
		p.para("  ", "… and "+plural(e.Omitted, "line")+" more")
	}
}

// group writes about many objects: the root with what its check said, numbers, and
// up to 20 lines.
func (p *page76) group(d *Data) {
	p.fact(d.tallyName(), d.tally())
	if e := &d.Entry; e.Output != "" {
		p.fact("First", e.Title+": "+e.Output)
	}
	p.fact("Since", d.sinceWhen(&d.Entry))
	p.gap()
	items := d.named()
	wide := 0
	for i := range items {
		wide = max(wide, utf8.RuneCountInString(items[i].says()))
	}
	for i := range items {
		state := items[i].says()
		state += strings.Repeat(" ", wide-utf8.RuneCountInString(state))
		p.WriteString(clip(state+"  "+items[i].brief(), columns) + "\n")
	}
	if rest := d.Count - len(items); rest > 0 {
		p.para("", "… and "+strconv.Itoa(rest)+" more")
	}
}

// named are the entries that a text lists.
func (d *Data) named() []Entry { return d.Items[:min(len(d.Items), listed)] }

// tally is "160 CRITICAL, 40 UNKNOWN".
func (d *Data) tally() string {
	var all []string
	for _, c := range d.Counts {
		all = append(all, strconv.Itoa(c.N)+" "+c.State)
	}
	return strings.Join(all, ", ")
}

// tallyName says what the tally counts.
func (d *Data) tallyName() string {
	if d.Root != "" && d.Object == d.Root {
		return "Behind it"
	}
	return "Together"
}

// brief is the line of an entry in a list, behind its state.
func (e *Entry) brief() string {
	switch {
	case e.Kind != problem && e.Kind != recovery:
		return e.Says
	case e.Brief && e.Lasted > 0:
		return e.Title + ", was " + e.Was + " for " + span(e.Lasted)
	case e.Lasted > 0:
		return e.Title + ", after " + span(e.Lasted)
	case e.Output == "":
		return e.Title
	}
	return e.Title + ": " + e.Output
}

// fact is one line of what is known.
type fact struct{ Name, Text string }

// facts are what is known about the first entry, in order; those that nothing is
// known of are left out.
func (d *Data) facts() []fact {
	e := &d.Entry
	var all []fact
	add := func(name, text string) {
		if text != "" {
			all = append(all, fact{name, text})
		}
	}
	add("Since", d.sinceWhen(e))
	if !e.Time.IsZero() && (e.Kind != problem && e.Kind != recovery || e.Since.IsZero()) {
		add("Happened", clock(e.Time))
	}
	add("Before", e.Was)
	if e.Kind == problem {
		add("Attempt", e.Attempt)
		if e.Number > 1 {
			add("Message", "no. "+strconv.Itoa(e.Number)+" about this problem")
		}
	}
	add("Host", e.hostLine())
	add("Also called", e.Alias)
	if e.Kind != custom {
		add(map[bool]string{true: "By", false: "Comment"}[e.Author != ""], strings.TrimPrefix(e.Author+": "+e.Text, ": "))
	}
	if e.AckBy != "" && e.Kind != recovery {
		add("Acknowledged", strings.TrimSuffix(e.AckBy+", "+clockTime(e.AckTime, d.Now)+": "+e.AckText, ": "))
	}
	if !e.Downtime.IsZero() {
		add("Downtime", "until "+clock(e.Downtime))
	}
	add("Groups", list(e.Groups, 6))
	add("Notes", e.Notes)
	if d.Root != "" && d.Root != e.Object {
		add("Behind", d.Root+", which is DOWN and explains it")
	}
	return all
}

func (e *Entry) hostLine() string {
	if e.Address == "" || e.Address == e.Host {
		return e.Host
	}
	return e.Host + " (" + e.Address + ")"
}

// sinceWhen says since when a problem is or was.
func (d *Data) sinceWhen(e *Entry) string {
	switch {
	case e.Since.IsZero():
		return ""
	case e.Kind == recovery && e.Lasted > 0:
		return clock(e.Since) + ", it lasted " + span(e.Lasted)
	case e.Kind == recovery || !d.Now.After(e.Since):
		return clock(e.Since)
	}
	return clock(e.Since) + ", for " + span(d.Now.Sub(e.Since))
}

// links are the addresses of a message, in order.
func (d *Data) links() []fact {
	var all []fact
	add := func(name, address string) {
		if address != "" {
			all = append(all, fact{name, address})
		}
	}
	if d.Count > 0 {
		add("Look", d.URL)
		add("Acknowledge", d.Acknowledge)
		add("Why you", d.Explain)
	}
	if d.Count != 1 && d.Dashboard != "" {
		add("All of it", d.Dashboard+"/")
	}
	return all
}

// foot says who else knows, why this contact, and where to click.
func (p *page76) foot(d *Data) {
	told := d.told()
	for i, sentence := range told {
		if i == 0 {
			p.gap()
		}
		p.para("", sentence)
	}
	for i, l := range d.links() {
		if i == 0 {
			p.gap()
		}
		p.fact(l.Name, l.Text)
	}
	p.fact("Or type", d.hint())
	p.WriteString("\n-- \n")
	p.para("", d.signature())
}

// hint is the command that acknowledges; "" where there is nothing to.
func (d *Data) hint() string {
	if d.Count == 0 || d.Kind != problem || d.AckBy != "" || len(d.id) > addressLimit || strings.ContainsAny(d.Object, "'\\") {
		return ""
	}
	return "jaque ack '" + d.Object + `' -comment "…"`
}

func (d *Data) signature() string {
	text := strings.TrimSpace("jaque " + d.Version)
	if d.Now.IsZero() {
		return text
	}
	return text + ", " + clock(d.Now)
}

// short is the message for a chat: what happened, what the check said, where to
// look. The address stays whole if it fits at all.
func (d *Data) short() string {
	text := d.Subject
	if d.Repeat {
		text += " (maybe again)"
	}
	switch {
	case d.Count > 1:
		text += "\n" + d.tally()
	case d.Kind == custom || d.Output == "":
		// What was written stands in the subject.
	default:
		text += "\n" + d.Output
	}
	address := d.URL
	room := shortLimit - utf8.RuneCountInString(address) - 1
	if address == "" || room < shortLimit/3 {
		return clip(text, shortLimit)
	}
	return clip(text, room) + "\n" + address
}
