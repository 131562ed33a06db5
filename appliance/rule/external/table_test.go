package external_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/rule/external"
)

var update = flag.Bool("update", false, "write docs/reference/external-commands.md instead of comparing it")

// testdata/names.txt holds the names of all commands that Nagios Core, Naemon and
// Icinga know, aliases too.
func TestEveryCommandOfNagiosHasARow(t *testing.T) {
	text, err := os.ReadFile("testdata/names.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, r := range external.Commands() {
		for _, name := range append([]string{r.Name}, r.Aliases...) {
			if known[name] {
				t.Errorf("%s stands twice in the table", name)
			}
			known[name] = true
		}
	}
	n := 0
	for _, name := range strings.Fields(string(text)) {
		n++
		if !known[name] {
			t.Errorf("%s has no row", name)
		}
		delete(known, name)
	}
	for name := range known {
		t.Errorf("%s is in the table, but not in testdata/names.txt", name)
	}
	t.Logf("%d names", n)
}

func TestEveryRowIsForPeople(t *testing.T) {
	for _, r := range external.Commands() {
		if !strings.HasPrefix(r.Form, r.Name) || !strings.HasSuffix(r.Text, ".") || strings.HasSuffix(r.Unsupported, ".") {
			t.Errorf("row %+v", r)
		}
		_, err := external.Parse("["+"1893456000] "+r.Name, 1)
		var why *external.Refusal
		if refused := errorAs(err, &why) && why.Reason == external.Unsupported; refused != (r.Unsupported != "") {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
}

const page = "../../../docs/reference/external-commands.md"

func TestTheReferencePageIsCurrent(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# External commands

Section: Reference · Next: [Filters](filter.md) · Index: [llms.txt](../llms.txt)

This page is generated from the table that the program uses (` + "`go test ./appliance/rule/external -update`" + `).
How to send them: [Coming from Nagios](../guide/coming-from-nagios.md).

A line is ` + "`[time] COMMAND;argument;…`" + `, the time in seconds since 1970, with a fraction or in milliseconds too. Without
` + "`[time] `" + ` it was written now. The name may be in any case. A line is taken whole or refused whole.
What stands in brackets may be left out; an author and a comment behind other arguments become a comment of the object.

| argument | what stands there |
| --- | --- |
`)
	for _, a := range external.Arguments() {
		fmt.Fprintf(&b, "| %s | %s |\n", a[0], a[1])
	}
	b.WriteString("\n| command | what it does |\n| --- | --- |\n")
	for _, r := range external.Commands() {
		text := r.Text
		if r.Only != "" {
			text += " Of " + r.Only + "."
		}
		if len(r.Aliases) > 0 {
			text += " Also `" + strings.Join(r.Aliases, "`, `") + "`."
		}
		if r.Unsupported != "" {
			text += " **Refused:** " + r.Unsupported + "."
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", r.Form, text)
	}
	if *update {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != b.String() {
		t.Errorf("%s is not what the table says; run go test ./appliance/rule/external -update", page)
	}
}

// The lines that the guide shows are carried out as they stand there.
func TestTheLinesOfTheGuideAreRight(t *testing.T) {
	text, err := os.ReadFile("../../../docs/guide/coming-from-nagios.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile(`printf '(\[.*)\\n'`).FindAllStringSubmatch(string(text), -1)
	if len(shown) < 2 {
		t.Errorf("%d lines in the guide", len(shown))
	}
	for _, m := range shown {
		line := strings.Replace(m[1], "%s", "1893456000", 1)
		if _, err := external.Parse(line, now); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}
