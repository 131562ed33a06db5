package sourcecheck

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// proof finds a row of docs/develop/proofs.md.
var proof = regexp.MustCompile("(?m)^\\| S(\\d{3}) \\| [^|]+ \\| `([\\w/]+)` (Test\\w+) \\|$")

// promise finds the number of a promise, or the first and last of several.
var promise = regexp.MustCompile(`\bS(\d{3})\b(?: to S(\d{3})\b)?`)

// firstPromise and lastPromise are the numbers that proofs.md is about.
const (
	firstPromise = 97
	lastPromise  = 144
)

// shown are the tests of a file with the promises that they name, in the comment above
// or anywhere inside.
func shown(name, text string) (map[string]map[int]bool, error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, name, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	all := map[string]map[int]bool{}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Test") {
			continue
		}
		from, to := fn.Pos(), fn.End()
		if fn.Doc != nil {
			from = fn.Doc.Pos()
		}
		numbers := map[int]bool{}
		for _, group := range f.Comments {
			if group.Pos() < from || group.End() > to {
				continue
			}
			for _, m := range promise.FindAllStringSubmatch(group.Text(), -1) {
				first, _ := strconv.Atoi(m[1]) // three digits
				last, err := strconv.Atoi(m[2])
				if err != nil {
					last = first
				}
				for n := first; n <= last; n++ {
					numbers[n] = true
				}
			}
		}
		all[fn.Name.Name] = numbers
	}
	return all, nil
}

// unproven says what is wrong with a table of promises: tests are those of each folder.
func unproven(table string, tests map[string]map[string]map[int]bool) []string {
	var out []string
	seen := map[int]bool{}
	for _, m := range proof.FindAllStringSubmatch(table, -1) {
		n, _ := strconv.Atoi(m[1]) // three digits
		seen[n] = true
		switch numbers, there := tests[m[2]][m[3]]; {
		case !there:
			out = append(out, fmt.Sprintf("S%s: there is no %s in %s", m[1], m[3], m[2]))
		case !numbers[n]:
			out = append(out, fmt.Sprintf("S%s: %s in %s does not name it; write S%s into the comment if it shows it", m[1], m[3], m[2], m[1]))
		}
	}
	for n := firstPromise; n <= lastPromise; n++ {
		if !seen[n] {
			out = append(out, fmt.Sprintf("S%03d has no row with a test", n))
		}
	}
	return out
}

func TestEveryPromiseOfSeveralEnginesHasATest(t *testing.T) {
	top := root(t)
	table, err := os.ReadFile(filepath.Join(top, "docs/develop/proofs.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]map[string]map[int]bool{}
	for _, m := range proof.FindAllStringSubmatch(string(table), -1) {
		if tests[m[2]] != nil {
			continue
		}
		tests[m[2]] = map[string]map[int]bool{}
		files, err := filepath.Glob(filepath.Join(top, m[2], "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			found, err := shown(name, string(text))
			if err != nil {
				t.Fatal(err)
			}
			for test, numbers := range found {
				tests[m[2]][test] = numbers
			}
		}
	}
	for _, what := range unproven(string(table), tests) {
		t.Error(what)
	}
}

func TestPromiseRule(t *testing.T) {
	found, err := shown("a_test.go", `package a
// S100, S102 to S104: something holds.
func TestOne(t *testing.T) {
	// S106
}

func TestTwo(t *testing.T) {}
`)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]bool{99: false, 100: true, 101: false, 102: true, 103: true, 104: true, 105: false, 106: true} {
		if found["TestOne"][n] != want {
			t.Errorf("S%d: %t", n, !want)
		}
	}
	if n := len(found["TestTwo"]); n != 0 {
		t.Errorf("the second names %d", n)
	}
	table := "| S100 | it holds | `a` TestOne |\n| S101 | it holds | `a` TestOne |\n| S102 | it holds | `a` TestThree |\n"
	out := strings.Join(unproven(table, map[string]map[string]map[int]bool{"a": found}), "\n")
	for _, want := range []string{"S101: TestOne in a does not name it", "S102: there is no TestThree in a", "S097 has no row"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "S100") {
		t.Error(out)
	}
}
