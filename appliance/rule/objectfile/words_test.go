package objectfile_test

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/rule/objectfile"
)

// one reads a text that defines one object without a problem.
func one(t *testing.T, text string) *objectfile.Object {
	t.Helper()
	objects, problems := read(text)
	if err := problems.Err(); err != nil || len(objects) != 1 {
		t.Fatalf("%d objects of\n%s%v", len(objects), text, err)
	}
	return objects[0]
}

// TestWordsForOptions writes every option as a word and as its letter.
func TestWordsForOptions(t *testing.T) {
	const service, host, contact = "owucrfsp", "odursfp", "durfs"
	for _, c := range []struct{ value, allowed, want string }{
		{"ok", service, "o"},
		{"up", host, "o"},
		{"down", host, "d"},
		{"unreachable", host, "u"},
		{"unknown", service, "u"},
		{"warning", service, "w"},
		{"critical", service, "c"},
		{"recovery", service, "r"},
		{"flapping", service, "f"},
		{"downtime", service, "s"},
		{"pending", service, "p"},
		{"none", service, ""},
		{"all", contact, "durfs"},
		{"c,w", service, "wc"},
		{"w c", service, "wc"},
		{" w ,\tc ", service, "wc"},
		{"w,,c,", service, "wc"},
		{"w,w,warning", service, "w"},
		{"n,w", service, "w"},
		{"w,n", service, ""},
		{"a,n", contact, ""},
		{"n,a", contact, "durfs"},
		{"", service, ""},
	} {
		o := one(t, "define service {\nhost_name h\nservice_description s\nnotification_options "+c.value+"\n}")
		var problems objectfile.Problems
		if got := o.Options("notification_options", c.allowed, "default", &problems); got != c.want || len(problems) > 0 {
			t.Errorf("%q: got %q, want %q; %v", c.value, got, c.want, problems)
		}
	}
}

// TestWordsThatAreNoOptions wants the word as written in the error and the rest
// of the list all the same.
func TestWordsThatAreNoOptions(t *testing.T) {
	for _, c := range []struct{ value, allowed, bad, want string }{
		{"w,x", "wuc", "x", "w"},
		{"down,c", "wuc", "down", "c"},
		{"W", "wuc", "W", ""},
		{"wc", "wuc", "wc", ""},
		{"Warning,u", "wuc", "Warning", "u"},
		{"ü", "wuc", "ü", ""},
		{"+w", "wuc", "+w", ""},
	} {
		o := one(t, "define service {\nhost_name h\nservice_description s\n\nstalking_options "+c.value+"\n}")
		var problems objectfile.Problems
		got := o.Options("stalking_options", c.allowed, "", &problems)
		want := fmt.Sprintf("a.cfg:5: invalid option %q of stalking_options; write letters of w,u,c separated by commas, a for all or n for none", c.bad)
		if got != c.want || len(problems) != 1 || problems[0].Error() != want {
			t.Errorf("%q: got %q and\n%v\nwant %q and\n%s", c.value, got, problems, c.want, want)
		}
	}
}

// TestSpellings gives every other spelling of a directive and the name that the
// rest of jaque asks for.
func TestSpellings(t *testing.T) {
	for kind, spellings := range map[string]string{
		"host": `normal_check_interval=check_interval retry_check_interval=retry_interval host_groups=hostgroups
			checks_enabled=active_checks_enabled obsess_over_host=obsess gd2_image=statusmap_image hourly_value=importance`,
		"service": `description=service_description hosts=host_name host=host_name hostgroup=hostgroup_name
			hostgroups=hostgroup_name service_groups=servicegroups obsess_over_service=obsess
			normal_check_interval=check_interval retry_check_interval=retry_interval hourly_value=importance`,
		"contact":        `contact_groups=contactgroups minimum_value=minimum_importance`,
		"hostdependency": `host=host_name master_host=host_name master_host_name=host_name hostgroups=hostgroup_name dependent_host=dependent_host_name execution_failure_options=execution_failure_criteria notification_failure_options=notification_failure_criteria`,
		"servicedependency": `description=service_description master_description=service_description
			master_service_description=service_description dependent_description=dependent_service_description
			servicegroups=servicegroup_name dependent_hostgroup=dependent_hostgroup_name
			dependent_servicegroups=dependent_servicegroup_name`,
		"serviceescalation": `host=host_name hostgroup=hostgroup_name description=service_description servicegroup=servicegroup_name`,
		"hostextinfo":       `hostgroup=hostgroup_name gd2_image=statusmap_image`,
	} {
		for _, pair := range strings.Fields(spellings) {
			other, canonical, _ := strings.Cut(pair, "=")
			objects, problems := read(fmt.Sprintf("define %s {\nhost_name h\nservice_description s\ncontact_name c\n%s value\n}", kind, other))
			// The block has a name for every type; those that a type does not
			// know are reported, which is of no interest here.
			for _, p := range problems {
				if strings.Contains(p.Text, `"`+other+`"`) {
					t.Errorf("%s: %s", kind, p.Text)
				}
			}
			if len(objects) != 1 || objects[0].Text(canonical, "") != "value" {
				t.Errorf("%s of a %s is not %s: %s", other, kind, canonical, show(objects))
			}
		}
	}
}

