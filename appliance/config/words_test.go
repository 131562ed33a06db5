package config

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestDidYouMean(t *testing.T) {
	names := []string{"address", "attempts", "interval", "ops", "on-call", "zone"}
	for _, c := range []struct{ name, typed, want string }{
		{"a letter too many", "opss", "ops"},
		{"a letter missing", "adress", "address"},
		{"two letters swapped", "zoen", "zone"},
		{"a capital letter", "Interval", "interval"},
		{"two letters wrong in a long word", "adresse", "address"},
		{"nothing alike", "colour", ""},
		{"an empty name is like nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := ""
			if c.want != "" {
				want = `; did you mean "` + c.want + `"?`
			}
			if got := didYouMean(c.typed, slices.Values(names)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"5s": 5 * time.Second, "1m30s": 90 * time.Second, "26h": 26 * time.Hour, "1d": 24 * time.Hour, "1w": 168 * time.Hour,
		"250ms": 250 * time.Millisecond, "0.5s": 500 * time.Millisecond, "0": 0, "0s": 0,
	} {
		got, why := parseDuration(&node{kind: kindText, text: text})
		if why != "" || got != want {
			t.Errorf("%s is %s, %q; want %s", text, got, why, want)
		}
	}
	for text, want := range map[string]string{
		"5":     `"5" is not a duration; write "5s" or "5m"`,
		"":      `"" is not a duration; write "5s" or "5m"`,
		"-5s":   `"-5s" is not a duration; write "5s" or "5m"`,
		"5 s":   `"5 s" is not a duration; write "5s" or "5m"`,
		"5y":    `"5y" is not a duration; write "5s" or "5m"`,
		"90000": `"90000" is not a duration; write "90000s" or "90000m"`,
		"1..5s": `"1..5s" is not a duration; write "5s" or "5m"`,
		"9999w": `"9999w" is too long; write at most "3660d"`,
	} {
		if _, got := parseDuration(&node{kind: kindText, text: text}); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func FuzzDuration(f *testing.F) {
	for _, text := range []string{"5s", "1h30m", "0", "1d", "1e9w", "..s", "5"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, why := parseDuration(&node{kind: kindText, text: text})
		if d < 0 || d > longest || why == "" && text == "" {
			t.Errorf("%q is %s, %q", text, d, why)
		}
	})
}

func TestPathsReadAsTheOperatorWritesThem(t *testing.T) {
	root := (*path)(nil)
	for want, p := range map[string]*path{
		"":                        root,
		"hosts":                   root.field("hosts"),
		"hosts.web-01.groups[2]":  root.field("hosts").field("web-01").field("groups").at(2),
		`hosts."a b".interval`:    root.field("hosts").field("a b").field("interval"),
		`hosts."".labels`:         root.field("hosts").field("").field("labels"),
		"policies[0].escalate[1]": root.field("policies").at(0).field("escalate").at(1),
	} {
		if got := p.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestProblemsPrint(t *testing.T) {
	p := Problem{Position{"site.cue", 14, 12}, "hosts.web01.interval", `"5" is not a duration; write "5s" or "5m"`}
	const line = "site.cue:14:12: hosts.web01.interval: \"5\" is not a duration; write \"5s\" or \"5m\"\n"
	if got := (Problems{p}).String(); got != line+"1 problem, nothing was changed.\n" {
		t.Errorf("got %q", got)
	}
	if got := (Problems{p, {Text: "x"}}).Error(); got != line+"x\n2 problems, nothing was changed." {
		t.Errorf("got %q", got)
	}
	if got := (Problems{}).String(); got != "" {
		t.Errorf("no problems print %q", got)
	}
	sorted := Problems{{Position{"b", 1, 1}, "", "x"}, {Position{"a", 2, 1}, "", "x"}, {Position{"a", 1, 9}, "", "x"}, {Position{"b", 1, 1}, "", "x"}}.sorted()
	if got := sorted.Lines(); got != "a:1:9: x\na:2:1: x\nb:1:1: x\n" {
		t.Errorf("sorted to %q", got)
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"web01": "", "web 01": "", "größe": "", strings.Repeat("x", 255): "",
		"": "is empty", "a!b": "separates", "a\nb": "control", "a\u0085b": "control", "a\xffb": "UTF-8",
		strings.Repeat("x", 256): "256 bytes",
	} {
		got := badName(name)
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q in it", name, got, want)
		}
	}
}
