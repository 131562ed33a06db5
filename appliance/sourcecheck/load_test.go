package sourcecheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const module = "jaque.sh/jaque"

// pkg is what the rules need to know of one package.
type pkg struct {
	ImportPath string
	Name       string
	Dir        string

	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports, TestImports, XTestImports []string
}

// path is the import path below the module: "appliance/core/fold".
func (p pkg) path() string { return below(p.ImportPath) }

// below cuts the module off an import path; foreign paths stay as they are.
func below(importPath string) string {
	return strings.TrimPrefix(strings.TrimPrefix(importPath, module), "/")
}

// ours tells whether an import path is in this module.
func ours(importPath string) bool {
	return importPath == module || strings.HasPrefix(importPath, module+"/")
}

// root finds the folder of go.mod above the test's working directory.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no go.mod above the working directory")
		}
		dir = up
	}
}

// list runs go list once for all tests of this package. Packages that do not
// compile are listed too (-e): that is for the compiler to say.
var list = sync.OnceValues(func() ([]pkg, error) {
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Name,Dir,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", module+"/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}
	var all []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("read go list: %w", err)
		}
		all = append(all, p)
	}
})

// packages are all packages of the module.
func packages(t *testing.T) []pkg {
	t.Helper()
	all, err := list()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 5 {
		t.Fatalf("go list found %d packages, which cannot be all", len(all))
	}
	return all
}

// fset knows the positions of every file parsed here; it locks itself.
var fset = token.NewFileSet()

// file is one parsed Go file.
type file struct {
	name string // below the module: appliance/core/fold/apply.go
	ast  *ast.File
}

// at names a position for a complaint.
func (f file) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", f.name, fset.Position(n.Pos()).Line)
}

// generated tells whether a tool wrote the file.
func (f file) generated() bool { return ast.IsGenerated(f.ast) }

// isTest tells whether the file is compiled for tests only.
func (f file) isTest() bool { return strings.HasSuffix(f.name, "_test.go") }

// parse reads source text under the name that complaints shall show.
func parse(name string, src any) (file, error) {
	tree, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	return file{name: name, ast: tree}, err
}

// snippet parses a small source that a rule is tested on.
func snippet(t *testing.T, name, src string) file {
	t.Helper()
	f, err := parse(name, src)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// files parses the files of a package; tests only when asked for.
func (p pkg) files(t *testing.T, tests bool) []file {
	t.Helper()
	names := p.GoFiles
	if tests {
		names = append(append(names[:len(names):len(names)], p.TestGoFiles...), p.XTestGoFiles...)
	}
	var all []file
	for _, name := range names {
		src, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		f, err := parse(p.path()+"/"+name, src)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	return all
}

// report fails the test with every complaint, not only the first.
func report(t *testing.T, complaints []string) {
	t.Helper()
	for _, c := range complaints {
		t.Error(c)
	}
}
