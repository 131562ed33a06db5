package operate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/operate"
)

// world is a router with two switches behind it, which share a server.
//
//	gw ── sw1 ──┐
//	  └── sw2 ──┴── web (http, disk)
func world() *operate.World {
	rule := &object.Rule{Attempts: 1}
	host := func(name string, parents ...*object.Object) *object.Object {
		return &object.Object{ID: object.HostID(name), Name: name, Rule: rule, Parents: parents}
	}
	gw := host("gw")
	sw1, sw2 := host("sw1", gw), host("sw2", gw)
	web := host("web", sw1, sw2)
	web.Groups, sw1.Groups = []string{"front"}, []string{"front"}
	objects := []*object.Object{web, sw2, sw1, gw}
	for _, h := range []*object.Object{gw, web, sw1} {
		for _, name := range map[string][]string{"web": {"http", "disk"}}[h.Name] {
			objects = append(objects, &object.Object{ID: object.ServiceID(h.Name, name), Name: name, Host: h, Rule: rule, Groups: []string{"front"}})
		}
	}
	objects = append(objects, &object.Object{ID: "gw!ping", Name: "ping", Host: gw, Rule: rule})
	gw.Groups = []string{"core"}
	for _, o := range objects {
		if o.ID == "web!disk" {
			o.Groups = append(o.Groups, "core")
		}
	}
	set := object.NewSet("1", object.DefaultSettings(), objects)
	set.Groups["empty"] = nil
	set.Contacts = map[string]*object.Contact{"ops": {Name: "ops"}}
	set.ContactGroups = map[string][]string{"team": {"ops"}}
	states := map[object.ID]*fold.State{}
	for _, o := range objects {
		s := fold.New(o)
		states[o.ID] = &s
	}
	states["web!disk"].Status.Checked = true
	states["web!disk"].Status.State = object.Critical
	return &operate.World{
		Set: set, State: func(id object.ID) *fold.State { return states[id] },
		Program: &program.State{Rules: map[string]event.DowntimeRule{"r1": {ID: "r1", Number: 9, Group: "front"}}},
	}
}

func planned(actions []operate.Action) string {
	var ids []string
	for _, a := range actions {
		ids = append(ids, string(a.Object))
	}
	return strings.Join(ids, " ")
}

func TestTargets(t *testing.T) {
	for _, c := range []struct {
		name   string
		target operate.Target
		want   string
	}{
		{"one object", operate.Target{Objects: []object.ID{"web!http"}}, "web!http"},
		{"objects as named, each once", operate.Target{Objects: []object.ID{"web", "gw", "web"}}, "web gw"},
		{"a host with its services", operate.Target{Objects: []object.ID{"web"}, Scope: operate.WithServices}, "web web!disk web!http"},
		{"the services of hosts", operate.Target{Objects: []object.ID{"web", "gw"}, Scope: operate.Services}, "web!disk web!http gw!ping"},
		{"what is behind a host, once though two ways lead there", operate.Target{Objects: []object.ID{"gw"}, Scope: operate.Children}, "sw1 sw2 web"},
		{"a host and what is behind it", operate.Target{Objects: []object.ID{"sw2"}, Scope: operate.WithChildren}, "sw2 web"},
		{"hosts and services behind", operate.Target{Objects: []object.ID{"sw1"}, Scope: operate.Beyond}, "web web!disk web!http"},
		{"a group", operate.Target{Group: "front"}, "sw1 web web!disk web!http"},
		{"a group of hosts means their services too", operate.Target{Group: "core"}, "gw gw!ping web!disk"},
		{"the services of its hosts and those in it themselves", operate.Target{Group: "core", Kind: "service"}, "gw!ping web!disk"},
		{"only the hosts in it", operate.Target{Group: "core", Kind: "host"}, "gw"},
		{"a filter on a group matches the same", operate.Target{Filter: "group=core"}, "gw gw!ping web!disk"},
		{"the services of a group", operate.Target{Group: "front", Kind: "service"}, "web!disk web!http"},
		{"the hosts of a group", operate.Target{Group: "front", Kind: "host"}, "sw1 web"},
		{"the services of a group's hosts", operate.Target{Group: "front", Scope: operate.Services}, "web!disk web!http"},
		{"everything", operate.Target{Filter: "*"}, "gw gw!ping sw1 sw2 web web!disk web!http"},
		{"every service", operate.Target{Filter: "*", Kind: "service"}, "gw!ping web!disk web!http"},
		{"what matches now", operate.Target{Filter: "state=CRITICAL"}, "web!disk"},
		{"hosts that match with their services", operate.Target{Filter: "host~w", Kind: "host", Scope: operate.WithServices}, "gw gw!ping sw1 sw2 web web!disk web!http"},
	} {
		t.Run(c.name, func(t *testing.T) {
			actions, err := operate.Plan(world(), &operate.Request{Target: c.target, Command: fold.Tick{}})
			if err != nil {
				t.Fatal(err)
			}
			if got := planned(actions); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			for _, a := range actions {
				if a.Command != (fold.Tick{}) || a.Program != nil {
					t.Errorf("action %+v", a)
				}
			}
		})
	}
}

