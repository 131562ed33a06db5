package tla

import (
	"strings"
	"testing"
)

// value of a formula over a variable v = [a |-> <<3, 4>>, b |-> {1, 2}].
func valueOf(t *testing.T, formula string) (got string) {
	t.Helper()
	m, err := parseModule("m", "---- MODULE M ----\nEXTENDS Naturals\nVARIABLES v\nRECURSIVE Sum(_)\n"+
		"Sum(s) == IF s = <<>> THEN 0 ELSE Head(s) + 1\nTwice(x) == x + x\nX ==\n    "+
		strings.ReplaceAll(formula, "\n", "\n    ")+"\n====\n")
	if err != nil {
		return err.Error()
	}
	defer func() {
		if r := recover(); r != nil {
			got = r.(evalError).Error()
		}
	}()
	c := &compiler{
		mod: m, vars: map[string]int{"v": 0}, called: map[*def]*callee{}, acts: map[*def]bool{}, labels: []string{""},
	}
	e := c.expr(m.defs["X"].body, &scope{})
	v := &fun{[]value{"a", "b"}, []value{seq{3, 4}, set{1, 2}}}
	return show(e(&run{cur: []value{v}, nxt: []value{v}, loc: make([]value, c.slots), state: 1}))
}

func TestFormulasHaveTheirValues(t *testing.T) {
	for _, c := range []struct{ name, formula, want string }{
		{"sums bind weaker than products", "1 + 2 * 3", "7"},
		{"differences are taken from the left", "7 - 2 - 1", "4"},
		{"a remainder", "7 % 2 = 1", "TRUE"},
		{"a range of sums", "1 + 1 .. 2 + 2", "{2, 3, 4}"},
		{"an empty range", "3..2", "{}"},
		{"and binds stronger than implies", "FALSE /\\ FALSE => FALSE", "TRUE"},
		{"not binds stronger than and", "~FALSE /\\ TRUE", "TRUE"},
		{"equal truths", "(1 < 2) <=> (2 >= 2)", "TRUE"},
		{"bullets group what stands under them", "/\\ TRUE\n/\\ \\/ FALSE\n   \\/ TRUE\n/\\ 1 # 2", "TRUE"},
		{"a bullet ends what is nested right of it", "\\/ FALSE /\\\n     TRUE\n\\/ FALSE", "FALSE"},
		{"conjuncts are looked at in order", "1 = 2 /\\ v[9] = 1", "FALSE"},
		{"members of sets", "2 \\in {1, 2} /\\ 3 \\notin {1, 2} /\\ {1} \\subseteq {1, 2}", "TRUE"},
		{"operators of sets", "({1, 2} \\cup {3}) \\ ({1} \\cap {1, 3})", "{2, 3}"},
		{"subsets", "SUBSET {1, 2}", "{{}, {1}, {1, 2}, {2}}"},
		{"a union", "UNION {{1}, {2, 1}}", "{1, 2}"},
		{"a set has no order and no doubles", "{2, 1, 2} = {1, 2}", "TRUE"},
		{"a filtered set", "{x \\in 1..5 : x % 2 = 1}", "{1, 3, 5}"},
		{"a mapped set", "{x + y : x \\in {1, 2}, y \\in {10, 20}}", "{11, 12, 21, 22}"},
		{"for all of none", "\\A x \\in {} : FALSE", "TRUE"},
		{"for all pairs", "\\A x, y \\in {1, 2} : x + y < 5", "TRUE"},
		{"some", "\\E x \\in {1, 2} : x = 2", "TRUE"},
		{"a quantifier reaches as far as it can", "\\E x \\in {1} : x = 2 \\/ x = 1", "TRUE"},
		{"the chosen one", "CHOOSE x \\in {3, 5, 4} : \\A y \\in {3, 5, 4} : y <= x", "5"},
		{"nothing to choose", "CHOOSE x \\in {1} : x = 2", "line 8: CHOOSE finds nothing"},
		{"a sequence", "Append(<<1>>, 2)", "<<1, 2>>"},
		{"its length", "Len(v.a) + Cardinality(v.b)", "4"},
		{"a function of 1..n is a sequence", "[x \\in 1..2 |-> x * x] = <<1, 4>>", "TRUE"},
		{"a function of other numbers is none", "[x \\in {2, 3} |-> x]", "(2 :> 2 @@ 3 :> 3)"},
		{"its domain", "DOMAIN [x \\in {2, 3} |-> x]", "{2, 3}"},
		{"a record has no order", "[a |-> 1, b |-> 2] = [b |-> 2, a |-> 1]", "TRUE"},
		{"a field", "v.a[2]", "4"},
		{"a changed field", "[v EXCEPT !.a[1] = @ + 10, !.b = {}]", "[a |-> <<13, 4>>, b |-> {}]"},
		{"a changed field is seen by the next change", "[v EXCEPT !.a[1] = 1, !.a[1] = @ + 1].a", "<<2, 4>>"},
		{"outside of a domain", "v.a[3]", "line 8: 3 is not in the domain of <<3, 4>>"},
		{"a choice takes one branch", "IF TRUE THEN 1 ELSE v.c", "1"},
		{"definitions that are not used are not evaluated", "LET x == v.c\n    y == 2\nIN  y", "2"},
		{"definitions with parameters", "LET f(x) == x + 1 IN f(f(1))", "3"},
		{"operators of the module", "Twice(Twice(2))", "8"},
		{"a recursive one", "Sum(<<5, 6>>)", "6"},
		{"a string", "\"a\" # \"b\"", "TRUE"},
		{"numbers are no strings", "1 = \"1\"", "FALSE"},
		{"an unknown name", "y", "line 8: y is not defined"},
		{"too many arguments", "Twice(1, 2)", "line 8: Twice takes 1 arguments, not 2"},
		{"no truth", "1 /\\ TRUE", "line 8: a boolean is needed"},
		{"no number", "{} + 1", "line 8: a number is needed, not {}"},
		{"no set", "1 \\in 2", "line 8: a set is needed, not 2"},
		{"comments are no text", "1 (* 2 (* 3 *) + *) + 1 \\* + 5", "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := valueOf(t, c.formula); got != c.want {
				t.Fatalf("%s is %s, want %s", c.formula, got, c.want)
			}
		})
	}
}

