package external

import (
	"math"
	"strings"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/operate"
)

// programSwitch makes the doer of a pair of commands about the whole program.
func programSwitch(what object.Program) func(on bool) func(*translation) error {
	return func(on bool) func(*translation) error {
		return func(t *translation) error {
			t.program(program.Switch{What: what, On: on})
			return nil
		}
	}
}

// contact reads the name of a contact.
func (t *translation) contact() (*object.Contact, error) {
	return operate.Contact(t.w.Set, t.next())
}

// contactSwitch makes the doer of a pair of commands about one contact.
func contactSwitch(hosts, services bool) func(on bool) func(*translation) error {
	return func(on bool) func(*translation) error {
		return func(t *translation) error {
			c, err := t.contact()
			if err != nil {
				return err
			}
			t.program(program.SwitchContact{Name: c.Name, Hosts: hosts, Services: services, On: on})
			return nil
		}
	}
}

// contactGroupSwitch makes the doer of a pair of commands about a contact group.
func contactGroupSwitch(hosts, services bool) func(on bool) func(*translation) error {
	return func(on bool) func(*translation) error {
		return func(t *translation) error {
			names, err := operate.ContactGroup(t.w.Set, t.next())
			for _, name := range names {
				t.program(program.SwitchContact{Name: name, Hosts: hosts, Services: services, On: on})
			}
			return err
		}
	}
}

// contactPeriod makes the doer of a command that changes a contact's period.
func contactPeriod(setting string) func(*translation) error {
	return func(t *translation) error {
		c, err := t.contact()
		if err != nil {
			return err
		}
		p, err := operate.Period(t.w.Set, t.next())
		if err != nil {
			return err
		}
		t.program(program.TuneContact{Name: c.Name, Setting: setting, Value: p.Name()})
		return nil
	}
}

// contactBits makes the doer of a command that sets bits of a contact.
func contactBits(set func(*program.SetContactModified, *uint32)) func(*translation) error {
	return func(t *translation) error {
		c, err := t.contact()
		if err != nil {
			return err
		}
		bits, err := readBits(t.next())
		m := program.SetContactModified{Name: c.Name}
		set(&m, &bits)
		t.program(m)
		return err
	}
}

func contactVariable(t *translation) error {
	c, err := t.contact()
	if err != nil {
		return err
	}
	name, err := t.variable(c.Vars)
	if err != nil {
		return err
	}
	t.program(program.TuneContact{Name: c.Name, Setting: event.SettingVar + name, Value: t.next()})
	return nil
}

// variable reads the name of a custom variable that must exist.
func (t *translation) variable(vars map[string]string) (string, error) {
	typed := t.next()
	name := strings.ToUpper(strings.TrimPrefix(typed, "_"))
	if _, ok := vars[name]; !ok {
		return "", refusal(Target, t.c.Name, "there is no custom variable %q; only one of the config can be changed", clip(typed))
	}
	return name, nil
}

