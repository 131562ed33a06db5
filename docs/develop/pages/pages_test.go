package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const docs = "../.."

// S155, S157: every page has its line and stands in a section, and none is missing.
func TestEveryPageSaysWhereItStands(t *testing.T) {
	read := reader(docs)
	listed := map[string]bool{}
	for _, s := range sections() {
		for _, p := range s.pages {
			listed[p.name] = true
			text, err := read(p.name)
			if err != nil {
				t.Error(err)
				continue
			}
			line, err := head(p.name, read)
			if err != nil {
				t.Error(err)
				continue
			}
			if placed(text, line) != text {
				t.Errorf("docs/%s: the line below the title is not\n%s\nwrite it with go run ./docs/develop/pages; a generated page has it in its generator", p.name, line)
			}
		}
	}
	err := filepath.WalkDir(docs, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".md" {
			return err
		}
		p, err := filepath.Rel(docs, name)
		if p = filepath.ToSlash(p); !listed[p] && !loose(p) && !strings.Contains(p, "testdata/") {
			t.Errorf("docs/%s is in no section; add it to sections in docs/develop/pages", p)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, p := range []string{
		"deployment/choose.md", "deployment/overview.md", "deployment/topologies.md", "deployment/cluster-and-coordination.md",
		"deployment/kubernetes.md", "deployment/security.md", "project/status.md",
	} {
		if !listed[p] {
			t.Errorf("docs/%s is missing", p)
		}
	}
	t.Logf("%d pages", len(listed))
}

// S158: the index lists every page, and every link in it leads somewhere.
func TestTheIndexIsUpToDate(t *testing.T) {
	read := reader(docs)
	want, err := list(read)
	if err != nil {
		t.Fatal(err)
	}
	got, err := read(index)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("docs/%s is out of date; write it with go run ./docs/develop/pages", index)
	}
	links := regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(got, -1)
	for _, m := range links {
		if _, err := os.Stat(filepath.Join(docs, m[1])); err != nil {
			t.Error(err)
		}
	}
	pages := 0
	for _, s := range sections() {
		pages += len(s.pages)
	}
	if len(links) != pages {
		t.Errorf("%d links for %d pages", len(links), pages)
	}
}

// S093, S156: what is planned is called so, and the overview says when one process is
// enough.
func TestWhatThePagesMustSay(t *testing.T) {
	for page, parts := range map[string][]string{
		"project/status.md":      {"| a remote agent | **planned, it does not exist** |", "development only"},
		"deployment/overview.md": {"\n## 2. When one process is enough\n"},
	} {
		text, err := reader(docs)(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			if !strings.Contains(text, part) {
				t.Errorf("docs/%s does not say %q", page, part)
			}
		}
	}
}

func TestALineIsPlacedBelowTheTitle(t *testing.T) {
	for _, tt := range []struct{ name, give, want string }{
		{"a page without one", "# A\n\ntext\n", "# A\n\nSection: X\n\ntext\n"},
		{"a page with an old one", "# A\n\nSection: Y · Next: z\n\ntext\n", "# A\n\nSection: X\n\ntext\n"},
		{"a page with the right one", "# A\n\nSection: X\n\ntext\n", "# A\n\nSection: X\n\ntext\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := placed(tt.give, "Section: X"); got != tt.want {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestAFolderIsBroughtUpToDate(t *testing.T) {
	dir := t.TempDir()
	var errs bytes.Buffer
	if code := run([]string{"-dir", dir}, &errs); code != 1 || !strings.Contains(errs.String(), "read the page") {
		t.Errorf("an empty folder: %d, %s", code, errs.String())
	}
	if code := run([]string{"-x"}, &errs); code != 2 {
		t.Errorf("a wrong flag: %d", code)
	}
	for _, s := range sections() {
		for _, p := range s.pages {
			name := filepath.Join(dir, p.name)
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte("# "+p.name+"\n\nIt says something.\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 2 { // the second time changes nothing
		if code := run([]string{"-dir", dir}, &errs); code != 0 {
			t.Fatalf("status %d: %s", code, errs.String())
		}
		text, err := reader(dir)("deployment/security.md")
		want := "# deployment/security.md\n\nSection: Deployment · Next: [guide/start.md](../guide/start.md) · Index: [llms.txt](../llms.txt)\n\nIt says something.\n"
		if err != nil || text != want {
			t.Errorf("%v, %q", err, text)
		}
	}
	text, err := reader(dir)(index)
	if err != nil || !strings.Contains(text, "\n- [guide/start.md](guide/start.md): the demo, ") {
		t.Errorf("%v\n%s", err, text)
	}
}

// loose tells whether a file below docs/ is no page of its own: a decision or a change,
// which are listed on pages, or an example.
func loose(name string) bool {
	return strings.HasPrefix(name, "adr/") || strings.HasPrefix(name, "changes/") || strings.HasPrefix(name, "guide/examples/")
}
