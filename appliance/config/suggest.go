package config

import (
	"strings"

	"jaque.sh/jaque/appliance/rule/near"
)

// otherWords are the names that Nagios has for what is called otherwise here.
var otherWords = map[string]string{
	"host_name": "name", "display_name": "alias", "hostgroups": "groups", "host_groups": "groups", "hostgroup_name": "groups",
	"check_command": "check", "command": "check", "check_interval": "interval", "normal_check_interval": "interval",
	"retry_interval": "retry", "retry_check_interval": "retry", "max_check_attempts": "attempts",
	"check_timeout": "timeout", "freshness_threshold": "freshness", "is_volatile": "volatile", "initial_state": "initial",
	"active_checks_enabled": "active", "passive_checks_enabled": "passive", "flap_detection_enabled": "flap_detection",
	"notifications_enabled": "notifications", "event_handler_enabled": "event_handlers", "process_perf_data": "perfdata",
	"servicegroups": "service_groups", "timeperiods": "periods", "obsess_over_host": "obsess", "obsess_over_service": "obsess",
	"contact_groups": "notify", "contactgroups": "groups", "contacts": "notify", "contact": "notify", "contact_group": "notify",
	"host_notification_commands": "command", "service_notification_commands": "command", "pager": "vars", "can_submit_commands": "vars",
	"host_notification_options": "hosts", "service_notification_options": "services", "notification_options": "states",
	"host_notification_period": "hosts", "service_notification_period": "services", "notification_interval": "repeat",
	"first_notification_delay": "after", "first_notification": "from", "last_notification": "to", "escalations": "escalate",
	"escalation_period": "period", "escalation_options": "states", "notification_period": "period", "rotation": "layers",
	"low_flap_threshold": "flap_low", "high_flap_threshold": "flap_high", "service_description": "name",
}

// didYouMean returns `; did you mean "ops"?` for the candidate that is nearest
// to a mistyped name, "" if none is near. Equal distances go to the candidate
// that sorts first, so that the text never depends on map order.
func didYouMean(name string, candidates func(yield func(string) bool)) string {
	if other, ok := otherWords[name]; ok {
		for c := range candidates {
			if c == other {
				return `; did you mean ` + quote(other) + `?`
			}
		}
	}
	limit := min(1+len(name)/5, 3)
	best, bestAt := "", limit+1
	for c := range candidates {
		d := near.Distance(strings.ToLower(name), strings.ToLower(c), bestAt)
		if d < bestAt || d == bestAt && d <= limit && c < best {
			best, bestAt = c, d
		}
	}
	if bestAt > limit || best == "" {
		return ""
	}
	return `; did you mean ` + quote(best) + `?`
}