func programRows() []row {
	sw := func(on, off, text string, what object.Program, aliases ...string) []row {
		p := pair(on, off, nil, false, text+" of the whole program", programSwitch(what))
		for i, alias := range aliases {
			p[i].aliases = []string{alias}
		}
		return p
	}
	return join(
		sw("ENABLE_NOTIFICATIONS", "DISABLE_NOTIFICATIONS", "notifications", object.ProgramNotifications, "ENTER_ACTIVE_MODE", "ENTER_STANDBY_MODE"),
		[]row{{
			name: "DISABLE_NOTIFICATIONS_EXPIRE_TIME", args: []kind{aTime, aTime}, only: "Icinga 1", text: "Switches notifications off for a while.",
			why: "a switch has no end here; schedule a downtime for everything, or use DISABLE_NOTIFICATIONS and ENABLE_NOTIFICATIONS",
		}},
		sw("ENABLE_EVENT_HANDLERS", "DISABLE_EVENT_HANDLERS", "event handlers", object.ProgramEventHandlers),
		sw("ENABLE_FLAP_DETECTION", "DISABLE_FLAP_DETECTION", "flap detection", object.ProgramFlapDetection),
		sw("ENABLE_PERFORMANCE_DATA", "DISABLE_PERFORMANCE_DATA", "the processing of performance data", object.ProgramPerfdata),
		sw("START_EXECUTING_HOST_CHECKS", "STOP_EXECUTING_HOST_CHECKS", "active checks of hosts", object.ProgramHostChecks),
		sw("START_EXECUTING_SVC_CHECKS", "STOP_EXECUTING_SVC_CHECKS", "active checks of services", object.ProgramServiceChecks),
		sw("START_ACCEPTING_PASSIVE_HOST_CHECKS", "STOP_ACCEPTING_PASSIVE_HOST_CHECKS", "submitted results of hosts", object.ProgramPassiveHosts),
		sw("START_ACCEPTING_PASSIVE_SVC_CHECKS", "STOP_ACCEPTING_PASSIVE_SVC_CHECKS", "submitted results of services", object.ProgramPassiveServices),
		sw("START_OBSESSING_OVER_HOST_CHECKS", "STOP_OBSESSING_OVER_HOST_CHECKS", "obsessing over hosts (kept and shown, nothing runs)", object.ProgramObsessHosts),
		sw("START_OBSESSING_OVER_SVC_CHECKS", "STOP_OBSESSING_OVER_SVC_CHECKS", "obsessing over services (kept and shown, nothing runs)", object.ProgramObsessServices),
		sw("ENABLE_SERVICE_FRESHNESS_CHECKS", "DISABLE_SERVICE_FRESHNESS_CHECKS", "freshness of services", object.ProgramServiceFreshness),
		sw("ENABLE_HOST_FRESHNESS_CHECKS", "DISABLE_HOST_FRESHNESS_CHECKS", "freshness of hosts", object.ProgramHostFreshness),
		processRows(),
	)
}

// processRows are the commands about the process, not about what it monitors.
func processRows() []row {
	const set = "the config alone says which commands run; change it there and reload"
	return []row{
		{
			name: "SHUTDOWN_PROCESS", aliases: []string{"SHUTDOWN_PROGRAM"}, text: "Stops the process.",
			why: "whoever can write to the command file must not end the monitoring; stop the service instead",
		},
		{
			name: "RESTART_PROCESS", aliases: []string{"RESTART_PROGRAM"}, text: "Reads the config again; a wrong one changes nothing.",
			special: func(*Command) Special { return Special{Kind: Reload} },
		},
		{name: "SAVE_STATE_INFORMATION", text: "Does nothing: every change is on disk before it counts."},
		{
			name: "READ_STATE_INFORMATION", text: "Reads the retention file.",
			why: "there is no retention file, the log has every change; leave it out",
		},
		{
			name: "SYNC_STATE_INFORMATION", only: "Icinga 1", text: "Writes and reads the retention file.",
			why: "there is no retention file, the log has every change; leave it out",
		},
		{name: "CHANGE_GLOBAL_HOST_EVENT_HANDLER", args: []kind{aCommand}, text: "Changes the event handler of all hosts.", why: set},
		{name: "CHANGE_GLOBAL_SVC_EVENT_HANDLER", args: []kind{aCommand}, text: "Changes the event handler of all services.", why: set},
		{
			name: "PROCESS_FILE", args: []kind{aFile, aFlag}, optional: 1, text: "Reads commands from a file; with a flag above 0 the file is removed.",
			special: func(c *Command) Special {
				s := Special{Kind: ProcessFile, Path: c.Args[0]}
				if len(c.Args) > 1 {
					n, _ := readCount(c.Args[1], math.MinInt32, math.MaxInt32)
					s.Delete = n > 0
				}
				return s
			},
		},
		{
			name: "LOG", args: []kind{aComment}, only: "Naemon", text: "Writes the text to the program's log.",
			special: func(c *Command) Special { return Special{Kind: WriteLog, Text: c.Args[0]} },
		},
		{
			name: "FLUSH_PENDING_COMMANDS", only: "Icinga 1", text: "Drops commands that wait.",
			why: "a command that was accepted is carried out; leave it out",
		},
		{
			name: "ENABLE_FAILURE_PREDICTION", only: "Icinga 1", text: "Switches failure prediction on.",
			why: "nothing predicts failures; leave it out",
		},
		{
			name: "DISABLE_FAILURE_PREDICTION", only: "Icinga 1", text: "Switches failure prediction off.",
			why: "nothing predicts failures; leave it out",
		},
	}
}

