package objectfile

import "strings"

// Object is one definition after inheritance: nothing in it refers to a
// template any more. Directives have canonical names, each at most once (but
// the days of a time period may repeat); own ones come first, in order.
type Object struct {
	Pos
	End        int
	Type       string
	Name       string // value of the directive that names it; "" for types that have none
	Directives []Directive
}

// Read parses texts and resolves what they hold together.
func Read(sources ...Source) ([]*Object, Problems) {
	var blocks []Block
	var problems Problems
	for _, s := range sources {
		f, p := Parse(s)
		blocks = append(blocks, f.Blocks...)
		problems = append(problems, p...)
	}
	objects, p := Resolve(blocks)
	return objects, append(problems, p...)
}

// Resolve applies templates and returns the real objects in the order of the
// blocks.
func Resolve(blocks []Block) ([]*Object, Problems) {
	r := resolver{templates: map[templateKey]*entry{}}
	entries := make([]*entry, len(blocks))
	for i := range blocks {
		entries[i] = r.enter(&blocks[i])
	}
	var objects []*Object
	for _, e := range entries {
		r.resolve(e)
		if e.hidden {
			continue
		}
		if o := r.object(e); o != nil {
			objects = append(objects, o)
		}
	}
	return objects, r.problems
}

// templateKey names a template; each type of object has its own names.
type templateKey struct{ kind, name string }

// entry is one block on its way to an object.
type entry struct {
	block  *Block
	table  table
	own    []Directive
	use    *Directive
	name   string // as a template
	hidden bool   // register 0
	state  progress
}

// progress says how far an entry is; each is resolved once, depth first.
type progress uint8

const (
	untouched progress = iota
	running
	done
)

// resolver holds the templates of all blocks, whichever file they came from:
// the order of definitions means nothing to templates.
type resolver struct {
	templates map[templateKey]*entry
	problems  Problems
}

// enter checks the names of a block's directives and registers a template.
func (r *resolver) enter(b *Block) *entry {
	e := &entry{block: b, table: tables[b.Type]}
	for _, d := range b.Directives {
		canonical, ok := e.table.canonical(d.Name)
		if !ok {
			r.problems.Add(d.Pos, "invalid %s object directive %q; %s", b.Type, d.Name, suggest(d.Name, sortedKeys(e.table.name)))
			continue
		}
		d.Name = canonical
		switch canonical {
		case "use":
			e.use = &d
		case "name":
			e.name = d.Value
		// Nagios reads a number: everything that does not start with one above 0
		// keeps a block from being an object.
		case "register":
			e.hidden = integer(d.Value) <= 0
		default:
			e.set(d)
		}
	}
	if e.name != "" {
		r.template(e)
	}
	return e
}

// template registers an entry under its name.
func (r *resolver) template(e *entry) {
	key := templateKey{e.block.Type, e.name}
	if other := r.templates[key]; other != nil {
		r.problems.Add(e.block.Pos, "the %s template %q is already defined at %s; rename one of them", key.kind, key.name, other.block.Pos)
		return
	}
	r.templates[key] = e
}

// canonical returns the one name of a directive, false if the type has none.
func (t *table) canonical(name string) (string, bool) {
	if c, ok := t.name[name]; ok {
		return c, true
	}
	if t.vars && len(name) > 1 && name[0] == '_' {
		return strings.ToUpper(name), true
	}
	return name, t.open
}

// set adds a directive; the last of a name is the one that counts. The days of
// a time period are told apart by the whole day, and repeat.
func (e *entry) set(d Directive) {
	// Lists are short, so a search costs less than a map for each block would.
	if !e.repeats(d.Name) {
		for i := range e.own {
			if e.own[i].Name == d.Name {
				e.own[i] = d
				return
			}
		}
	}
	e.own = append(e.own, d)
}

// repeats tells whether directives of a name do not replace each other.
func (e *entry) repeats(name string) bool {
	if !e.table.open {
		return false
	}
	_, fixed := e.table.name[name]
	return !fixed
}

// resolve gives an entry what its templates have and it has not.
func (r *resolver) resolve(e *entry) {
	if e.state != untouched {
		return
	}
	e.state = running
	if e.use != nil {
		for _, name := range splitNames(e.use.Value) {
			r.inherit(e, name)
		}
	}
	e.state = done
}

// inherit copies what a template has and the entry has not. Own values go
// first, then the templates in their order, so the first to have one wins.
func (r *resolver) inherit(e *entry, name string) {
	from := r.templates[templateKey{e.block.Type, name}]
	if from == nil {
		r.problems.Add(e.use.Pos, "template %q of this %s could not be found; define it with: name %s", name, e.block.Type, name)
		return
	}
	// A template that is being resolved uses itself. Nagios lets that pass, so
	// what it has by now is what there is to inherit.
	r.resolve(from)
	// A template that uses itself has nothing to give.
	if from == e {
		return
	}
	// Only what was there before counts as the child's: a template may repeat a
	// day, and its first one must not hide its second.
	own := len(e.own)
	for _, d := range from.own {
		i := e.find(d, own)
		switch {
		case i < 0:
			e.own = append(e.own, d)
		// The plus stays as long as the templates go on with one.
		case e.table.additive[d.Name] && strings.HasPrefix(e.own[i].Value, "+"):
			e.own[i].Value = join(e.own[i].Value, d.Value)
		// The one case in which a template wins.
		case e.block.Type == "service" && d.Name == "check_command" && strings.HasPrefix(d.Value, "!"):
			e.own[i] = d
		}
	}
}

// find returns the index among the first n directives of the one that keeps a
// template's from being inherited, -1 if there is none.
func (e *entry) find(d Directive, n int) int {
	for i := range e.own[:n] {
		if e.own[i].Name != d.Name {
			continue
		}
		if !e.repeats(d.Name) || Day(e.own[i]) == Day(d) {
			return i
		}
	}
	return -1
}

// Day returns the day that a directive of a time period is about: the name and
// everything before the first time of day, words separated by one blank.
func Day(d Directive) string {
	words := strings.Fields(d.Value)
	for i, w := range words {
		if strings.Contains(w, ":") {
			words = words[:i]
			break
		}
	}
	return strings.Join(append([]string{d.Name}, words...), " ")
}

// join adds a template's list to a child's that starts with "+". The plus
// survives only if the template's list has one too.
func join(child, parent string) string {
	if parent == null {
		return strings.TrimPrefix(child, "+")
	}
	rest, more := strings.CutPrefix(parent, "+")
	if !more {
		child = strings.TrimPrefix(child, "+")
	}
	if strings.TrimSpace(rest) == "" {
		return child
	}
	return child + "," + rest
}

// object turns a resolved entry into an object, nil for what is only a template.
func (r *resolver) object(e *entry) *Object {
	o := &Object{Pos: e.block.Pos, End: e.block.End, Type: e.block.Type, Directives: e.own}
	if e.table.key == "" {
		return o
	}
	o.Name = o.Text(e.table.key, "")
	// With a template's name it is a template whose register 0 was forgotten,
	// which Nagios lets pass for hosts.
	if o.Name == "" && e.name == "" {
		r.problems.Add(o.Pos, "this %s has no name; give it a %s", o.Type, e.table.key)
	}
	if o.Name == "" {
		return nil
	}
	if o.Type == "service" && o.Text("host_name", "") == "" && o.Text("hostgroup_name", "") == "" {
		if e.name == "" {
			r.problems.Add(o.Pos, "service %q has no hosts; give it a host_name or a hostgroup_name", o.Name)
		}
		return nil
	}
	return o
}
