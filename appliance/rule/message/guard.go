package message

import (
	"errors"
	"fmt"
	html "html/template"
	"maps"
	"regexp"
	"slices"
	"strings"
	text "text/template"
	"text/template/parse"
	"time"
)

// What a template may do at most: what it writes, in bytes, and how much it works,
// in turns of loops, calls, and bytes that its functions make.
const (
	outputLimit = 256 << 10
	workLimit   = 4 << 20
	turnWork    = 32
)

// guard counts what one run of a template does.
type guard struct {
	now  time.Time
	work int
	out  strings.Builder
}

var (
	errWork   = errors.New("it works without end: a loop has too many turns, or texts grow too long; list {{range .Items}} once")
	errOutput = fmt.Errorf("it writes more than %d KiB; list fewer objects or less output", outputLimit>>10)
)

// Write collects what the template writes.
func (g *guard) Write(p []byte) (int, error) {
	if g.out.Len()+len(p) > outputLimit {
		return 0, errOutput
	}
	return g.out.Write(p)
}

// turn is called at the start of each turn of a loop and of each template.
func (g *guard) turn() (string, error) { return "", g.spend(turnWork) }

func (g *guard) spend(n int) error {
	if g.work += n; g.work > workLimit {
		return errWork
	}
	return nil
}

// made bounds what a function returns.
func (g *guard) made(s string) (string, error) {
	if len(s) > outputLimit {
		return "", errOutput
	}
	return s, g.spend(turnWork + len(s))
}

// turnName is how the calls that count are named in the tree of a template.
const turnName = "jaque_turn"

// wide finds widths and precisions with which printf would fill the memory.
var wide = regexp.MustCompile(`%[^a-zA-Z%]*([0-9]{4,}|\*)`)

// funcs are the functions of templates. Those of the library that make texts are
// replaced by ones that count.
func (g *guard) funcs() map[string]any {
	made := func(f func(...any) string) func(...any) (string, error) {
		return func(args ...any) (string, error) { return g.made(f(args...)) }
	}
	own := map[string]any{
		turnName: g.turn,
		"since":  func(t time.Time) string { return span(g.now.Sub(t)) },
		"span":   span,
		"clock":  clock,
		"join":   func(sep string, all []string) (string, error) { return g.made(strings.Join(all, sep)) },
		"upper":  func(s string) (string, error) { return g.made(strings.ToUpper(s)) },
		"lower":  func(s string) (string, error) { return g.made(strings.ToLower(s)) },
		"clip": func(n int, s string) (string, error) {
			if n < 1 {
				return "", errors.New("clip needs the number of characters to keep, at least 1")
			}
			return g.made(clip(s, n))
		},
		"default": func(other, s string) string { return or(s, other) },
		"plural":  plural,
		"print":   made(fmt.Sprint),
		"println": made(fmt.Sprintln),
		"html":    made(text.HTMLEscaper),
		"js":      made(text.JSEscaper),
		"printf": func(format string, args ...any) (string, error) {
			if wide.MatchString(format) {
				return "", errors.New("printf takes widths below 1000, and no *")
			}
			return g.made(fmt.Sprintf(format, args...))
		},
		"urlquery": made(text.URLQueryEscaper),
	}
	return own
}

// parseText parses a template and puts the calls that count into it.
func parseText(name, source string) (*text.Template, error) {
	t, err := text.New(name).Funcs((&guard{}).funcs()).Parse(source)
	if err != nil {
		return nil, err
	}
	trees := map[string]*parse.Tree{}
	for _, each := range t.Templates() {
		trees[each.Name()] = each.Tree
	}
	return t, watch(trees)
}

// parseHTML does the same for a template whose values are escaped for where they
// stand.
func parseHTML(name, source string) (*html.Template, error) {
	t, err := html.New(name).Funcs((&guard{}).funcs()).Parse(source)
	if err != nil {
		return nil, err
	}
	trees := map[string]*parse.Tree{}
	for _, each := range t.Templates() {
		trees[each.Name()] = each.Tree
	}
	return t, watch(trees)
}

// runText executes a copy of a template, because the functions of a run count.
func runText(t *text.Template, d *Data) (string, error) {
	g := &guard{now: d.Now}
	t, err := t.Clone()
	if err == nil {
		err = t.Funcs(g.funcs()).Execute(g, d)
	}
	return g.out.String(), err
}

func runHTML(t *html.Template, d *Data) (string, error) {
	g := &guard{now: d.Now}
	t, err := t.Clone()
	if err == nil {
		err = t.Funcs(g.funcs()).Execute(g, d)
	}
	return g.out.String(), err
}

// watch refuses templates that call themselves and puts a call that counts at the
// start of every template and of every turn of a loop.
func watch(trees map[string]*parse.Tree) error {
	calls := map[string][]string{}
	for name, t := range trees {
		if t == nil || t.Root == nil {
			continue
		}
		w := &walker{}
		w.list(t.Root)
		calls[name] = w.calls
		count(t.Root)
	}
	s := search{calls: calls, clean: map[string]bool{}}
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		if loop := s.loop(name, nil); loop != nil {
			return fmt.Errorf("template %s calls itself (%s); use {{range}} instead", loop[0], strings.Join(loop, " → "))
		}
	}
	return nil
}

// search looks for templates that call themselves; clean are those known not to.
type search struct {
	calls map[string][]string
	clean map[string]bool
}

// loop returns the way from a template back to itself, or that of one it calls.
func (s *search) loop(name string, way []string) []string {
	if at := slices.Index(way, name); at >= 0 {
		return append(way[at:], name)
	}
	if s.clean[name] {
		return nil
	}
	way = append(slices.Clone(way), name)
	for _, next := range s.calls[name] {
		if loop := s.loop(next, way); loop != nil {
			return loop
		}
	}
	s.clean[name] = true
	return nil
}

// walker goes through the nodes of a template.
type walker struct{ calls []string }

func (w *walker) list(l *parse.ListNode) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.RangeNode:
			count(n.List)
			w.list(n.List)
			w.list(n.ElseList)
		case *parse.IfNode:
			w.list(n.List)
			w.list(n.ElseList)
		case *parse.WithNode:
			w.list(n.List)
			w.list(n.ElseList)
		case *parse.TemplateNode:
			w.calls = append(w.calls, n.Name)
		}
	}
}

// count puts "{{$_ := jaque_turn}}" at the start of a list of nodes: an assignment
// writes nothing, so that no escaping is needed where it stands.
func count(l *parse.ListNode) {
	tree := parse.New("turn")
	made, err := tree.Parse("{{$jaque := "+turnName+"}}", "", "", map[string]*parse.Tree{}, map[string]any{turnName: true})
	if err == nil && l != nil {
		l.Nodes = append([]parse.Node{made.Root.Nodes[0]}, l.Nodes...)
	}
}