func TestTypes(t *testing.T) {
	const all = `command contact contactgroup host hostdependency hostescalation hostextinfo hostgroup
		service servicedependency serviceescalation serviceextinfo servicegroup timeperiod`
	want := strings.Fields(all)
	sort.Strings(want)
	if got := objectfile.Types(); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOnlyHostsServicesAndContactsHaveVariables takes a variable everywhere.
func TestOnlyHostsServicesAndContactsHaveVariables(t *testing.T) {
	for _, kind := range objectfile.Types() {
		_, problems := read("define " + kind + " {\n_mine x\n}")
		refused := strings.Contains(problems.Error(), `"_mine"`)
		may := kind == "host" || kind == "service" || kind == "contact" || kind == "timeperiod"
		if refused == may {
			t.Errorf("%s: %v", kind, problems)
		}
	}
}

// TestListsThatTemplatesAddTo checks the plus on every list it is allowed on.
func TestListsThatTemplatesAddTo(t *testing.T) {
	for kind, lists := range map[string]string{
		"host":              "parents hostgroups contacts contact_groups",
		"service":           "parents host_name hostgroup_name servicegroups contacts contact_groups",
		"contact":           "contactgroups host_notification_commands service_notification_commands",
		"hostgroup":         "members hostgroup_members",
		"servicegroup":      "members servicegroup_members",
		"contactgroup":      "members contactgroup_members",
		"hostdependency":    "host_name hostgroup_name dependent_host_name dependent_hostgroup_name",
		"servicedependency": "host_name service_description dependent_host_name dependent_service_description servicegroup_name",
		"hostescalation":    "host_name hostgroup_name contacts contact_groups",
		"serviceescalation": "host_name service_description contacts contact_groups",
	} {
		for _, list := range strings.Fields(lists) {
			key := map[string]string{"host": "host_name k", "service": "service_description k\nhost_name k"}[kind]
			if key == "" && !strings.HasSuffix(kind, "dependency") && !strings.HasSuffix(kind, "escalation") {
				key = kind + "_name k"
			}
			if kind == "service" && list == "host_name" {
				key = "service_description k"
			}
			objects, problems := read(fmt.Sprintf("define %[1]s {\n%[2]s\nuse t\n%[3]s +child\n}\ndefine %[1]s {\nname t\nregister 0\n%[3]s parent\n}", kind, key, list))
			if len(problems) > 0 || len(objects) != 1 {
				t.Fatalf("%s %s: %d objects, %v", kind, list, len(objects), problems)
			}
			if got := objects[0].Text(list, ""); got != "child,parent" {
				t.Errorf("%s of a %s: %q", list, kind, got)
			}
		}
	}
}

// TestSuggestions looks at what an error proposes for words of several lengths.
func TestSuggestions(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"define hostgruop {\n}", `did you mean "hostgroup"?`},
		{"define zzz {\n}", "write one of command, contact, "},
		{"define host {\nhost_name a\nparent b\n}", `did you mean "parents"?`},
		{"define host {\nhost_name a\ncompletely_else b\n}", "no directive of this type is spelt like it"},
		{"define command {\ncommand_name a\nzzzzzzzzzzzz b\n}", "write one of command_line, command_name, name, register, use"},
		{"define host {\nhost_name a\nHost_Name b\n}", `did you mean "host_name"?`},
		{"define host {\nhost_name a\n_ b\n}", `invalid host object directive "_"`},
		{strings.Repeat("long ", 40), "…"},
		{strings.Repeat("ä", 40), "…"},
	} {
		_, problems := read(c.text)
		if len(problems) != 1 || !strings.Contains(problems[0].Error(), c.want) {
			t.Errorf("%q: %v; want a text with %q", c.text, problems, c.want)
		}
	}
}

