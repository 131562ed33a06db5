package filter

// configured are the fields that only the config decides, beside labels. Every
// other field, every condition that is a word, and every text, which is searched
// for in outputs too, changes by itself or by what operators do; constant.
var configured = []string{"host", "service", "address", "group", "parent", "zone", "check_kind", "id", "kind"}

// moving is the first part of a filter that asks for what changes without the
// config; no column = there is none.
type moving struct {
	field  string
	column int
}

// moves notes a part that asks for what changes without the config.
func (p *parser) moves(field string, column int) {
	if p.moving.column == 0 {
		p.moving = moving{field, column}
	}
}

// Stateful tells whether the filter asks for anything that changes while the
// config stays as it is: states, outputs, what operators did. It returns the first
// field or condition that does, "output" for a text without a field, and its column
// from 1. What such a filter matches is right for the moment alone.
func (f *Filter) Stateful() (field string, column int, yes bool) {
	return f.moving.field, f.moving.column, f.moving.column > 0
}
