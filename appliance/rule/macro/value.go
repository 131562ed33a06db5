package macro

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// alias returns an object's name for people.
func alias(o *object.Object) string {
	if o.Alias != "" {
		return o.Alias
	}
	return o.Name
}

// displayName returns the name for user interfaces: of a host its name unless
// declared otherwise, of a service its alias.
func (e *expander) displayName(o *object.Object) string {
	if name := e.src.declared(o, "display_name"); name != "" {
		return name
	}
	if o.Kind() == object.Host {
		return o.Name
	}
	return alias(o)
}

// importance returns the sum of the importance of some objects.
func (e *expander) importance(o *object.Object, more ...*object.Object) int {
	sum := 0
	for _, x := range append([]*object.Object{o}, more...) {
		if n, err := strconv.Atoi(e.src.declared(x, "importance")); err == nil {
			sum += n
		}
	}
	return sum
}

// address returns a host's address, its name if it has none.
func address(host *object.Object) string {
	if host.Address != "" {
		return host.Address
	}
	return host.Name
}

// lastState returns the state before the latest result. If there was a result
// since the last change that is the present one, else the one seen last among
// the others.
func lastState(s *fold.State) object.State {
	if s.Measure.LastCheck > s.Status.LastChange {
		return s.Status.State
	}
	last, at := object.OK, object.Time(0)
	for i, t := range s.Measure.LastIn {
		if state := object.State(i); state != s.Status.State && t > at {
			last, at = state, t
		}
	}
	return last
}

func stateType(s *fold.State) string { return strings.ToUpper(s.Status.Type.String()) }

func checkType(s *fold.State) string {
	if s.Measure.Passive {
		return "PASSIVE"
	}
	return "ACTIVE"
}

func percent(s *fold.State) string { return fmt.Sprintf("%.2f", fold.Percent(s.Measure.Ring)) }

// notifies tells whether notifications are on: an operator's switch goes before
// the declaration.
func (e *expander) notifies(o *object.Object) string {
	st := &e.src.state(o).Status
	declared := e.src.declared(o, "notifications_enabled") != "0" || st.On.Has(object.SwitchNotifications)
	return flag(declared && fold.Enabled(o, st, object.SwitchNotifications))
}

// notePeriod names the period in which people are told.
func (e *expander) notePeriod(o *object.Object) string {
	if name, ok := e.src.state(o).Status.Setting(event.SettingNotePeriod); ok {
		return name
	}
	if p := o.Rule.NotePeriod; p != nil {
		return p.Name()
	}
	return e.src.declared(o, "notification_period")
}

// variableOf answers one custom variable: as an operator set it, else as
// configured.
func variableOf(name string) getter {
	return func(e *expander, o *object.Object) string {
		if value, ok := e.src.state(o).Status.Setting(event.SettingVar + name); ok {
			return value
		}
		return o.Vars[name]
	}
}

// vars returns every custom variable of an object, those that only an operator
// set among them.
func (e *expander) vars(o *object.Object) map[string]string {
	x := e.src.state(o).Status.Extra
	if x == nil || len(x.Settings) == 0 {
		return o.Vars
	}
	all := map[string]string{}
	maps.Copy(all, o.Vars)
	for _, s := range x.Settings {
		if name, ok := strings.CutPrefix(s.Name, event.SettingVar); ok {
			all[name] = s.Value
		}
	}
	return all
}

func ackAuthor(s *fold.State) string {
	if s.Status.Extra == nil {
		return ""
	}
	return s.Status.Extra.AckAuthor
}

func ackText(s *fold.State) string {
	if s.Status.Extra == nil {
		return ""
	}
	return s.Status.Extra.AckText
}

// contactAlias returns the name for people of a contact.
func (e *expander) contactAlias(contact string) string {
	if c := e.src.contact(contact); c != nil {
		return c.Alias
	}
	return ""
}

// age returns for how many seconds an object has been in its state.
func (e *expander) age(o *object.Object) int64 {
	since := e.src.state(o).Status.LastChange
	if since == 0 {
		since = e.src.Started
	}
	if since == 0 || since > e.src.Now {
		return 0
	}
	return int64(e.src.Now/1000 - since/1000)
}

// duration writes seconds as days, hours, minutes and seconds.
func duration(seconds int64) string {
	return fmt.Sprintf("%dd %dh %dm %ds", seconds/86400, seconds/3600%24, seconds/60%60, seconds%60)
}

// millis writes microseconds as seconds with three decimals.
func millis(microseconds int64) string { return fmt.Sprintf("%.3f", float64(microseconds)/1e6) }

// epoch writes an instant in seconds.
func epoch(t object.Time) string { return integer(t / 1000) }

func integer[T ~int | ~int32 | ~int64 | ~uint8](v T) string { return strconv.FormatInt(int64(v), 10) }

func flag(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

// escapeLines writes further lines the way Nagios keeps them: in one line.
func escapeLines(s string) string {
	if strings.IndexByte(s, '\n') < 0 && strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(s)
}
