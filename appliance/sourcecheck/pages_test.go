package sourcecheck

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// decision is the name of a decision's page.
var decision = regexp.MustCompile(`^docs/adr/[0-9]{4}-[a-z0-9-]+\.md$`)

// kinds are the kinds of change that a fragment may have.
var kinds = []string{"change", "feature", "enhancement", "fix"}

// fragment complains about a file of docs/changes that cannot be joined into
// the changelog.
func fragment(name, text string) []string {
	kind, rest, _ := strings.Cut(text, "\n")
	what, more, _ := strings.Cut(rest, "\n")
	switch {
	case !slices.Contains(kinds, strings.TrimPrefix(kind, "kind: ")):
		return []string{name + `: the first line is "kind: " and one of ` + strings.Join(kinds, ", ")}
	case !strings.HasPrefix(what, "what: ") || len(what) > 100:
		return []string{name + `: the second line is "what: " and what changed in at most 100 bytes`}
	case strings.TrimSpace(more) == "":
		return []string{name + ": say below an empty line what was before and what is now"}
	}
	return nil
}

func TestEveryDecisionIsListed(t *testing.T) {
	index, numbers := "", map[string]string{}
	everyFile(t, func(name string, src []byte) {
		if name == "docs/adr/README.md" {
			index = string(src)
		}
		if decision.MatchString(name) {
			number := path.Base(name)[:4]
			if other := numbers[number]; other != "" {
				t.Errorf("%s: %s has the same number; take the next free one", name, other)
			}
			numbers[number] = name
		}
	})
	for _, name := range numbers {
		if !strings.Contains(index, "("+path.Base(name)+")") {
			t.Errorf("%s is not listed in docs/adr/README.md", name)
		}
	}
}

func TestChangesCanBeJoined(t *testing.T) {
	everyFile(t, func(name string, src []byte) {
		if path.Dir(name) == "docs/changes" && path.Base(name) != "README.md" {
			report(t, fragment(name, string(src)))
		}
	})
}

func TestFragmentRule(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"kind, what and a text are right", "kind: fix\nwhat: It works\n\nIt did not.\n", ""},
		{"the kind is one of four", "kind: news\nwhat: It works\n\nIt did not.\n", "first line"},
		{"what is one line", "kind: fix\nIt works\n\nIt did not.\n", "second line"},
		{"what is short", "kind: fix\nwhat: " + strings.Repeat("a", 100) + "\n\nIt did not.\n", "second line"},
		{"the text says more", "kind: fix\nwhat: It works\n\n", "what was before"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want(t, fragment("docs/changes/x.md", c.text), c.want)
		})
	}
}
