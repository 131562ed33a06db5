package build_test

import (
	"sort"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/object"
)

// park is three hosts with two services each and a group of both kinds.
func park() string {
	return command + block("host", "host_name a") + block("host", "host_name b") + block("host", "host_name m") +
		block("service", "host_name a,b,m; service_description web") + block("service", "host_name a,b,m; service_description db") +
		block("hostgroup", "hostgroup_name g; members a,b") + block("servicegroup", "servicegroup_name dbs; members a,db,b,db") +
		block("timeperiod", "timeperiod_name day; alias d; monday 08:00-16:00")
}

// depends lists the dependencies of a set as "dependent > master".
func depends(s *object.Set) string {
	var all []string
	for _, o := range s.Objects {
		for _, d := range o.Depends {
			all = append(all, string(o.ID)+">"+string(d.Master.ID))
		}
	}
	sort.Strings(all)
	return strings.Join(all, " ")
}

func TestDependenciesAreExpanded(t *testing.T) {
	const c = "; notification_failure_criteria c"
	for _, tt := range []struct{ name, text, main, want string }{
		{"hosts on both sides", block("hostdependency", "host_name a,m; dependent_host_name b; execution_failure_criteria d"), "", "b>a b>m"},
		{"a group but one", block("hostdependency", "host_name m; dependent_hostgroup_name g; dependent_host_name !b; execution_failure_criteria d"), "", "a>m"},
		{"without criteria it is ignored", block("hostdependency", "host_name a; dependent_host_name b"), "", ""},
		{"criteria none", block("hostdependency", "host_name a; dependent_host_name b; execution_failure_criteria n"), "", ""},
		{"the same twice", strings.Repeat(block("hostdependency", "host_name a; dependent_host_name b; execution_failure_criteria d"), 2), "", "b>a"},
		{"one service on another", block("servicedependency", "host_name m; service_description db; dependent_host_name a; dependent_service_description web"+c), "", "a!web>m!db"},
		{"on the same host", block("servicedependency", "host_name a,b; service_description db; dependent_service_description web"+c), "", "a!web>a!db b!web>b!db"},
		{"on the same host by group", block("servicedependency", "hostgroup_name g; service_description db; dependent_service_description web"+c), "", "a!web>a!db b!web>b!db"},
		{"every service of a host", block("servicedependency", "host_name m; service_description *; dependent_host_name a; dependent_service_description web"+c), "", "a!web>m!db a!web>m!web"},
		{"every service but one", block("servicedependency", "host_name m; service_description *,!web; dependent_host_name a; dependent_service_description web"+c), "", "a!web>m!db"},
		{"an expression", block("servicedependency", "host_name m; service_description d.+; dependent_host_name a; dependent_service_description web"+c), "use_regexp_matching=1", "a!web>m!db"},
		{"servicegroups", block("servicedependency", "host_name m; service_description db; dependent_servicegroup_name dbs"+c), "", "a!db>m!db b!db>m!db"},
		{"masters of a servicegroup", block("servicedependency", "servicegroup_name dbs; dependent_host_name m; dependent_service_description web"+c), "", "m!web>a!db m!web>b!db"},
		{"masters of a servicegroup on their hosts", block("servicedependency", "servicegroup_name dbs; dependent_service_description web"+c), "", "a!web>a!db b!web>b!db"},
		{"a servicegroup that takes others away", block("servicedependency", "host_name a,m; service_description db; servicegroup_name !dbs; dependent_host_name b; dependent_service_description web"+c), "", "b!web>m!db"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := depends(set(t, park()+tt.text, tt.main)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestADependencyHasItsTerms(t *testing.T) {
	s := set(t, park()+block("servicedependency", `host_name m; service_description db; dependent_host_name a; dependent_service_description web
execution_failure_criteria u,c,p; notification_failure_criteria w; inherits_parent 1; dependency_period day`)+
		block("hostdependency", "host_name m; dependent_host_name a; notification_failure_criteria d,u"), "")
	d := s.Get("a!web").Depends[0]
	if d.Execution != 1<<object.Unknown|1<<object.Critical || !d.ExecutionPending || d.Notification != 1<<object.Warning || d.NotificationPending ||
		!d.Inherits || d.Period.Name() != "day" || d.Group != "" {
		t.Errorf("%+v", d)
	}
	if d = s.Get("a").Depends[0]; d.Notification != 1<<object.Down|1<<object.Unreachable || d.Execution != 0 || d.Period != nil {
		t.Errorf("%+v", d)
	}
}

func TestDependenciesThatCannotBe(t *testing.T) {
	const c = "; notification_failure_criteria c"
	for _, tt := range []struct{ name, text, want string }{
		{"a host on itself", block("hostdependency", "host_name a; dependent_host_name a; execution_failure_criteria d"), `circular execution dependency: "a" depends on "a"`},
		{"two hosts on each other", block("hostdependency", "host_name a; dependent_host_name b; notification_failure_criteria d") +
			block("hostdependency", "host_name b; dependent_host_name a; notification_failure_criteria d"), `circular notification dependency: "a" depends on "b" depends on "a"`},
		{"a group on both sides", block("servicedependency", "hostgroup_name g; service_description db; dependent_hostgroup_name g; dependent_service_description db"+c), "circular notification dependency"},
		{"an unknown service", block("servicedependency", "host_name a; service_description gone; dependent_host_name b; dependent_service_description db"+c), `could not find a service matching host name "a" and description "gone"`},
		{"a service that the same host has not", block("servicedependency", "host_name a; service_description db; dependent_service_description gone"+c), `host name "a" and description "gone"`},
		{"an unknown host", block("hostdependency", "host_name a; dependent_host_name zed; execution_failure_criteria d"), `any host matching "zed"`},
		{"an unknown group", block("servicedependency", "servicegroup_name x; dependent_host_name a; dependent_service_description db"+c), `no servicegroup "x"`},
		{"an unknown period", block("hostdependency", "host_name a; dependent_host_name b; execution_failure_criteria d; dependency_period x"), `no timeperiod "x"`},
		{"an unknown letter", block("hostdependency", "host_name a; dependent_host_name b; execution_failure_criteria w"), `invalid option "w" of execution_failure_criteria`},
		{"no masters", block("hostdependency", "dependent_host_name b; execution_failure_criteria d"), "give it a host_name"},
		{"no dependents", block("hostdependency", "host_name b; execution_failure_criteria d"), "dependent_"},
		{"no dependent service", block("servicedependency", "host_name b; service_description db"+c), "dependent_"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := read(park()+tt.text, "")
			if err := problems.Err(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestDependenciesOfDifferentPurposesMayCross(t *testing.T) {
	got := depends(set(t, park()+block("hostdependency", "host_name a; dependent_host_name b; notification_failure_criteria d")+
		block("hostdependency", "host_name b; dependent_host_name a; execution_failure_criteria d"), ""))
	if got != "a>b b>a" {
		t.Errorf("got %q", got)
	}
}
