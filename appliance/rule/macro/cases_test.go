package macro_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/macro"
	"jaque.sh/jaque/appliance/rule/objectfile"
	"jaque.sh/jaque/appliance/rule/objectfile/build"
	"jaque.sh/jaque/appliance/rule/output"
)

const illegal = "`~$&|'\"<>"

type step struct {
	At                          int64
	Host, Service, Output, Kind string
	Cmd                         string // an external command instead of a result
	RC                          int
}

type expected struct {
	Expanded    *string
	Argv        []string
	Alternative []expected `json:"any_of"`
}

type testCase struct {
	ID, Area, Title string
	Input           struct {
		Kind, Host, Service, Contact string
		Config, Main, Resource, Text string
		Start                        int64
		Steps                        []step
		Clean                        bool
		CommandLine                  string `json:"command_line"`
	}
	Expect expected
}

func (e expected) matches(expanded string, argv []string) bool {
	for _, a := range e.Alternative {
		if a.matches(expanded, argv) {
			return true
		}
	}
	return len(e.Alternative) == 0 && (e.Expanded == nil || *e.Expanded == expanded) &&
		(e.Argv == nil || reflect.DeepEqual(e.Argv, argv))
}

func TestCasesOfMacros(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	ran := 0
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewScanner(strings.NewReader(string(text)))
		in.Buffer(nil, len(text)+1)
		for in.Scan() {
			var c testCase
			if err := json.Unmarshal(in.Bytes(), &c); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if c.Area != "macros" {
				continue
			}
			ran++
			t.Run(c.ID, func(t *testing.T) { runCase(t, c) })
		}
	}
	t.Logf("%d cases", ran)
}

