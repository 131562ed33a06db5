package macro_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/rule/macro"
	"pgregory.net/rapid"
)

func TestCheckCommand(t *testing.T) {
	for _, c := range []struct{ name, line, command, want string }{
		{"arguments stand in place", "$USER1$/c -a $ARG1$ -b $ARG2$ [$ARG3$]", "c!one!two", "/lib/c -a one -b two []"},
		{"blanks in arguments stay", "c [$ARG1$] [$ARG2$]", "c! 80 !/a b ", "c [ 80 ] [/a b ]"},
		{"an escaped exclamation mark does not split", "c $ARG1$", `c!hi\!there`, "c hi!there"},
		{"other backslashes stay", "c $ARG1$ $ARG2$", `c!C:\\temp\new!D:\x`, `c C:\\temp\new D:\x`},
		{"arguments hold macros", "c $ARG1$", "c!$_SERVICEPORT$", "c 80"},
		{"a macro's value is not scanned", "c $ARG1$", "c!$HOSTNOTES$", "c see web (see $HOSTNAME$ ($HOSTNOTES$))"},
		{"two dollars in an argument are one", "c $ARG1$ $HOSTNAME$", "c!pa$$s", "c pa$s web"},
		{"a lone dollar in an argument does not reach the line", "c $ARG1$ $HOSTNAME$", "c!pa$s", "c pa$s web"},
		{"an unknown macro in an argument does not either", "c $ARG1$ $HOSTNAME$", "c!$NOPE$ $", "c $NOPE$ $ web"},
		{"an argument names one before it", "c $ARG2$", "c!a!<$ARG1$$ARG2$>", "c <a>"},
		{"a lone dollar in the line", "c $ $ARG1$ $HOSTNAME$", "c!x", "c $ $ARG1$ $HOSTNAME$"},
		{"no arguments at all", "c [$ARG1$]", "c", "c []"},
		{"an empty argument", "c [$ARG1$] [$ARG2$]", "c!!b", "c [] [b]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			lookup := func(name string) (string, bool) { return c.line, name == "c" }
			src := shop()
			src.Args = nil
			if got, err := macro.Line(c.command, lookup, src, macro.Options{}); err != nil || got != c.want {
				t.Errorf("got  %q, %v\nwant %q", got, err, c.want)
			}
		})
	}
}

func TestAnUnknownCommandIsNamed(t *testing.T) {
	_, err := macro.CheckCommand("nope!a", func(string) (string, bool) { return "", false })
	if err == nil || !strings.Contains(err.Error(), `no command "nope"`) {
		t.Error(err)
	}
}

// TestFillingArgumentsIsExpandingThem compares with the definition: expand every
// argument, then the line with them.
func TestFillingArgumentsIsExpandingThem(t *testing.T) {
	text := func(t *rapid.T, label string) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			"$", "$$", "a", " ", "$HOSTNAME$", "$ARG1$", "$ARG2$", "$NOPE$", "$USER1$", "é",
		}), 0, 6).Draw(t, label), "")
	}
	rapid.Check(t, func(t *rapid.T) {
		line, first, second := text(t, "line"), text(t, "first"), text(t, "second")
		src := shop()
		src.Args = nil
		got, err := macro.Line("c!"+first+"!"+second, func(string) (string, bool) { return line, true }, src, macro.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range []string{first, second} {
			src.Args = append(src.Args, macro.Expand(a, src, macro.Options{}))
		}
		if want := macro.Expand(line, src, macro.Options{}); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestSplitCommand(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"plain words", "/bin/c -H  a\tb", []string{"/bin/c", "-H", "a", "b"}},
		{"double quotes", `c "a b" x"y z"w`, []string{"c", "a b", "xy zw"}},
		{"single quotes", `c 'a "b" \' x`, []string{"c", `a "b" \`, "x"}},
		{"empty words", `c "" ''`, []string{"c", "", ""}},
		{"a backslash escapes anything", `c a\ b \" \$ \; \\`, []string{"c", "a b", `"`, "$", ";", `\`}},
		{"a backslash in double quotes escapes little", `c "a\nb" "\$x" "\\" "a\"b"`, []string{"c", `a\nb`, "$x", `\`, `a"b`}},
		{"shell signs in quotes", `c "a|b;c&d*e?(f)" '$x'`, []string{"c", "a|b;c&d*e?(f)", "$x"}},
		{"signs that mean nothing", `c [80] {a,b} ~x #y !z a=b %`, []string{"c", "[80]", "{a,b}", "~x", "#y", "!z", "a=b", "%"}},
		{"blanks around", "  c a \n", []string{"c", "a"}},
		{"a path with an equals sign", "/opt/a=b/c x", []string{"/opt/a=b/c", "x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, shell, err := macro.SplitCommand(c.in)
			if err != nil || shell || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, shell %v, %v\nwant %q", got, shell, err, c.want)
			}
		})
	}
}

func TestWhatNeedsAShell(t *testing.T) {
	for _, line := range []string{
		"a | b", "a > b", "a < b", "a; b", "a & b", "a `b`", "a $(b)", "a $B", `a "$B"`, `a "b` + "`c`" + `"`, "(a)", "a *", "a ?",
		`a "b`, "a 'b", "A=b c", "A_1=b",
	} {
		if _, shell, err := macro.SplitCommand(line); err != nil || !shell {
			t.Errorf("%q needs no shell? %v", line, err)
		}
	}
	for _, line := range []string{"", "  \t\n"} {
		if _, _, err := macro.SplitCommand(line); !errors.Is(err, macro.ErrNoCommand) {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestQuotedWordsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringOfN(rapid.SampledFrom([]rune(`ab "'\$|*é`)), 0, 6, -1), 1, 5).Draw(t, "words")
		var line strings.Builder
		for _, w := range words {
			line.WriteString(" '" + strings.ReplaceAll(w, "'", `'\''`) + "'")
		}
		got, shell, err := macro.SplitCommand(line.String())
		if err != nil || shell && !strings.Contains(words[0], "=") || !reflect.DeepEqual(got, words) {
			t.Fatalf("%q became %q, shell %v, %v", line.String(), got, shell, err)
		}
	})
}

func FuzzSplitCommand(f *testing.F) {
	for _, s := range []string{`a "b c" 'd'`, `a\`, `"`, `a "\`, "a\x00b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		argv, _, err := macro.SplitCommand(s)
		if (err == nil) != (len(argv) > 0) {
			t.Errorf("%q: %q, %v", s, argv, err)
		}
	})
}
