package build_test

import (
	"reflect"
	"sort"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// command is the command that the texts of the tests use.
const command = "define command {\ncommand_name c\ncommand_line /bin/c $ARG1$ $HOSTNAME$\n}\n"

// block writes a definition; directives are separated by "; ". Hosts,
// services and contacts get what they must have.
func block(kind, directives string) string {
	switch kind {
	case "host":
		directives += "; max_check_attempts 3"
	case "contact":
		if !strings.Contains(directives, "_commands") {
			directives += "; host_notification_commands c; service_notification_commands c"
		}
	case "service":
		directives += "; max_check_attempts 3; check_command c!x"
	}
	return "define " + kind + " {\n" + strings.ReplaceAll(directives, "; ", "\n") + "\n}\n"
}

func ids(objects []*object.Object) string {
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = string(o.ID)
	}
	sort.Strings(names)
	return strings.Join(names, " ")
}

func TestHostsOfServices(t *testing.T) {
	hosts := block("host", "host_name a; hostgroups g") + block("host", "host_name b; hostgroups g,h") + block("host", "host_name cc") +
		block("hostgroup", "hostgroup_name g; members cc") + block("hostgroup", "hostgroup_name h") +
		block("hostgroup", "hostgroup_name top; hostgroup_members h; members a") + block("hostgroup", "hostgroup_name empty")
	for _, c := range []struct{ name, service, main, want string }{
		{"names", "host_name a,b", "", "a!s b!s"},
		{"every host", "host_name *", "", "a!s b!s cc!s"},
		{"every host but one", "host_name *,!b", "", "a!s cc!s"},
		{"a group counts the hosts that list it", "hostgroup_name g", "", "a!s b!s cc!s"},
		{"a group in a group", "hostgroup_name top", "", "a!s b!s"},
		{"a group but another", "hostgroup_name g,!h", "", "a!s cc!s"},
		{"a group but a host", "hostgroup_name g; host_name !cc", "", "a!s b!s"},
		{"a group and a host", "hostgroup_name h; host_name a", "", "a!s b!s"},
		{"a group without members", "hostgroup_name empty", "", ""},
		{"expressions", "host_name c+$,a", "use_regexp_matching=1", "a!s cc!s"},
		{"expressions everywhere", "host_name b", "use_true_regexp_matching=1", "b!s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := set(t, command+hosts+block("service", "service_description s; "+c.service), c.main)
			var services []*object.Object
			for _, o := range s.Objects {
				if o.Kind() == object.Service {
					services = append(services, o)
				}
			}
			if got := ids(services); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestGroupsAndParentsAreLinked(t *testing.T) {
	s := set(t, block("host", "host_name gw")+block("host", "host_name a; parents gw; hostgroups g; address 192.0.2.1; alias A; _os x")+
		block("hostgroup", "hostgroup_name g; members gw")+block("hostgroup", "hostgroup_name all; hostgroup_members g"), "")
	a := s.Get("a")
	if ids(a.Parents) != "gw" || ids(s.Get("gw").Children) != "a" || !reflect.DeepEqual(a.Groups, []string{"all", "g"}) || ids(s.Groups["all"]) != "a gw" {
		t.Errorf("%+v %v", a, s.Groups)
	}
	if a.Address != "192.0.2.1" || a.Alias != "A" || a.Vars["OS"] != "x" || a.Rule.Check.Kind != object.CheckNone {
		t.Errorf("%+v %+v", a, a.Rule)
	}
}

func TestRuleTakesWhatIsWritten(t *testing.T) {
	s := set(t, command+block("host", "host_name h; notification_interval 7; initial_state d; flap_detection_options d,u; check_interval 0")+
		block("service", `host_name h; service_description s; check_interval 0.5; retry_interval 2; is_volatile 1; initial_state c;
active_checks_enabled 0; passive_checks_enabled 0; flap_detection_enabled 0; low_flap_threshold 5.5; high_flap_threshold 20;
flap_detection_options n; check_freshness 1; freshness_threshold 90; notes n; check_timeout 5`)+
		block("service", "host_name h; service_description auto; check_freshness 1; notification_interval 9"), "interval_length=10\n")
	h, r := s.Get("h").Rule, s.Get("h!s").Rule
	if h.Initial != object.Down || h.FlapIgnore != 1<<object.Up || h.NoteInterval != 70*time.Second || h.Interval != 0 {
		t.Errorf("host: %+v", h)
	}
	want := object.Rule{
		Name: "service s", Interval: 5 * time.Second, Retry: 20 * time.Second, Timeout: 5 * time.Second, Attempts: 3,
		Volatile: true, Initial: object.Critical, FlapLow: 5.5, FlapHigh: 20, FlapIgnore: 15, Freshness: 90 * time.Second,
		Notes: "n", NoteInterval: 70 * time.Second,
		Check: object.Check{Kind: object.CheckPlugin, Shell: "/bin/c x $HOSTNAME$"},
	}
	if !reflect.DeepEqual(*r, want) {
		t.Errorf("service:\n got %+v\nwant %+v", *r, want)
	}
	if auto := s.Get("h!auto").Rule; auto.Freshness != 0 || !auto.FreshAuto || auto.NoteInterval != 90*time.Second {
		t.Errorf("automatic freshness: %+v", auto)
	}
}

func TestSettingsOfTheMainFile(t *testing.T) {
	s := set(t, block("host", "host_name h"), `enable_flap_detection=1
low_service_flap_threshold=5
high_service_flap_threshold=20.5
low_host_flap_threshold=6
high_host_flap_threshold=21
use_aggressive_host_checking=1
passive_host_checks_are_soft=1
translate_passive_host_checks=1
service_check_timeout_state=u
execute_service_checks=0
execute_host_checks=0
accept_passive_service_checks=0
accept_passive_host_checks=0
`)
	want := object.Settings{
		On:             object.ProgramNotifications | object.ProgramEventHandlers | object.ProgramFlapDetection | object.ProgramServiceFreshness,
		ServiceFlapLow: 5, ServiceFlapHigh: 20.5, HostFlapLow: 6, HostFlapHigh: 21,
		AggressiveHostChecking: true, PassiveHostsAreSoft: true, TranslatePassiveHosts: true, TimeoutState: object.Unknown,
	}
	if s.Settings != want {
		t.Errorf("got %+v", s.Settings)
	}
}

func TestOfTwoServicesTheDirectOneCountsElseTheLater(t *testing.T) {
	hosts := command + block("host", "host_name h; hostgroups g") + block("hostgroup", "hostgroup_name g")
	direct := block("service", "host_name h; service_description s; notes direct")
	group := block("service", "hostgroup_name g; service_description s; notes group")
	later := block("service", "hostgroup_name g; service_description s; notes later")
	for text, want := range map[string]string{direct + group: "direct", group + direct: "direct", group + later: "later", later + group: "group"} {
		if got := set(t, hosts+text, "").Get("h!s").Rule.Notes; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestProblemsNameThePlaceAndWhatToWrite(t *testing.T) {
	_, problems := read(block("host", "host_name a; parents a,gone; hostgroups none; initial_state x; check_interval -1")+
		block("host", "host_name a")+"define host {\nhost_name b!\n}\n"+
		block("hostgroup", "hostgroup_name g; hostgroup_members g,lost; members nobody")+block("hostgroup", "hostgroup_name g")+
		block("service", "service_description s; host_name zed; hostgroup_name nix")+
		"define service {\nservice_description t\nhost_name a\nmax_check_attempts 1\n}\n"+
		block("service", "service_description u; host_name [")+"define command {\ncommand_name x\ncommand_line x\n}\n",
		"service_check_timeout_state=x\nuse_regexp_matching=1\ninterval_length=0\n")
	want := []string{
		`nagios.cfg:1: invalid service_check_timeout_state "x"; write o, w, c or u`,
		`nagios.cfg:3: interval_length "0" is no number of seconds; write for example 60`,
		`objects.cfg:21: hostgroup "g" is already defined at objects.cfg:16; rename one of them`,
		`objects.cfg:6: check_interval of host "a" is below 0; write 0 or more`,
		`objects.cfg:5: invalid initial_state "x" of host "a"; write o, d or u`,
		`objects.cfg:9: host "a" is already defined at objects.cfg:1; rename one of them`,
		`objects.cfg:13: the name of host "b!" has the illegal character '!'; write the name without it`,
		`objects.cfg:13: host "b!" needs max_check_attempts, a positive integer such as 3`,
		`objects.cfg:3: "a" is not a valid parent of host "a"; name another host that is defined`,
		`objects.cfg:3: "gone" is not a valid parent of host "a"; name another host that is defined`,
		`objects.cfg:4: there is no hostgroup "none"; define it or remove it from this line`,
		`objects.cfg:19: could not find any host matching "nobody"; define it or remove it from this line`,
		`objects.cfg:18: hostgroup "g" is part of a hostgroup_members loop; remove one of its groups`,
		`objects.cfg:18: there is no hostgroup "lost"; define it or remove it from this line`,
		`objects.cfg:27: there is no hostgroup "nix"; define it or remove it from this line`,
		`objects.cfg:26: could not find any host matching "zed"; define it or remove it from this line`,
		`objects.cfg:29: service "s": check command "c!x": there is no command "c"; define it or name another`,
		`objects.cfg:31: service "t" has no check_command; give it one`,
		`objects.cfg:38: could not find any host matching "["; define it or remove it from this line`,
		`objects.cfg:40: service "u": check command "c!x": there is no command "c"; define it or name another`,
	}
	if got := problems.Error(); got != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestCircularParentsAreRefused(t *testing.T) {
	_, problems := read(block("host", "host_name a; parents b")+block("host", "host_name b; parents c")+block("host", "host_name c; parents a")+
		block("host", "host_name d; parents a"), "")
	err := problems.Err()
	if err == nil || !strings.Contains(err.Error(), `objects.cfg:13: circular parents: host "c" is behind "a" and in front of it`) || len(problems) != 1 {
		t.Errorf("got %v", err)
	}
}
