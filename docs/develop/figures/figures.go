package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// figures is what is counted over all files.
type figures struct {
	files     []int // lines of each source file
	functions []int // lines of each function outside tests
	testFiles int

	lines, comments, tests int
	alone                  int // lines in source files without I/O, clock or goroutine

	exported, documented int
	packages             map[string]bool // folder → has a package comment
	imports              map[string]bool
}

// tooLong is where a function is split.
const tooLong = 60

// world are the imports that reach outside; a trailing slash takes all below.
var world = []string{
	"os", "os/", "io/fs", "net", "net/http", "net/http/", "net/smtp", "log", "log/slog", "math/rand", "math/rand/", "crypto/rand",
	"syscall", "sync", "sync/", "golang.org/x/sys/", "golang.org/x/net/",
	"github.com/nats-io/", "github.com/prometheus/client_golang/", "github.com/miekg/dns", "github.com/chromedp/",
}

// collect counts one file.
func (f *figures) collect(name string, src []byte) error {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if ast.IsGenerated(tree) {
		return nil
	}
	if f.packages == nil {
		f.packages, f.imports = map[string]bool{}, map[string]bool{}
	}
	for _, i := range tree.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		f.imports[p] = true
	}
	lines := bytes.Count(src, []byte("\n"))
	if strings.HasSuffix(name, "_test.go") {
		f.testFiles++
		f.tests += lines
		return nil
	}
	f.files = append(f.files, lines)
	f.lines += lines
	f.comments += commentLines(fset, tree)
	f.packages[path.Dir(name)] = f.packages[path.Dir(name)] || tree.Doc != nil
	if !outward(tree) {
		f.alone += lines
	}
	for _, d := range tree.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			f.functions = append(f.functions, fset.Position(fn.End()).Line-fset.Position(fn.Pos()).Line+1)
		}
		f.count(d)
	}
	return nil
}

// commentLines counts the lines that a comment stands on.
func commentLines(fset *token.FileSet, tree *ast.File) int {
	seen := map[int]bool{}
	for _, g := range tree.Comments {
		for _, c := range g.List {
			for l := fset.Position(c.Pos()).Line; l <= fset.Position(c.End()).Line; l++ {
				seen[l] = true
			}
		}
	}
	return len(seen)
}

// outward tells whether a file does I/O, reads the clock or starts goroutines.
func outward(tree *ast.File) bool {
	for _, i := range tree.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		if slices.ContainsFunc(world, func(w string) bool {
			return p == w || strings.HasSuffix(w, "/") && strings.HasPrefix(p, w)
		}) {
			return true
		}
	}
	found := false
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.SelectStmt, *ast.ChanType, *ast.SendStmt:
			found = true
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			found = found || ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"}, n.Sel.Name)
		}
		return !found
	})
	return found
}

// count looks at the exported names of one declaration.
func (f *figures) count(d ast.Decl) {
	one := func(name *ast.Ident, docs ...*ast.CommentGroup) {
		if !name.IsExported() {
			return
		}
		f.exported++
		if slices.ContainsFunc(docs, func(g *ast.CommentGroup) bool { return g.Text() != "" }) {
			f.documented++
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if reachable(d) {
			one(d.Name, d.Doc)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				one(s.Name, s.Doc, d.Doc)
			case *ast.ValueSpec:
				for _, name := range s.Names {
					one(name, s.Doc, s.Comment, d.Doc)
				}
			}
		}
	}
}

// reachable tells whether a function is no method of an unexported type.
func reachable(d *ast.FuncDecl) bool {
	reach := true
	if d.Recv != nil {
		ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if ok {
				reach = id.IsExported()
			}
			return !ok && reach
		})
	}
	return reach
}

// rank returns the value at a share q of the sorted values.
func rank(values []int, q float64) int {
	if len(values) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	return s[min(len(s)-1, int(q*float64(len(s))))]
}

// percent of a whole; 100 of nothing.
func percent(part, whole int) float64 {
	if whole == 0 {
		return 100
	}
	return 100 * float64(part) / float64(whole)
}

// table prints the figures beside the aims.
func (f *figures) table(direct int) string {
	long, commented := 0, 0
	for _, n := range f.functions {
		if n > tooLong {
			long++
		}
	}
	for _, ok := range f.packages {
		if ok {
			commented++
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| figure | now | aim |\n|---|---:|---:|\n")
	row := func(what, aim, format string, args ...any) {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", what, fmt.Sprintf(format, args...), aim)
	}
	row("source files, lines", "", "%d, %d", len(f.files), f.lines)
	row("test files, lines", "", "%d, %d", f.testFiles, f.tests)
	row("lines per file, median / p90 / longest", "120 / 350 / 600", "%d / %d / %d", rank(f.files, 0.5), rank(f.files, 0.9), rank(f.files, 1))
	row("lines per function, median / p90", "9 / 38", "%d / %d", rank(f.functions, 0.5), rank(f.functions, 0.9))
	row("functions above 60 lines", "≤ 3 %", "%.1f %%", percent(long, max(1, len(f.functions))))
	row("comment share of lines", "12-20 %", "%.1f %%", percent(f.comments, max(1, f.lines)))
	row("exported names documented", "100 %", "%.1f %%", percent(f.documented, f.exported))
	row("packages documented", "100 %", "%.1f %%", percent(commented, len(f.packages)))
	row("test lines per source line", "1.0-1.5", "%.2f", float64(f.tests)/float64(max(1, f.lines)))
	row("lines in files without I/O, clock or goroutine", "> 55 %", "%.1f %%", percent(f.alone, max(1, f.lines)))
	row("direct dependencies", "< 30", "%d", direct)
	return b.String()
}
