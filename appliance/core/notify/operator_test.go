package notify_test

import (
	"fmt"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/object"
)

const operatorConfig = people + `
define timeperiod {
  timeperiod_name never
  alias never
}
define contact {
  contact_name boss
  host_notification_options d
  service_notification_options c,r
  host_notification_commands c
  service_notification_commands c
}
define host {
  host_name web
  check_command c
  max_check_attempts 1
  notification_interval 5
  contacts ops
}
define service {
  host_name web
  service_description HTTP
  check_command c
  max_check_attempts 2
  notification_interval 3
  contacts ops
}
define serviceescalation {
  host_name web
  service_description HTTP
  first_notification 3
  last_notification 0
  contacts boss
}
`

// What operators do to notifications. A step a minute is a result, "svc 2" or "host
// 2", or an external command, in which START and END stand for this minute and ten
// minutes later; after the arrow stand those who are told and what.
func TestWhatOperatorsDo(t *testing.T) {
	tests := []struct{ name, trace string }{
		{"a delay holds back the next notification, whatever the interval says", `svc 2 > , svc 2 > ops CRITICAL,
			DELAY_SVC_NOTIFICATION;web;HTTP;END > , svc 2 > , svc 2 > , svc 2 > , svc 2 > , svc 2 > , svc 2 > , svc 2 > , svc 2 > , svc 2 > , svc 2 > ops CRITICAL`},
		{"a number moves the escalation", `svc 2 > , svc 2 > ops CRITICAL, SET_SVC_NOTIFICATION_NUMBER;web;HTTP;7 > , svc 2 > , svc 2 > boss CRITICAL, svc 0 > boss OK`},
		{"a number that was set before the problem counts", `SET_SVC_NOTIFICATION_NUMBER;web;HTTP;2 > , svc 2 > , svc 2 > boss CRITICAL, svc 0 > boss OK, svc 2 > , svc 2 > ops CRITICAL`},
		{"a broadcast goes to everybody, a plain one does not", `SEND_CUSTOM_SVC_NOTIFICATION;web;HTTP;1;jo;x > boss CUSTOM (OK) ops CUSTOM (OK),
			SEND_CUSTOM_SVC_NOTIFICATION;web;HTTP;0;jo;x > ops CUSTOM (OK)`},
		{"counted notifications move the escalation too", `svc 2 > , svc 2 > ops CRITICAL, SEND_CUSTOM_SVC_NOTIFICATION;web;HTTP;4;jo;x > ops CUSTOM (CRITICAL),
			SEND_CUSTOM_SVC_NOTIFICATION;web;HTTP;4;jo;x > boss CUSTOM (CRITICAL), svc 2 > boss CRITICAL`},
		{"a flexible downtime begins with a soft problem", `SCHEDULE_SVC_DOWNTIME;web;HTTP;START;END;0;0;300;jo;x > , svc 2 > ops DOWNTIMESTART (CRITICAL),
			svc 2 > , svc 2 > , svc 2 > , svc 2 > , svc 2 > ops CRITICAL ops DOWNTIMEEND (CRITICAL), svc 0 > ops OK`},
		{"a flexible downtime that was never needed ends all the same", "SCHEDULE_SVC_DOWNTIME;web;HTTP;START;END;0;0;300;jo;x > " +
			strings.Repeat(", svc 0 > ", 10) + ", svc 0 > ops DOWNTIMEEND (OK)"},
		{"a downtime that waits is cancelled without a word", `SCHEDULE_SVC_DOWNTIME;web;HTTP;END;9999999999;1;0;0;jo;x > , DEL_SVC_DOWNTIME;1 > `},
		{"of two downtimes the first start and the last end are told", `SCHEDULE_HOST_DOWNTIME;web;START;END;1;0;0;jo;x > ,
			SCHEDULE_HOST_DOWNTIME;web;START;END;1;0;0;jo;x > ops DOWNTIMESTART (UP), DEL_HOST_DOWNTIME;1 > , DEL_HOST_DOWNTIME;2 > ops DOWNTIMECANCELLED (UP)`},
		{"a period that never opens keeps the service quiet", `CHANGE_SVC_NOTIFICATION_TIMEPERIOD;web;HTTP;never > , svc 2 > , svc 2 > , SEND_CUSTOM_SVC_NOTIFICATION;web;HTTP;0;jo;x > ,
			SEND_CUSTOM_SVC_NOTIFICATION;web;HTTP;2;jo;x > ops CUSTOM (CRITICAL), svc 0 > `},
		{"what was off goes out with the next result", `DISABLE_NOTIFICATIONS > , svc 2 > , svc 2 > , ENABLE_NOTIFICATIONS > , svc 2 > ops CRITICAL, DISABLE_NOTIFICATIONS > ,
			svc 0 > , ENABLE_NOTIFICATIONS > , svc 0 > ops OK, svc 0 > `},
		{"results of a service tell again of its host", "host 2 > ops DOWN, svc 2 > , svc 2 > , svc 2 > , svc 2 > , svc 2 > ops DOWN, host 0 > ops UP, svc 2 > ops CRITICAL"},
		{"a service recovers while its host is down", "svc 2 > , svc 2 > ops CRITICAL, host 2 > ops DOWN, svc 0 > , svc 0 > , host 0 > ops UP, svc 0 > ops OK"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, operatorConfig, "", 1e12)
			for i, line := range strings.Split(tt.trace, ",") {
				do, want, _ := strings.Cut(strings.TrimLeft(line, " \n\t"), " > ")
				now := object.Time(1e12 + (i+1)*60e3)
				var rc int
				w.pass(now)
				switch {
				case read(do, "svc %d", &rc):
					w.check("web!HTTP", rc, "x", false)
				case read(do, "host %d", &rc):
					w.check("web", rc, "x", false)
				default:
					times := strings.NewReplacer("START", fmt.Sprint(now/1000), "END", fmt.Sprint(now/1000+600))
					verb, arguments, _ := strings.Cut(do, ";")
					w.command(strings.TrimSuffix(verb+";"+times.Replace(arguments), ";"))
				}
				got := strings.NewReplacer(" web/HTTP ", " ", " web ", " ").Replace(strings.Join(w.take(), " "))
				if got != strings.TrimSpace(want) {
					t.Errorf("step %d, %s: told %q, want %q", i, do, got, want)
				}
			}
		})
	}
}

func read(line, format string, n *int) bool {
	_, err := fmt.Sscanf(line, format, n)
	return err == nil
}
