package build

import (
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/objectfile"
)

// Settings reads the program-wide settings of a main file. What it does not set
// is as in Nagios: flap detection is off, the thresholds are 20 and 30 percent.
func Settings(m objectfile.Main) (object.Settings, objectfile.Problems) {
	var problems objectfile.Problems
	s := object.Settings{
		On: switches(m),

		ServiceFlapLow:  m.Number("low_service_flap_threshold", 20),
		ServiceFlapHigh: m.Number("high_service_flap_threshold", 30),
		HostFlapLow:     m.Number("low_host_flap_threshold", 20),
		HostFlapHigh:    m.Number("high_host_flap_threshold", 30),

		AggressiveHostChecking: m.Bool("use_aggressive_host_checking", false),
		PassiveHostsAreSoft:    m.Bool("passive_host_checks_are_soft", false),
		TranslatePassiveHosts:  m.Bool("translate_passive_host_checks", false),
		TimeoutState:           object.Critical,
	}
	if d := m.Find("service_check_timeout_state"); d != nil {
		state, ok := stateOf(object.Service, d.Value)
		if !ok {
			problems.Add(d.Pos, "invalid service_check_timeout_state %q; write o, w, c or u", d.Value)
		}
		s.TimeoutState = state
	}
	return s, problems
}

// programSwitches are the switches of a main file with what they are without it;
// constant.
var programSwitches = []struct {
	name string
	on   bool
	bit  object.Program
}{
	{"execute_host_checks", true, object.ProgramHostChecks},
	{"execute_service_checks", true, object.ProgramServiceChecks},
	{"accept_passive_host_checks", true, object.ProgramPassiveHosts},
	{"accept_passive_service_checks", true, object.ProgramPassiveServices},
	{"enable_notifications", true, object.ProgramNotifications},
	{"enable_event_handlers", true, object.ProgramEventHandlers},
	{"enable_flap_detection", false, object.ProgramFlapDetection},
	{"process_performance_data", false, object.ProgramPerfdata},
	{"check_host_freshness", false, object.ProgramHostFreshness},
	{"check_service_freshness", true, object.ProgramServiceFreshness},
	{"obsess_over_hosts", false, object.ProgramObsessHosts},
	{"obsess_over_services", false, object.ProgramObsessServices},
}

func switches(m objectfile.Main) (on object.Program) {
	for _, s := range programSwitches {
		if m.Bool(s.name, s.on) {
			on |= s.bit
		}
	}
	return on
}

// stateOf reads a state by its letter or word.
func stateOf(kind object.Kind, word string) (object.State, bool) {
	if word == "" {
		return 0, false
	}
	letters := "owcu"
	if kind == object.Host {
		letters = "odu"
	}
	for i := range len(letters) {
		if letters[i] == word[0] {
			return object.State(i), true
		}
	}
	return 0, false
}