func tick(t operate.Target) operate.Request {
	return operate.Request{Target: t, Command: fold.Tick{}}
}

func put(r event.DowntimeRule) operate.Request {
	return operate.Request{Program: program.PutRule{Rule: r}}
}

// badRequests are for TestRequestsThatCannotBeMeant.
var badRequests = []struct {
	name    string
	request operate.Request
	fault   operate.Fault
	want    string
}{
	{"no target", tick(operate.Target{}), operate.Malformed, "name objects, or a group, or a filter"},
	{"two targets", tick(operate.Target{Group: "front", Filter: "*"}), operate.Malformed, "not clear"},
	{"no command", operate.Request{Target: operate.Target{Filter: "*"}}, operate.Malformed, "give one"},
	{"two commands", operate.Request{Command: fold.Tick{}, Program: program.Switch{}}, operate.Malformed, "give one"},
	{"a target for the program", operate.Request{Target: operate.Target{Filter: "*"}, Program: program.Switch{}}, operate.Malformed, "leave the target out"},
	{"an unknown kind", tick(operate.Target{Filter: "*", Kind: "router"}), operate.Malformed, "write host or service"},
	{"a kind of named objects", tick(operate.Target{Objects: []object.ID{"gw"}, Kind: "host"}), operate.Malformed, "leave it out"},
	{"an unknown scope", tick(operate.Target{Objects: []object.ID{"gw"}, Scope: "all"}), operate.Malformed, `"all"; write services`},
	{"an unknown host", tick(operate.Target{Objects: []object.ID{"wbe"}}), operate.NotFound, `no host "wbe"; did you mean web?`},
	{"an unknown service", tick(operate.Target{Objects: []object.ID{"web!htp"}}), operate.NotFound, `no service "htp"; did you mean web!http?`},
	{"a service of an unknown host", tick(operate.Target{Objects: []object.ID{"wep!http"}}), operate.NotFound, `did you mean web!http?`},
	{"a slash", tick(operate.Target{Objects: []object.ID{"web/http"}}), operate.NotFound, `did you mean web!http?`},
	{"nothing near", tick(operate.Target{Objects: []object.ID{"mainframe"}}), operate.NotFound, `no host "mainframe"`},
	{"an unknown group", tick(operate.Target{Group: "fornt"}), operate.NotFound, `no group "fornt"; did you mean front?`},
	{"an empty group", tick(operate.Target{Group: "empty"}), operate.NoMatch, `"empty" has no object`},
	{"a group without hosts", tick(operate.Target{Group: "empty", Kind: "host"}), operate.NoMatch, `no host in it`},
	{"a filter that does not parse", tick(operate.Target{Filter: "host=gw stat=OK"}), operate.BadFilter, "column 9"},
	{"a filter that nothing passes", tick(operate.Target{Filter: "host=gw downtime"}), operate.NoMatch, `no object matches "host=gw downtime"`},
	{"services of a service", tick(operate.Target{Objects: []object.ID{"web!http"}, Scope: operate.Services}), operate.WrongScope, "web!http is a service"},
	{"children of services", tick(operate.Target{Filter: "*", Kind: "service", Scope: operate.Children}), operate.WrongScope, "starts from hosts"},
	{"nothing behind", tick(operate.Target{Objects: []object.ID{"web"}, Scope: operate.Children}), operate.NoMatch, `scope "children"`},
	{"an unknown contact", operate.Request{Program: program.SwitchContact{Name: "osp"}}, operate.NotFound, `no contact "osp"; did you mean ops?`},
	{"a setting of an unknown contact", operate.Request{Program: program.TuneContact{Name: "x"}}, operate.NotFound, `no contact "x"`},
	{"bits of an unknown contact", operate.Request{Program: program.SetContactModified{Name: "x"}}, operate.NotFound, `no contact "x"`},
	{"a downtime for nothing", put(event.DowntimeRule{}), operate.Malformed, "one of an object, a group and a filter"},
	{"a downtime for two things", put(event.DowntimeRule{Group: "front", Filter: "*"}), operate.Malformed, "one of"},
	{"a downtime for an unknown object", put(event.DowntimeRule{Object: "wep"}), operate.NotFound, "did you mean web?"},
	{"a downtime for an unknown group", put(event.DowntimeRule{Group: "x"}), operate.NotFound, `no group "x"`},
	{"a downtime for what is a problem now", put(event.DowntimeRule{Filter: "problem and host=gw"}), operate.BadFilter, `column 1: "problem" changes by itself`},
	{"a downtime for what an output says", put(event.DowntimeRule{Filter: "host=gw disk"}), operate.BadFilter, "column 9: the output, where a text"},
	{"a downtime for a bad filter", put(event.DowntimeRule{Filter: "(a"}), operate.BadFilter, "column 3"},
	{"a downtime for the services of a service", put(event.DowntimeRule{Object: "web!http", WithServices: true}), operate.WrongScope, "is a service"},
	{"a zone without ranges", put(event.DowntimeRule{Object: "web", Zone: "Europe/Berlin"}), operate.Malformed, "add ranges"},
	{"ranges that do not parse", put(event.DowntimeRule{Object: "web", Ranges: []string{"someday"}}), operate.Malformed, "ranges:"},
	{"a zone that nobody knows", put(event.DowntimeRule{Object: "web", Ranges: []string{"sunday 02:00-04:00"}, Zone: "Mars/Base"}), operate.Malformed, `zone "Mars/Base": no such zone`},
	{"an unknown downtime", operate.Request{Program: program.RemoveRule{ID: "r2"}}, operate.NotFound, `no downtime "r2"`},
}

