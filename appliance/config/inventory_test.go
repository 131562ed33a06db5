package config

import (
	"fmt"
	"strings"
	"testing"
)

// decoded shows the hosts of an inventory with the place of everything.
func decoded(f *inventoryFile) string {
	var b strings.Builder
	for _, h := range f.hosts {
		fmt.Fprintf(&b, "%s@%d:%d", h.name, h.pos.Line, h.pos.Column)
		writeNode(&b, h.tree)
		b.WriteString("\n")
	}
	b.WriteString(f.problems.Lines())
	return b.String()
}

func writeNode(b *strings.Builder, n *node) {
	fmt.Fprintf(b, " %d:%d", n.pos.Line, n.pos.Column)
	switch n.kind {
	case kindMap:
		b.WriteString("{")
		for _, f := range n.fields {
			fmt.Fprintf(b, "%s", f.name)
			writeNode(b, f.node)
			b.WriteString(";")
		}
		b.WriteString("}")
	case kindList:
		b.WriteString("[")
		for _, item := range n.items {
			writeNode(b, item)
		}
		b.WriteString("]")
	case kindText:
		fmt.Fprintf(b, "%q", n.text)
	default:
		b.WriteString(" " + n.show())
	}
}

func TestInventoriesKeepEveryPlace(t *testing.T) {
	for _, c := range []struct {
		name string
		read func(string, []byte) *inventoryFile
		text string
		want string
	}{
		{
			"a table", readCSV, "name,label.role,attempts,groups\na,web,3,x;y\n",
			"a@2:1 2:1{name 2:1\"a\";attempts 2:7 3;groups 2:9[ 2:9\"x\" 2:9\"y\"];labels 2:3{role 2:3\"web\";};}\n",
		},
		{"a table with semicolons and a byte order mark", readCSV, "\ufeffname;alias\na;\"x;y\"\n", "a@2:1 2:1{name 2:1\"a\";alias 2:3\"x;y\";}\n"},
		{"a table with tabs", readCSV, "name\talias\na\tb\n", "a@2:1 2:1{name 2:1\"a\";alias 2:3\"b\";}\n"},
		{"a table with short rows", readCSV, "name,alias\na\n", "a@2:1 2:1{name 2:1\"a\";}\n"},
		{
			"a JSON list", readJSON, "[\n {\"name\": \"a\", \"groups\": [\"x\"], \"attempts\": 3}\n]",
			"a@2:2 2:2{name 2:11\"a\";groups 2:26[ 2:27\"x\"];attempts 2:45 3;}\n",
		},
		{"a JSON map", readJSON, `{"a": {"active": false, "alias": null}}`, "a@1:2 1:7{active 1:18 false;alias 1:34 null;}\n"},
		{"a JSON map under hosts", readJSON, `{"hosts": {"a": {}}}`, "a@1:12 1:17{}\n"},
		{"a YAML list", readYAML, "- name: a\n  groups: [x, y]\n", "a@1:3 1:3{name 1:9\"a\";groups 2:11[ 2:12\"x\" 2:15\"y\"];}\n"},
		{"a YAML map", readYAML, "a:\n  attempts: 3\n  alias: |\n    x\n", "a@1:1 2:3{attempts 2:13 3;alias 3:10\"x\\n\";}\n"},
		{
			"a YAML merge is overridden", readYAML, "a: &x\n  alias: one\n  zone: z\nb:\n  <<: *x\n  alias: two\n",
			"a@1:1 2:3{alias 2:10\"one\";zone 3:9\"z\";}\nb@4:1 5:3{alias 6:10\"two\";zone 3:9\"z\";}\n",
		},
		{
			"a YAML list of merges", readYAML, "a: {zone: x}\nb: &b {alias: y}\nc: &c {zone: z}\nd:\n  <<: [*b, *c]\n",
			"a@1:1 1:4{zone 1:11\"x\";}\nb@2:1 2:7{alias 2:15\"y\";}\nc@3:1 3:7{zone 3:14\"z\";}\nd@4:1 5:3{alias 2:15\"y\";zone 3:14\"z\";}\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := decoded(c.read("f", []byte(c.text))); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

func TestHostileInventoriesAreRefused(t *testing.T) {
	bomb := "a: &a {x: [1,2,3,4,5,6,7,8,9,0]}\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += fmt.Sprintf("%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1, c-1)
	}
	for _, c := range []struct {
		name string
		read func(string, []byte) *inventoryFile
		text string
	}{
		{"YAML anchors that multiply", readYAML, bomb},
		{"YAML that refers to itself", readYAML, "a: &a [*a]\n"},
		{"deep JSON", readJSON, strings.Repeat("[", 10000)},
		{"deep YAML", readYAML, strings.Repeat("[", 200) + strings.Repeat("]", 200)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if f := c.read("f", []byte(c.text)); len(f.problems) == 0 {
				t.Errorf("got %d hosts and no problem", len(f.hosts))
			}
		})
	}
}

func FuzzInventory(f *testing.F) {
	for _, seed := range []string{
		"name,address\nweb01,192.0.2.1\n", "name;label.x;var.y\na;1;2\n", "name\n\"a\nb\"\n",
		`[{"name": "a", "labels": {"x": "y"}}]`, `{"a": {}, "b": null}`, `{"hosts": [1, "x", {}]}`, `[{"name": "a"`, "[[[[",
		"a:\n  groups: [x]\n", "- name: a\n- <<: {}\n", "a: &x {b: 1}\nc: *x\n", "? a\n: b\n", "!!binary x", "--- a\n--- b\n", "a: 'b\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, read := range []func(string, []byte) *inventoryFile{readCSV, readJSON, readYAML} {
			out := read("f", content)
			l := newLoader(&source{}, ".", Options{})
			for _, h := range out.hosts {
				l.declare(l.host(nil, h.pos, h.name, h.tree, h.listed))
			}
			l.references()
			l.expand()
			for _, p := range append(out.problems, l.problems...) {
				if p.File != "f" || strings.Contains(p.String(), "\n") {
					t.Errorf("problem %q is not one line about the file", p)
				}
			}
			for id := range l.byName {
				if badName(id) != "" {
					t.Errorf("a host is named %q", id)
				}
			}
		}
	})
}