func runCase(t *testing.T, c testCase) {
	var expanded string
	var argv []string
	if c.Input.Kind == "argv" {
		var err error
		var shell bool
		if argv, shell, err = macro.SplitCommand(c.Input.CommandLine); err != nil || shell {
			t.Errorf("needs a shell: %v, %v", shell, err)
		}
	} else {
		w := newWorld(t, c.Input.Config, c.Input.Main, c.Input.Resource)
		src := w.play(c)
		opts := macro.Options{Clean: c.Input.Clean, Illegal: illegal}
		if c.Input.Kind == "text" {
			expanded = macro.Expand(c.Input.Text, src, opts)
		} else {
			var err error
			expanded, err = macro.Line(w.source[src.Object.ID].Text("check_command", ""), w.command, src, macro.Options{})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if !c.Expect.matches(expanded, argv) {
		t.Errorf("%s: got %q, %q\nwant %+v", c.Title, expanded, argv, c.Expect)
	}
}

// world is a config with the states of its objects.
type world struct {
	t       *testing.T
	set     *object.Set
	states  map[object.ID]*fold.State
	source  map[object.ID]*objectfile.Object
	objects []*objectfile.Object
	src     macro.Source
}

func newWorld(t *testing.T, config, main, resource string) *world {
	t.Helper()
	objects, problems := objectfile.Read(objectfile.Source{Path: "objects.cfg", Text: config})
	m, more := objectfile.ParseMain(objectfile.Source{Path: "nagios.cfg", Text: main})
	problems = append(problems, more...)
	users, more := objectfile.ParseResource(objectfile.Source{Path: "resource.cfg", Text: resource})
	problems = append(problems, more...)
	set, more := build.Build(objects, m)
	if err := append(problems, more...).Err(); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, set: set, objects: objects, states: map[object.ID]*fold.State{}, source: map[object.ID]*objectfile.Object{}}
	for _, o := range set.Objects {
		s := fold.New(o)
		w.states[o.ID] = &s
		w.source[o.ID] = w.definition(o)
	}
	w.joinServiceGroups()
	w.src = macro.Source{
		Find: set.Get, Objects: set.Objects, State: func(id object.ID) *fold.State { return w.states[id] },
		HostGroup: w.hostGroup, FindContact: w.contact, ContactGroup: w.contactGroup,
		User:         func(n int) string { return users[n] },
		ServiceGroup: w.serviceGroup,
		Declared:     func(o *object.Object, directive string) string { return w.source[o.ID].Text(directive, "") },
	}
	return w
}

// definition finds what an object was made from.
func (w *world) definition(o *object.Object) *objectfile.Object {
	for _, d := range w.objects {
		if o.Kind() == object.Host && d.Type == "host" && d.Name == o.Name {
			return d
		}
		if o.Kind() == object.Service && d.Type == "service" && d.Name == o.Name &&
			(d.Find("hostgroup_name") != nil || slices.Contains(d.Names("host_name"), o.Host.Name) || d.Text("host_name", "") == "*") {
			return d
		}
	}
	w.t.Fatalf("no definition of %s", o.ID)
	return nil
}

func (w *world) named(kind, name string) *objectfile.Object {
	for _, d := range w.objects {
		if d.Type == kind && d.Name == name {
			return d
		}
	}
	return nil
}

func (w *world) command(name string) (string, bool) {
	d := w.named("command", name)
	if d == nil {
		return "", false
	}
	return d.Text("command_line", ""), true
}

func (w *world) hostGroup(name string) *macro.Group {
	d := w.named("hostgroup", name)
	if d == nil {
		return nil
	}
	return &macro.Group{
		Name: name, Alias: d.Text("alias", ""), Notes: d.Text("notes", ""), NotesURL: d.Text("notes_url", ""),
		Action: d.Text("action_url", ""), Members: w.set.Groups[name],
	}
}

func (w *world) serviceGroup(name string) *macro.Group {
	d := w.named("servicegroup", name)
	if d == nil {
		return nil
	}
	g := &macro.Group{
		Name: name, Alias: d.Text("alias", ""), Notes: d.Text("notes", ""), NotesURL: d.Text("notes_url", ""), Action: d.Text("action_url", ""),
	}
	for _, o := range w.set.Objects {
		if o.Kind() == object.Service && slices.Contains(o.Groups, name) {
			g.Members = append(g.Members, o)
		}
	}
	return g
}

// joinServiceGroups tells services the groups that list them or that they list.
func (w *world) joinServiceGroups() {
	join := func(o *object.Object, name string) {
		if o != nil && !slices.Contains(o.Groups, name) {
			o.Groups = append(o.Groups, name)
			sort.Strings(o.Groups)
		}
	}
	for _, d := range w.objects {
		if d.Type != "servicegroup" {
			continue
		}
		members := d.Names("members")
		for i := 0; i+1 < len(members); i += 2 {
			join(w.set.Get(object.ServiceID(members[i], members[i+1])), d.Name)
		}
	}
	for _, o := range w.set.Objects {
		if o.Kind() == object.Service {
			for _, name := range w.source[o.ID].Names("servicegroups") {
				join(o, name)
			}
		}
	}
}

func (w *world) contact(name string) *macro.Contact {
	d := w.named("contact", name)
	if d == nil {
		return nil
	}
	c := &macro.Contact{
		Name: name, Alias: d.Text("alias", ""), Email: d.Text("email", ""), Pager: d.Text("pager", ""),
		Groups: d.Names("contactgroups"), Vars: d.Vars(),
	}
	for i := range c.Addresses {
		c.Addresses[i] = d.Text("address"+string(rune('1'+i)), "")
	}
	for _, g := range w.objects {
		if g.Type == "contactgroup" {
			for _, m := range g.Names("members") {
				if m == name {
					c.Groups = append(c.Groups, g.Name)
				}
			}
		}
	}
	sort.Strings(c.Groups)
	return c
}

func (w *world) contactGroup(name string) *macro.ContactGroup {
	d := w.named("contactgroup", name)
	if d == nil {
		return nil
	}
	return &macro.ContactGroup{Name: name, Alias: d.Text("alias", ""), Members: d.Names("members")}
}

// play runs the steps of a case and returns the source of its object.
func (w *world) play(c testCase) *macro.Source {
	w.t.Helper()
	src := w.src
	src.Started = object.Time(c.Input.Start-60) * 1000
	src.Now = object.Time(c.Input.Start) * 1000
	for _, s := range c.Input.Steps {
		src.Now = object.Time(c.Input.Start+s.At) * 1000
		if s.Cmd != "" {
			s = submitted(s)
		}
		w.check(s, src.Now)
	}
	id := object.HostID(c.Input.Host)
	if c.Input.Service != "" {
		id = object.ServiceID(c.Input.Host, c.Input.Service)
	}
	src.Object = w.set.Get(id)
	if c.Input.Contact != "" {
		src.Contact = w.contact(c.Input.Contact)
	}
	return &src
}

// submitted turns a command that submits a result into the step it means; any
// other becomes a step about nothing.
func submitted(s step) step {
	name, rest, _ := strings.Cut(s.Cmd, ";")
	parts := strings.SplitN(rest, ";", 4)
	out := step{At: s.At, Kind: "passive"}
	switch {
	case name == "PROCESS_SERVICE_CHECK_RESULT" && len(parts) == 4:
		out.Service = parts[0] + "/" + parts[1]
		parts = parts[2:]
	case name == "PROCESS_HOST_CHECK_RESULT" && len(parts) >= 3:
		out.Host = parts[0]
		parts = []string{parts[1], strings.Join(parts[2:], ";")}
	default:
		return out
	}
	out.RC, _ = strconv.Atoi(parts[0])
	out.Output = output.Unescape(parts[1])
	return out
}

func (w *world) check(s step, now object.Time) {
	w.t.Helper()
	id := object.HostID(s.Host)
	if s.Service != "" {
		id = object.ID(strings.Replace(s.Service, "/", "!", 1))
	}
	o := w.set.Get(id)
	if o == nil {
		return
	}
	res := output.Judge(&output.Run{Kind: o.Kind(), ID: id, Stdout: []byte(s.Output), Exit: s.RC})
	if s.Kind == "passive" {
		var err error
		if res, err = output.Passive(o.Kind(), s.RC, []byte(s.Output)); err != nil {
			return
		}
	}
	env := &fold.Env{Object: o, Settings: &w.set.Settings, Epoch: 1, Writer: "a", Instance: "1", ID: "d"}
	if o.Host != nil {
		env.Host = w.states[o.Host.ID]
	}
	for _, p := range o.Parents {
		if w.states[p.ID].Status.State == object.Up {
			env.ParentsUp++
		}
	}
	d, err := fold.Decide(env, w.states[id], fold.Result{
		State: res.State, Passive: s.Kind == "passive", Output: res.Output, Long: res.Long, Perfdata: res.Perfdata, Start: now,
	}, now)
	if err != nil {
		w.t.Fatal(err)
	}
	e := &d.Result
	if d.HasLog {
		e = &d.Log
		e.Seq = w.states[id].Last + 1
	}
	next, _ := fold.Apply(*w.states[id], e)
	w.states[id] = &next
}
