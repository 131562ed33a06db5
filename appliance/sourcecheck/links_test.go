package sourcecheck

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// link finds [text](target) in Markdown.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// heading finds a heading's text.
var heading = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)

// notInAnchor is what a heading loses on its way to an anchor.
var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// anchors are the anchors of a Markdown text as forges make them.
func anchors(text string) []string {
	var out []string
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		a := notInAnchor.ReplaceAllString(strings.ToLower(m[1]), "")
		out = append(out, strings.ReplaceAll(a, " ", "-"))
	}
	return out
}

// deadLinks lists the relative links of a Markdown file that lead nowhere. read
// returns a file below the root, "" for a folder.
func deadLinks(name, text string, read func(name string) (string, error)) []string {
	var out []string
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		u, err := url.Parse(m[1])
		if err != nil {
			out = append(out, name+": "+m[1]+" is no link")
			continue
		}
		if u.IsAbs() {
			continue
		}
		target, page := name, text
		if u.Path != "" {
			target = path.Join(path.Dir(name), u.Path)
			if page, err = read(target); err != nil {
				out = append(out, name+": "+m[1]+" leads nowhere; links are relative to the file they stand in")
				continue
			}
		}
		if u.Fragment != "" && !slices.Contains(anchors(page), u.Fragment) {
			out = append(out, name+": "+m[1]+": no heading of that name in "+target)
		}
	}
	return out
}

func TestLinksLeadSomewhere(t *testing.T) {
	top := root(t)
	everyFile(t, func(name string, src []byte) {
		if filepath.Ext(name) != ".md" || strings.Contains(name, "testdata/") {
			return
		}
		report(t, deadLinks(name, string(src), func(target string) (string, error) {
			full := filepath.Join(top, filepath.FromSlash(target))
			if info, err := os.Stat(full); err != nil || info.IsDir() {
				return "", err
			}
			b, err := os.ReadFile(full)
			return string(b), err
		}))
	})
}

func TestLinkRule(t *testing.T) {
	read := func(name string) (string, error) {
		if name == "docs/guide/start.md" {
			return "# Start here\n## First host, quickly\n", nil
		}
		return "", os.ErrNotExist
	}
	for _, c := range []struct{ name, text, want string }{
		{"a file that exists", "[a](guide/start.md)", ""},
		{"a heading that exists", "[a](guide/start.md#first-host-quickly)", ""},
		{"a heading of the same page", "# Top\n[a](#top)", ""},
		{"another site is not asked", "[a](https://example.com/x)", ""},
		{"a file that does not", "[a](guide/stop.md)", "leads nowhere"},
		{"a heading that does not", "[a](guide/start.md#last-host)", "no heading"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want(t, deadLinks("docs/README.md", c.text, read), c.want)
		})
	}
}
