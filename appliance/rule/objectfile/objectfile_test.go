package objectfile_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/rule/objectfile"
	"pgregory.net/rapid"
)

// read reads one text as a.cfg.
func read(text string) ([]*objectfile.Object, objectfile.Problems) {
	return objectfile.Read(objectfile.Source{Path: "a.cfg", Text: text})
}

// show writes objects in one line each: type, name, directives.
func show(objects []*objectfile.Object) string {
	var b strings.Builder
	for _, o := range objects {
		fmt.Fprintf(&b, "%s %s:", o.Type, o.Name)
		for _, d := range o.Directives {
			fmt.Fprintf(&b, " %s=%q", d.Name, d.Value)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestRead(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a block", "define host{\n\thost_name  web \n address\t192.0.2.1\n}\n", `host web: host_name="web" address="192.0.2.1"`},
		{"the type ends at a brace or a blank, the rest of the line is nothing", "define host { rubbish\nhost_name a\n}", `host a: host_name="a"`},
		{"comments", "# define x\ndefine host { ; y\n ; all\n#host_name c\nhost_name a ; b\nalias a # b\n}", `host a: host_name="a" alias="a # b"`},
		{"an escaped semicolon", "define command {\ncommand_name c\ncommand_line a \\; b ; c\n}", `command c: command_name="c" command_line="a ; b"`},
		{"a continued line", "define command {\ncommand_name c\ncommand_line a \\\n   b\\\nc\n}", `command c: command_name="c" command_line="a bc"`},
		{"two backslashes do not continue", "define command {\ncommand_name c\ncommand_line a\\\\\n}", `command c: command_name="c" command_line="a\\"`},
		{"carriage returns", "define host {\r\nhost_name a\\\r\n b\r\n}\r\n", `host ab: host_name="ab"`},
		{"a directive without value", "define host {\nhost_name a\nnotes\n}", `host a: host_name="a" notes=""`},
		{"other spellings", "define host {\nhost_name a\nnormal_check_interval 3\nhost_groups g\n}", `host a: host_name="a" check_interval="3" hostgroups="g"`},
		{"spellings depend on the type", "define service {\nhost a\nhostgroups g\ndescription d\n}", `service d: host_name="a" hostgroup_name="g" service_description="d"`},
		{"custom variables are upper case", "define host {\nhost_name a\n_os x\n_OS y\n}", `host a: host_name="a" _OS="y"`},
		{"the last of a directive counts", "define host {\nhost_name a\nalias x\nalias y\n}", `host a: host_name="a" alias="y"`},
		{"a template is no object", "define host {\nname t\nregister 0\n}\ndefine host {\nhost_name a\n}", `host a: host_name="a"`},
		{
			"a template with a name of its own is one too", "define host {\nname t\nhost_name a\nalias x\n}\ndefine host {\nuse t\nhost_name b\n}",
			"host a: host_name=\"a\" alias=\"x\"\nhost b: host_name=\"b\" alias=\"x\"",
		},
		{"a block with only a template's name is a template", "define host {\nname t\n}", ""},
		{"without a name and not registered it is nothing", "define host {\nregister 0\n}", ""},
		{
			"days of a time period repeat", "define timeperiod {\ntimeperiod_name t\nday 1 00:00-01:00\nday 2 00:00-01:00\n}",
			`timeperiod t: timeperiod_name="t" day="1 00:00-01:00" day="2 00:00-01:00"`,
		},
		{"types without a name", "define servicedependency {\nhost_name a\nmaster_description s\n}", `servicedependency : host_name="a" service_description="s"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			objects, problems := read(c.text)
			if err := problems.Err(); err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSuffix(show(objects), "\n"); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// inherit builds a host that uses templates, each given as "name: line; line".
func inherit(own string, templates ...string) string {
	var b strings.Builder
	block := func(kind, body string) {
		fmt.Fprintf(&b, "define %s {\n%s\n}\n", kind, strings.ReplaceAll(body, "; ", "\n"))
	}
	block("host", "host_name h; "+own)
	for _, t := range templates {
		name, body, _ := strings.Cut(t, ": ")
		block("host", "name "+name+"; register 0; "+body)
	}
	return b.String()
}

func TestInheritance(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{
			"the own value first, then the first template", inherit("alias own; use a, b", "a: alias x; notes a", "b: notes b; address b"),
			`alias="own" notes="a" address="b"`,
		},
		{"a grandparent of the first template beats the second", inherit("use a,b", "a: use c", "b: notes b", "c: notes c"), `notes="c"`},
		{"what only templates are is not inherited", inherit("use a", "a: notes n"), `notes="n"`},
		{"null stops", inherit("use a; notes null", "a: notes n"), `notes="null"`},
		{"a plus adds", inherit("use a; parents +x", "a: parents a"), `parents="x,a"`},
		{"a plus in the template goes on", inherit("use a; parents +x", "a: use b; parents +y", "b: parents z"), `parents="x,y,z"`},
		{"a plus with nothing to add to", inherit("use a; parents +x", "a: notes n"), `parents="+x" notes="n"`},
		{"a plus on null", inherit("use a; parents +x", "a: parents null"), `parents="x"`},
		{"a plus is nothing special elsewhere", inherit("use a; notes +x", "a: notes n"), `notes="+x"`},
		{"variables one by one", inherit("use a; _A own", "a: _a t; _b t"), `_A="own" _B="t"`},
		{"an empty variable hides the template's", inherit("use a; _A", "a: _A t"), `_A=""`},
		{"templates that use each other", inherit("use a", "a: use b; notes a", "b: use a,b; alias b"), `notes="a" alias="b"`},
		{"option sets are not merged", inherit("use a; notification_options d", "a: notification_options u,r"), `notification_options="d"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			objects, problems := read(c.text)
			if err := problems.Err(); err != nil || len(objects) != 1 {
				t.Fatal(objects, err)
			}
			if got := strings.TrimSpace(show(objects)); got != `host h: host_name="h" `+c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestImportantCommandsOfTemplatesReplaceTheOwn(t *testing.T) {
	objects, problems := read("define service {\nname t\nregister 0\ncheck_command !strong\n}\n" +
		"define service {\nuse t\nhost_name h\nservice_description d\ncheck_command weak\n}")
	if err := problems.Err(); err != nil || objects[0].Text("check_command", "") != "!strong" {
		t.Error(show(objects), err)
	}
}

func TestTimePeriodsInheritByDay(t *testing.T) {
	objects, problems := read("define timeperiod {\nname t\nmonday 01:00-02:00\nday 1 01:00-02:00\nday 2 01:00-02:00\nregister 0\n}\n" +
		"define timeperiod {\ntimeperiod_name p\nuse t\nday 1 03:00-04:00\n}")
	want := `timeperiod p: timeperiod_name="p" day="1 03:00-04:00" monday="01:00-02:00" day="2 01:00-02:00"` + "\n"
	if err := problems.Err(); err != nil || show(objects) != want {
		t.Errorf("got  %swant %s%v", show(objects), want, err)
	}
}

func TestEveryProblemIsReportedAtOnce(t *testing.T) {
	_, problems := read(`host_name early
define hots {
}
define host {
  host_name  a
  adress     x
  use        missing
define host {
  name       loop
  use        loop
  register   0
}
define host {
  name       loop
}
define host {
  alias      nameless
}
define service {
  service_description  lonely
}
}
define host {
  host_name  b
  max_check_attempts 1 }
`)
	want := `a.cfg:1: unexpected "host_name early" outside of a definition; start one with: define host {
a.cfg:2: invalid object type "hots"; did you mean "host"?
a.cfg:8: a definition starts inside the host of line 4; close that with a line } first
a.cfg:22: unexpected } without a definition; remove it
a.cfg:23: the definition of a host never ends; write a line with nothing but } after its last directive
a.cfg:6: invalid host object directive "adress"; did you mean "address"?
a.cfg:13: the host template "loop" is already defined at a.cfg:8; rename one of them
a.cfg:7: template "missing" of this host could not be found; define it with: name missing
a.cfg:16: this host has no name; give it a host_name
a.cfg:19: service "lonely" has no hosts; give it a host_name or a hostgroup_name`
	if got := problems.Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestIncludesAreReported(t *testing.T) {
	f, problems := objectfile.Parse(objectfile.Source{Path: "a.cfg", Text: "include_file= b.cfg\n\ninclude_dir=c\n"})
	want := []objectfile.Include{
		{Pos: objectfile.Pos{File: "a.cfg", Line: 1}, Path: "b.cfg"},
		{Pos: objectfile.Pos{File: "a.cfg", Line: 3}, Path: "c", Dir: true},
	}
	if len(problems) > 0 || !reflect.DeepEqual(f.Includes, want) {
		t.Errorf("got %+v, %v", f.Includes, problems)
	}
}

func TestPlaces(t *testing.T) {
	objects, _ := read("\ndefine host {\n host_name \\\n  a\n alias b\n}\n")
	o := objects[0]
	if o.Line != 2 || o.End != 6 || o.At("host_name").Line != 3 || o.At("alias").Line != 5 || o.At("notes").Line != 2 {
		t.Errorf("%+v", o)
	}
}

func TestValues(t *testing.T) {
	objects, _ := read(`define host {
  host_name         h
  parents           + a , b,,c
  check_interval    0.5
  retry_interval    5x
  check_freshness   yes
  obsess            2
  notes             null
  alias
  flap_detection_options    down, o
  notification_options      n
  stalking_options          a
  _V1               null
  _V2               text
}`)
	o := objects[0]
	if got := o.Names("parents"); !reflect.DeepEqual(got, []string{"a", "b", "c"}) {
		t.Errorf("names: %q", got)
	}
	if o.Number("check_interval", 5) != .5 || o.Number("retry_interval", 1) != 5 || o.Number("max_check_attempts", 7) != 7 || o.Number("check_freshness", 1) != 0 {
		t.Error("numbers")
	}
	if o.Bool("check_freshness", true) || !o.Bool("obsess", false) || !o.Bool("active_checks_enabled", true) {
		t.Error("switches")
	}
	if o.Text("notes", "none") != "none" || o.Text("alias", "def") != "def" || o.Find("alias") == nil || o.Find("notes") != nil {
		t.Error("texts")
	}
	if got := o.Vars(); !reflect.DeepEqual(got, map[string]string{"V1": "null", "V2": "text"}) {
		t.Errorf("variables: %q", got)
	}
	var problems objectfile.Problems
	for name, want := range map[string]string{"flap_detection_options": "od", "notification_options": "", "stalking_options": "odu", "other": "def"} {
		if got := o.Options(name, "odu", "def", &problems); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	o.Options("flap_detection_options", "wc", "", &problems)
	if len(problems) != 2 || problems[0].Error() != `a.cfg:10: invalid option "down" of flap_detection_options; write letters of w,c separated by commas, a for all or n for none` {
		t.Error(problems)
	}
}

func TestMainFile(t *testing.T) {
	m, problems := objectfile.ParseMain(objectfile.Source{Path: "n.cfg", Text: "# c\n; c\nxodtemplate=1\n\n a = b;c=d \na=2nd\nrubbish\n=x\nenable=1\n"})
	if m.Text("a", "") != "2nd" || m[0].Value != "b;c=d" || len(m) != 3 || !m.Bool("enable", false) || m.Number("a", 0) != 2 || m.Text("none", "def") != "def" {
		t.Errorf("%+v", m)
	}
	if got, want := problems.Error(), "n.cfg:7: \"rubbish\" is no setting; write name=value\nn.cfg:8: \"=x\" is no setting; write name=value"; got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestResourceFile(t *testing.T) {
	users, problems := objectfile.ParseResource(objectfile.Source{Path: "r.cfg", Text: "# c\n$USER1$=/usr/lib = x\n$USER256$ = y \nother=1\n$USER0$=z\n$USER2=z\n$USER257$=z\n$USER1x$=z\n"})
	if !reflect.DeepEqual(users, objectfile.Users{1: "/usr/lib = x", 256: "y"}) {
		t.Errorf("%v", users)
	}
	if len(problems) != 4 || problems[0].Line != 5 || problems[3].Line != 8 {
		t.Error(problems)
	}
}

// write writes an object so that Read reads it as the same.
func write(o *objectfile.Object) string {
	var b strings.Builder
	fmt.Fprintf(&b, "define %s {\n", o.Type)
	for _, d := range o.Directives {
		value := strings.ReplaceAll(d.Value, ";", `\;`)
		if strings.HasSuffix(value, `\`) {
			value += `\`
		}
		fmt.Fprintf(&b, "%s %s\n", d.Name, value)
	}
	b.WriteString("}\n")
	return b.String()
}

func TestWhatIsResolvedStaysAsItIs(t *testing.T) {
	value := rapid.StringOfN(rapid.SampledFrom([]rune("ab+,;!\\")), 0, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		names := []string{"t0", "t1", "t2", "t3"}
		for i, name := range names {
			fmt.Fprintf(&text, "define host {\nhost_name h%d\nname %s\n", i, name)
			if i > 0 {
				fmt.Fprintf(&text, "use %s\n", strings.Join(rapid.SliceOfN(rapid.SampledFrom(names[:i]), 0, 2).Draw(t, "use"), ","))
			}
			for _, d := range rapid.SliceOfN(rapid.SampledFrom([]string{"alias", "parents", "notes", "_x"}), 0, 3).Draw(t, "directives") {
				fmt.Fprintf(&text, "%s %s \n", d, strings.ReplaceAll(value.Draw(t, d), ";", `\;`))
			}
			text.WriteString("}\n")
		}
		objects, problems := read(text.String())
		if err := problems.Err(); err != nil {
			t.Fatal(err)
		}
		var again strings.Builder
		for _, o := range objects {
			again.WriteString(write(o))
		}
		same, problems := read(again.String())
		if err := problems.Err(); err != nil || show(same) != show(objects) {
			t.Fatalf("got\n%swant\n%s%v", show(same), show(objects), err)
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add("define host{\nhost_name a\nuse t\n}\ndefine host{\nname t\nparents +a\\;b\n}")
	f.Add("define service {\nhost_name *,!a\nservice_description x \\\n y\n_V ;\n}")
	f.Add("define timeperiod {\ntimeperiod_name t\nday 1 00:00-24:00\n}\n}\\\n")
	f.Fuzz(func(t *testing.T, text string) {
		objects, problems := read(text)
		for _, o := range objects {
			if o.Line < 1 || o.End < o.Line {
				t.Errorf("%+v", o)
			}
			o.Vars()
			o.Names("parents")
			o.Number("check_interval", 1)
		}
		for _, p := range problems {
			if p.File != "a.cfg" || p.Line < 1 || p.Line > strings.Count(text, "\n")+1 || strings.Contains(p.Text, "\n") {
				t.Errorf("problem %q in %q", p.Error(), text)
			}
		}
		m, _ := objectfile.ParseMain(objectfile.Source{Text: text})
		users, _ := objectfile.ParseResource(objectfile.Source{Text: text})
		if len(m)+len(users) > strings.Count(text, "\n")+1 {
			t.Errorf("more settings than lines: %q", text)
		}
	})
}
