package build_test

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/objectfile"
	"jaque.sh/jaque/appliance/rule/objectfile/build"
)

// tree is a whole configuration: texts by path.
type tree map[string]string

// blocks reads the object files that the main file names and those they include.
func (f tree) blocks(m objectfile.Main) ([]objectfile.Block, objectfile.Problems) {
	var blocks []objectfile.Block
	var problems objectfile.Problems
	var file func(name string)
	dir := func(name string) {
		var inside []string
		for p := range f {
			if strings.HasPrefix(p, path.Clean(name)+"/") && strings.HasSuffix(p, ".cfg") {
				inside = append(inside, p)
			}
		}
		sort.Strings(inside)
		for _, p := range inside {
			file(p)
		}
	}
	file = func(name string) {
		parsed, more := objectfile.Parse(objectfile.Source{Path: name, Text: f[path.Clean(name)]})
		blocks, problems = append(blocks, parsed.Blocks...), append(problems, more...)
		for _, i := range parsed.Includes {
			if i.Dir {
				dir(i.Path)
				continue
			}
			file(i.Path)
		}
	}
	for _, d := range m {
		switch d.Name {
		case "cfg_file":
			file(d.Value)
		case "cfg_dir":
			dir(d.Value)
		}
	}
	return blocks, problems
}

func (f tree) build() (*object.Set, objectfile.Problems) {
	m, problems := objectfile.ParseMain(objectfile.Source{Path: "nagios.cfg", Text: f["nagios.cfg"]})
	blocks, more := f.blocks(m)
	problems = append(problems, more...)
	objects, more := objectfile.Resolve(blocks)
	problems = append(problems, more...)
	s, more := build.Build(objects, m)
	return s, append(problems, more...)
}

type attribute struct {
	Type, Name, Attr string
	Value            any
}

type content struct {
	Hosts, Services []string
	Attributes      []attribute
	Objects         map[string]int

	ServiceDependencies []string `json:"service_dependencies"`
	HostDependencies    []string `json:"host_dependencies"`
}

// compare compares a set with what a case says it holds.
func (c *content) compare(t *testing.T, s *object.Set) {
	t.Helper()
	var services, hosts []string
	for _, o := range s.Objects {
		if o.Kind() == object.Host {
			hosts = append(hosts, o.Name)
			continue
		}
		services = append(services, o.Host.Name+"/"+o.Name)
	}
	for _, l := range [][]string{services, hosts, c.Services, c.Hosts} {
		sort.Strings(l)
	}
	if !slices.Equal(services, c.Services) {
		t.Errorf("services %q, want %q", services, c.Services)
	}
	if c.Hosts != nil && !slices.Equal(hosts, c.Hosts) || len(hosts) != c.Objects["host"] {
		t.Errorf("hosts %q, want %q", hosts, c.Hosts)
	}
	c.compareDependencies(t, s)
	for what, got := range map[string]int{"contact": len(s.Contacts), "contactgroup": len(s.ContactGroups)} {
		if got != c.Objects[what] {
			t.Errorf("%d of type %s, want %d", got, what, c.Objects[what])
		}
	}
	for _, a := range c.Attributes {
		got, ok := value(s, a)
		if want, _ := json.Marshal(a.Value); ok && string(want) != got {
			t.Errorf("%s %s: %s is %s, want %s", a.Type, a.Name, a.Attr, got, want)
		}
	}
}

// compareDependencies counts one for each kind of criteria, as Nagios dumps them.
func (c *content) compareDependencies(t *testing.T, s *object.Set) {
	t.Helper()
	var of [2][]string
	for _, o := range s.Objects {
		for _, d := range o.Depends {
			text := strings.Replace(string(o.ID)+" -> "+string(d.Master.ID), "!", "/", -1)
			for _, is := range []bool{d.Execution != 0 || d.ExecutionPending, d.Notification != 0 || d.NotificationPending} {
				if is {
					of[o.Kind()] = append(of[o.Kind()], text)
				}
			}
		}
	}
	for k, want := range [][]string{object.Host: c.HostDependencies, object.Service: c.ServiceDependencies} {
		got := of[k]
		sort.Strings(got)
		sort.Strings(want)
		if n := c.Objects[object.Kind(k).String()+"dependency"]; len(got) != n || want != nil && !slices.Equal(got, want) {
			t.Errorf("%d dependencies of %ss %q, want %d %q", len(got), object.Kind(k), got, n, want)
		}
	}
}

