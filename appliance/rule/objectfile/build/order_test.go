package build_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/objectfile"
	"jaque.sh/jaque/appliance/rule/objectfile/build"
	"pgregory.net/rapid"
)

// picture is a set without its pointers: what each object is and is linked to.
func picture(s *object.Set) map[object.ID]string {
	all := map[object.ID]string{}
	for _, o := range s.Objects {
		rule := *o.Rule
		all[o.ID] = fmt.Sprint(o.Name, o.Address, o.Groups, o.Vars, ids(o.Parents), ids(o.Children), ids(o.Services), rule)
	}
	return all
}

func TestTheOrderOfDefinitionsMeansNothing(t *testing.T) {
	blocks := []string{
		command, block("host", "host_name a; use t; hostgroups +g1"), block("host", "host_name b; parents a; hostgroups g2"),
		block("host", "name t; register 0; hostgroups g2; parents c; _V x"), block("host", "host_name c; notification_interval 3"),
		block("hostgroup", "hostgroup_name g1; hostgroup_members g2"), block("hostgroup", "hostgroup_name g2; members c"),
		block("service", "hostgroup_name g1,!g3; service_description s"), block("hostgroup", "hostgroup_name g3; members b"),
		block("service", "host_name a; service_description s; notes direct"), block("service", "host_name *; service_description all"),
	}
	want := picture(set(t, joined(blocks), ""))
	rapid.Check(t, func(rt *rapid.T) {
		shuffled := rapid.Permutation(blocks).Draw(rt, "order")
		if got := picture(set(t, joined(shuffled), "")); !reflect.DeepEqual(got, want) {
			rt.Fatalf("got %v\nwant %v", got, want)
		}
	})
}

func joined(blocks []string) string {
	text := ""
	for _, b := range blocks {
		text += b
	}
	return text
}

func FuzzBuild(f *testing.F) {
	f.Add(command+block("host", "host_name a; parents b; hostgroups g")+block("service", "host_name *; service_description s"), "use_regexp_matching=1")
	f.Add(block("hostgroup", "hostgroup_name g; hostgroup_members g; members *,!a")+block("host", "host_name a!b"), "interval_length=1e9")
	f.Add(block("service", "hostgroup_name !g,*; service_description x; check_interval 99999999999"), "service_check_timeout_state=")
	f.Fuzz(func(t *testing.T, text, main string) {
		objects, problems := objectfile.Read(objectfile.Source{Path: "a", Text: text})
		m, _ := objectfile.ParseMain(objectfile.Source{Path: "m", Text: main})
		s, more := build.Build(objects, m)
		for _, p := range append(problems, more...) {
			if p.Line < 1 || p.Text == "" {
				t.Errorf("%+v", p)
			}
		}
		for _, o := range s.Objects {
			if o.Rule.Attempts < 1 || o.Rule.Interval < 0 || o.Rule.Retry < 0 || o.Kind() == object.Service && s.Get(o.Host.ID) != o.Host {
				t.Errorf("%+v %+v", o, o.Rule)
			}
		}
	})
}

// BenchmarkBuild reads and builds 1,000 hosts with 10 services each.
func BenchmarkBuild(b *testing.B) {
	var text strings.Builder
	text.WriteString(command + block("hostgroup", "hostgroup_name g"))
	for i := range 1000 {
		text.WriteString(block("host", fmt.Sprintf("host_name h%d; address 192.0.2.1; hostgroups g; check_command c!x", i)))
	}
	for i := range 10 {
		text.WriteString(block("service", fmt.Sprintf("hostgroup_name g; service_description s%d", i)))
	}
	b.ReportAllocs()
	for b.Loop() {
		objects, _ := objectfile.Read(objectfile.Source{Path: "a", Text: text.String()})
		if s, _ := build.Build(objects, nil); len(s.Objects) != 11000 {
			b.Fatal(len(s.Objects))
		}
	}
}
