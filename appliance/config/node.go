package config

import (
	"slices"
	"strconv"
	"strings"
)

// kind is what a value of a config file is.
type kind uint8

const (
	kindBad kind = iota // already reported, to be passed over in silence
	kindNull
	kindBool
	kindNumber
	kindText
	kindList
	kindMap
)

// article names a kind in an error text.
func (k kind) article() string {
	return [...]string{"nothing usable", "null", "true or false", "a number", "a text", "a list", "a set of fields"}[k]
}

// node is one value of a config file, whatever language the file is in.
type node struct {
	kind  kind
	text  string // text, number as written, "true" or "false"
	pos   Position
	items []*node
	// fields keep the order of the file; names are unique.
	fields []field
	// partial tells that fields may be missing, because CUE could not make them.
	partial bool
}

// holdsBad tells whether a value or one within it was unusable.
func (n *node) holdsBad() bool {
	if n.kind == kindBad {
		return true
	}
	for i := range n.fields {
		if n.fields[i].node.holdsBad() {
			return true
		}
	}
	return slices.ContainsFunc(n.items, (*node).holdsBad)
}

// incomplete tells whether names that a set of fields declares may be unknown.
func (n *node) incomplete() bool {
	if n == nil {
		return false
	}
	bad := func(f field) bool { return f.node.kind == kindBad }
	return n.kind == kindBad || n.partial || slices.ContainsFunc(n.fields, bad)
}

// field is one named value of a map.
type field struct {
	name string
	pos  Position // of the name
	node *node
}

// get returns the value of a field, nil if there is none.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	for i := range n.fields {
		if n.fields[i].name == name {
			return n.fields[i].node
		}
	}
	return nil
}

// show writes a value as the operator did, cut to a readable length.
func (n *node) show() string {
	switch n.kind {
	case kindText:
		return quote(n.text)
	case kindNumber, kindBool:
		return n.text
	}
	return n.kind.article()
}

// quote writes a text in double quotes, cut at 60 bytes.
func quote(s string) string {
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:57], "") + "..."
	}
	return strconv.Quote(s)
}

// path is the place of a value in the config. It grows on the stack while a
// tree is walked and is written out only for a problem.
type path struct {
	up    *path
	key   string
	index int // of a list item, -1 for a field
}

// field is the path of a named value below p.
func (p *path) field(key string) *path { return &path{up: p, key: key, index: -1} }

// at is the path of a list item below p.
func (p *path) at(index int) *path { return &path{up: p, index: index} }

// String writes the path as the operator does: hosts."a b".groups[2].
func (p *path) String() string {
	if p == nil {
		return ""
	}
	up := p.up.String()
	if p.index >= 0 {
		return up + "[" + strconv.Itoa(p.index) + "]"
	}
	key := p.key
	if !plainLabel(key) {
		key = quote(key)
	}
	if up == "" {
		return key
	}
	return up + "." + key
}

// plainLabel tells whether a name needs no quotes in a path.
func plainLabel(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		ok := c == '_' || c == '-' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !ok {
			return false
		}
	}
	return s != ""
}