func TestRequestsThatCannotBeMeant(t *testing.T) {
	for _, c := range badRequests {
		t.Run(c.name, func(t *testing.T) {
			w := world()
			w.Zone = func(string) error { return errors.New("no such zone") }
			actions, err := operate.Plan(w, &c.request)
			var e *operate.Error
			if !errors.As(err, &e) || actions != nil {
				t.Fatalf("got %v, %v", actions, err)
			}
			if e.Fault != c.fault || !strings.Contains(err.Error(), c.want) {
				t.Errorf("fault %d: %q, want %d: %q", e.Fault, err, c.fault, c.want)
			}
			if (e.Column > 0) != (c.fault == operate.BadFilter) {
				t.Errorf("column %d", e.Column)
			}
		})
	}
}

func TestCommandsAboutTheProgram(t *testing.T) {
	for _, c := range []program.Command{
		program.Switch{What: object.ProgramNotifications},
		program.SwitchContact{Name: "ops"},
		program.PutRule{Rule: event.DowntimeRule{Group: "front", Ranges: []string{"sunday 02:00-04:00"}, Zone: "Europe/Berlin"}},
		program.PutRule{Rule: event.DowntimeRule{Filter: "*"}},
		program.PutRule{Rule: event.DowntimeRule{Object: "web", WithServices: true}},
		program.RemoveRule{ID: "r1"},
	} {
		actions, err := operate.Plan(world(), &operate.Request{Program: c})
		if err != nil || len(actions) != 1 || actions[0].Program == nil || actions[0].Object != "" {
			t.Errorf("%#v: %v, %v", c, actions, err)
		}
	}
}

func TestManyHostsAreSearchedNearTheName(t *testing.T) {
	var objects []*object.Object
	for i := range 50000 {
		name := fmt.Sprintf("host%05d", i)
		objects = append(objects, &object.Object{ID: object.HostID(name), Name: name, Rule: &object.Rule{}})
	}
	set := object.NewSet("1", object.DefaultSettings(), objects)
	_, err := operate.Object(set, "host2718x")
	var e *operate.Error
	if !errors.As(err, &e) || len(e.Near) != 3 || !strings.HasPrefix(e.Near[0], "host2718") {
		t.Errorf("got %v", err)
	}
	if _, err = operate.Object(set, object.ID(strings.Repeat("x", 70000))); len(err.Error()) > 300 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}
