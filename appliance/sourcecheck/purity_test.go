package sourcecheck

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// pureImports is what core and rule may import beside each other: packages
// that only compute. A trailing slash takes the whole folder.
var pureImports = []string{
	"bufio", "bytes", "cmp", "encoding", "encoding/", "errors", "fmt", "hash", "hash/", "html", "io", "iter", "maps", "math", "math/bits", "math/big",
	"net/netip", "net/url", "path", "reflect", "regexp", "regexp/syntax", "slices", "sort", "strconv", "strings",
	"text/scanner", "text/tabwriter", "time", "unicode", "unicode/", "crypto/sha256",
	"html/template", "text/template", "text/template/parse",
	"github.com/cespare/xxhash/v2",
}

// impureCalls are functions of otherwise pure packages that look at the world.
var impureCalls = map[string]string{
	"time.Now":          "take now time.Time as an argument",
	"time.Since":        "take now as an argument and use now.Sub",
	"time.Until":        "take now as an argument and use Sub",
	"time.After":        "return when to ask again; the shell has the timers",
	"time.AfterFunc":    "return when to ask again; the shell has the timers",
	"time.NewTimer":     "return when to ask again; the shell has the timers",
	"time.NewTicker":    "return when to ask again; the shell has the timers",
	"time.Tick":         "return when to ask again; the shell has the timers",
	"time.Sleep":        "return when to ask again; the shell has the timers",
	"time.LoadLocation": "it reads files; take a *time.Location as an argument",
	"time.Local":        "it is the environment; take a *time.Location as an argument",
	"html.ParseFiles":   "it reads files; take the text as an argument",
	"html.ParseGlob":    "it reads files; take the text as an argument",
	"text.ParseFiles":   "it reads files; take the text as an argument",
	"text.ParseGlob":    "it reads files; take the text as an argument",
	"fmt.Print":         "return the text",
	"fmt.Printf":        "return the text",
	"fmt.Println":       "return the text",
	"fmt.Scan":          "take the text as an argument",
	"fmt.Scanln":        "take the text as an argument",
	"fmt.Scanf":         "take the text as an argument",
}

// saysConstant is what the comment of a table must say.
var saysConstant = regexp.MustCompile(`(?i)constant|never chang|read.only`)

// pure tells whether a package must be pure.
func pure(path string) bool {
	return within(path, "appliance/core") || within(path, "appliance/rule")
}

// impurities lists what in one file of core or rule touches the world.
func impurities(f file) []string {
	var out []string
	bad := func(n ast.Node, what, instead string) {
		out = append(out, f.at(n)+": "+what+" in the pure core: "+instead)
	}
	for _, i := range f.ast.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		if !ours(path) && !slices.ContainsFunc(pureImports, func(p string) bool {
			return p == path || strings.HasSuffix(p, "/") && strings.HasPrefix(path, p)
		}) {
			bad(i, "import "+path, "what needs it belongs in an outer package of appliance, which hands values in")
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			bad(n, "a go statement", "goroutines belong to roles or outer appliance packages")
		case *ast.SelectStmt:
			bad(n, "a select statement", "return what follows; the shell waits")
		case *ast.ChanType:
			bad(n, "a channel", "take and return values")
		case *ast.SendStmt:
			bad(n, "a send", "return the value")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				bad(n, "a receive", "take the value as an argument")
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				if instead, found := impureCalls[x.Name+"."+n.Sel.Name]; found {
					bad(n, x.Name+"."+n.Sel.Name, instead)
				}
			}
		}
		return true
	})
	return out
}

// mutables lists package variables of the files of one package that change, and
// exported ones that do not promise to stay as they are.
func mutables(files []file) []string {
	if len(files) == 0 {
		return nil
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	trees := make([]*ast.File, len(files))
	for i, f := range files {
		trees[i] = f.ast
	}
	// Imports stay unresolved: to tell our own variables from locals of the
	// same name needs nothing from other packages.
	conf := types.Config{Importer: noImports{}, Error: func(error) {}}
	scope, _ := conf.Check("checked", fset, trees, info)

	var out []string
	for _, f := range files {
		for _, d := range f.ast.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
				for _, s := range g.Specs {
					out = append(out, undeclared(f, g, s.(*ast.ValueSpec))...)
				}
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			for _, e := range written(n) {
				id := base(e)
				if id == nil {
					continue
				}
				if v, ok := info.Uses[id].(*types.Var); ok && scope != nil && v.Parent() == scope.Scope() {
					out = append(out, f.at(n)+": package variable "+id.Name+" is changed: keep it in a struct that is handed in")
				}
			}
			return true
		})
	}
	return out
}

