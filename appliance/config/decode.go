package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// decoder turns trees into declarations and collects what is wrong with them.
type decoder struct {
	problems Problems
	strings  interner
	secrets  secrets
	unknown  map[Position]bool // names reported: a CSV column is one name in many rows
	handled  []*check          // event handlers with their texts, as checks
	hours    []ref             // periods that hosts, services and dependencies name
	telling  []ref             // of them, those of policies, steps and contacts
	lost     bool              // an inventory could not be read, so hosts are missing
}

// bad adds a problem. The text says what is wrong, then what would be right.
func (d *decoder) bad(at *path, pos Position, format string, args ...any) {
	d.problems = append(d.problems, Problem{Position: pos, Path: at.String(), Text: fmt.Sprintf(format, args...)})
}

// section is a set of fields that is being read. Every field it is asked for is
// known; what was never asked for is reported by done.
type section struct {
	d     *decoder
	at    *path
	n     *node // nil = absent or unusable
	asked []string
	bad   bool // already reported as a whole
}

// open starts to read a set of fields. Anything else is a problem and reads
// like an empty set.
func (d *decoder) open(at *path, n *node) *section {
	s := &section{d: d, at: at, asked: make([]string, 0, 32)}
	switch {
	case n == nil:
	case n.kind == kindMap:
		s.n = n
	default:
		s.bad = true
		if n.kind != kindBad {
			d.bad(at, n.pos, `%s is not a set of fields; write {...}`, n.show())
		}
	}
	return s
}

// done reports every field that nobody asked for and returns how many there are.
func (s *section) done() (unknown int) {
	if s.n == nil {
		return 0
	}
	for _, f := range s.n.fields {
		if slices.Contains(s.asked, f.name) {
			continue
		}
		unknown++
		// A column of a table is one mistake, however many rows it has.
		if s.d.unknown[f.pos] {
			continue
		}
		s.d.unknown[f.pos] = true
		// What was asked for is what is known, so no second list has to be kept.
		hint := didYouMean(f.name, slices.Values(s.asked))
		if hint == "" {
			hint = "; known are " + strings.Join(s.asked, ", ")
		}
		s.d.bad(s.at.field(f.name), f.pos, "no such field%s", hint)
	}
	return unknown
}

// take returns a field's value if it is there and usable.
func (s *section) take(name string) *node {
	s.asked = append(s.asked, name)
	if n := s.n.get(name); n != nil && n.kind != kindBad {
		return n
	}
	return nil
}

// has tells whether a field is there, usable or not.
func (s *section) has(name string) bool { return s.n.get(name) != nil }

// need reports a field that must be there; example is its right side.
func (s *section) need(name, example string) {
	if !s.bad && !s.has(name) {
		pos := Position{}
		if s.n != nil {
			pos = s.n.pos
		}
		s.d.bad(s.at.field(name), pos, "missing; write %s: %s", name, example)
	}
}

// text reads a text that says something.
func (s *section) text(name string) string {
	n := s.take(name)
	if n == nil {
		return ""
	}
	v, ok := s.d.text(s.at.field(name), n)
	if ok && v == "" {
		s.d.bad(s.at.field(name), n.pos, "empty; write a text or leave %s out", name)
	}
	return v
}

// prose reads a text that may be empty.
func (s *section) prose(name string) string {
	n := s.take(name)
	if n == nil {
		return ""
	}
	v, _ := s.d.text(s.at.field(name), n)
	return v
}

// text returns a value as an interned text, or reports that it is none.
func (d *decoder) text(at *path, n *node) (string, bool) {
	switch n.kind {
	case kindText:
		return d.strings.get(n.text), true
	case kindNumber, kindBool:
		d.bad(at, n.pos, "%s is not a text; write %s", n.show(), quote(n.text))
	case kindBad:
	default:
		d.bad(at, n.pos, `%s is not a text; write "..."`, n.show())
	}
	return "", false
}

// flag reads true or false.
func (s *section) flag(name string, absent bool) bool {
	n := s.take(name)
	if n == nil {
		return absent
	}
	if n.kind != kindBool {
		s.d.bad(s.at.field(name), n.pos, "%s is neither true nor false; write %s: true or %s: false", n.show(), name, name)
		return absent
	}
	return n.text == "true"
}

