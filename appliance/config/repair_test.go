package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// mistakes are what people write wrong, one line each, with what must be said
// about it whatever else is wrong. %d keeps the names of lines apart.
var mistakes = []struct{ line, want string }{
	{"let spare%d = backup%[1]d\nhosts: n%[1]d: address: spare%[1]d", `nothing here is named "backup%d"`},
	{`let unused%d = 5`, `nothing uses "unused%d"`},
	{`hosts: a%d: address: office%[1]d`, `nothing here is named "office%d"`},
	{`hosts: b%d: address: town%[1]d.office`, `nothing here is named "town%d"`},
	{`hosts: c%d: address: "\(prefix%[1]d).1"`, `nothing here is named "prefix%d"`},
	{`hosts: d%d: interval: "5x"`, `hosts.d%d.interval: "5x" is not a duration`},
	{`hosts: e%d: attempts: 1 & 2`, `hosts.e%d.attempts: two values are given`},
	{`hosts: f%d: adress: "192.0.2.1"`, `hosts.f%d.adress: no such field; did you mean "address"?`},
	{`hosts: g%d: address: string`, `hosts.g%d.address: has no value yet`},
	{`hosts: h%d: attempts: 1/0`, `hosts.h%d.attempts: cannot be calculated`},
	{`hosts: i%d: check: plugin: ["check_it", level%[1]d]`, `nothing here is named "level%d"`},
	{`services: j%d: {on: {}, check: passive: freshness: never%[1]d}`, `nothing here is named "never%d"`},
	{`hosts: "k%d ": {}`, `the name "k%d " begins or ends with a blank`},
	{`hosts: l%d: address: '192.0.2.1'`, `hosts.l%d.address: single quotes mean bytes`},
	{`hosts: m%d: volatile: yes`, `hosts.m%d.volatile: nothing here is named "yes"; write true`},
}

// TestNoMistakeHidesAnother writes any of them into one file and wants each of
// them named, and nothing else.
func TestNoMistakeHidesAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.cue")
	rapid.Check(t, func(t *rapid.T) {
		text, want := "package site\n", []string{}
		for i, n := range rapid.SliceOfN(rapid.IntRange(0, len(mistakes)-1), 1, 8).Draw(t, "mistakes") {
			text += fmt.Sprintf(mistakes[n].line, i) + "\n"
			// What names no line says the same about all of them.
			want = append(want, fmt.Sprintf(mistakes[n].want, i))
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, problems := Load(path, Options{})
		all := problems.String()
		for _, w := range want {
			if !strings.Contains(all, w) {
				t.Errorf("%q is missed in\n%s\nof\n%s", w, all, text)
			}
		}
		if len(problems) != len(want) {
			t.Errorf("%d problems for %d mistakes:\n%s\nof\n%s", len(problems), len(want), all, text)
		}
	})
}

// FuzzPackage loads any text as a config: it comes back with an answer, and
// never with CUE's own names for places.
func FuzzPackage(f *testing.F) {
	f.Add("hosts: a: {let x = y, address: x}\n")
	f.Add("import \"nope/x\"\nhosts: a: address: x.y\n")
	f.Add("hosts: {for h in hs {(h): {}}}\nservices: s: {hosts: [\"a\"], check: plugin: [p]}\n")
	f.Add("X=hosts: a: X.a\nlet z = z\n")
	f.Add("#D: {a!: string}\nhosts: a: #D & {b: 1}\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "site.cue")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, problems := Load(path, Options{
			ReadSecret: func(string) ([]byte, error) { return nil, nil },
			IsPlugin:   func(string) bool { return true },
		})
		if (c == nil) == (len(problems) == 0) {
			t.Fatalf("neither a config nor a problem, or both:\n%s", problems)
		}
		for _, p := range problems {
			if strings.Contains(p.Path, "let[]") || strings.Contains(p.Path, "for[]") || p.Text == "" {
				t.Errorf("the problem %q shows what is CUE's own", p)
			}
		}
	})
}

func TestWhatSaysLessIsLeftOut(t *testing.T) {
	at := func(path, text string) Problem { return Problem{Path: path, Text: text} }
	for _, c := range []struct {
		name     string
		in, want Problems
	}{
		{"an unknown field beside its suggestion", Problems{at("a.b", noField), at("a.b", "no such field")}, Problems{at("a.b", "no such field")}},
		{"a general text alone stays", Problems{at("a.b", noValue)}, Problems{at("a.b", noValue)}},
		{"two general texts leave one", Problems{at("a.b", noValue), at("a.b", noField)}, Problems{at("a.b", noField)}},
		{"alternatives count once", Problems{at("a", mismatch+", 1 and 3"), at("a", mismatch+", 2 and 3")}, Problems{at("a", mismatch+", 1 and 3")}},
		{"other places are other mistakes", Problems{at("a", noValue), at("b", "wrong")}, Problems{at("a", noValue), at("b", "wrong")}},
		{"what has no path stays", Problems{at("", noValue), at("", "wrong")}, Problems{at("", noValue), at("", "wrong")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := telling(c.in); got.Lines() != c.want.Lines() {
				t.Errorf("got\n%s\nwant\n%s", got.Lines(), c.want.Lines())
			}
		})
	}
}