// value returns an attribute of those that a set holds, as JSON.
func value(s *object.Set, a attribute) (string, bool) {
	var v any
	o := s.Get(object.ID(strings.Replace(a.Name, "/", "!", 1)))
	switch key := a.Type + " " + a.Attr; {
	case key == "hostgroup members":
		v = names(s.Groups[a.Name])
	case key == "servicegroup members":
		v = pairs(s.Groups[a.Name])
	case key == "contactgroup members":
		v = s.ContactGroups[a.Name]
	case a.Type == "contact":
		return ofContact(s.Contacts[a.Name], a.Attr)
	case o == nil:
		return "", false
	case a.Attr == "event_handler":
		if v = any(nil); o.Rule.Handler != nil {
			v = o.Rule.Handler.Name
		}
	case key == "host alias":
		v = o.Alias
	case key == "host parents":
		v = names(o.Parents)
	case a.Attr == "check_interval":
		v = o.Rule.Interval.Minutes()
	case a.Attr == "notification_interval":
		v = o.Rule.NoteInterval.Minutes()
	case a.Attr == "action_url":
		v = o.Rule.ActionURL
	case key == "service display_name":
		v = o.Alias
	case key == "service is_volatile":
		v = map[bool]int{true: 1}[o.Rule.Volatile]
	case strings.HasPrefix(a.Attr, "_"):
		v = o.Vars[a.Attr[1:]]
	default:
		return "", false
	}
	text, err := json.Marshal(v)
	return string(text), err == nil
}

func pairs(services []*object.Object) []string {
	list := make([]string, len(services))
	for i, o := range services {
		list[i] = o.Host.Name + "/" + o.Name
	}
	sort.Strings(list)
	return list
}

func ofContact(c *object.Contact, attr string) (string, bool) {
	var v any
	switch {
	case attr == "alias":
		v = c.Alias
	case attr == "email" && c.Email != "":
		v = c.Email
	case strings.HasPrefix(attr, "_"):
		v = c.Vars[attr[1:]]
	default:
		return "", false
	}
	text, err := json.Marshal(v)
	return string(text), err == nil
}

func names(objects []*object.Object) []string {
	list := make([]string, len(objects))
	for i, o := range objects {
		list[i] = o.Name
	}
	sort.Strings(list)
	return list
}

func TestWholeConfigurations(t *testing.T) {
	folders, err := filepath.Glob("testdata/configs/*")
	if err != nil || len(folders) == 0 {
		t.Fatal("no configurations", err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			files := tree{}
			root := os.DirFS(folder)
			err := fs.WalkDir(root, ".", func(p string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() {
					return err
				}
				text, err := fs.ReadFile(root, p)
				files[p] = string(text)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			var want content
			if err := json.Unmarshal([]byte(files["expected.json"]), &want); err != nil {
				t.Fatal(err)
			}
			s, problems := files.build()
			if err := problems.Err(); err != nil {
				t.Fatal(err)
			}
			want.compare(t, s)
		})
	}
	t.Logf("%d configurations", len(folders))
}

// mistake is where a case expects the import to fail.
type mistake struct {
	File  *string
	Lines []int
	About []string
}

// found tells whether one of the problems is the expected one.
func (m *mistake) found(problems objectfile.Problems) bool {
	for _, p := range problems {
		here := m.File == nil || p.File == *m.File && p.Line >= m.Lines[0] && p.Line <= m.Lines[1]
		for _, word := range m.About {
			here = here && strings.Contains(p.Error(), word)
		}
		if here {
			return true
		}
	}
	return false
}

func TestCasesOfConfigImport(t *testing.T) {
	paths, err := filepath.Glob("testdata/import/*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	ran := 0
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewScanner(strings.NewReader(string(text)))
		in.Buffer(nil, len(text)+1)
		for in.Scan() {
			var c struct {
				ID, Title string
				Input     struct{ Files tree }
				Expect    struct {
					content
					Error *mistake
				}
			}
			if err := json.Unmarshal(in.Bytes(), &c); err != nil {
				t.Fatal(err)
			}
			s, problems := c.Input.Files.build()
			ran++
			t.Run(c.ID+" "+c.Title, func(t *testing.T) {
				if c.Expect.Error != nil {
					if !c.Expect.Error.found(problems) {
						t.Errorf("got %v, want %+v", problems, c.Expect.Error)
					}
					return
				}
				if err := problems.Err(); err != nil {
					t.Fatal(err)
				}
				c.Expect.compare(t, s)
			})
		}
	}
	t.Logf("%d cases", ran)
}
