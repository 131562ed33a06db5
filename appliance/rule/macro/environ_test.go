package macro_test

import (
	"slices"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/macro"
)

func TestEnvironOfACommand(t *testing.T) {
	src := shop()
	src.Object.Vars["PATH"] = "/opt;rm\n"
	all := macro.Environ(src, macro.Options{Illegal: ";"})
	for _, want := range []string{
		"NAGIOS_HOSTNAME=web", "NAGIOS_SERVICEDESC=http", "NAGIOS_SERVICESTATE=CRITICAL", "NAGIOS_SERVICEOUTPUT=it's down",
		"NAGIOS_SERVICEDOWNTIME=1", "NAGIOS__HOSTOS=Linux", "NAGIOS__SERVICEPORT=80", "NAGIOS__SERVICEPATH=/optrm",
		"NAGIOS_CONTACTNAME=ops", "NAGIOS_CONTACTADDRESS1=two", "NAGIOS__CONTACTSHIFT=day", "NAGIOS_ARG1=one", "NAGIOS_SERVICEACKCOMMENT=I'm on it",
	} {
		if !slices.Contains(all, want) {
			t.Errorf("%q is missing", want)
		}
	}
	for _, v := range all {
		if strings.HasPrefix(v, "NAGIOS_TOTALHOSTSUP=") || strings.HasPrefix(v, "NAGIOS_HOSTGROUPMEMBERS=") || strings.HasPrefix(v, "NAGIOS_USER") {
			t.Errorf("%q stands in every environment", v)
		}
	}
	if !slices.IsSortedFunc(all, func(a, b string) int { return strings.Compare(name(a), name(b)) }) {
		t.Error("the variables are not sorted")
	}
}

func name(variable string) string {
	name, _, _ := strings.Cut(variable, "=")
	return name
}

func TestEnvironOfWhatIsNamed(t *testing.T) {
	src := shop()
	src.State("web!http").Measure.Output = "a\x00b`c`" + strings.Repeat("é", 1<<16)
	got := macro.Environ(src, macro.Options{Clean: true, Illegal: "`"}, "SERVICEOUTPUT", "TOTALHOSTSUP", "NOSUCHMACRO")
	if len(got) != 2 || !strings.HasPrefix(got[0], "NAGIOS_SERVICEOUTPUT=abcé") || got[1] != "NAGIOS_TOTALHOSTSUP=0" {
		t.Errorf("%.80q", got)
	}
	if len(got[0]) > 1<<16+40 {
		t.Errorf("%d bytes in one variable", len(got[0]))
	}
	if none := macro.Environ(&macro.Source{}, macro.Options{}, "HOSTNAME"); none[0] != "NAGIOS_HOSTNAME=" {
		t.Errorf("without an object %q", none)
	}
}

// What operators set at run time goes before the config.
func TestOperatorsSettingsAreAnswered(t *testing.T) {
	src := shop()
	st := &src.State("web!http").Status
	st.Extra = &event.Extra{Settings: []event.Setting{
		{Name: event.SettingNotePeriod, Value: "night"}, {Name: event.SettingVar + "NEW", Value: "x"}, {Name: event.SettingVar + "PORT", Value: "8080"},
	}}
	text := "$_SERVICEPORT$ $_SERVICENEW$ $SERVICENOTIFICATIONPERIOD$ $_SERVICEPORT:web:http$ $SERVICENOTIFICATIONENABLED$"
	if got := macro.Expand(text, src, macro.Options{}); got != "8080 x night 8080 0" {
		t.Errorf("%q", got)
	}
	if !slices.Contains(macro.Environ(src, macro.Options{}), "NAGIOS__SERVICENEW=x") {
		t.Error("a variable of an operator alone is not in the environment")
	}
	src.Object.Rule.Off, st.Off = object.SwitchNotifications, 0
	if got := macro.Expand("$SERVICENOTIFICATIONENABLED$", src, macro.Options{}); got != "0" {
		t.Errorf("off by the config: %q", got)
	}
}