// whole reads a whole number between two bounds.
func (s *section) whole(name string, absent, low, high int) int {
	n := s.take(name)
	if n == nil {
		return absent
	}
	v, ok := s.d.whole(s.at.field(name), n, low, high)
	if !ok {
		return absent
	}
	return v
}

// whole returns a value as a whole number within bounds, or reports it.
func (d *decoder) whole(at *path, n *node, low, high int) (int, bool) {
	if n.kind == kindBad {
		return 0, false
	}
	v, err := strconv.Atoi(n.text)
	if n.kind != kindNumber || err != nil {
		d.bad(at, n.pos, "%s is not a whole number; write one from %d to %d without quotes", n.show(), low, high)
		return 0, false
	}
	// A wrong kind and a wrong size need different advice.
	if v < low || v > high {
		d.bad(at, n.pos, "%d is out of range; write a number from %d to %d", v, low, high)
		return 0, false
	}
	return v, true
}

// percent reads a number from 0 to 100.
func (s *section) percent(name string, absent float64) float64 {
	n := s.take(name)
	if n == nil {
		return absent
	}
	v, err := strconv.ParseFloat(n.text, 64)
	if n.kind != kindNumber || err != nil || math.IsNaN(v) || v < 0 || v > 100 {
		s.d.bad(s.at.field(name), n.pos, "%s is not a percentage; write a number from 0 to 100 without quotes", n.show())
		return absent
	}
	return v
}

// duration reads a length of time. Zero is refused unless zeroOK.
func (s *section) duration(name string, absent time.Duration, zeroOK bool) time.Duration {
	n := s.take(name)
	if n == nil {
		return absent
	}
	v, why := parseDuration(n)
	if why == "" && v == 0 && !zeroOK {
		why = fmt.Sprintf(`%s is no time at all; write "5s" or "5m"`, n.show())
	}
	if why != "" {
		s.d.bad(s.at.field(name), n.pos, "%s", why)
		return absent
	}
	return v
}

// pause reads a length of time between messages. What is shorter than least is refused:
// it floods people, and nobody finds out before the first alarm. Zero is refused
// unless zeroOK.
func (s *section) pause(name string, absent time.Duration, zeroOK bool, least time.Duration) time.Duration {
	before := len(s.d.problems)
	v := s.duration(name, absent, zeroOK)
	if s.has(name) && len(s.d.problems) == before && v > 0 && v < least {
		s.d.bad(s.at.field(name), s.n.get(name).pos, `%s is shorter than %s; write "%s" or more`, s.n.get(name).show(), brief(least), brief(least))
		return absent
	}
	return v
}

// oneOf reads a word of a closed set.
func (s *section) oneOf(name, absent string, words ...string) string {
	n := s.take(name)
	if n == nil {
		return absent
	}
	v, ok := s.d.text(s.at.field(name), n)
	if !ok {
		return absent
	}
	if !slices.Contains(words, v) {
		s.d.bad(s.at.field(name), n.pos, "%s is not known; write one of %s%s", quote(v), strings.Join(words, ", "),
			didYouMean(v, slices.Values(words)))
		return absent
	}
	return v
}

// list passes every item of a list on.
func (s *section) list(name string, each func(at *path, n *node)) bool {
	n := s.take(name)
	if n == nil {
		return false
	}
	at := s.at.field(name)
	if n.kind != kindList {
		// One text where a list belongs most often means a list of that one.
		example := "[...]"
		if n.kind == kindText {
			example = "[" + quote(n.text) + "]"
		}
		s.d.bad(at, n.pos, "%s is not a list; write %s: %s", n.show(), name, example)
		return false
	}
	for i, item := range n.items {
		// A bad node was reported when the tree was made.
		if item.kind != kindBad {
			each(at.at(i), item)
		}
	}
	return true
}

// texts reads a list of texts.
func (s *section) texts(name string) []string {
	var out []string
	s.list(name, func(at *path, n *node) {
		v, ok := s.d.text(at, n)
		if ok {
			out = append(out, v)
		}
	})
	return out
}