// undeclared complains about variables that other packages could change: exported
// ones that are neither error sentinels nor compiled patterns nor tables whose
// comment promises that they never change. That an unexported one never changes
// is seen from the package itself.
func undeclared(f file, g *ast.GenDecl, s *ast.ValueSpec) []string {
	text := g.Doc.Text() + s.Doc.Text() + s.Comment.Text()
	var out []string
	for i, name := range s.Names {
		if !name.IsExported() || saysConstant.MatchString(text) {
			continue
		}
		if i < len(s.Values) && fixedCall(s.Values[i]) {
			continue
		}
		out = append(out, f.at(name)+": exported package variable "+name.Name+": make it a function or a constant, or say in its comment that it is constant")
	}
	return out
}

// fixedCall recognizes values that nothing can change afterwards.
func fixedCall(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && slices.Contains([]string{"errors.New", "fmt.Errorf", "regexp.MustCompile"}, x.Name+"."+sel.Sel.Name)
}

// written returns the expressions that a node stores to or lends out for
// storing.
func written(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return n.Lhs
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.RangeStmt:
		return []ast.Expr{n.Key, n.Value}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []ast.Expr{n.X}
		}
	case *ast.CallExpr:
		if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "delete" || id.Name == "clear" || id.Name == "copy") && len(n.Args) > 0 {
			return n.Args[:1]
		}
	}
	return nil
}

// base finds the variable under a.b[c].d.
func base(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return nil
		}
	}
}

type noImports struct{}

// Import refuses every import.
func (noImports) Import(string) (*types.Package, error) {
	return nil, errors.New("not needed")
}

func TestCoreAndRuleArePure(t *testing.T) {
	seen := 0
	for _, p := range packages(t) {
		if !pure(p.path()) {
			continue
		}
		seen++
		files := p.files(t, false)
		for _, f := range files {
			report(t, impurities(f))
		}
		report(t, mutables(files))
	}
	if seen < 3 {
		t.Fatalf("only %d pure packages found, the rule looks in the wrong place", seen)
	}
}

func TestPurityRule(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"computing is fine", `import ("strings"; "time"); func f(now time.Time) string { return strings.ToUpper(now.String()) }`, ""},
		{"encodings are fine", `import _ "encoding/json"`, ""},
		{"a lock is not", `import _ "sync"`, "import sync"},
		{"the disk is not", `import _ "os"`, "import os"},
		{"random numbers are not", `import _ "math/rand/v2"`, "import math/rand/v2"},
		{"a logger is not", `import _ "log/slog"`, "import log/slog"},
		{"the clock is not", `import "time"; func f() { _ = time.Now() }`, "time.Now"},
		{"the clock as a value is not", `import "time"; type t struct { f func() time.Time }; func g() t { return t{time.Now} }`, "time.Now"},
		{"a zone from the disk is not", `import "time"; func f() { _, _ = time.LoadLocation("x") }`, "time.LoadLocation"},
		{"a goroutine is not", `func f() { go f() }`, "go statement"},
		{"a channel is not", `func f(c chan int) {}`, "channel"},
		{"a receive is not", `func f() { <-g() }; func g() T { return nil }`, "receive"},
		{"printing is not", `import "fmt"; func f() { fmt.Println() }`, "fmt.Println"},
		{"an error sentinel is fine", `import "errors"; var ErrGone = errors.New("gone")`, ""},
		{"a promised table is fine", "// names is constant.\nvar names = map[string]int{\"a\": 1}", ""},
		{"a compile-time assertion is fine", `var _ = T(1); type T int`, ""},
		{"an unexported table that nobody changes is fine", `var names = map[string]int{"a": 1}`, ""},
		{"a silent exported table is not", `var Names = map[string]int{"a": 1}`, "variable Names"},
		{"a promised exported table is fine", "// Names is constant.\nvar Names = map[string]int{\"a\": 1}", ""},
		{"a counter is not", "// n is constant, it says.\nvar n int\nfunc f() { n++ }", "n is changed"},
		{"a filled table is not", "// m is constant, it says.\nvar m = map[int]int{}\nfunc f() { m[1] = 2 }", "m is changed"},
		{"a lent variable is not", "// n is constant, it says.\nvar n int\nfunc f() *int { return &n }", "n is changed"},
		{"a local of the same name is fine", "// n is constant.\nvar n = 1\nfunc f() { n := 2; n++ }", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := snippet(t, "appliance/core/x/x.go", "package x\n"+c.src)
			got := strings.Join(append(impurities(f), mutables([]file{f})...), "\n")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Fatalf("got %q, want %q", got, c.want)
			}
		})
	}
}
