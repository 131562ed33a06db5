package objectfile

import "strings"

// Source is one text with the name that errors give it.
type Source struct {
	Path string
	Text string
}

// Directive is one line of a block.
type Directive struct {
	Pos
	Name  string // as written, after Resolve the canonical name
	Value string // trimmed, without comment; "" if there is none
}

// Block is one definition as written.
type Block struct {
	Pos               // of the line with "define"
	End        int    // line of the closing brace
	Type       string // "host", "service", …
	Directives []Directive
}

// Include is a line include_file= or include_dir= of an object file. The caller
// reads what it names.
type Include struct {
	Pos
	Dir  bool
	Path string
}

// File is one parsed text.
type File struct {
	Blocks   []Block
	Includes []Include
}

// Parse reads one text. What it could read is returned whatever the problems.
func Parse(src Source) (File, Problems) {
	p := parser{path: src.Path}
	in := lines{rest: src.Text}
	for {
		text, line, ok := in.next()
		if !ok {
			break
		}
		if text = uncomment(text); text != "" {
			p.take(text, Pos{src.Path, line})
		}
	}
	if p.open != nil {
		p.problems.Add(p.open.Pos, "the definition of a %s never ends; write a line with nothing but } after its last directive", p.open.Type)
	}
	return p.file, p.problems
}

// parser collects blocks, line by line. A mistake never stops it: it closes what
// is open and goes on, so that one reading reports them all.
type parser struct {
	path     string
	file     File
	problems Problems
	open     *Block // the block being read
}

// take reads one line that says something.
func (p *parser) take(text string, at Pos) {
	word, rest := cutWord(text)
	switch {
	case word == "define" && rest != "" && p.starts(rest):
		p.start(rest, at)
	case text == "}":
		p.end(at)
	case p.open != nil:
		p.open.Directives = append(p.open.Directives, Directive{Pos: at, Name: word, Value: rest})
	case strings.HasPrefix(text, "include_file="):
		p.include(text, at, false)
	case strings.HasPrefix(text, "include_dir="):
		p.include(text, at, true)
	default:
		p.problems.Add(at, "unexpected %q outside of a definition; start one with: define host {", clip(text))
	}
}

// starts tells whether a line inside a block is the start of another one; a
// directive may be called "define" only if it has no brace.
func (p *parser) starts(rest string) bool { return p.open == nil || strings.Contains(rest, "{") }

// start opens a block. One of an unknown type is read to its end all the same,
// so that its lines are not reported once more, and then dropped.
func (p *parser) start(rest string, at Pos) {
	if p.open != nil {
		p.problems.Add(at, "a definition starts inside the %s of line %d; close that with a line } first", p.open.Type, p.open.Line)
		p.close(at.Line - 1)
	}
	kind := rest
	if i := strings.IndexAny(rest, " \t{"); i >= 0 {
		kind = rest[:i]
	}
	if _, known := tables[kind]; !known {
		p.problems.Add(at, "invalid object type %q; %s", kind, suggest(kind, Types()))
	}
	p.open = &Block{Pos: at, Type: kind}
}

// end takes a closing brace.
func (p *parser) end(at Pos) {
	if p.open == nil {
		p.problems.Add(at, "unexpected } without a definition; remove it")
		return
	}
	p.close(at.Line)
}

// close ends the open block and keeps it, if its type is known.
func (p *parser) close(line int) {
	p.open.End = line
	if _, known := tables[p.open.Type]; known {
		p.file.Blocks = append(p.file.Blocks, *p.open)
	}
	p.open = nil
}

func (p *parser) include(text string, at Pos, dir bool) {
	_, path, _ := strings.Cut(text, "=")
	p.file.Includes = append(p.file.Includes, Include{Pos: at, Dir: dir, Path: strings.TrimSpace(path)})
}

// clip shortens a text for an error.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
