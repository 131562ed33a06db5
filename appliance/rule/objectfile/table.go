package objectfile

import (
	"sort"
	"strings"

	"jaque.sh/jaque/appliance/rule/near"
)

// table says which directives a type of object has.
type table struct {
	key      string            // the directive that names the object
	name     map[string]string // every accepted spelling to the canonical name
	additive map[string]bool   // a leading "+" adds to what a template gives
	vars     bool              // custom variables are allowed
	open     bool              // any name is accepted (days of a time period)
}

// Shared parts of the lists below: "a=b" makes a another spelling of b, a "+"
// in front marks a list that templates can add to.
const (
	checkWords = `check_command initial_state max_check_attempts check_interval normal_check_interval=check_interval
		retry_interval retry_check_interval=retry_interval active_checks_enabled passive_checks_enabled check_period obsess
		check_freshness freshness_threshold event_handler event_handler_enabled event_handler_period low_flap_threshold
		high_flap_threshold flap_detection_enabled flap_detection_options process_perf_data retain_status_information
		retain_nonstatus_information +contacts +contact_groups notification_interval first_notification_delay
		notification_period notification_options notifications_enabled stalking_options importance hourly_value=importance
		notes notes_url action_url icon_image icon_image_alt check_timeout failure_prediction_enabled
		failure_prediction_options display_name +parents`
	masterWords = `+host_name host=host_name +hostgroup_name hostgroup=hostgroup_name hostgroups=hostgroup_name`
	extraWords  = `host_name notes notes_url action_url icon_image icon_image_alt vrml_image gd2_image=statusmap_image
		statusmap_image 2d_coords 3d_coords`
	dependencyWords = masterWords + ` master_host=host_name master_host_name=host_name +dependent_host_name
		dependent_host=dependent_host_name +dependent_hostgroup_name dependent_hostgroup=dependent_hostgroup_name
		dependent_hostgroups=dependent_hostgroup_name dependency_period inherits_parent execution_failure_criteria
		execution_failure_options=execution_failure_criteria notification_failure_criteria
		notification_failure_options=notification_failure_criteria`
	escalationWords = masterWords + ` +contacts +contact_groups first_notification last_notification
		notification_interval escalation_period escalation_options escalation_condition`
	serviceWords = ` +service_description description=service_description +servicegroup_name
		servicegroup=servicegroup_name servicegroups=servicegroup_name`
)

// tables holds the directives of each kind of object; constant.
var tables = map[string]table{
	"host": newTable("host_name", true, checkWords+` host_name alias address address6 +hostgroups host_groups=hostgroups
		checks_enabled=active_checks_enabled obsess_over_host=obsess vrml_image statusmap_image gd2_image=statusmap_image
		2d_coords 3d_coords`),
	"service": newTable("service_description", true, checkWords+` service_description description=service_description
		hosts=host_name +servicegroups service_groups=servicegroups is_volatile parallelize_check
		obsess_over_service=obsess `+masterWords),
	"hostgroup": newTable("hostgroup_name", false, `hostgroup_name alias +members +hostgroup_members notes notes_url action_url`),
	"servicegroup": newTable("servicegroup_name", false, `servicegroup_name alias +members +servicegroup_members
		notes notes_url action_url`),
	"contactgroup": newTable("contactgroup_name", false, `contactgroup_name alias +members +contactgroup_members`),
	"contact": newTable("contact_name", true, `contact_name alias +contactgroups contact_groups=contactgroups email pager
		address1 address2 address3 address4 address5 address6 host_notifications_enabled service_notifications_enabled
		host_notification_period service_notification_period host_notification_options service_notification_options
		+host_notification_commands +service_notification_commands can_submit_commands minimum_importance
		minimum_value=minimum_importance retain_status_information retain_nonstatus_information`),
	"command":        newTable("command_name", false, `command_name command_line`),
	"timeperiod":     openTable("timeperiod_name"),
	"hostdependency": newTable("", false, dependencyWords),
	"servicedependency": newTable("", false, dependencyWords+serviceWords+` master_description=service_description
		master_service_description=service_description +dependent_service_description
		dependent_description=dependent_service_description +dependent_servicegroup_name
		dependent_servicegroup=dependent_servicegroup_name dependent_servicegroups=dependent_servicegroup_name`),
	"hostescalation": newTable("", false, escalationWords+` first_down_notification last_down_notification
		first_unreachable_notification last_unreachable_notification`),
	"serviceescalation": newTable("", false, escalationWords+serviceWords+` first_warning_notification
		last_warning_notification first_critical_notification last_critical_notification first_unknown_notification
		last_unknown_notification`),
	"hostextinfo":    newTable("", false, extraWords+` hostgroup_name hostgroup=hostgroup_name`),
	"serviceextinfo": newTable("", false, extraWords+` hostgroup_name hostgroup=hostgroup_name service_description`),
}

// newTable reads a list of words. Every type also has the directives that make
// and use templates.
func newTable(key string, vars bool, words string) table {
	t := table{key: key, vars: vars, name: map[string]string{"use": "use", "name": "name", "register": "register"}, additive: map[string]bool{}}
	for _, w := range strings.Fields(words) {
		if rest, is := strings.CutPrefix(w, "+"); is {
			w = rest
			t.additive[w] = true
		}
		other, canonical, is := strings.Cut(w, "=")
		if !is {
			canonical = w
		}
		t.name[other] = canonical
	}
	return t
}

// openTable makes the table of a type whose directives are partly days and so
// cannot be listed.
func openTable(key string) table {
	t := newTable(key, false, key+" alias exclude")
	t.open = true
	return t
}

// Types returns the names of all types of object, sorted.
func Types() []string { return sortedKeys(tables) }

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// suggest says what a misspelt word may have meant, else all there is.
func suggest(word string, known []string) string {
	best, at := 3, ""
	for _, k := range known {
		if d := near.Distance(word, k, best); d < best {
			best, at = d, k
		}
	}
	if at != "" {
		return `did you mean "` + at + `"?`
	}
	if len(known) > 16 {
		return "no directive of this type is spelt like it"
	}
	return "write one of " + strings.Join(known, ", ")
}
