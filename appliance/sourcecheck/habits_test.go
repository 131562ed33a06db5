package sourcecheck

import (
	"bytes"
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxLines is where a file is split.
const maxLines = 600

// habits are names of other packages that our code leaves alone, with what to
// use instead. Commands may end the process and so may tools of docs.
var habits = []struct {
	name, instead string
	commandMay    bool
}{
	{"http.DefaultServeMux", "make an http.ServeMux and hand it on", false},
	{"http.Handle", "it registers on the default mux; make an http.ServeMux", false},
	{"http.HandleFunc", "it registers on the default mux; make an http.ServeMux", false},
	{"http.DefaultClient", "make an http.Client with a timeout", false},
	{"http.Get", "make an http.Client with a timeout and a request with a context", false},
	{"prometheus.DefaultRegisterer", "take a prometheus.Registerer", false},
	{"prometheus.DefaultGatherer", "take a prometheus.Gatherer", false},
	{"prometheus.MustRegister", "take a prometheus.Registerer", false},
	{"slog.SetDefault", "hand the logger on", false},
	{"slog.Default", "take a *slog.Logger", false},
	{"os.Exit", "return an error; only cmd ends the process", true},
	{"signal.Notify", "signals are handled in cmd; take a context", true},
	{"signal.NotifyContext", "signals are handled in cmd; take a context", true},
	{"os.Chdir", "two appliances fit in one process; use absolute paths", false},
}

// breaches lists where one file breaks a habit.
func breaches(f file) []string {
	if f.isTest() || f.generated() {
		return nil
	}
	command := slices.Contains([]string{"cmd", "docs"}, room(f.name))
	var out []string
	for _, i := range f.ast.Imports {
		if path, _ := strconv.Unquote(i.Path.Value); path == "log" && !command {
			out = append(out, f.at(i)+": package log: take a *slog.Logger")
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Name.Name == "init" && n.Recv == nil {
				out = append(out, f.at(n)+": an init function: use a constructor, or a row in a table such as roles.go")
			}
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok {
				break
			}
			for _, h := range habits {
				if h.name == x.Name+"."+n.Sel.Name && !(command && h.commandMay) {
					out = append(out, f.at(n)+": "+h.name+": "+h.instead)
				}
			}
		}
		return true
	})
	return out
}

// tooLong complains about a file above maxLines.
func tooLong(name string, src []byte) []string {
	if n := bytes.Count(src, []byte("\n")); n > maxLines {
		return []string{name + ": " + strconv.Itoa(n) + " lines; split it by what its parts are about before it passes " + strconv.Itoa(maxLines)}
	}
	return nil
}

// machineWords must not stand in a file: they name the machine that somebody
// worked on. They are put together here so that this file is no finding.
var machineWords = []string{"/wo" + "rk/main", "/wo" + "rk/shared", "/ro" + "ot/go", "../sha" + "red/", "/tmp/" + "jaque/"}

// machinePaths complains about paths of one machine in a file.
func machinePaths(name string, src []byte) []string {
	var out []string
	for i, line := range bytes.Split(src, []byte("\n")) {
		for _, w := range machineWords {
			if bytes.Contains(line, []byte(w)) {
				out = append(out, name+":"+strconv.Itoa(i+1)+": names a path of one machine ("+w+"); take it as a flag or copy what is needed into testdata")
			}
		}
	}
	return out
}

// rootFiles are the names that may stand at the root; tools insist on them
// there or people look for them there.
var rootFiles = []string{
	"cmd", "roles", "web", "appliance", "assets", "packaging", "docs", "go.mod", "go.sum", "goreleaser.yaml",
	"README.md", "LICENSE", "Makefile", "justfile", ".gitignore", ".gitattributes", ".editorconfig", ".ci",
	".git", "bin", "dist", "jaque-data", "jaque-demo",
}

// everyFile calls f with each file below the root that belongs to the project.
func everyFile(t *testing.T, f func(name string, src []byte)) {
	t.Helper()
	top := root(t)
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(top, path)
		if d.IsDir() && slices.Contains([]string{".git", "bin", "dist", "jaque-data", "jaque-demo"}, name) {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > 4<<20 {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f(filepath.ToSlash(name), src)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestNoFileIsTooLong(t *testing.T) {
	everyFile(t, func(name string, src []byte) {
		ext := filepath.Ext(name)
		if (ext == ".go" || ext == ".templ") && !strings.HasSuffix(name, "_templ.go") {
			report(t, tooLong(name, src))
		}
	})
}

func TestNoMachinePaths(t *testing.T) {
	everyFile(t, func(name string, src []byte) {
		if !bytes.Contains(src[:min(len(src), 1024)], []byte{0}) {
			report(t, machinePaths(name, src))
		}
	})
}

func TestHabits(t *testing.T) {
	for _, p := range packages(t) {
		for _, f := range p.files(t, false) {
			report(t, breaches(f))
		}
	}
}

func TestTheRootHoldsOnlyRooms(t *testing.T) {
	entries, err := os.ReadDir(root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(rootFiles, e.Name()) && !ignored(e.Name()) {
			t.Errorf("%s stands at the root; code lives in cmd, roles, web, appliance or assets, the rest in packaging or docs", e.Name())
		}
	}
}

// ignored are leftovers that .gitignore keeps out of the repository.
func ignored(name string) bool {
	ext := filepath.Ext(name)
	return name == "jaque" || slices.Contains([]string{".test", ".prof", ".out", ".swp"}, ext) || name == ".idea" || name == ".vscode"
}

func TestHabitRule(t *testing.T) {
	for _, c := range []struct{ name, file, src, want string }{
		{"a server of one's own is right", "web/x.go", `import "net/http"; func F() *http.ServeMux { return http.NewServeMux() }`, ""},
		{"the default mux is not", "web/x.go", `import "net/http"; var m = http.DefaultServeMux`, "http.DefaultServeMux"},
		{"the default registry is not", "appliance/x/x.go", `import "github.com/prometheus/client_golang/prometheus"; func F() { prometheus.MustRegister() }`, "take a prometheus.Registerer"},
		{"init is not", "roles/x/x.go", `func init() {}`, "init function"},
		{"a method named init is fine", "roles/x/x.go", `type t int; func (t) init() {}`, ""},
		{"a role does not exit", "roles/x/x.go", `import "os"; func F() { os.Exit(1) }`, "only cmd ends"},
		{"a command exits", "cmd/jaque/main.go", `import "os"; func F() { os.Exit(1) }`, ""},
		{"a command has no init either", "cmd/jaque/main.go", `func init() {}`, "init function"},
		{"the old logger is not used", "appliance/x/x.go", `import "log"; func F() { log.Fatal() }`, "slog"},
		{"a test may do as it needs", "roles/x/x_test.go", `import "os"; func F() { os.Exit(1) }`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			want(t, breaches(snippet(t, c.file, "package x\n"+c.src)), c.want)
		})
	}
}

func TestTextRules(t *testing.T) {
	want(t, tooLong("x.go", bytes.Repeat([]byte("\n"), maxLines)), "")
	want(t, tooLong("x.go", bytes.Repeat([]byte("\n"), maxLines+1)), "split it")
	want(t, machinePaths("x.go", []byte("a\nread "+machineWords[0]+"/x\n")), "x.go:2")
	want(t, machinePaths("x.go", []byte("a\nread testdata/x\n")), "")
}