// ref is a name that must belong to something declared elsewhere.
type ref struct {
	name string
	at   *path
	pos  Position
}

// refs reads a list of names.
func (s *section) refs(name string) []ref {
	var out []ref
	s.list(name, func(at *path, n *node) {
		if v, ok := s.d.text(at, n); ok && s.d.name(at, n.pos, v) {
			out = append(out, ref{v, at, n.pos})
		}
	})
	return out
}

// each passes every field of a map on.
func (s *section) each(name string, fn func(at *path, f field)) {
	n := s.take(name)
	if n == nil {
		return
	}
	at := s.at.field(name)
	if n.kind != kindMap {
		s.d.bad(at, n.pos, "%s is not a set of fields; write %s: {...}", n.show(), name)
		return
	}
	for _, f := range n.fields {
		if f.node.kind != kindBad {
			fn(at.field(f.name), f)
		}
	}
}

// table reads a map of texts. With scalars, numbers and switches are taken as
// they are written.
func (s *section) table(name string, scalars bool) map[string]string {
	var out map[string]string
	s.each(name, func(at *path, f field) {
		v, ok := f.node.text, true
		// A label true or 5 would be compared as a text with what another file wrote
		// in quotes; variables only become texts, so there it does no harm.
		if !scalars || f.node.kind != kindNumber && f.node.kind != kindBool {
			v, ok = s.d.text(at, f.node)
		}
		if f.name == "" {
			s.d.bad(at, f.pos, "a name is empty; write one")
			return
		}
		if !ok {
			return
		}
		if out == nil {
			out = make(map[string]string, 4)
		}
		out[s.d.strings.get(f.name)] = s.d.strings.get(v)
	})
	return out
}

// name checks the name of something: not empty, at most 255 bytes, without "!",
// control characters and blanks around it, not "." or "..".
func (d *decoder) name(at *path, pos Position, name string) bool {
	why := badName(name)
	if why != "" {
		d.bad(at, pos, "%s", why)
	}
	return why == ""
}

// badName says what is wrong with a name, "" if nothing is.
func badName(name string) string {
	if name == "" {
		return "a name is empty; write one"
	}
	if len(name) > 255 {
		return fmt.Sprintf("the name %s is %d bytes long; write at most 255", quote(name), len(name))
	}
	// Both would be a step up the path of a page's address, where a name stands.
	if name == "." || name == ".." {
		return fmt.Sprintf("%s is no name; write one with a letter or a digit", quote(name))
	}
	// Nobody sees the blank, and the same name without it would be another object.
	if trimmed := strings.TrimSpace(name); trimmed == "" {
		return "a name is blank; write one"
	} else if trimmed != name {
		return fmt.Sprintf("the name %s begins or ends with a blank; write %s", quote(name), quote(trimmed))
	}
	for _, r := range name {
		switch {
		case r == '!':
			return fmt.Sprintf(`the name %s contains "!", which separates host and service; write another character`, quote(name))
		// Control characters of Latin-1 are control characters of terminals as well.
		case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0:
			return fmt.Sprintf("the name %s contains a control character; leave it out", quote(name))
		case r == '\uFFFD':
			return fmt.Sprintf("the name %s is not valid UTF-8 text; save the file as UTF-8", quote(name))
		}
	}
	return ""
}

// state reads the name of a state of one kind of object.
func (d *decoder) state(at *path, n *node, k object.Kind) (object.State, bool) {
	text, ok := d.text(at, n)
	if !ok {
		return 0, false
	}
	st, err := object.ParseState(k, text)
	if err != nil {
		words := stateNames(k)
		d.bad(at, n.pos, "%s is no state of a %s; write one of %s%s", quote(text), k, strings.Join(words, ", "),
			didYouMean(text, slices.Values(words)))
	}
	return st, err == nil
}

// stateNames lists the states of a kind in the order of their numbers.
func stateNames(k object.Kind) []string {
	count := object.Unknown
	if k == object.Host {
		count = object.Unreachable
	}
	var names []string
	for st := object.State(0); st <= count; st++ {
		names = append(names, st.Name(k))
	}
	return names
}
