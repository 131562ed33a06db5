package message_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"jaque.sh/jaque/appliance/rule/message"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs from what is written (go test -update writes it anew):\n%s", path, got)
	}
}

func TestEveryKindReadsAsItShould(t *testing.T) {
	for name, m := range cases() {
		t.Run(name, func(t *testing.T) {
			r, err := message.Render(m, nil)
			if err != nil {
				t.Fatal(err)
			}
			if r.Trouble != "" {
				t.Errorf("trouble with jaque's own text: %s", r.Trouble)
			}
			golden(t, name+".txt", "Subject: "+r.Subject+"\n\n"+r.Text+"\n=== in a chat\n"+r.Short+"\n")
			golden(t, name+".html", r.HTML)
			for l := range strings.SplitSeq(r.Text, "\n") {
				if n := utf8.RuneCountInString(l); n > 76 && !strings.Contains(l, "http") {
					t.Errorf("a line of %d columns: %s", n, l)
				}
			}
			if n := utf8.RuneCountInString(r.Short); n > 300 {
				t.Errorf("short text of %d characters", n)
			}
		})
	}
	t.Logf("cases: %d", len(cases()))
}
