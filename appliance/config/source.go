package config

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
)

// source is one operator's package while it is being read.
type source struct {
	files    []string
	problems Problems
	labels   map[string]Position // written-out path of a field to its first name
	taken    map[Position]bool   // names that were replaced, because nobody declared them
	root     *node

	refused                        Problems // by the schema
	schemaDefaults, schemaSettings *node
}

// readSource reads a CUE file or the package in a directory and turns it into a
// tree. Nothing of CUE outlives the call.
func readSource(path string) *source {
	src := &source{labels: map[string]Position{}, taken: map[Position]bool{}}
	if src.files = src.find(path); len(src.problems) > 0 {
		return src
	}
	var files []*ast.File
	pkg, first := "", ""
	for _, name := range src.files {
		f := src.parse(name)
		if f == nil {
			continue
		}
		own := f.PackageName()
		// Which of two packages is meant nobody can say, and a file that was left
		// behind in the folder must not go unnoticed.
		if first != "" && own != pkg {
			src.add(Position{File: name, Line: 1}, "", "package %s differs from package %s of %s; one folder is one package", quote(own), quote(pkg), first)
			continue
		}
		pkg, first = own, name
		src.index(nil, f.Decls)
		src.loops(f)
		files = append(files, f)
	}
	if len(src.problems) > 0 {
		return src
	}
	src.evaluate(files)
	return src
}

// add reports a problem.
func (src *source) add(pos Position, path, format string, args ...any) {
	src.problems = append(src.problems, Problem{Position: pos, Path: path, Text: fmt.Sprintf(format, args...)})
}

// find lists the CUE files of a path.
func (src *source) find(path string) []string {
	info, err := os.Stat(path)
	if err != nil {
		src.add(Position{File: path}, "", "%s; write the path of a CUE file or of a folder with CUE files", plainError(err))
		return nil
	}
	if !info.IsDir() {
		return []string{path}
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		src.add(Position{File: path}, "", "%s; make the folder readable", plainError(err))
		return nil
	}
	var files []string
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() && strings.HasSuffix(name, ".cue") && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "_") {
			files = append(files, filepath.Join(path, name))
		}
	}
	if len(files) == 0 {
		src.add(Position{File: path}, "", "no .cue file in this folder; write one")
	}
	sort.Strings(files)
	return files
}

// parse reads one file, nil if it cannot be used.
func (src *source) parse(name string) *ast.File {
	content, err := readRegular(name, maxSource)
	if err != nil {
		src.add(Position{File: name}, "", "cannot be read: %s", plainError(err))
		return nil
	}
	f, err := parser.ParseFile(name, content, parser.AllErrors)
	if err != nil {
		before := len(src.problems)
		src.translate(err)
		src.otherComments(content, src.problems[before:])
		return nil
	}
	return f
}

// otherComments explains the errors about lines that are comments elsewhere.
func (src *source) otherComments(content []byte, problems Problems) {
	lines := strings.Split(string(content), "\n")
	for i, p := range problems {
		if p.Line < 1 || p.Line > len(lines) {
			continue
		}
		before, _, found := strings.Cut(lines[p.Line-1], "#")
		quotes := strings.Count(before, `"`)
		if found && len(before) < p.Column && quotes%2 == 0 && !strings.Contains(before, "//") {
			problems[i].Text, problems[i].Column = `"#" starts no comment; write //`, len(before)+1
		}
	}
}

// index remembers where the names of fields stand. A field that is written in
// several places counts where it stands first.
func (src *source) index(at *path, decls []ast.Decl) {
	for _, decl := range decls {
		f, ok := decl.(*ast.Field)
		if !ok {
			continue
		}
		name, _, err := ast.LabelName(f.Label)
		if err != nil {
			continue
		}
		here := at.field(name)
		// The first place is where people look for a name.
		if _, known := src.labels[here.String()]; !known {
			src.labels[here.String()] = position(f.Label.Pos())
		}
		src.indexValue(here, f.Value)
	}
}

// indexValue looks for names inside a value that is written out.
func (src *source) indexValue(at *path, value ast.Expr) {
	switch v := value.(type) {
	case *ast.StructLit:
		src.index(at, v.Elts)
	case *ast.ListLit:
		for i, item := range v.Elts {
			src.indexValue(at.at(i), item)
		}
	case *ast.BinaryExpr:
		src.indexValue(at, v.X)
		src.indexValue(at, v.Y)
	}
}