func TestWhatIsNoModuleIsSaid(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"an unfinished formula", "X == 1 +\n", "m:3:1: \"====\" cannot begin a formula"},
		{"an open bracket", "X == (1\n", `")" expected, not "===="`},
		{"a strange character", "X == 1 ? 2\n", `"?" is no token`},
		{"a string without an end", "X == \"a\n", "is no token"},
		{"a name that is defined twice", "X == 1\nX == 2\n", "X is defined twice"},
		{"a keyword as a name", "X == \\E IF \\in {1} : TRUE\n", `a name expected, not "IF"`},
		{"no definition", "X = 1\n", `"==" expected, not "="`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseModule("m", "---- MODULE M ----\n"+c.body+"====\n")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
		})
	}
}

func FuzzParseModule(f *testing.F) {
	f.Add("---- MODULE M ----\nVARIABLES x\nInit == x = 0\nNext == x' = [y \\in {1} |-> y][1]\n====\n")
	f.Add("---- MODULE M ----\nX ==\n  /\\ \\/ TRUE\n     \\/ \"s\" # 1\n  /\\ LET a == 1 IN a..2 = {}\n====\n")
	f.Add("---- MODULE M ----\n(* a (* b *)\n====")
	f.Fuzz(func(t *testing.T, text string) {
		if m, err := parseModule("m", text); err == nil && m.name == "" {
			t.Fatal("a module without a name was taken")
		}
	})
}
