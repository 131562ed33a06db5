package macro

import (
	"strconv"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
)

// Options says how values are written into a text.
type Options struct {
	// Clean takes control characters and the characters of Illegal out of
	// what plugins and operators wrote, as for commands that notify.
	Clean   bool
	Illegal string // Nagios: illegal_macro_output_chars

	url bool // encode values for a URL
}

const (
	maxArgs  = 32
	maxUsers = 256
)

// Expand replaces the macros of a text, from left to right and once: what a
// macro puts in is not scanned again. "$$" is one "$", a name that is no macro
// stays with its dollars, and so does a "$" that nothing closes. A text without
// "$" is returned as it is.
func Expand(text string, src *Source, opts Options) string {
	if strings.IndexByte(text, '$') < 0 {
		return text
	}
	e := expander{src: src, opts: opts, nest: nested}
	return e.expand(text)
}

// expander expands one text.
type expander struct {
	src   *Source
	opts  Options
	depth int // of notes within notes

	// nest expands a text that a macro stands for. It is a field because the
	// tables of macros need it and it needs them.
	nest func(e *expander, text string, url bool) string
}

func (e *expander) expand(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 32)
	scan(text, func(s string) { b.WriteString(s) }, func(name string) {
		value, ok := e.value(name)
		if !ok {
			b.WriteByte('$')
			b.WriteString(name)
			value = "$"
		}
		b.WriteString(value)
	})
	return b.String()
}

// scan cuts a text at its dollars. Text in which nothing is to be replaced goes
// to plain, what stands between two dollars to macro.
func scan(text string, plain, macro func(string)) {
	for text != "" {
		before, rest, found := strings.Cut(text, "$")
		plain(before)
		if !found {
			return
		}
		name, after, closed := strings.Cut(rest, "$")
		switch {
		// Old versions of Nagios appended a dollar here; the text comes back as it is.
		case !closed:
			plain(text[len(before):])
			return
		case name == "":
			plain("$")
		default:
			macro(name)
		}
		text = after
	}
}

// known tells whether a name is that of a macro, whatever its value.
func known(name string) bool {
	e := expander{src: &Source{}}
	_, ok := e.value(name)
	return ok
}

// value returns the value of a macro, false if the name is no macro's.
func (e *expander) value(name string) (string, bool) {
	if n, ok := numbered(name, "ARG", maxArgs); ok {
		// An argument that was not given is empty, unlike a name that is no macro.
		if n > len(e.src.Args) {
			return "", true
		}
		return e.encode(e.src.Args[n-1]), true
	}
	if n, ok := numbered(name, "USER", maxUsers); ok {
		if e.src.User == nil {
			return "", true
		}
		return e.encode(e.src.User(n)), true
	}
	name, arg, onDemand := strings.Cut(name, ":")
	q := query{name: name, onDemand: onDemand}
	// Descriptions and delimiters may hold colons, so only the first one cuts.
	q.first, q.second, q.two = strings.Cut(arg, ":")
	value, ok := e.lookup(q)
	if !ok {
		return "", false
	}
	if e.opts.Clean && dirty(name) {
		value = clean(value, e.opts.Illegal)
	}
	return e.encode(value), true
}

// query is a macro with what stands behind its colons.
type query struct {
	name          string
	onDemand      bool
	first, second string
	two           bool // there is a second part
}

// lookup finds the table that a name is in and answers from it. Asking costs no
// more than the macro that is asked for.
func (e *expander) lookup(q query) (string, bool) {
	if strings.HasPrefix(q.name, "_") {
		return e.custom(q)
	}
	if f, ok := objectFields[q.name]; ok {
		return e.objects(f.kind, q, f.get), true
	}
	if f, ok := groupFields[q.name]; ok {
		return e.groups(f, q), true
	}
	if get, ok := contactFields[q.name]; ok {
		return e.contacts(q, get), true
	}
	if n, ok := numbered(q.name, "CONTACTADDRESS", 6); ok {
		return e.contacts(q, func(c *Contact) string { return c.Addresses[n-1] }), true
	}
	if get, ok := contactGroupFields[q.name]; ok {
		return e.contactGroups(q, get), true
	}
	if get, ok := dateFields[q.name]; ok {
		return get(e.src), true
	}
	if get, ok := periodFields[q.name]; ok {
		return e.periods(q, get), true
	}
	if t, ok := totals[q.name]; ok {
		if known, ok := e.src.Static[q.name]; ok {
			return known, true
		}
		return e.count(t), true
	}
	value, ok := e.src.Static[q.name]
	return value, ok || otherNames[q.name]
}

// objects answers a macro of hosts or services: of the object that the text is
// for, of one that is named, or of all of a group.
func (e *expander) objects(kind object.Kind, q query, get getter) string {
	if q.onDemand {
		// A service's name and a group with its delimiter look the same; the service
		// goes first, because it is what the form was made for.
		if kind == object.Host && q.two || kind == object.Service && q.first != "" && e.src.find(object.ServiceID(q.first, q.second)) == nil {
			if g := e.src.group(kind, q.first); g != nil && q.two {
				return e.joined(g, q.second, get)
			}
		}
	}
	o := e.subject(kind, q)
	if o == nil {
		return missing(q)
	}
	return get(e, o)
}

// subject returns the object that a macro is about, nil if there is none.
func (e *expander) subject(kind object.Kind, q query) *object.Object {
	switch {
	case !q.onDemand && kind == object.Host:
		return e.src.host()
	case !q.onDemand:
		return e.src.service()
	case kind == object.Host:
		return e.src.find(object.HostID(q.first))
	case q.first == "" && e.src.host() != nil:
		return e.src.find(object.ServiceID(e.src.host().Name, q.second))
	}
	return e.src.find(object.ServiceID(q.first, q.second))
}

// missing is the value of a macro of an object that does not exist: the number
// of a state then says so, everything else is empty.
func missing(q query) string {
	if !q.onDemand {
		return ""
	}
	switch q.name {
	case "HOSTSTATEID":
		return "2"
	case "SERVICESTATEID":
		return "3"
	}
	return ""
}

// joined returns a macro's value for every member of a group.
func (e *expander) joined(g *Group, delimiter string, get getter) string {
	values := make([]string, len(g.Members))
	for i, o := range g.Members {
		values[i] = get(e, o)
	}
	return strings.Join(values, delimiter)
}

// custom answers $_HOSTVAR$, $_SERVICEVAR$ and $_CONTACTVAR$.
func (e *expander) custom(q query) (string, bool) {
	if name, is := strings.CutPrefix(q.name, "_HOST"); is {
		return e.objects(object.Host, q, variableOf(name)), true
	}
	if name, is := strings.CutPrefix(q.name, "_SERVICE"); is {
		return e.objects(object.Service, q, variableOf(name)), true
	}
	if name, is := strings.CutPrefix(q.name, "_CONTACT"); is {
		return e.contacts(q, func(c *Contact) string { return c.Vars[name] }), true
	}
	return "", false
}

// nested expands a text that a macro stands for, such as notes. Notes within
// it are not expanded again, so that it ends.
func nested(e *expander, text string, url bool) string {
	if e.depth > 0 || strings.IndexByte(text, '$') < 0 {
		return text
	}
	// Nothing is cleaned within: notes are the operator's, and a URL encodes all
	// that could do harm.
	inner := expander{src: e.src, depth: e.depth + 1, opts: Options{url: url}, nest: nested}
	return inner.expand(text)
}

// numbered reads names such as ARG1, up to a limit.
func numbered(name, prefix string, limit int) (int, bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	if !ok || digits == "" || digits[0] < '1' || digits[0] > '9' {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n <= limit
}