// evaluate turns the package into a tree and reports what CUE cannot make sense
// of. A panic in CUE becomes a problem: a reload must never end the process.
func (src *source) evaluate(files []*ast.File) {
	defer func() {
		if p := recover(); p != nil {
			src.root = nil
			src.add(Position{File: src.files[0]}, "", "CUE cannot evaluate this package (%v); take out what was added last", p)
		}
	}()
	ctx := cuecontext.New()
	value, ok := src.compile(ctx, files)
	if !ok {
		return
	}
	if err := value.Validate(cue.Concrete(false), cue.All()); err != nil {
		src.translate(err)
	}
	src.root = src.tree(nil, value)
	src.checkSchema(ctx, value)
}

// tree copies a value. What has no usable value is reported, if CUE has not
// done so already, and becomes a bad node.
func (src *source) tree(at *path, v cue.Value) *node {
	// A field with alternatives counts as the one that is marked as usual.
	if d, ok := v.Default(); ok {
		v = d
	}
	n := &node{pos: position(v.Pos())}
	switch v.Kind() {
	case cue.NullKind:
		n.kind = kindNull
	case cue.BoolKind:
		b, _ := v.Bool()
		n.kind, n.text = kindBool, fmt.Sprint(b)
	case cue.IntKind, cue.FloatKind, cue.NumberKind:
		text, err := v.MarshalJSON()
		if err == nil {
			n.kind, n.text = kindNumber, string(text)
		}
	case cue.StringKind:
		n.kind = kindText
		n.text, _ = v.String()
	case cue.BytesKind:
		b, _ := v.Bytes()
		src.add(n.pos, at.String(), "single quotes mean bytes in CUE; write %s", quote(string(b)))
	case cue.ListKind:
		n.kind = kindList
		for it, _ := v.List(); it.Next(); {
			n.items = append(n.items, src.tree(at.at(len(n.items)), it.Value()))
		}
	default:
		src.openValue(at, v, n)
	}
	if n.kind == kindMap || v.Kind() == cue.StructKind {
		src.structure(at, v, n)
		// What is wrong below explains itself; else fields of this struct are missing.
		n.partial = n.partial && !n.holdsBad()
	}
	return n
}

// openValue deals with a value that is not concrete: a struct in which
// something else is wrong, or a value of which only the type is known.
func (src *source) openValue(at *path, v cue.Value, n *node) {
	if v.IncompleteKind() == cue.BottomKind {
		it, err := v.Fields(cue.ErrorsAsValues(true))
		if err == nil && it.Next() {
			n.kind, n.partial = kindMap, true
			// A list in which an item is wrong has indices for names.
			if it.Selector().LabelType() == cue.IndexLabel {
				n.kind = kindList
				src.items(at, v, n)
			}
			return
		}
		src.translate(v.Err())
		return
	}
	if v.IncompleteKind() != cue.StructKind && v.Err() == nil {
		src.add(n.pos, at.String(), "has no value yet, only a type; write a value")
	}
}

// items copies what a list holds, the items that are wrong as bad nodes.
func (src *source) items(at *path, v cue.Value, n *node) {
	it, err := v.Fields(cue.ErrorsAsValues(true))
	for err == nil && it.Next() {
		n.items = append(n.items, src.tree(at.at(len(n.items)), it.Value()))
	}
}

// structure copies the regular fields of a struct. Hidden fields, definitions and
// optional fields are the operator's own and no part of the config.
func (src *source) structure(at *path, v cue.Value, n *node) {
	n.kind = kindMap
	it, err := v.Fields(cue.ErrorsAsValues(true))
	if err != nil {
		n.kind = kindBad
		return
	}
	for it.Next() {
		sel := it.Selector()
		name := sel.String()
		// Quotes belong to CUE's way of writing a name, not to the name.
		if sel.IsString() {
			name = sel.Unquoted()
		}
		here := at.field(name)
		child := src.tree(here, it.Value())
		pos, ok := src.labels[here.String()]
		if !ok {
			pos = child.pos
		}
		n.fields = append(n.fields, field{name: name, pos: pos, node: child})
	}
}

// position copies a place out of CUE.
func position(p token.Pos) Position {
	if !p.IsValid() {
		return Position{}
	}
	at := p.Position()
	return Position{File: at.Filename, Line: at.Line, Column: at.Column}
}

// translate adds every error of CUE in the operator's words. An import of what
// is not there is not also one that nobody uses.
func (src *source) translate(err error) {
	all, missing := errors.Errors(err), map[Position]bool{}
	for _, e := range all {
		if format, _ := e.Msg(); missingPackage(format) {
			missing[position(e.Position())] = true
		}
	}
	for _, e := range all {
		if format, _ := e.Msg(); strings.HasPrefix(format, "imported and not used") && missing[position(e.Position())] {
			continue
		}
		src.translateOne(e)
	}
}
