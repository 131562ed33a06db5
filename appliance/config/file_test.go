package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRefusedInventories reads broken files with each reader. A row wants one
// problem, on the line where the file is wrong.
func TestRefusedInventories(t *testing.T) {
	csv, json, yaml := readCSV, readJSON, readYAML
	for _, c := range []struct {
		name string
		read func(string, []byte) *inventoryFile
		text string
		line int
		want string
	}{
		{"an empty table", csv, "", 1, "no header"},
		{"a table of comments", csv, "# name\n\n", 1, "no header"},
		{"no column of names", csv, "host,address\na,b\n", 1, `no column is named "name"`},
		{"a column twice", csv, "name,zone,zone\n", 1, `two columns are named "zone"`},
		{"a column without a name", csv, "name,,zone\n", 1, "column 2 has no name"},
		{"a label without a name", csv, "name,label.\n", 1, "column 2 has no name"},
		{"a column of sets", csv, "name,labels\n", 1, "a column cannot hold labels"},
		{"a column of checks", csv, "name,check\n", 1, "a column cannot hold check"},
		{"more cells than columns", csv, "name,zone\na,b\nc,d,e\n", 3, "3 cells in a table of 2 columns"},
		{"a quote within a cell", csv, "name,alias\na,say \"hi\"\n", 2, "put the whole cell in quotes"},
		{"a quote that nothing closes", csv, "name,alias\na,\"b\n", 2, "quote"},

		{"an empty JSON file", json, " \n", 1, "the file is empty"},
		{"a JSON number", json, "5", 1, "5 is neither a list nor a map of hosts"},
		{"a JSON text", json, "\n\"x\"", 2, `"x" is neither a list nor a map of hosts`},
		{"JSON that ends early", json, "[\n{\"name\": \"a\"\n", 3, "ends in the middle"},
		{"JSON with a comma too many", json, "[\n{},\n]", 2, "not JSON"},
		{"JSON with a name twice", json, "{\"a\": {},\n\"a\": {}}", 2, `the name "a" stands here and at f:1:2`},
		{"JSON with two values", json, "[]\n[]", 2, "a second value follows the first"},
		{"JSON with single quotes", json, "{'a': {}}", 1, "not JSON"},
		{"JSON nested without end", json, strings.Repeat("[", 60), 1, "nested deeper than 40 levels"},

		{"an empty YAML file", yaml, "# nothing\n", 1, "the file is empty"},
		{"a YAML text", yaml, "hello", 1, "neither a list nor a map of hosts"},
		{"a YAML name twice", yaml, "a: {}\na: {}\n", 2, ""},
		{"YAML with two documents", yaml, "a: {}\n---\nb: {}\n", 3, "a second document follows the first"},
		{"YAML with an anchor nobody set", yaml, "a:\n  zone: *z\n", 2, ""},
		{"YAML with a tab as indent", yaml, "a:\n\tzone: x\n", 2, "not YAML"},
		{"YAML with an open bracket", yaml, "a: [x\n", 1, "not YAML"},
		{"a YAML number that is none", yaml, "a:\n  attempts: .inf\n", 2, "this kind of value has no meaning here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := c.read("f", []byte(c.text))
			if len(f.problems) != 1 || f.problems[0].Line != c.line || !strings.Contains(f.problems[0].Text, c.want) {
				t.Errorf("got\n%swant one on line %d with %q", f.problems.Lines(), c.line, c.want)
			}
		})
	}
}

// TestHostsOfInventories looks at inventories that can be read and whose hosts
// are wrong; the place is that of the cell or the value.
func TestHostsOfInventories(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"a host without a name", "h.json", `[{"address": "x"}]`, "h.json:1:2: name: missing; write name:"},
		{"a host that is a text", "h.json", `{"a": "x"}`, `h.json:1:7: hosts.a: "x" is not a set of fields`},
		{"a host in a list that is a number", "h.yml", "- 5\n", "h.yml:1:3: 5 is not a set of fields"},
		{"attempts that are no number", "h.csv", "name,attempts\na,many\n", `h.csv:2:3: hosts.a.attempts: `},
		{"a switch that is none", "h.csv", "name,active\na,yes\n", `h.csv:2:3: hosts.a.active: `},
		{"an unknown column", "h.csv", "name,adress\na,x\nb,y\n", `adress: no such field; did you mean "address"?`},
		{"a bad name in a cell", "h.csv", "name\na!b\n", "h.csv:2:1: "},
		{"a parent that is nowhere", "h.yaml", "a:\n  parents: [gw]\n", "h.yaml:2:13: hosts.a.parents[0]: "},
		{"a host that the package has too", "h.yaml", "dup: {}\n", "hosts.dup: declared twice, first at "},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{
				"site.cue": "package site\nhosts: dup: {}\ninventory: [\"" + c.file + "\"]\n", c.file: c.text,
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			_, problems := Load(dir, Options{})
			if len(problems) != 1 || !strings.Contains(problems.Lines(), c.want) {
				t.Errorf("got\n%swant one with %q", problems.Lines(), c.want)
			}
		})
	}
}

