package program_test

import (
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
)

// A contact whom the config has switched off can be switched on, and back.
func TestSwitchingAContactOnAgainstTheConfig(t *testing.T) {
	env, s := environment(), program.State{}
	config := &object.Contact{Name: "mute", Notify: &object.ContactNotification{Services: object.Reach{Off: true}}}
	env.Set.Contacts["mute"] = config
	tells := func() [2]bool {
		status := s.Contacts["mute"]
		return [2]bool{program.Tells(config, &status, object.Host), program.Tells(config, &status, object.Service)}
	}
	if tells() != [2]bool{true, false} {
		t.Fatalf("as configured: %v", tells())
	}
	do(t, env, &s, program.SwitchContact{Name: "mute", Hosts: true, Services: true, On: true, Author: "ann"}, now)
	want := []event.Setting{{Name: program.ServiceNotifications, Value: "on", Author: "ann", Time: now}}
	if c := s.Contacts["mute"]; tells() != [2]bool{true, true} || len(c.Settings) != 1 || c.Settings[0] != want[0] || c.HostModified != 0 || c.ServiceModified != 1 {
		t.Errorf("switched on: %v, %+v", tells(), c)
	}
	do(t, env, &s, program.SwitchContact{Name: "mute", Services: true, Author: "ann"}, now)
	if c := s.Contacts["mute"]; tells() != [2]bool{true, false} || c.Settings != nil || c.ServiceOff || c.ServiceModified != 1 {
		t.Errorf("as configured again: %v, %+v", tells(), c)
	}
}