func contactRows() []row {
	one, group := []kind{aContact}, []kind{aContactGroup}
	bits := []kind{aContact, theBits}
	const commands = "commands have no variables of their own here; give the objects that use them custom variables"
	return join(
		pair("ENABLE_CONTACT_HOST_NOTIFICATIONS", "DISABLE_CONTACT_HOST_NOTIFICATIONS", one, false, "host notifications of a contact", contactSwitch(true, false)),
		pair("ENABLE_CONTACT_SVC_NOTIFICATIONS", "DISABLE_CONTACT_SVC_NOTIFICATIONS", one, false, "service notifications of a contact", contactSwitch(false, true)),
		pair("ENABLE_CONTACTGROUP_HOST_NOTIFICATIONS", "DISABLE_CONTACTGROUP_HOST_NOTIFICATIONS", group, false, "host notifications of the contacts in a group", contactGroupSwitch(true, false)),
		pair("ENABLE_CONTACTGROUP_SVC_NOTIFICATIONS", "DISABLE_CONTACTGROUP_SVC_NOTIFICATIONS", group, false, "service notifications of the contacts in a group", contactGroupSwitch(false, true)),
		[]row{
			{name: "CHANGE_CONTACT_HOST_NOTIFICATION_TIMEPERIOD", args: []kind{aContact, aPeriod}, text: "Changes when a contact is told about hosts.", do: contactPeriod("host_notification_period")},
			{name: "CHANGE_CONTACT_SVC_NOTIFICATION_TIMEPERIOD", args: []kind{aContact, aPeriod}, text: "Changes when a contact is told about services.", do: contactPeriod("service_notification_period")},
			{name: "CHANGE_CONTACT_MODATTR", args: bits, text: "Sets the modified attributes of a contact.", do: contactBits(func(m *program.SetContactModified, b *uint32) { m.Bits = b })},
			{name: "CHANGE_CONTACT_MODHATTR", args: bits, text: "Sets the modified attributes of a contact's host notifications.", do: contactBits(func(m *program.SetContactModified, b *uint32) { m.HostBits = b })},
			{name: "CHANGE_CONTACT_MODSATTR", args: bits, text: "Sets the modified attributes of a contact's service notifications.", do: contactBits(func(m *program.SetContactModified, b *uint32) { m.SvcBits = b })},
			{
				name: "CHANGE_CUSTOM_CONTACT_VAR", aliases: []string{"CHANGE_CUSTOM_USER_VAR"}, args: []kind{aContact, aVariable, aValue}, optional: 1,
				text: "Changes a custom variable of a contact.", do: contactVariable,
			},
			{name: "CHANGE_CUSTOM_CHECKCOMMAND_VAR", args: []kind{aCommand}, only: "Icinga 2", text: "Changes a variable of a check command.", why: commands},
			{name: "CHANGE_CUSTOM_EVENTCOMMAND_VAR", args: []kind{aCommand}, only: "Icinga 2", text: "Changes a variable of an event command.", why: commands},
			{name: "CHANGE_CUSTOM_NOTIFICATIONCOMMAND_VAR", args: []kind{aCommand}, only: "Icinga 2", text: "Changes a variable of a notification command.", why: commands},
		},
	)
}
