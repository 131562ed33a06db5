package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// small is a module with one variable that counts to three.
const small = `---- MODULE Handover ----
EXTENDS Naturals
CONSTANTS Most
VARIABLES n
vars == <<n>>
Init == n = 0
Next == n < Most /\ n' = n + 1
Spec == Init /\ [][Next]_vars
Below == n < 2
Fine == n <= Most
====
`

// folder writes the module and configurations of one line each.
func folder(t *testing.T, rows map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"Handover.tla": small}
	for name, first := range rows {
		invariant := "Below"
		if strings.Contains(name, "fine") {
			invariant = "Fine"
		}
		files["handover/"+name+".cfg"] = "\\* " + first + "\nSPECIFICATION Spec\nINVARIANT " + invariant + "\nCONSTANTS\n    Most = 3\n"
	}
	for name, text := range files {
		f := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// java is a program that prints a recorded output in place of TLC, and what it
// was called with into the file args.
func java(t *testing.T, output string, code string) (program, args string) {
	t.Helper()
	dir := t.TempDir()
	program, args = filepath.Join(dir, "java"), filepath.Join(dir, "args")
	text := filepath.Join(dir, "output")
	script := "#!/bin/sh\necho \"$@\" >>" + args + "\nls >>" + args + "\ncat " + text + "\nexit " + code + "\n"
	for name, b := range map[string]string{program: script, text: output} {
		if err := os.WriteFile(name, []byte(b), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return program, args
}

func TestWithoutTLCItSaysWhatToDo(t *testing.T) {
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"-dir", ".."}, func(string) string { return "" }, &out, &errs)
	if code != 3 || !strings.Contains(errs.String(), "TLC_JAR=") || out.Len() > 0 {
		t.Fatalf("status %d, %q, %q", code, out.String(), errs.String())
	}
}

func TestAJarThatIsNotThereIsSaid(t *testing.T) {
	var out, errs bytes.Buffer
	env := func(name string) string {
		return map[string]string{"TLC_JAR": filepath.Join(t.TempDir(), "tla2tools.jar")}[name]
	}
	if code := run(t.Context(), []string{"-dir", ".."}, env, &out, &errs); code != 3 || !strings.Contains(errs.String(), "TLC_JAR:") {
		t.Fatalf("status %d, %q", code, errs.String())
	}
}

// S127, S130: what TLC prints is compared with what each configuration declares.
func TestTLCIsRunAndBelieved(t *testing.T) {
	for _, c := range []struct {
		name, declared, output, code, workers string
		want                                  int
		says                                  string
	}{
		{"it holds as declared", "holds", "holds.txt", "0", "", 0, "1 of 1 configurations run, 1 as declared"},
		{"it is violated as declared", "violates Linear in 4 steps", "invariant.txt", "12", "", 0, "1 as declared"},
		{"a declared violation that is not found fails", "violates Linear in 4 steps", "holds.txt", "0", "", 1, "but it holds"},
		{"a violation that is not declared fails", "holds", "invariant.txt", "12", "", 1, "Linear is violated"},
		{"a longer counterexample of one worker fails", "violates Linear in 3 steps", "invariant.txt", "12", "", 1, "longer than the declared 3"},
		{"a longer counterexample of many workers is noted", "violates Linear in 3 steps", "invariant.txt", "12", "4", 0, "note: the counterexample has 4 steps"},
		{"no verdict fails", "holds", "parse.txt", "150", "", 1, "Parse Error"},
		{"silence fails", "holds", "", "1", "", 1, "run TLC: exit status 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := ""
			if c.output != "" {
				text = recorded(t, c.output)
			}
			program, args := java(t, text, c.code)
			env := map[string]string{"TLC_JAR": program, "TLC_JAVA": program, "TLC_WORKERS": c.workers, "TLC_HEAP": "1g"}
			var out, errs bytes.Buffer
			code := run(t.Context(), []string{"-dir", folder(t, map[string]string{"one": c.declared})}, func(n string) string { return env[n] }, &out, &errs)
			if code != c.want || !strings.Contains(out.String(), c.says) {
				t.Fatalf("status %d, want %d with %q:\n%s%s", code, c.want, c.says, out.String(), errs.String())
			}
			called, err := os.ReadFile(args)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"-Xmx1g", "tlc2.TLC", "-deadlock", "-config one.cfg Handover.tla", "\nHandover.tla\none.cfg\n"} {
				if !strings.Contains(string(called), want) {
					t.Errorf("TLC was called with %q, without %q", called, want)
				}
			}
		})
	}
}

func TestOwnSearchComparesToo(t *testing.T) {
	dir := folder(t, map[string]string{"fine": "holds", "below": "violates Below in 2 steps", "wrong": "violates Below in 1 steps"})
	for _, c := range []struct {
		name  string
		names []string
		want  int
		says  string
	}{
		{"verdicts as declared", []string{"fine", "below"}, 0, "2 of 2 configurations run, 2 as declared"},
		{"another length differs", []string{"wrong"}, 1, `DIFFERS from "violates Below in 1 steps"`},
		{"no name is all", nil, 1, "3 of 3 configurations run, 2 as declared"},
		{"an unknown name is wrong use", []string{"fin"}, 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			args := append([]string{"-dir", dir, "-builtin"}, c.names...)
			if code := run(t.Context(), args, os.Getenv, &out, &errs); code != c.want || !strings.Contains(out.String(), c.says) {
				t.Fatalf("status %d, want %d with %q:\n%s%s", code, c.want, c.says, out.String(), errs.String())
			}
		})
	}
}

func TestATimeLimitIsNoVerdict(t *testing.T) {
	var out, errs bytes.Buffer
	args := []string{"-dir", "..", "-builtin", "-timeout", "1ns", "log_cas"}
	if code := run(t.Context(), args, os.Getenv, &out, &errs); code != 1 || !strings.Contains(out.String(), "see -timeout") {
		t.Fatalf("status %d:\n%s", code, out.String())
	}
}

func TestRowsAreListed(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"-dir", "..", "-list", "before_gap"}, os.Getenv, &out, &errs); code != 0 {
		t.Fatalf("status %d, %s", code, errs.String())
	}
	if want := "before_gap               violates Agree in 7 steps\n"; out.String() != want {
		t.Fatalf("got %q", out.String())
	}
}

// S125: the small configurations run here, so that nobody changes the modules without
// seeing a verdict change; all of them are run by make tla.
func TestSmallConfigurationsAreAsDeclared(t *testing.T) {
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"-dir", "..", "-builtin", "-most", "8000"}, os.Getenv, &out, &errs)
	t.Logf("\n%s", out.String())
	if code != 0 {
		t.Fatalf("status %d: %s", code, errs.String())
	}
}
