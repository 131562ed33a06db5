package macro_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/external"
	"jaque.sh/jaque/appliance/rule/macro"
	"jaque.sh/jaque/appliance/rule/objectfile"
	"jaque.sh/jaque/appliance/rule/objectfile/build"
	"jaque.sh/jaque/appliance/rule/operate"
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
	program program.State
	seq     uint64
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
		Find: set.Get, Objects: set.Objects, Period: func(name string) object.Period { return set.Periods[name] }, State: func(id object.ID) *fold.State { return w.states[id] },
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
		Groups: d.Names("contactgroups"), Vars: map[string]string{},
	}
	maps.Copy(c.Vars, d.Vars())
	for _, set := range w.program.Contacts[name].Settings {
		if v, ok := strings.CutPrefix(set.Name, event.SettingVar); ok {
			c.Vars[v] = set.Value
		}
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
	w.src.Started = object.Time(c.Input.Start-60) * 1000
	src := w.src
	src.Now = object.Time(c.Input.Start) * 1000
	for _, s := range c.Input.Steps {
		src.Now = object.Time(c.Input.Start+s.At) * 1000
		w.pass(src.Now)
		if s.Cmd != "" {
			w.operate(s.Cmd, src.Now)
			continue
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

// operate carries out an external command.
func (w *world) operate(line string, now object.Time) {
	w.t.Helper()
	c, err := external.Parse(line, now)
	if err != nil {
		w.t.Log(err)
		return
	}
	actions, err := external.Translate(&operate.World{Set: w.set, State: w.src.State, Program: &w.program, Now: now}, c)
	if err != nil {
		w.t.Log(err)
	}
	for _, a := range actions {
		if a.Program == nil {
			w.decide(w.set.Get(a.Object), a.Command, now)
			continue
		}
		env := &program.Env{Set: w.set, Epoch: 1, Writer: "a", Instance: "1", ID: "d"}
		d, err := program.Decide(env, &w.program, a.Program, now)
		if err != nil || !d.HasLog {
			w.t.Log(err)
			continue
		}
		w.seq++
		d.Log.Seq = w.seq
		w.program, _ = program.Apply(w.program, &d.Log)
	}
}

// pass lets time pass: downtimes start and end.
func (w *world) pass(now object.Time) {
	w.t.Helper()
	for _, o := range w.set.Objects {
		for range 100 {
			if work, _ := fold.Due(w.env(o), w.states[o.ID], now); work != fold.PassTime {
				break
			}
			w.decide(o, fold.Tick{}, now)
		}
	}
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
	w.decide(o, fold.Result{
		State: res.State, Passive: s.Kind == "passive", Output: res.Output, Long: res.Long, Perfdata: res.Perfdata, Start: now,
	}, now)
}

func (w *world) env(o *object.Object) *fold.Env {
	settings := program.Effective(w.set.Settings, &w.program)
	env := &fold.Env{
		Object: o, Settings: &settings, Periods: w.set.Periods, Look: w.src.State, Comment: 1, Downtime: 1,
		Started: w.src.Started, Epoch: 1, Writer: "a", Instance: "1", ID: fmt.Sprint("d", w.seq),
	}
	if o.Host != nil {
		env.Host = w.states[o.Host.ID]
	}
	for _, p := range o.Parents {
		if w.states[p.ID].Status.State == object.Up {
			env.ParentsUp++
		}
	}
	return env
}

// decide decides a command about an object and folds what comes of it.
func (w *world) decide(o *object.Object, c fold.Command, now object.Time) {
	w.t.Helper()
	d, err := fold.Decide(w.env(o), w.states[o.ID], c, now)
	if err != nil {
		w.t.Log(err)
		return
	}
	e := &d.Result
	if d.HasLog {
		e = &d.Log
	}
	if !d.HasLog && !d.HasResult {
		return
	}
	w.seq++
	e.Seq = w.seq
	next, outcome := fold.Apply(*w.states[o.ID], e)
	if outcome != fold.Accepted {
		w.t.Fatalf("%s of %s was %s", e.Kind, o.ID, outcome)
	}
	w.states[o.ID] = &next
}
