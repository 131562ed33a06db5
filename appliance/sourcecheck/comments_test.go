package sourcecheck

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// packageComments complains unless exactly one file of a package says what the
// package is for: doc.go, main.go of a command, or its only file.
func packageComments(name string, files []file) []string {
	var out []string
	where := ""
	for _, f := range files {
		if f.ast.Doc == nil || f.isTest() || f.generated() {
			continue
		}
		base := f.name[strings.LastIndex(f.name, "/")+1:]
		switch {
		case where != "":
			out = append(out, f.name+": a second package comment beside "+where+"; keep the one in doc.go")
		case base != "doc.go" && (name != "main" || base != "main.go") && len(files) > 1:
			out = append(out, f.name+": the package comment belongs in doc.go")
		case name != "main" && !strings.HasPrefix(f.ast.Doc.Text(), "Package "+name+" "):
			out = append(out, f.name+": the package comment starts with \"Package "+name+" \" and says its purpose in one sentence")
		}
		where = f.name
	}
	if where == "" && len(files) > 0 {
		out = append(out, files[0].name+": package "+name+" has no comment; write doc.go: purpose, what it owns, what it never does, where to start reading")
	}
	return out
}

// undocumented lists exported names of a file without a comment, and those of
// functions and types whose comment does not start with the name.
func undocumented(f file) []string {
	if f.generated() || f.isTest() {
		return nil
	}
	var out []string
	need := func(n ast.Node, name string, doc *ast.CommentGroup) {
		switch text := doc.Text(); {
		case text == "":
			out = append(out, f.at(n)+": exported "+name+" has no comment; say what it is, its units and its errors")
		case !strings.HasPrefix(text, name+" ") && !strings.HasPrefix(text, name+"\n") && !strings.HasPrefix(text, "Deprecated:"):
			out = append(out, f.at(n)+": the comment of "+name+" starts with another word; start with \""+name+" \"")
		}
	}
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && receiverExported(d) {
				need(d, d.Name.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					doc := s.Doc
					if doc == nil && !d.Lparen.IsValid() {
						doc = d.Doc
					}
					if s.Name.IsExported() {
						need(s, s.Name.Name, doc)
					}
				case *ast.ValueSpec:
					out = append(out, values(f, d, s)...)
				}
			}
		}
	}
	return out
}

// values wants a comment on an exported constant or variable, on it, behind it
// or on its group.
func values(f file, d *ast.GenDecl, s *ast.ValueSpec) []string {
	if d.Tok == token.IMPORT || d.Doc.Text()+s.Doc.Text()+s.Comment.Text() != "" {
		return nil
	}
	for _, name := range s.Names {
		if name.IsExported() {
			return []string{f.at(s) + ": exported " + name.Name + " has no comment, nor has its group"}
		}
	}
	return nil
}

// receiverExported tells whether a function is one of the package or a method
// of an exported type.
func receiverExported(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}

func TestEveryPackageHasOneComment(t *testing.T) {
	for _, p := range packages(t) {
		report(t, packageComments(p.Name, p.files(t, false)))
	}
}

func TestEveryExportedNameIsDocumented(t *testing.T) {
	for _, p := range packages(t) {
		for _, f := range p.files(t, false) {
			report(t, undocumented(f))
		}
	}
}

func TestPackageCommentRule(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"one in doc.go is right", map[string]string{"doc.go": "// Package x counts.\npackage x", "x.go": "package x"}, ""},
		{"a command may say it in main.go", map[string]string{"main.go": "// Jaque watches.\npackage main"}, ""},
		{"none is too few", map[string]string{"x.go": "package x"}, "has no comment"},
		{"two are too many", map[string]string{"doc.go": "// Package x a.\npackage x", "x.go": "// Package x b.\npackage x"}, "second package comment"},
		{"elsewhere it is not found", map[string]string{"x.go": "// Package x counts.\npackage x", "main.go": "package x"}, "belongs in doc.go"},
		{"a package of one file may say it there", map[string]string{"x.go": "// Package x holds a file.\npackage x"}, ""},
		{"it names the package", map[string]string{"doc.go": "// This counts.\npackage x"}, "starts with"},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := "x"
			var files []file
			for _, n := range []string{"doc.go", "main.go", "x.go"} {
				if src, ok := c.files[n]; ok {
					files = append(files, snippet(t, "appliance/x/"+n, src))
					name = files[0].ast.Name.Name
				}
			}
			want(t, packageComments(name, files), c.want)
		})
	}
}

func TestDocumentationRule(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"a documented function is right", "// F counts.\nfunc F() {}", ""},
		{"an unexported one needs nothing", "func f() {}", ""},
		{"an exported one needs a comment", "func F() {}", "F has no comment"},
		{"the comment starts with the name", "// Counts.\nfunc F() {}", "starts with"},
		{"a method of an exported type too", "// T is.\ntype T int\nfunc (t *T) M() {}", "M has no comment"},
		{"a method of an unexported type does not", "type t int\nfunc (t) M() {}", ""},
		{"a generic receiver is seen through", "// T is.\ntype T[P any] struct{}\nfunc (t *T[P]) M() {}", "M has no comment"},
		{"a type needs a comment", "type T int", "T has no comment"},
		{"a type in a group needs its own", "// Types.\ntype (\n\tT int\n)", "T has no comment"},
		{"constants share their group's", "// Kinds.\nconst (\n\tA = 1\n\tB = 2\n)", ""},
		{"a constant may have it behind", "const A = 1 // one", ""},
		{"a bare constant is not enough", "const A = 1", "A has no comment"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want(t, undocumented(snippet(t, "appliance/x/x.go", "package x\n"+c.src)), c.want)
		})
	}
	want(t, undocumented(snippet(t, "web/x.go", "// Code generated by templ - DO NOT EDIT.\n\npackage x\nfunc F() {}")), "")
}

// want fails unless the complaints hold the text; "" wants none.
func want(t *testing.T, complaints []string, text string) {
	t.Helper()
	got := strings.Join(complaints, "\n")
	if text == "" && got != "" || !strings.Contains(got, text) {
		t.Fatalf("got complaints %q, want %q", got, text)
	}
}
