package build_test

import (
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

func peopleIn(contacts []*object.Contact) string {
	var all []string
	for _, c := range contacts {
		all = append(all, c.Name)
	}
	return strings.Join(all, " ")
}

const team = `define timeperiod {
timeperiod_name night
alias night
monday 00:00-06:00
}
define contactgroup {
contactgroup_name team
members ada,bob
}
define contactgroup {
contactgroup_name leads
members cai
contactgroup_members team
}
`

func contact(name, more string) string {
	return block("contact", "contact_name "+name+more)
}

func people() string {
	return command + team + contact("ada", "") + contact("bob", "") + contact("cai", "")
}

func TestWhatContactsAreTold(t *testing.T) {
	s := set(t, command+team+contact("ada", "; host_notification_options d,r,s; service_notification_options a; service_notifications_enabled 0; host_notification_period night; minimum_importance 3; host_notification_commands c!a,c!b; service_notification_commands c")+
		contact("bob", "")+contact("cai", "; service_notification_options n; host_notification_options f,n,u"), "enable_environment_macros=1\n")
	n := s.Contacts["ada"].Notify
	if n.Hosts.Options != 1<<object.Down|object.NoteRecovery|object.NoteDowntime || n.Services.Options != object.NoteAll || n.Importance != 3 {
		t.Errorf("ada: %+v", n)
	}
	if n.Hosts.Off || !n.Services.Off || n.Hosts.Period != s.Periods["night"] || n.Services.Period != nil {
		t.Errorf("ada: %+v", n)
	}
	if got := n.Of(object.Host).Commands; len(got) != 2 || got[1].Name != "c!b" || !got[1].Environ || len(n.Services.Commands) != 1 {
		t.Errorf("ada is told by %+v", got)
	}
	if n := s.Contacts["bob"].Notify; n.Hosts.Options != 0 || n.Services.Options != 0 {
		t.Errorf("without options: %+v", n)
	}
	if n := s.Contacts["cai"].Notify; n.Hosts.Options != 1<<object.Unreachable || n.Services.Options != 0 {
		t.Errorf("after none: %+v", n)
	}
}

func TestWhoIsToldAboutObjects(t *testing.T) {
	s := set(t, people()+
		block("host", "host_name h; contacts ada; contact_groups leads; notification_options d,r; first_notification_delay 5; importance 2")+
		block("host", "host_name i; contact_groups *,!leads; importance 1")+
		block("service", "host_name h,i; service_description own; contacts cai,cai; notification_options w,c,f; importance 4")+
		block("service", "host_name h,i; service_description as host; first_notification_delay 1.5")+
		block("service", "host_name h; service_description nobody; contacts null"), "interval_length=10\n")
	for _, tt := range []struct {
		id         object.ID
		people     string
		options    object.NoteOptions
		delay      time.Duration
		importance int
	}{
		{"h", "ada bob cai", 1<<object.Down | object.NoteRecovery, 50 * time.Second, 6},
		{"i", "ada bob", 1<<object.Down | 1<<object.Unreachable | object.NoteRecovery | object.NoteFlapping | object.NoteDowntime, 0, 5},
		{"h!own", "cai", 1<<object.Warning | 1<<object.Critical | object.NoteFlapping, 0, 4},
		{"h!as host", "ada bob cai", object.NoteAll, 15 * time.Second, 0},
		{"i!as host", "ada bob", object.NoteAll, 15 * time.Second, 0},
		{"h!nobody", "", object.NoteAll, 0, 0},
	} {
		n := s.Get(tt.id).Notify
		if peopleIn(n.Contacts) != tt.people || n.Options != tt.options || n.FirstDelay != tt.delay || n.Importance != tt.importance {
			t.Errorf("%s: %s, %+v", tt.id, peopleIn(n.Contacts), n)
		}
		if n.Timed || n.ToTold || n.FromFirst {
			t.Errorf("%s is not told as Nagios does: %+v", tt.id, n)
		}
	}
	if s.Get("h!own").Notify != s.Get("i!own").Notify {
		t.Error("services of one definition do not share what is the same")
	}
}

func TestEscalations(t *testing.T) {
	s := set(t, people()+
		block("host", "host_name h; contacts ada; notification_period night")+
		block("host", "host_name i; contacts bob")+
		block("service", "host_name h,i; service_description web; contacts ada; notification_period night")+
		block("hostescalation", "host_name *; first_notification 2; last_notification 0; contacts cai; escalation_options d,r; notification_interval 3")+
		block("serviceescalation", "host_name h; service_description web; first_notification 1; last_notification 3; notification_interval -2")+
		block("serviceescalation", "host_name h; service_description *; contacts +bob; escalation_period night; last_notification 0")+
		block("serviceescalation", "host_name h; service_description web; contact_groups team; first_notification 4"), "")
	host, web := s.Get("h").Notify.Steps, s.Get("h!web").Notify.Steps
	if len(host) != 1 || len(s.Get("i").Notify.Steps) != 1 || len(web) != 3 || s.Get("i!web").Notify.Steps != nil {
		t.Fatalf("%d steps of h, %d of h!web", len(host), len(web))
	}
	if h := host[0]; h.First != 2 || h.Last != 0 || peopleIn(h.Contacts) != "cai" || h.Interval != 3*time.Minute || h.Options != 1<<object.Down|object.NoteRecovery || h.Period != s.Periods["night"] || h.Adds {
		t.Errorf("h: %+v", h)
	}
	for i, want := range []struct {
		people      string
		first, last int32
		interval    time.Duration
	}{{"ada", 1, 3, 0}, {"ada bob", -2, 0, -1}, {"ada bob", 4, -2, -1}} {
		got := web[i]
		if peopleIn(got.Contacts) != want.people || got.First != want.first || got.Last != want.last || got.Interval != want.interval || got.Period != s.Periods["night"] {
			t.Errorf("step %d: %s, %+v", i, peopleIn(got.Contacts), got)
		}
		if got.Options != 1<<object.Warning|1<<object.Critical|1<<object.Unknown|object.NoteRecovery {
			t.Errorf("step %d holds for %b", i, got.Options)
		}
	}
	if !strings.Contains(web[0].Name, "1-3 (objects.cfg:") {
		t.Errorf("name %q", web[0].Name)
	}
}

// What is wrong with a reference is reported once, where it stands.
func TestWrongNamesAreReportedOnce(t *testing.T) {
	_, problems := read(people()+block("host", "host_name h; contacts nobody; notification_options d,x")+
		block("host", "host_name i")+
		block("service", "host_name h; service_description s; contact_groups none")+
		block("service", "host_name h,i; service_description t; notification_options w,y")+
		block("hostescalation", "host_name h,i; first_notification 1; contacts ghost; escalation_options z"), "")
	text := problems.Err().Error()
	for _, word := range []string{`"nobody"`, `"none"`, `"ghost"`, `"x"`, `"y"`, `"z"`} {
		if strings.Count(text, word) != 1 {
			t.Errorf("%s is not reported once:\n%s", word, text)
		}
	}
}
