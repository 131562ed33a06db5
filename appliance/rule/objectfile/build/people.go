package build

import (
	"strings"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/macro"
	"jaque.sh/jaque/appliance/rule/objectfile"
)

// reach checks how a contact is told: the commands, which Nagios demands, and the
// periods. A set does not hold them.
func (b *builder) reach(o *objectfile.Object) {
	for _, about := range []string{"host", "service"} {
		b.periodOf(o, about+"_notification_period")
		directive := about + "_notification_commands"
		names := o.Names(directive)
		if len(names) == 0 {
			b.problems.Add(o.Pos, "contact %q has no %s; give it one", o.Name, directive)
		}
		for _, command := range names {
			if _, err := macro.CheckCommand(command, b.command); err != nil {
				name, _, _ := strings.Cut(command, "!")
				b.problems.Add(o.At(directive), "contact %q: there is no command %q; define it or remove it from this line", o.Name, name)
			}
		}
	}
}

// command returns the line of a command.
func (b *builder) command(name string) (string, bool) {
	line, ok := b.commands[name]
	return line, ok
}

// escalations checks what escalations name. A set does not hold them.
func (b *builder) escalations(objects []*objectfile.Object) {
	for _, o := range objects {
		switch o.Type {
		case "hostescalation":
			b.hostsOf(o, "host_name", "hostgroup_name")
		case "serviceescalation":
			b.servicesOf(o, "")
		default:
			continue
		}
		b.told(o)
		b.periodOf(o, "escalation_period")
	}
}

// rings reports hosts that are behind themselves: none of them could be told
// from an unreachable one.
func (b *builder) rings() {
	state := map[*object.Object]int{} // 1 on the way here, 2 done
	var visit func(h *object.Object)
	visit = func(h *object.Object) {
		state[h] = 1
		for _, p := range h.Parents {
			switch state[p] {
			case 0:
				visit(p)
			case 1:
				b.problems.Add(b.source[h.Name].At("parents"), "circular parents: host %q is behind %q and in front of it; remove one of these parents", h.Name, p.Name)
			}
		}
		state[h] = 2
	}
	for _, h := range b.order {
		if state[h] == 0 {
			visit(h)
		}
	}
}
