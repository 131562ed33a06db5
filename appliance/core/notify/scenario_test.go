package notify_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

const scenarioConfig = people + `
define contact {
  contact_name boss
  host_notification_options d,r
  service_notification_options c,r,f
  host_notification_commands c
  service_notification_commands c
}
define host {
  host_name web
  check_command c
  max_check_attempts 2
  notification_interval 10
  contacts ops
}
define service {
  host_name web
  service_description HTTP
  check_command c
  max_check_attempts 2
  notification_interval %d
  first_notification_delay %d
  contacts ops
}
define serviceescalation {
  host_name web
  service_description HTTP
  first_notification 2
  last_notification %d
  notification_interval 5
  contacts boss
}
define serviceescalation {
  host_name web
  service_description HTTP
  first_notification 3
  last_notification 0
  contacts +boss
}
`

// incidents checks, while a scenario runs, what must hold of each object's
// notifications.
type incidents struct {
	t      rapid.TB
	number map[object.ID]int32
	// heard are those who were told of a problem and not yet of its end.
	heard map[object.ID][]string
}

func (l *incidents) decided(in *notify.Input, out *notify.Outcome) {
	id := in.Object.ID
	if in.Status.State == object.OK {
		l.number[id] = 0 // the next problem is another one
	}
	if !out.Send {
		if f := in.Fields; out.Fields.Number > f.Number || out.Fields.Last != f.Last {
			l.t.Fatalf("nobody was told of %s, but the fields went from %+v to %+v", out.Kind, f, out.Fields)
		}
		return
	}
	switch out.Kind {
	case notify.Problem:
		if out.Number != l.number[id]+1 {
			l.t.Fatalf("%s: number %d after %d", id, out.Number, l.number[id])
		}
		l.number[id] = out.Number
		l.heard[id] = append(l.heard[id], out.Told()...)
	case notify.Recovery:
		if len(l.heard[id]) == 0 {
			l.t.Fatalf("%s: %q hear of the end of a problem that nobody was told of", id, out.Told())
		}
		if in.Object.Notify.ToTold {
			for _, name := range out.Told() {
				if !slices.Contains(l.heard[id], name) {
					l.t.Fatalf("%s: %s was not told of the problem", id, name)
				}
				l.heard[id] = slices.DeleteFunc(l.heard[id], func(n string) bool { return n == name })
			}
		}
		if l.number[id] = 0; out.Fields.Notified == 0 {
			l.heard[id] = nil
		}
	}
}

// Whatever happens, notifications are counted without a gap from 1 on, nobody hears
// of the end of what nobody was told of, and no end that is owed gets lost.
func TestIncidents(t *testing.T) {
	commands := []string{
		"ACKNOWLEDGE_SVC_PROBLEM;web;HTTP;2;1;0;ops;x", "ACKNOWLEDGE_SVC_PROBLEM;web;HTTP;1;0;0;ops;x", "REMOVE_SVC_ACKNOWLEDGEMENT;web;HTTP",
		"SCHEDULE_SVC_DOWNTIME;web;HTTP;%d;%d;1;0;0;ops;x", "SCHEDULE_SVC_DOWNTIME;web;HTTP;%d;%d;0;0;600;ops;x", "SCHEDULE_HOST_DOWNTIME;web;%d;%d;1;0;0;ops;x",
		"DISABLE_NOTIFICATIONS", "ENABLE_NOTIFICATIONS", "DISABLE_SVC_NOTIFICATIONS;web;HTTP", "ENABLE_SVC_NOTIFICATIONS;web;HTTP",
		"DISABLE_CONTACT_SVC_NOTIFICATIONS;boss", "ENABLE_CONTACT_SVC_NOTIFICATIONS;boss", "DISABLE_CONTACT_SVC_NOTIFICATIONS;ops", "ENABLE_CONTACT_SVC_NOTIFICATIONS;ops",
		"SEND_CUSTOM_SVC_NOTIFICATION;web;HTTP;1;ops;x", "DISABLE_SVC_FLAP_DETECTION;web;HTTP", "ENABLE_SVC_FLAP_DETECTION;web;HTTP",
	}
	const service, host = object.ID("web!HTTP"), object.ID("web")
	rapid.Check(t, func(t *rapid.T) {
		config := fmt.Sprintf(scenarioConfig, rapid.SampledFrom([]int{0, 2, 30}).Draw(t, "interval"), rapid.SampledFrom([]int{0, 6}).Draw(t, "delay"), rapid.SampledFrom([]int{0, 3}).Draw(t, "last"))
		w := newWorld(t, config, "enable_flap_detection=1\n", 1e12)
		w.set.Get(service).Notify.ToTold = rapid.Bool().Draw(t, "to told")
		laws := &incidents{t: t, number: map[object.ID]int32{}, heard: map[object.ID][]string{}}
		w.decided = laws.decided
		for range rapid.IntRange(5, 40).Draw(t, "steps") {
			w.pass(w.now + 60e3)
			switch rapid.IntRange(0, 6).Draw(t, "step") {
			case 0:
				line := rapid.SampledFrom(commands).Draw(t, "command")
				if slices.Contains([]byte(line), '%') {
					line = fmt.Sprintf(line, w.now/1000, w.now/1000+600)
				}
				w.command(line)
			case 1:
				w.check(host, rapid.SampledFrom([]int{0, 0, 2}).Draw(t, "host"), "x", false)
			default:
				w.check(service, rapid.SampledFrom([]int{0, 1, 2, 2}).Draw(t, "service"), "x", rapid.Bool().Draw(t, "passive"))
			}
		}
		w.command("ENABLE_NOTIFICATIONS")
		for _, line := range []string{"ENABLE_SVC_NOTIFICATIONS;web;HTTP", "DISABLE_SVC_FLAP_DETECTION;web;HTTP", "ENABLE_CONTACT_SVC_NOTIFICATIONS;boss", "ENABLE_CONTACT_SVC_NOTIFICATIONS;ops"} {
			w.command(line)
		}
		w.pass(w.now + 3600e3)
		w.check(host, 0, "up", false)
		w.check(service, 0, "ok", false)
		if st := &w.states[service].Status; st.Notified != 0 || st.NotificationNumber != 0 || st.Told != "" {
			t.Fatalf("after all that could stand in the way is gone, %q still wait for the recovery (%d)", st.Told, st.NotificationNumber)
		}
	})
}