// TestInventoriesThatCannotBeFound names files in every wrong way.
func TestInventoriesThatCannotBeFound(t *testing.T) {
	for entry, want := range map[string]string{
		"":          "empty; write the name of a file or a pattern",
		"gone.json": "there is no such file",
		"*.json":    `no file matches "*.json"`,
		"[.json":    "is not a pattern",
		"hosts.txt": "is no inventory; use a file that ends in .csv",
		"hosts":     "is no inventory",
	} {
		_, problems := tryLoad(t, "inventory: [\""+entry+"\"]\n")
		if len(problems) != 1 || problems[0].Path != "inventory[0]" || !strings.Contains(problems[0].Text, want) {
			t.Errorf("%q: got\n%swant %q", entry, problems.Lines(), want)
		}
	}
}

// TestWhatCUERefuses has the operator's words for CUE's own errors.
func TestWhatCUERefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"two values", "hosts: a: zone: \"x\"\nhosts: a: zone: \"y\"\n", `two values are given, "y" and "x"`},
		{"a name that is nothing", "hosts: a: zone: dmz\n", `nothing here is named "dmz"; write "dmz" for a text`},
		{"a field that is not there", "x: {}\nhosts: a: zone: x.y\n", ""},
		{"a text without an end", "hosts: a: zone: \"x\n", "closing quote"},
		{"a missing brace", "hosts: a: {\n", "not the syntax of CUE"},
		{"a missing comma", "hosts: {a: {} b: {}}\n", "a comma or a line break is missing"},
		{"only a type", "hosts: a: zone: string\n", "has no value yet, only a type"},
		{"a number over a limit of its own", "#n: <10\nhosts: a: attempts: #n & 12\n", ""},
		{"a foreign package", "import \"example.com/x\"\nhosts: a: zone: x.y\n", "only CUE's own packages, such as"},
		{"an import for nothing", "import \"strings\"\nhosts: a: {}\n", "imported and not used"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, problems := tryLoad(t, c.text)
			if len(problems) == 0 || !strings.Contains(problems.Lines(), c.want) {
				t.Errorf("got\n%swant one with %q", problems.Lines(), c.want)
			}
			for _, p := range problems {
				// CUE's own words for a failure name its types; ours never do.
				if strings.Contains(p.Text, "_|_") || strings.Contains(p.Text, "#Config") {
					t.Errorf("the text is CUE's: %s", p.Text)
				}
			}
		})
	}
}

// TestSecretsThatCannotBeRead wants the reference in the error and nothing else.
func TestSecretsThatCannotBeRead(t *testing.T) {
	for text, want := range map[string]string{
		"file:gone":   "there is no such file",
		"file:locked": "permission denied",
		"file:odd":    "the disk is on fire",
		"file:empty":  "is empty; write the secret into it",
		"env:UNSET":   `the environment variable "UNSET" is not set`,
		"env:EMPTY":   `the environment variable "EMPTY" is not set`,
		"":            `empty; write a text, "file:PATH" or "env:NAME"`,
	} {
		path := filepath.Join(t.TempDir(), "site.cue")
		if err := os.WriteFile(path, []byte("package site\nsettings: macros: USER1: \""+text+"\"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		_, problems := Load(path, Options{
			LookupEnv: func(name string) (string, bool) { return "", name == "EMPTY" },
			ReadSecret: func(name string) ([]byte, error) {
				switch filepath.Base(name) {
				case "gone":
					return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
				case "locked":
					return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
				case "odd":
					return nil, errors.New("the disk is on fire")
				}
				return []byte("\n"), nil
			},
		})
		if len(problems) != 1 || problems[0].Path != "settings.macros.USER1" || !strings.Contains(problems[0].Text, want) {
			t.Errorf("%q: got\n%swant %q", text, problems.Lines(), want)
		}
	}
}
