package build_test

import (
	"reflect"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/object"
)

func TestContactsAndTheirGroups(t *testing.T) {
	s := set(t, command+block("host", "host_name h; contacts ops; contact_groups team,!none")+block("host", "host_name i; contacts *")+
		block("contact", "contact_name ops; alias Operations; email ops@example.com; contactgroups team; _phone 1")+
		block("contact", "contact_name ada")+block("contact", "contact_name bob")+
		block("contactgroup", "contactgroup_name team; members ada")+block("contactgroup", "contactgroup_name none")+
		block("contactgroup", "contactgroup_name all; members *,!bob")+
		block("contactgroup", "contactgroup_name top; contactgroup_members team,none; members bob"), "")
	want := &object.Contact{Name: "ops", Alias: "Operations", Email: "ops@example.com", Vars: map[string]string{"PHONE": "1"}}
	want.Notify = s.Contacts["ops"].Notify // see notify_test.go
	if !reflect.DeepEqual(s.Contacts["ops"], want) || s.Contacts["ada"].Alias != "ada" || len(s.Contacts) != 3 {
		t.Errorf("contacts %+v", s.Contacts["ops"])
	}
	groups := map[string][]string{"team": {"ada", "ops"}, "none": nil, "all": {"ada", "ops"}, "top": {"ada", "bob", "ops"}}
	for name, members := range groups {
		if got := s.ContactGroups[name]; strings.Join(got, " ") != strings.Join(members, " ") {
			t.Errorf("group %s: %q, want %q", name, got, members)
		}
	}
}

func TestServicegroups(t *testing.T) {
	s := set(t, command+block("host", "host_name a")+block("host", "host_name b")+
		block("service", "host_name a,b; service_description web; servicegroups front")+block("service", "host_name a; service_description db")+
		block("servicegroup", "servicegroup_name front; members a,db")+block("servicegroup", "servicegroup_name none")+
		block("servicegroup", "servicegroup_name top; servicegroup_members front")+
		block("servicegroup", "servicegroup_name every; members *,web,a,*"), "")
	if got := ids(s.Groups["front"]); got != "a!db a!web b!web" || ids(s.Groups["top"]) != got || ids(s.Groups["every"]) != got {
		t.Errorf("front %q, top %q, every %q", got, ids(s.Groups["top"]), ids(s.Groups["every"]))
	}
	if members, ok := s.Groups["none"]; !ok || members != nil {
		t.Errorf("the empty group is %v, %v", members, ok)
	}
	if got := s.Get("a!web").Groups; !reflect.DeepEqual(got, []string{"every", "front", "top"}) {
		t.Errorf("groups of a!web: %q", got)
	}
}

func TestSwitchesHandlersAndFreshness(t *testing.T) {
	s := set(t, command+"define command {\ncommand_name fix\ncommand_line /bin/fix $ARG1$ $HOSTNAME$\n}\n"+
		block("host", "host_name h; notifications_enabled 0; event_handler_enabled 0; check_freshness 1; freshness_threshold 90.7")+
		block("service", "host_name h; service_description s; process_perf_data 0; obsess_over_service 0; event_handler fix!a b; check_freshness 1"),
		"global_host_event_handler=fix!all\nenable_environment_macros=1\n")
	h, r := s.Get("h").Rule, s.Get("h!s").Rule
	if h.Off != object.SwitchNotifications|object.SwitchEventHandler || r.Off != object.SwitchPerfdata|object.SwitchObsess {
		t.Errorf("off: %b, %b", h.Off, r.Off)
	}
	if h.Freshness.Seconds() != 90 || h.FreshAuto || r.Freshness != 0 || !r.FreshAuto {
		t.Errorf("freshness: %v %v, %v %v", h.Freshness, h.FreshAuto, r.Freshness, r.FreshAuto)
	}
	want := &object.Handler{Name: "fix!a b", Shell: "/bin/fix a b $HOSTNAME$", Environ: true}
	if !reflect.DeepEqual(r.Handler, want) || h.Handler != nil {
		t.Errorf("handler %+v, %+v", r.Handler, h.Handler)
	}
	if s.HostHandler == nil || s.HostHandler.Shell != "/bin/fix all $HOSTNAME$" || s.ServiceHandler != nil {
		t.Errorf("global handlers %+v, %+v", s.HostHandler, s.ServiceHandler)
	}
}

func TestProblemsOfContactsGroupsAndHandlers(t *testing.T) {
	base := command + block("host", "host_name h") + block("service", "host_name h; service_description s") + block("contact", "contact_name ops")
	for _, tt := range []struct{ name, text, main, want string }{
		{"a contact twice", block("contact", "contact_name ops"), "", `contact "ops" is already defined`},
		{"a group twice", strings.Repeat(block("contactgroup", "contactgroup_name g"), 2), "", `contactgroup "g" is already defined`},
		{"an unknown member", block("contactgroup", "contactgroup_name g; members zed"), "", `any contact matching "zed"`},
		{"an unknown contact of a host", block("host", "host_name i; contacts zed"), "", `any contact matching "zed"`},
		{"an unknown group of a host", block("host", "host_name i; contact_groups zed"), "", `no contactgroup "zed"`},
		{"a contact in an unknown group", block("contact", "contact_name x; contactgroups zed"), "", `no contactgroup "zed"`},
		{"a loop", block("contactgroup", "contactgroup_name g; contactgroup_members g"), "", "contactgroup_members loop"},
		{"an expression that finds nobody", block("contactgroup", "contactgroup_name g; members z+"), "use_regexp_matching=1", `any contact matching "z+"`},
		{"a contact without commands", block("contact", "contact_name x; host_notification_commands c"), "", `contact "x" has no service_notification_commands`},
		{"an unknown command of a contact", block("contact", "contact_name x; host_notification_commands zed!1; service_notification_commands c"), "", `there is no command "zed"`},
		{"an unknown period of a contact", block("contact", "contact_name x; service_notification_period zed"), "", `no timeperiod "zed"`},
		{"an escalation for an unknown host", block("hostescalation", "host_name zed; contacts ops; first_notification 1"), "", `any host matching "zed"`},
		{"an escalation for an unknown service", block("serviceescalation", "host_name h; service_description zed; contacts ops"), "", `host name "h" and description "zed"`},
		{"an escalation to an unknown contact", block("hostescalation", "host_name h; contacts zed"), "", `any contact matching "zed"`},
		{"an escalation in an unknown period", block("hostescalation", "host_name h; contacts ops; escalation_period zed"), "", `no timeperiod "zed"`},
		{"an odd list", block("servicegroup", "servicegroup_name g; members h,s,h"), "", "service description missing from list"},
		{"an unknown service", block("servicegroup", "servicegroup_name g; members h,x"), "", `host name "h" and description "x"`},
		{"an unknown host", block("servicegroup", "servicegroup_name g; members x,s"), "", `any host matching "x"`},
		{"a service in an unknown group", block("service", "host_name h; service_description t; servicegroups zed"), "", `no servicegroup "zed"`},
		{"an unknown handler", block("host", "host_name i; event_handler zed!x"), "", `there is no command "zed"`},
		{"an unknown global handler", "", "global_service_event_handler=zed", "global_service_event_handler"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := read(base+tt.text, tt.main)
			if err := problems.Err(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