// TestNumbersAsNagiosReadsThem takes the longest number in front of a value.
func TestNumbersAsNagiosReadsThem(t *testing.T) {
	for in, want := range map[string]float64{
		"5": 5, "0.5": 0.5, "-3": -3, "+4": 4, "5m": 5, "1.2.3": 1.2, ".5": 0.5, "5.": 5, "": 0, "x": 0, "-": 0, ".": 0,
		"1e3": 1, "0x10": 0, "5 minutes": 5, "5,5": 5, "--5": 0,
	} {
		o := one(t, "define host {\nhost_name h\ncheck_interval "+in+"\n}")
		if got := o.Number("check_interval", 99); got != want {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
		if got := o.Bool("check_interval", true); got != (want >= 1) {
			t.Errorf("%q as a switch: %v", in, got)
		}
	}
}

// TestChainsOfLists follows a list with a plus through several templates.
func TestChainsOfLists(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"three plus signs", inherit("use a; parents +x", "a: use b; parents +y", "b: parents +z"), `parents="+x,y,z"`},
		{"the chain ends at a list without one", inherit("use a; parents +x", "a: use b; parents y", "b: parents z"), `parents="x,y"`},
		{"two templates, each adds", inherit("use a,b; parents +x", "a: parents +y", "b: parents z"), `parents="x,y,z"`},
		{"two templates, the first does not go on", inherit("use a,b; parents +x", "a: parents y", "b: parents z"), `parents="x,y"`},
		{"a plus on an empty list of the template", inherit("use a; parents +x", "a: parents +"), `parents="+x"`},
		{"only a plus takes the template's list", inherit("use a; parents +", "a: parents y"), `parents=",y"`},
		{"a template in the middle without the list", inherit("use a; parents +x", "a: use b; notes n", "b: parents z"), `parents="x,z" notes="n"`},
		{"null in the middle ends the chain", inherit("use a; parents +x", "a: use b; parents null", "b: parents z"), `parents="x"`},
		{"the last plus of a block counts", inherit("use a; parents +x; parents +y", "a: parents z"), `parents="y,z"`},
		{"variables know no plus", inherit("use a; _v +x", "a: _v y"), `_V="+x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, want := strings.TrimSpace(show([]*objectfile.Object{one(t, c.text)})), `host h: host_name="h" `+c.want; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// A template of one type is none of another, and text order means nothing.
func TestTemplatesOfEachTypeHaveTheirOwnNames(t *testing.T) {
	o := one(t, "define service {\nuse t\nservice_description s\n}\ndefine host {\nname t\nregister 0\naddress a\n}\n"+
		"define service {\nname t\nregister 0\nhost_name h\nnotes n\n}")
	if o.Type != "service" || o.Text("notes", "") != "n" || o.Find("address") != nil {
		t.Error(show([]*objectfile.Object{o}))
	}
	_, problems := read("define service {\nuse t\nservice_description s\nhost_name h\n}\ndefine host {\nname t\nregister 0\n}")
	if len(problems) != 1 || problems[0].Line != 2 {
		t.Error(problems)
	}
}

// TestDays tells what a directive of a time period is about.
func TestDays(t *testing.T) {
	for in, want := range map[string]string{
		"monday 09:00-17:00":             "monday",
		"monday   09:00-12:00,13:00":     "monday",
		"day -1  00:00-24:00":            "day -1",
		"2026-01-01 - 2026-02-01 / 3 0:": "2026-01-01 - 2026-02-01 / 3",
		"july\t4 00:00-24:00":            "july 4",
		"monday":                         "monday",
	} {
		name, value, _ := strings.Cut(strings.ReplaceAll(in, "\t", " "), " ")
		if got := objectfile.Day(objectfile.Directive{Name: name, Value: value}); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
